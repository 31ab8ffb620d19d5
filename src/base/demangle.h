/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel names as their authors wrote them, at a bounded cost. */
#ifndef DVI_BASE_DEMANGLE_H
#define DVI_BASE_DEMANGLE_H

enum { DVI_NAME_ROOM = 4096 };

/**
 * The C++ name behind `name`. A SYCL kernel is named by its type (_ZTS...), which is what is given.
 *
 * @param buffer  DVI_NAME_ROOM bytes that the result may point into.
 * @return `name` itself when it is no mangled name; NULL when it is one that cannot be told in
 *         DVI_NAME_ROOM bytes.
 */
const char *dvi_demangle(const char *name, char *buffer);

#endif
