/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/write.h"
#include "image/image.h"
#include "output/escape.h"
#include "output/form.h"
#include "output/sycl.h"
#include "sycl/detect.h"

/* --- the answer --- */

static void print_lines(FILE *file, const char *start, const dvi_text_list *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        fputs(start, file);
        dvi_escape(file, lines->items[i]);
        putc('\n', file);
    }
}

static void print_text(struct dvi_output *out, const struct dvi_detection *d)
{
    print_lines(stderr, "devimg sycl detect: warning: ", &d->warnings);
    if (!out->quiet) {
        print_lines(out->file, "-- ", &d->status);
        print_lines(out->file, "-- note: ", &d->notes);
    }
    fprintf(out->file, "-- CPU device code: %s\n", d->has_cpu ? "ON" : "OFF");
}

static void json_list(struct dvi_json *j, const char *key, const dvi_text_list *list)
{
    dvi_json_array(j, key, DVI_JSON_LINES);
    for (size_t i = 0; i < list->count; i++)
        dvi_json_text(j, NULL, list->items[i]);
    dvi_json_end(j);
}

/* "mtl_s,arl_u" as an array */
static void json_aliases(struct dvi_json *j, const char *names)
{
    dvi_json_array(j, "aliases", DVI_JSON_ONE_LINE);
    for (const char *at = names != NULL ? names : ""; *at != '\0';) {
        const size_t size = strcspn(at, ",");
        dvi_json_text_begin(j, NULL);
        fwrite(at, 1, size, j->file); /* a word of small letters, digits and "_" */
        dvi_json_text_end(j);
        at += size + (at[size] == ',');
    }
    dvi_json_end(j);
}

static void json_gpus(struct dvi_json *j, const struct dvi_sycl_ls *listed)
{
    dvi_json_array(j, "gpus", DVI_JSON_LINES);
    for (size_t i = 0; i < listed->devices.count; i++) {
        const struct dvi_sycl_device *d = &listed->devices.items[i];
        char ip[24] = "";
        if (strcmp(d->type, "gpu") != 0 || d->again)
            continue;
        if (d->ip_version != DEVIMG_UNKNOWN)
            dvi_ip_text(d->ip_version, ip);
        dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
        dvi_json_text(j, "target", d->target);
        json_aliases(j, d->aliases);
        dvi_json_text(j, "backend", d->backend);
        dvi_json_text(j, "ip_version", ip[0] != '\0' ? ip : NULL);
        dvi_json_number(j, "pci_id", d->pci_id);
        dvi_json_text(j, "name", d->text);
        dvi_json_end(j);
    }
    dvi_json_end(j);
}

static void print_json(struct dvi_output *out, const struct dvi_detection *d)
{
    struct dvi_json j = dvi_json_to(out->file);
    dvi_json_object(&j, NULL, DVI_JSON_LINES);
    dvi_json_text(&j, "schema", "devimg/1");
    json_list(&j, "targets", &d->targets);
    dvi_json_bool(&j, "has_cpu", d->has_cpu);
    dvi_json_bool(&j, "has_gpu", d->has_gpu);
    dvi_json_text(&j, "matched", d->matched);
    dvi_json_bool(&j, "matched_is_cpu_target", d->matched_cpu);
    json_list(&j, "status", &d->status);
    json_list(&j, "warnings", &d->warnings);
    json_list(&j, "notes", &d->notes);
    json_gpus(&j, &d->listed);
    dvi_json_end(&j);
}

enum dvi_exit dvi_output_sycl_detect(struct dvi_output *out, const struct dvi_detection *d)
{
    if (out->json)
        print_json(out, d);
    else
        print_text(out, d);
    dvi_output_worst(out, dvi_output_close(out->file));
    return out->worst;
}

/* --- files for builds --- */

static bool is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != 0 && strchr(" _-+.,:/()=", c) != NULL);
}

/* A string literal of Python: what is not plain becomes an escape of three octal digits. */
static void quoted_python(FILE *file, const char *text)
{
    putc('"', file);
    for (const char *at = text; *at != '\0'; at++)
        if (is_plain((unsigned char)*at))
            putc(*at, file);
        else
            fprintf(file, "\\%03o", (unsigned char)*at);
    putc('"', file);
}

static bool has_balanced_brackets(const char *text)
{
    int depth = 0;
    for (; *text != '\0' && depth >= 0; text++)
        depth += (*text == '[') - (*text == ']');
    return depth == 0;
}

/* A quoted argument of CMake, to be an element of a list: ";" would part it, an unmatched bracket
 * join it with the next. What has a meaning otherwise, or no place in a message, becomes a blank. */
static void quoted_cmake(FILE *file, const char *text)
{
    const bool brackets = has_balanced_brackets(text);
    putc('"', file);
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == ';' || *at == '"')
            putc('\\', file);
        if (is_plain((unsigned char)*at) || strchr(";\"'?<>!*", *at) != NULL ||
            (brackets && (*at == '[' || *at == ']')))
            putc(*at, file);
        else
            putc(' ', file);
    }
    putc('"', file);
}

static void joined(FILE *file, const dvi_text_list *list, const char *mark,
                   void (*print)(FILE *file, const char *text))
{
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0)
            fputs(mark, file);
        print(file, list->items[i]);
    }
}

/* Targets: no language reads more into them (dvi_sycl_is_plain()). */
static void bare(FILE *file, const char *text)
{
    fputs(text, file);
}

/* What a file of each kind starts with: dvi_file_is_ours(). */
static const char *const marks[] = {
    [DVI_DETECT_HEADER] = "/* Written by devimg sycl detect. */\n",
    [DVI_DETECT_CMAKE] = "# Written by devimg sycl detect.\n",
    [DVI_DETECT_MESON] = "# Written by devimg sycl detect.\n",
    [DVI_DETECT_PYTHON] = "# Written by devimg sycl detect.\n",
};

struct content {
    enum dvi_detect_file kind;
    const char *prefix;
    const struct dvi_detection *d;
};

static void write_header(FILE *file, const struct content *c)
{
    fprintf(file, "#ifndef %s_DETECTED_H\n#define %s_DETECTED_H\n\n", c->prefix, c->prefix);
    fprintf(file, "#define %s_HAS_CPU_TARGET %d\n", c->prefix, c->d->has_cpu);
    fprintf(file, "#define %s_HAS_GPU_TARGET %d\n#define %s_TARGETS \"", c->prefix, c->d->has_gpu,
            c->prefix);
    joined(file, &c->d->targets, ",", bare);
    fputs("\"\n\n#endif\n", file);
}

static void write_cmake(FILE *file, const struct content *c)
{
    const struct {
        const char *name;
        const dvi_text_list *list;
    } lines[] = { { "STATUS", &c->d->status },
                  { "WARNINGS", &c->d->warnings },
                  { "NOTES", &c->d->notes } };
    fprintf(file, "set(%s_HAS_CPU_TARGET %s)\n", c->prefix, c->d->has_cpu ? "ON" : "OFF");
    fprintf(file, "set(%s_HAS_GPU_TARGET %s)\n", c->prefix, c->d->has_gpu ? "ON" : "OFF");
    fprintf(file, "set(%s_TARGETS \"", c->prefix);
    joined(file, &c->d->targets, ";", bare);
    fputs("\")\n", file);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        fprintf(file, "set(%s_%s)\n", c->prefix, lines[i].name);
        for (size_t k = 0; k < lines[i].list->count; k++) {
            fprintf(file, "list(APPEND %s_%s ", c->prefix, lines[i].name);
            quoted_cmake(file, lines[i].list->items[k]);
            fputs(")\n", file);
        }
    }
}

static void write_meson(FILE *file, const struct content *c)
{
    fprintf(file, "has_cpu_target=%d\nhas_gpu_target=%d\ntargets=", c->d->has_cpu, c->d->has_gpu);
    joined(file, &c->d->targets, ",", bare);
    putc('\n', file);
}

static void write_python(FILE *file, const struct content *c)
{
    fputs("\"\"\"What this build was configured for.\"\"\"\n\n\ndef compiled_features():\n"
          "    return {\n",
          file);
    fprintf(file, "        \"has_cpu_target\": %s,\n        \"has_gpu_target\": %s,\n",
            c->d->has_cpu ? "True" : "False", c->d->has_gpu ? "True" : "False");
    fputs("        \"targets\": [", file);
    joined(file, &c->d->targets, ", ", quoted_python);
    fputs("],\n    }\n", file);
}

static enum devimg_status fill(FILE *file, const void *context, struct devimg_error *err)
{
    const struct content *c = context;
    (void)err;
    fputs(marks[c->kind], file);
    switch (c->kind) {
    case DVI_DETECT_HEADER: write_header(file, c); break;
    case DVI_DETECT_CMAKE: write_cmake(file, c); break;
    case DVI_DETECT_MESON: write_meson(file, c); break;
    case DVI_DETECT_PYTHON: write_python(file, c); break;
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_output_detect_file(const char *path, enum dvi_detect_file kind,
                                          const char *prefix, const struct dvi_detection *d,
                                          struct devimg_error *err)
{
    const struct content content = { kind, prefix, d };
    return dvi_file_update(path, marks[kind], fill, &content, err);
}
