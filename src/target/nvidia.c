/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which code of NVIDIA runs on which of its GPUs.
 * Sources: NVIDIA, CUDA C++ Programming Guide, "Binary Compatibility" and "PTX Compatibility"; ptxas --help ("a" and "f"
 * targets); measured on an H200 (driver 580): sm_90 and sm_90a run, sm_80 and others do not, PTX up to compute_90a does.
 *
 *   sm_80      devices of 8.0 to 8.9; those of a system on a chip (Tegra) run only their own number
 *   sm_90a     devices of 9.0
 *   sm_100f    devices of 10.0 and of later numbers with the same major one
 *   compute_N  the same of "a" and "f"; without, every device of that number or a later one
 */
#include <stdlib.h>
#include <string.h>

#include "target/target.h"

struct code {
    unsigned long number; /* 90 */
    char suffix;          /* 'a', 'f', or 0 */
    bool portable;        /* PTX */
    bool tegra;
};

bool dvi_target_is_nvidia(const struct devimg_target *target)
{
    return target != NULL && strcmp(target->kind, "cubin") == 0;
}

static bool read_code(const struct devimg_target *target, struct code *out)
{
    char *end = NULL;
    if (target == NULL || (!dvi_target_is_nvidia(target) && strcmp(target->kind, "ptx") != 0))
        return false;
    out->number = strtoul(strchr(target->name, '_') + 1, &end, 10);
    out->suffix = *end;
    out->portable = !dvi_target_is_nvidia(target);
    out->tegra = strstr(target->features, "tegra") != NULL;
    return true;
}

static bool same_family(const struct code *device, const struct code *code)
{
    return device->number / 10 == code->number / 10 && device->number >= code->number &&
           device->tegra == code->tegra;
}

bool dvi_nvidia_serves(const struct devimg_target *target, const struct devimg_target *image)
{
    struct code t = { 0 }, i = { 0 };
    if (target == image)
        return true;
    if (!read_code(target, &t) || !read_code(image, &i) || t.portable || i.portable ||
        t.suffix != 0)
        return false;
    return i.suffix == 'f' ? same_family(&t, &i) : t.number == i.number;
}

bool dvi_nvidia_stands_for(const struct devimg_target *kind, const struct devimg_target *image)
{
    struct code k = { 0 }, i = { 0 };
    if (kind == image)
        return true;
    return read_code(kind, &k) && read_code(image, &i) && k.portable && i.portable &&
           k.suffix == 0 && i.suffix == 0 && i.number <= k.number;
}

bool dvi_nvidia_runs(const struct devimg_target *target, const struct devimg_target *image)
{
    struct code t = { 0 }, i = { 0 };
    if (!read_code(target, &t) || !read_code(image, &i))
        return false;
    if (i.suffix == 'a')
        return t.number == i.number;
    if (i.suffix == 'f')
        return same_family(&t, &i);
    if (i.portable)
        return t.number >= i.number;
    return t.number == i.number || (same_family(&t, &i) && !t.tegra);
}
