/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking a target up by name, IP version, product family or core family.
 *
 * An Intel IP version is arch[31:22] release[21:14] reserved[13:6] revision[5:0].
 * Source: intel/compute-runtime shared/source/helpers/hw_ip_version.h; the reserved bits are
 * ignored here.
 *
 * ocloc drops "_" from a name and compares acronyms with and without "-"; names of DPC++ put
 * "intel_gpu_" in front.
 * Source: intel/compute-runtime shared/source/helpers/product_config_helper.cpp.
 */
#include <stdlib.h>
#include <string.h>

#include "image/image.h"
#include "target/tables.h"
#include "target/target.h"

enum { KEY_ROOM = 64 };
static const uint64_t reserved_bits = 0x3fc0;
static const char sycl_prefix[] = "intel_gpu_";

static bool separates(char c)
{
    return c == '-' || c == '_';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

const char *dvi_target_spelled(const char *text, const char *name)
{
    for (; *name != '\0'; name++) {
        if (separates(*name)) {
            if (separates(*text))
                text++;
        } else if (lower(*text) == lower(*name)) {
            text++;
        } else {
            return NULL;
        }
    }
    return text;
}

bool dvi_target_fold(const char *text, char *out, size_t room)
{
    size_t size = 0;
    for (; *text != '\0'; text++) {
        if (separates(*text))
            continue;
        if (size + 1 >= room)
            return false;
        out[size++] = lower(*text);
    }
    out[size] = '\0';
    return true;
}

static int compare_key(const void *key, const void *item)
{
    const struct dvi_target_name *name = item;
    return strcmp(key, name->key);
}

static const struct devimg_target *row_named(const char *text)
{
    char key[KEY_ROOM];
    if (!dvi_target_fold(text, key, sizeof key))
        return NULL;
    const struct dvi_target_name *name = bsearch(key, dvi_target_names, dvi_target_name_count,
                                                 sizeof *dvi_target_names, compare_key);
    if (name == NULL)
        return NULL;
    const char *end = dvi_target_spelled(text, name->name);
    return end != NULL && *end == '\0' ? &dvi_targets[name->row] : NULL;
}

static int compare_number(const void *key, const void *item)
{
    const uint32_t *number = key;
    const struct dvi_target_number *entry = item;
    return *number < entry->number ? -1 : *number > entry->number;
}

/** The first entry of that number, or NULL. */
static const struct dvi_target_number *first_of(const struct dvi_target_number *table,
                                                uint32_t count, uint32_t number)
{
    const struct dvi_target_number *entry =
        bsearch(&number, table, count, sizeof *table, compare_number);
    while (entry != NULL && entry > table && entry[-1].number == number)
        entry--;
    return entry;
}

static const struct devimg_target *row_of(const struct dvi_target_number *table, uint32_t count,
                                          uint64_t number)
{
    if (number > UINT32_MAX)
        return NULL;
    const struct dvi_target_number *entry = first_of(table, count, (uint32_t)number);
    return entry == NULL ? NULL : &dvi_targets[entry->row];
}

const struct devimg_target *dvi_target_of_ip(uint64_t ip_version)
{
    return row_of(dvi_target_ips, dvi_target_ip_count, ip_version & ~reserved_bits);
}

const struct devimg_target *dvi_target_of_ip_or_former(uint64_t ip_version)
{
    const struct devimg_target *target = dvi_target_of_ip(ip_version);
    if (target != NULL)
        return target;
    return row_of(dvi_target_formers, dvi_target_former_count, ip_version & ~reserved_bits);
}

bool dvi_target_has_ip(const struct devimg_target *target, uint64_t ip_version)
{
    const uint64_t ip = ip_version & ~reserved_bits;
    if (target == NULL || ip > UINT32_MAX)
        return false;
    if (target->ip_version == ip)
        return true;
    const struct dvi_target_number *end = dvi_target_formers + dvi_target_former_count;
    const struct dvi_target_number *entry =
        first_of(dvi_target_formers, dvi_target_former_count, (uint32_t)ip);
    for (; entry != NULL && entry < end && entry->number == ip; entry++)
        if (&dvi_targets[entry->row] == target)
            return true;
    return false;
}

const struct devimg_target *dvi_target_of_image(const struct devimg_image *image)
{
    const struct devimg_target *row =
        image->ip_version != DEVIMG_UNKNOWN ? dvi_target_of_ip_or_former(image->ip_version) : NULL;
    return row != NULL || image->target == NULL ? row : devimg_target_find(image->target);
}

static bool same_family(const struct devimg_target *a, const struct devimg_target *b)
{
    if (a->product_family != DEVIMG_UNKNOWN && b->product_family != DEVIMG_UNKNOWN)
        return a->product_family == b->product_family;
    return a->ip_version == b->ip_version && a->ip_version != DEVIMG_UNKNOWN;
}

bool dvi_target_is_of_image(const struct devimg_target *target, const struct devimg_image *image)
{
    if (image->ip_version != DEVIMG_UNKNOWN)
        return dvi_target_has_ip(target, image->ip_version);
    const struct devimg_target *row = dvi_target_of_image(image);
    if (row == NULL || row == target)
        return row != NULL;
    if (dvi_target_is_amd(row))
        return dvi_amd_served(target, row) != 0;
    if (dvi_target_is_nvidia(row))
        return dvi_nvidia_serves(target, row);
    const bool whole_family = image->family_only || strcmp(row->kind, "generic") == 0;
    return whole_family
               ? same_family(row, target)
               : row->ip_version != DEVIMG_UNKNOWN && row->ip_version == target->ip_version;
}

bool dvi_target_is_gpu(const struct devimg_target *target)
{
    return target->ip_version != DEVIMG_UNKNOWN || dvi_target_is_amd(target) ||
           dvi_target_is_nvidia(target);
}

bool dvi_target_is_portable(const struct devimg_target *target)
{
    return strcmp(target->kind, "portable") == 0 || strcmp(target->kind, "spirv") == 0 ||
           strcmp(target->kind, "ptx") == 0;
}

bool dvi_target_compiles(const struct devimg_target *target, const struct devimg_target *portable)
{
    const char *kind = dvi_target_is_amd(target)      ? "spirv"
                       : dvi_target_is_nvidia(target) ? "ptx"
                                                      : "portable";
    return strcmp(portable->kind, kind) == 0;
}

uint32_t dvi_target_settings(const struct devimg_target *target)
{
    return dvi_target_is_amd(target) ? dvi_amd_settings(target) : 1;
}

uint32_t dvi_target_served(const struct devimg_target *target, const struct devimg_image *image)
{
    return dvi_target_is_amd(target) ? dvi_amd_served(target, dvi_target_of_image(image))
                                     : dvi_target_is_of_image(target, image);
}

uint32_t dvi_target_run(const struct devimg_target *target, const struct devimg_image *image)
{
    return dvi_target_is_nvidia(target) ? dvi_nvidia_runs(target, dvi_target_of_image(image))
                                        : dvi_target_served(target, image);
}

uint64_t dvi_target_former_ip(const struct devimg_target *target, size_t i)
{
    for (uint32_t k = 0; k < dvi_target_former_count; k++)
        if (&dvi_targets[dvi_target_formers[k].row] == target && i-- == 0)
            return dvi_target_formers[k].number;
    return DEVIMG_UNKNOWN;
}

const struct devimg_target *dvi_target_of_product_family(uint64_t product_family)
{
    return row_of(dvi_target_families, dvi_target_family_count, product_family);
}

const struct devimg_target *dvi_target_of_machine(uint64_t machine)
{
    return row_of(dvi_target_machines, dvi_target_machine_count, machine);
}

const struct devimg_target *dvi_target_of_pci_id(uint64_t pci_id)
{
    return row_of(dvi_target_pcis, dvi_target_pci_count, pci_id);
}

const struct devimg_target *dvi_target_of_core_family(uint64_t core_family, size_t i)
{
    for (uint32_t k = 0; k < dvi_target_core_count; k++)
        if (dvi_target_cores[k].number == core_family && i-- == 0)
            return &dvi_targets[dvi_target_cores[k].row];
    return NULL;
}

/** "12.55.8", or with `between` instead of the dots. */
static bool read_version(const char *text, char between, uint64_t *ip)
{
    return dvi_ip_of_text(dvi_view_of(text, strlen(text), NULL), between, ip);
}

/** What follows "intel_gpu_": a version as DPC++ numbers it, or the name of an Intel GPU. */
static const struct devimg_target *row_of_sycl(const char *text)
{
    uint64_t ip = 0;
    if (read_version(text, '_', &ip)) {
        const struct devimg_target *target =
            row_of(dvi_target_sycl_ips, dvi_target_sycl_ip_count, ip);
        return target != NULL ? target : dvi_target_of_ip_or_former(ip);
    }
    const struct devimg_target *target = row_named(text);
    return target != NULL && target->ip_version != DEVIMG_UNKNOWN ? target : NULL;
}

const struct devimg_target *devimg_target_find(const char *name)
{
    if (name == NULL)
        return NULL;
    uint64_t ip = 0;
    if (read_version(name, '.', &ip))
        return dvi_target_of_ip_or_former(ip);
    if (strchr(name, ':') != NULL)
        return dvi_target_of_id(name);
    const char *rest = dvi_target_spelled(name, sycl_prefix);
    return rest != NULL ? row_of_sycl(rest) : row_named(name);
}

bool dvi_target_is_host(const char *name)
{
    static const char *const cpus[] = { "x86_64", "amd64",    "i386",        "i586",
                                        "i686",   "aarch64",  "arm64",       "arm",
                                        "armv7",  "ppc64le",  "powerpc64le", "powerpc64",
                                        "ppc64",  "ppc",      "powerpc",     "riscv64",
                                        "s390x",  "mips64el", "loongarch64" };
    const struct devimg_target *row = devimg_target_find(name);
    if (row != NULL || name == NULL)
        return row != NULL && strcmp(row->kind, "cpu") == 0;
    const size_t size = strcspn(name, "-");
    for (size_t i = 0; name[size] == '-' && i < sizeof cpus / sizeof cpus[0]; i++)
        if (strlen(cpus[i]) == size && strncmp(name, cpus[i], size) == 0)
            return true;
    return false;
}

const struct devimg_target *devimg_target_at(uint32_t i)
{
    return i < dvi_target_count ? &dvi_targets[i] : NULL;
}
