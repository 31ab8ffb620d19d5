/* SPDX-License-Identifier: Apache-2.0 */
/* The tests of test_write.c where the file system has no files without a name. */
#include <fcntl.h>
#undef O_TMPFILE
#define O_TMPFILE O_DIRECTORY /* refused: a folder cannot be written */

/* clang-format off */
#include "base/write.c"
#include "test_write.c"
/* clang-format on */
