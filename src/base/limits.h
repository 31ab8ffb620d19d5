/* SPDX-License-Identifier: Apache-2.0 */
/* Standard limits of devimg_opts, once: for opening, and for the help that names them. */
#ifndef DVI_BASE_LIMITS_H
#define DVI_BASE_LIMITS_H

#define DVI_MOST_INFLATED_MIB       256
#define DVI_MOST_TOTAL_INFLATED_GIB 16
#define DVI_MOST_DEPTH              8
#define DVI_MOST_MEMBERS            1000000
#define DVI_MOST_IMAGES             200000
#define DVI_MOST_KERNELS            4000000
#define DVI_MOST_THREADS            64

/** Kernels have long names, made of those of all their template arguments; not that long. */
#define DVI_MOST_KERNEL_NAME (64 * 1024)

/** What is kept of one file, in all: names, ids, tables of numbers. No option raises it. */
#define DVI_MOST_KEPT_MIB 1024

/** The number as a text. */
#define DVI_TEXT(number)  DVI_TEXT_(number)
#define DVI_TEXT_(number) #number

#endif
