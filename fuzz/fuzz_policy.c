/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer harness of the files that `devimg check` takes beside binaries. The first byte says
 * which one: a policy, a ratchet, a baseline, or compile commands.
 * dict: policy
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "devimg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum devimg_status load(struct devimg_policy *policy, uint8_t kind, const char *path,
                               struct devimg_error *err)
{
    switch (kind % 4) {
    case 0: return devimg_policy_load(policy, path, err);
    case 1: return devimg_policy_set(policy, "scratch.ratchet", path, err);
    case 2: return devimg_policy_set(policy, "baseline", path, err);
    default: return devimg_policy_set(policy, "promised", path, err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    struct devimg_policy *policy = NULL;
    struct devimg_error err = { 0 };
    const int fd = size > 0 ? memfd_create("policy", 0) : -1;
    if (fd < 0)
        return 0;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, data + 1, size - 1) == (ssize_t)(size - 1) &&
        devimg_policy_new(&policy, &err) == DEVIMG_OK &&
        load(policy, data[0], path, &err) != DEVIMG_OK && err.text[0] == 0)
        abort(); /* a refusal says why */
    devimg_policy_free(policy);
    (void)close(fd);
    return 0;
}
