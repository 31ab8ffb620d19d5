/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAND_IN_STDIO_H
#define STAND_IN_STDIO_H
#ifdef __cplusplus
extern "C"
#endif
    int
    printf(const char *format, ...);
#endif
