/* SPDX-License-Identifier: Apache-2.0 */
/* Source: intel/llvm sycl/doc/UsersManual.md, -fsycl-targets. */
#include "sycl/entry.h"

#include <string.h>

static const char intel_start[] = "intel_gpu_";

struct form {
    const char *text;
    bool is_start; /* of an entry; else all of it */
    bool gpu;
};

static const struct form forms[] = {
    { intel_start, true, true },    { "nvidia_gpu_", true, true },
    { "amd_gpu_", true, true },     { "nvptx64-", true, true },
    { "amdgcn-", true, true },      { "spir64_gen", true, true },
    { "spir64", false, true },      { "spir64-", true, true },
    { "spirv64", true, true },      { "spir64_x86_64", true, false },
    { "spir64_fpga", true, false }, { "native_cpu", false, false },
};

static const struct form *form_of(const char *name)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].is_start ? strncmp(name, forms[i].text, strlen(forms[i].text)) == 0
                              : strcmp(name, forms[i].text) == 0)
            return &forms[i];
    return NULL;
}

bool dvi_sycl_entry_of(const struct devimg_target *target, struct dvi_arena *arena,
                       const char **out)
{
    *out = NULL;
    if (target->ip_version == DEVIMG_UNKNOWN)
        return true;
    const size_t start = strlen(intel_start), size = strlen(target->name);
    char *entry = dvi_arena_array(arena, start + size + 1, 1);
    if (entry == NULL)
        return false;
    memcpy(entry, intel_start, start);
    for (size_t i = 0; i < size; i++)
        entry[start + i] = target->name[i] == '-' ? '_' : target->name[i];
    *out = entry;
    return true;
}

bool dvi_sycl_is_plain(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+.:/";
    return name[strspn(name, plain)] == '\0';
}

bool dvi_sycl_is_entry(const char *name)
{
    return form_of(name) != NULL;
}

bool dvi_sycl_entry_is_gpu(const char *name)
{
    const struct form *form = form_of(name);
    return form != NULL && form->gpu;
}
