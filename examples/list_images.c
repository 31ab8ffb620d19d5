/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the device images of a file with nothing but the public header. Compiles as C and as C++:
 *
 *    cc list_images.c $(pkg-config --cflags --libs devimg) -o list_images
 */
#include <devimg.h>

#include <stdio.h>
#include <string.h>

static const char *or_dash(const char *text)
{
    return text != NULL ? text : "-";
}

static void print_number(uint64_t number)
{
    if (number == DEVIMG_UNKNOWN)
        printf("\t-");
    else
        printf("\t%llu", (unsigned long long)number);
}

static void print_record(const struct devimg_file *file, const struct devimg_record *record)
{
    printf("%s", record->path);
    for (uint32_t i = 0; i < record->member_count; i++)
        printf("!%s", record->members[i]);
    printf(": %s, %lu images\n", devimg_record_status_name(record->status),
           (unsigned long)record->image_count);
    for (uint32_t i = 0; i < record->image_count; i++) {
        const struct devimg_image *image = devimg_image_at(file, record->first_image + i);
        printf("%s\t%s\t%s", or_dash(image->target), devimg_format_name(image->format),
               devimg_compression_name(image->compression));
        print_number(image->stored_size);
        print_number(image->size);
        print_number(image->kernel_count);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    struct devimg_opts opts;
    struct devimg_error error;
    struct devimg_file *file = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: list_images FILE\n");
        return 2;
    }
    memset(&opts, 0, sizeof opts);
    opts.struct_size = sizeof opts;
    if (devimg_open(argv[1], &opts, &file, &error) != DEVIMG_OK ||
        devimg_read_kernels(file, &error) != DEVIMG_OK) {
        fprintf(stderr, "%s: %s\n", error.source, error.text);
        devimg_close(file);
        return 3;
    }
    for (uint32_t i = 0; i < devimg_record_count(file); i++)
        print_record(file, devimg_record_at(file, i));
    devimg_close(file);
    return 0;
}
