/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer harness of the writer of COFF objects: what is refused has a code and leaves no file;
 * what is written reads back as an object that has its anchor already, and is larger by a record
 * and a name.
 * dict: coff
 */
#include <devimg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char name[] = "foo_sycl_images";

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    require(file != NULL);
    require(fwrite(data, 1, size, file) == size);
    require(fclose(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char folder[] = "/tmp/devimg-fuzz-XXXXXX", in[64], out[64];
    static bool made;
    if (!made) {
        require(mkdtemp(folder) != NULL);
        (void)snprintf(in, sizeof in, "%s/in.obj", folder);
        (void)snprintf(out, sizeof out, "%s/out.obj", folder);
        made = true;
    }
    struct devimg_anchored done;
    struct devimg_error err;
    struct stat found;
    write_file(in, data, size);
    (void)unlink(out);
    if (devimg_anchor(in, name, out, &done, &err) != DEVIMG_OK) {
        require(done.code != NULL && err.text[0] != '\0' && access(out, F_OK) != 0);
        return 0;
    }
    require(done.code == NULL && done.section > 0 && stat(out, &found) == 0);
    const size_t more = (size_t)found.st_size - size - sizeof name;
    require(more == 18 || more == 20);
    require(devimg_anchor(out, name, in, &done, &err) != DEVIMG_OK);
    require(strcmp(done.code, "already-defined") == 0);
    return 0;
}
