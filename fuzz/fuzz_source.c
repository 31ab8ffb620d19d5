/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer harness of `devimg sycl lint`: one source is scanned, and each of its requests, checks
 * and constants is computed. Places must lie inside the source.
 * dict: source
 */
#include <stdlib.h>

#include "sycl/source_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void compute(struct dvi_sources *all, uint32_t scope, size_t offset, const char *text)
{
    struct dvi_values v;
    if (text == NULL)
        return;
    dvi_source_value(all, 0, scope, offset, text, &v);
    require(v.state == DVI_VALUE_KNOWN ? v.count > 0 : v.count == 0 && v.name[0] != 0);
}

static void look(struct dvi_source *source, size_t size)
{
    static const char *const paths[] = { "a.h" };
    static const struct dvi_source_define defines[] = { { "PROJ", "8" } };
    struct dvi_sources all = {
        .items = source, .paths = paths, .count = 1, .defines = defines, .define_count = 1
    };
    if (dvi_sources_index(&all, NULL) == DEVIMG_OK) {
        for (size_t i = 0; i < source->requests.count && i < 100; i++) {
            const struct dvi_size_request *r = &source->requests.items[i];
            require(r->offset <= size && r->line > 0 && r->column > 0);
            compute(&all, r->scope, r->offset, r->text);
        }
        for (size_t i = 0; i < source->checks.count && i < 100; i++)
            compute(&all, source->checks.items[i].scope, source->checks.items[i].offset,
                    source->checks.items[i].text);
        for (size_t i = 0; i < source->constants.count && i < 100; i++)
            compute(&all, source->constants.items[i].scope, size, source->constants.items[i].text);
    }
    dvi_sources_free(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct dvi_source_word items[] = { { "KernelShape", 1, true },
                                                    { "PROJ_SG", 1, false },
                                                    { "A", 0, false } };
    struct dvi_source_words words = { .items = items, .count = 3 };
    struct dvi_source source = { .open = NULL };
    struct devimg_error err = { 0 };
    if (dvi_source_words_make(&words, &err) == DEVIMG_OK) {
        if (dvi_source_scan(dvi_view_of(data, size, "a.h"), &words, &source, &err) == DEVIMG_OK)
            look(&source, size);
        else
            require(err.text[0] != 0); /* a refusal says why */
    }
    dvi_source_free(&source);
    dvi_source_words_free(&words);
    return 0;
}
