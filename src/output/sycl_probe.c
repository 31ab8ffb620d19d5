/* SPDX-License-Identifier: Apache-2.0 */
/* `devimg sycl probe`: what was measured, beside the tables. */
#include <inttypes.h>
#include <string.h>

#include "output/escape.h"
#include "output/form.h"
#include "output/record.h"
#include "output/sycl.h"
#include "output/text.h"
#include "sycl/probe.h"
#include "target/sizes.h"

/* --- JSON --- */

/* As dvi_json_sizes(), but none is an answer here where it was measured. */
static void sizes_json(struct dvi_json *j, const char *key, uint32_t sizes, bool known)
{
    if (!known || sizes != 0) {
        dvi_json_sizes(j, key, known ? sizes : 0);
        return;
    }
    dvi_json_array(j, key, DVI_JSON_ONE_LINE);
    dvi_json_end(j);
}

static void kernels_json(struct dvi_json *j, const struct dvi_probe_target *t)
{
    dvi_json_array(j, "kernels", DVI_JSON_ONE_LINE);
    for (size_t i = 0; i < t->kernel_count; i++) {
        const struct dvi_probe_kernel *kernel = &t->kernels[i];
        dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
        dvi_json_text(j, "needs", kernel->size != 0 ? "sub-group-size" : "fp64");
        dvi_json_number(j, "size", kernel->size != 0 ? kernel->size : DEVIMG_UNKNOWN);
        dvi_json_text(j, "result", dvi_probe_result_name(kernel->result));
        dvi_json_text(j, "message", kernel->text);
        dvi_json_end(j);
    }
    dvi_json_end(j);
}

static void target_json(struct dvi_json *j, const struct dvi_probe *p,
                        const struct dvi_probe_target *t)
{
    char ip[DVI_SIZE_ROOM];
    const struct devimg_target *row = t->row;
    dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
    dvi_json_text(j, "name", t->name);
    dvi_json_text(j, "state", dvi_probe_state_name(t->state));
    dvi_json_text(j, "ip_version", dvi_ip_or_null(t->ip_version, ip));
    sizes_json(j, "sub_group_sizes", t->sizes, t->known_sizes == p->sizes);
    dvi_json_answer(j, "fp64", t->fp64);
    dvi_json_bool(j, "in_tables", row != NULL);
    dvi_json_text(j, "table_ip_version", row != NULL ? dvi_ip_or_null(row->ip_version, ip) : NULL);
    dvi_json_sizes(j, "table_sub_group_sizes", row != NULL ? row->sub_group_sizes : 0);
    dvi_json_answer(j, "table_fp64", row != NULL ? row->fp64 : DEVIMG_MAYBE);
    dvi_json_text(j, "text", t->text);
    kernels_json(j, t);
    dvi_json_end(j);
}

static void json(struct dvi_output *out, const struct dvi_probe *p)
{
    struct dvi_json *j = &out->j;
    *j = dvi_json_to(out->file);
    dvi_json_object(j, NULL, DVI_JSON_LINES);
    dvi_json_text(j, "schema", "devimg/1");
    dvi_json_text(j, "verdict", p->failed ? "fail" : "pass");
    dvi_json_text(j, "ocloc", p->ocloc);
    dvi_json_text(j, "ocloc_version", p->version);
    sizes_json(j, "sizes", p->sizes, true);
    dvi_json_array(j, "probed", DVI_JSON_LINES);
    for (size_t i = 0; i < p->targets.count; i++)
        target_json(j, p, &p->targets.items[i]);
    dvi_json_end(j);
    dvi_json_object(j, "counts", DVI_JSON_ONE_LINE);
    for (int i = 0; i < DVI_PROBE_STATES; i++)
        dvi_json_number(j, dvi_probe_state_name((enum dvi_probe_state)i), p->counts[i]);
    dvi_json_end(j);
    dvi_json_array(j, "warnings", DVI_JSON_LINES);
    for (size_t i = 0; i < p->warnings.count; i++)
        dvi_json_text(j, NULL, p->warnings.items[i]);
    dvi_json_end(j);
    dvi_json_end(j);
}

/* --- rows for data/targets/intel.tsv --- */

static bool is_new_name(const struct dvi_probe_target *t)
{
    return t->state == DVI_PROBE_NEW && t->row == NULL;
}

/* The new names of one IP version: the first is the primary one, and each has the others as aliases. */
static bool is_primary(const struct dvi_probe *p, size_t index)
{
    const struct dvi_probe_target *items = p->targets.items;
    for (size_t i = 0; i < index; i++)
        if (is_new_name(&items[i]) && items[i].ip_version == items[index].ip_version)
            return false;
    return dvi_target_of_ip(items[index].ip_version) == NULL;
}

static void print_aliases(FILE *file, const struct dvi_probe *p, size_t index)
{
    const struct dvi_probe_target *items = p->targets.items;
    const char *between = "";
    for (size_t i = 0; i < p->targets.count; i++)
        if (i != index && is_new_name(&items[i]) &&
            items[i].ip_version == items[index].ip_version) {
            fprintf(file, "%s%s", between, items[i].name);
            between = ",";
        }
}

/* In the order of the columns (data/targets/README.md); what was not measured is left empty. */
static void print_row(FILE *file, const struct dvi_probe *p, size_t index)
{
    const struct dvi_probe_target *t = &p->targets.items[index];
    const char *version = p->version != NULL ? p->version : "of unknown version";
    char ip[DVI_SIZE_ROOM], sizes[DVI_SIZES_ROOM];
    fprintf(file, "%s\tacronym\t%s\t", t->name, is_primary(p, index) ? "yes" : "no");
    print_aliases(file, p, index);
    fprintf(file, "\t%s\t0x%08" PRIx64 "\t\t\t\t\t%s\t%s\t%s\tunknown\tunknown\t\t\t\t",
            dvi_ip_or_null(t->ip_version, ip), t->ip_version, dvi_sizes_text(t->sizes, ",", sizes),
            t->fp64 == DEVIMG_YES ? "yes" : "no", t->fp64 == DEVIMG_YES ? "no" : "");
    if (p->version != NULL)
        fprintf(file, "<=%s", p->version);
    fprintf(
        file,
        "\t\t\t\tmeasured: ocloc %s ids %s; sub-group/fp64 measured: ocloc %s compile -device %s\n",
        version, t->name, version, t->name);
}

static void rows(const struct dvi_output *out, const struct dvi_probe *p)
{
    for (size_t i = 0; i < p->targets.count; i++) {
        const struct dvi_probe_target *t = &p->targets.items[i];
        const struct devimg_target *same = is_new_name(t) ? dvi_target_of_ip(t->ip_version) : NULL;
        if (is_new_name(t))
            print_row(out->file, p, i);
        if (same != NULL)
            fprintf(stderr,
                    "devimg sycl probe: %s is another name of %s: add it to the aliases there, and "
                    "copy the other columns\n",
                    t->name, same->name);
    }
}

/* --- text --- */

static const char *fp64_text(enum devimg_answer fp64)
{
    return fp64 == DEVIMG_YES ? "yes" : fp64 == DEVIMG_NO ? "no" : NULL;
}

static void table_rows(struct dvi_table *table, const void *data)
{
    const struct dvi_probe *p = data;
    for (size_t i = 0; i < p->targets.count; i++) {
        const struct dvi_probe_target *t = &p->targets.items[i];
        char ip[DVI_SIZE_ROOM], sizes[DVI_SIZES_ROOM];
        dvi_sizes_text(t->sizes, ",", sizes);
        dvi_cell(table, t->name);
        dvi_cell(table, dvi_ip_or_null(t->ip_version, ip));
        dvi_cell_format(table, "%s%s",
                        sizes[0] != '\0'             ? sizes
                        : t->known_sizes == p->sizes ? "none"
                                                     : "-",
                        t->kernel_count > 0 && t->known_sizes != p->sizes ? ",?" : "");
        dvi_cell(table, fp64_text(t->fp64));
        dvi_cell(table, dvi_probe_state_name(t->state));
        dvi_cell(table, t->text);
    }
}

/* "9 of 19 targets measured, all as in the tables; 10 unknown to this ocloc" */
static void answer(FILE *file, const struct dvi_probe *p)
{
    static const struct {
        enum dvi_probe_state state;
        const char *text;
    } others[] = { { DVI_PROBE_DIFFERS, "differ from the tables" },
                   { DVI_PROBE_FAILED, "could not be measured" },
                   { DVI_PROBE_NEW, "new" },
                   { DVI_PROBE_UNKNOWN, "unknown to this ocloc" } };
    const size_t measured =
        p->counts[DVI_PROBE_AGREES] + p->counts[DVI_PROBE_DIFFERS] + p->counts[DVI_PROBE_NEW];
    fprintf(file, "%s: ocloc %s: %zu of ", p->failed ? "FAIL" : "PASS",
            p->version != NULL ? p->version : "of unknown version", measured);
    dvi_print_count(file, p->targets.count, "target");
    fputs(" measured", file);
    if (p->counts[DVI_PROBE_AGREES] > 0)
        fprintf(file, ", %zu as in the tables", p->counts[DVI_PROBE_AGREES]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (p->counts[others[i].state] > 0)
            fprintf(file, ", %zu %s", p->counts[others[i].state], others[i].text);
    putc('\n', file);
}

static void text(struct dvi_output *out, const struct dvi_probe *p)
{
    static const struct dvi_column columns[] = {
        { "NAME", DVI_LEFT }, { "IP", DVI_LEFT },    { "SUB-GROUP", DVI_LEFT },
        { "FP64", DVI_LEFT }, { "STATE", DVI_LEFT }, { "WHAT", DVI_LEFT },
    };
    dvi_style_on(out, p->failed ? DVI_RED : DVI_GREEN);
    answer(out->file, p);
    dvi_style_off(out);
    if (!out->quiet)
        dvi_table_print(out, columns, sizeof columns / sizeof *columns, table_rows, p);
}

/* What fails, where the answer does not show it to a person. */
static void complain(const struct dvi_output *out, const struct dvi_probe *p, bool no_table)
{
    for (size_t i = 0; i < p->warnings.count; i++) {
        fputs("devimg sycl probe: warning: ", stderr);
        dvi_escape(stderr, p->warnings.items[i]);
        putc('\n', stderr);
    }
    for (size_t i = 0; i < p->targets.count && (no_table || out->json || out->quiet); i++) {
        const struct dvi_probe_target *t = &p->targets.items[i];
        if (t->state == DVI_PROBE_AGREES || t->state == DVI_PROBE_NEW ||
            (t->state == DVI_PROBE_UNKNOWN && !p->failed))
            continue;
        fprintf(stderr, "devimg sycl probe: %s: ", t->name);
        dvi_escape(stderr, t->text);
        putc('\n', stderr);
    }
}

enum dvi_exit dvi_output_sycl_probe(struct dvi_output *out, const struct dvi_probe *probe,
                                    bool as_rows)
{
    if (as_rows)
        rows(out, probe);
    else if (out->json)
        json(out, probe);
    else
        text(out, probe);
    complain(out, probe, as_rows);
    dvi_output_worst(out, probe->failed ? DVI_EXIT_FINDINGS : DVI_EXIT_OK);
    dvi_output_worst(out, dvi_output_close(out->file));
    return out->worst;
}
