/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a build's compile lines promise: targets and compression, read from compile_commands.json.
 * Source: https://clang.llvm.org/docs/JSONCompilationDatabase.html ("file", "output", and either
 * "arguments" or "command", the latter quoted as a shell would); intel/llvm
 * sycl/doc/UsersManual.md for the options:
 *
 *   -fsycl-targets=A,B                            spir64_gen, spir64, intel_gpu_bmg_g21, ...
 *   -Xsycl-target-backend[=spir64_gen] "-device A,B"
 *   -Xs "-device A,B"
 *   --offload-compress / --no-offload-compress    the last one counts
 *   @FILE                                         words from a file, quoted in the same way
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/policy.h"

enum { MOST_BYTES = 128 << 20, MOST_RESPONSE_BYTES = 16 << 20, MOST_RESPONSES = 256 };

struct reader {
    struct dvi_promises *out;
    struct dvi_arena *arena;  /* of the policy: what stays */
    struct dvi_arena scratch; /* of one command: given back after it */
    const char *path;
    size_t index;       /* of the compile command, from 0 */
    const char *folder; /* it runs there; NULL: not said */
    unsigned responses; /* files that its words came from */
};

static enum devimg_status refuse_entry(const struct reader *r, const char *what,
                                       struct devimg_error *err)
{
    return dvi_fail_plain(err, DEVIMG_MALFORMED, r->path, "compile command %zu: %s", r->index + 1,
                          what);
}

/* ---- words of a command ---- */

struct words {
    DVI_LIST(const char *) list;
};

/* One word of `text` (quotes and backslashes as in a POSIX shell, nothing expanded) written to
 * `out`, which is as large as the text; false: none is left. */
static bool next_word(const char **text, char *out)
{
    const char *p = *text;
    while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')
        p++;
    if (*p == 0)
        return false;
    char quote = 0;
    for (; *p != 0; p++) {
        if (quote == 0 && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
            break;
        if (quote == 0 && (*p == '"' || *p == '\'')) {
            quote = *p;
        } else if (quote != 0 && *p == quote) {
            quote = 0;
        } else if (*p == '\\' && quote != '\'' && p[1] != 0 &&
                   (quote == 0 || p[1] == '"' || p[1] == '\\' || p[1] == '$' || p[1] == '`')) {
            *out++ = *++p;
        } else {
            *out++ = *p;
        }
    }
    *out = 0;
    *text = p;
    return true;
}

static enum devimg_status add_word(struct reader *r, struct words *words, const char *word,
                                   struct devimg_error *err);

static enum devimg_status split(struct reader *r, const char *command, struct words *words,
                                struct devimg_error *err)
{
    /* every word ends with a NUL where the command had a blank or its end: it never grows */
    char *room = dvi_arena_array(&r->scratch, strlen(command) + 2, 1);
    if (room == NULL)
        return dvi_fail_memory(err, r->path);
    while (next_word(&command, room)) {
        DVI_TRY(add_word(r, words, room, err));
        room += strlen(room) + 1;
    }
    return DEVIMG_OK;
}

static enum devimg_status add_response(struct reader *r, struct words *words, const char *file,
                                       struct devimg_error *err)
{
    const bool relative = *file != '/' && r->folder != NULL;
    const char *path = relative ? dvi_arena_format(&r->scratch, "%s/%s", r->folder, file) : file;
    struct dvi_view text = { 0 };
    if (path == NULL)
        return dvi_fail_memory(err, r->path);
    if (r->responses++ == MOST_RESPONSES) /* or they name each other */
        return refuse_entry(r, "more than 256 response files", err);
    DVI_TRY(dvi_read_text(path, MOST_RESPONSE_BYTES, &r->scratch, &text, err));
    const char *command = dvi_arena_text(&r->scratch, text);
    return command != NULL ? split(r, command, words, err) : dvi_fail_memory(err, r->path);
}

static enum devimg_status add_word(struct reader *r, struct words *words, const char *word,
                                   struct devimg_error *err)
{
    if (word[0] == '@' && word[1] != 0)
        return add_response(r, words, word + 1, err);
    const char **added = DVI_ADD(&words->list);
    if (added == NULL)
        return dvi_fail_memory(err, r->path);
    *added = word;
    return DEVIMG_OK;
}

static enum devimg_status words_of(struct reader *r, const json_t *entry, struct words *words,
                                   struct devimg_error *err)
{
    const json_t *arguments = json_object_get(entry, "arguments");
    const char *command = json_string_value(json_object_get(entry, "command"));
    if (arguments == NULL)
        return command != NULL ? split(r, command, words, err)
                               : refuse_entry(r, "neither \"arguments\" nor \"command\"", err);
    if (!json_is_array(arguments) || json_array_size(arguments) == 0)
        return refuse_entry(
            r, json_is_array(arguments) ? "\"arguments\" is empty" : "\"arguments\" is no list",
            err);
    for (size_t i = 0; i < json_array_size(arguments); i++) {
        const char *word = json_string_value(json_array_get(arguments, i));
        if (word == NULL)
            return refuse_entry(r, "\"arguments\" holds what is no text", err);
        DVI_TRY(add_word(r, words, word, err));
    }
    return DEVIMG_OK;
}

/* ---- options of a command ---- */

/* What follows `prefix` in `word`, or NULL. */
static const char *after(const char *word, const char *prefix)
{
    const size_t size = strlen(prefix);
    return strncmp(word, prefix, size) == 0 ? word + size : NULL;
}

/* The entries of -fsycl-targets that name a target by themselves: spir64_gen names none. */
static enum devimg_status take_sycl_targets(struct reader *r, const char *list,
                                            struct dvi_promise *promise, bool *aot,
                                            struct devimg_error *err)
{
    struct dvi_view rest = dvi_view_of(list, strlen(list), r->path), field = { 0 };
    while (dvi_next_field(&rest, ',', &field)) {
        if (dvi_starts_with(field, "spir64_gen", strlen("spir64_gen"))) {
            *aot = true;
            continue;
        }
        const char *name = dvi_arena_text(r->arena, field);
        if (name == NULL)
            return dvi_fail_memory(err, r->path);
        DVI_TRY(dvi_target_set_add(&promise->targets, name, r->arena, err));
    }
    return DEVIMG_OK;
}

/* The lists after "-device" in the one word that goes to ocloc. */
static enum devimg_status take_backend(struct reader *r, const char *options,
                                       struct dvi_promise *promise, struct devimg_error *err)
{
    char *room = dvi_arena_array(&r->scratch, strlen(options) + 2, 1);
    bool is_list = false;
    if (room == NULL)
        return dvi_fail_memory(err, r->path);
    while (next_word(&options, room)) {
        if (is_list) {
            const char *list = dvi_arena_copy(r->arena, room);
            if (list == NULL)
                return dvi_fail_memory(err, r->path);
            DVI_TRY(dvi_target_set_add(&promise->targets, list, r->arena, err));
        }
        is_list = strcmp(room, "-device") == 0;
    }
    return DEVIMG_OK;
}

static bool takes_backend_word(const char *word)
{
    return strcmp(word, "-Xsycl-target-backend") == 0 || strcmp(word, "-Xs") == 0 ||
           after(word, "-Xsycl-target-backend=spir64_gen") != NULL;
}

static enum devimg_status take_words(struct reader *r, const struct words *words,
                                     struct dvi_promise *promise, struct devimg_error *err)
{
    bool aot = false;
    for (size_t i = 0; i < words->list.count; i++) {
        const char *word = words->list.items[i];
        const char *targets = after(word, "-fsycl-targets=");
        if (targets == NULL)
            targets = after(word, "/fsycl-targets=");
        if (targets != NULL)
            DVI_TRY(take_sycl_targets(r, targets, promise, &aot, err));
        else if (strcmp(word, "--offload-compress") == 0)
            promise->compress = true;
        else if (strcmp(word, "--no-offload-compress") == 0)
            promise->compress = false;
    }
    for (size_t i = 0; aot && i + 1 < words->list.count; i++)
        if (takes_backend_word(words->list.items[i]))
            DVI_TRY(take_backend(r, words->list.items[i + 1], promise, err));
    return DEVIMG_OK;
}

/* ---- the file ---- */

static enum devimg_status take_entry(struct reader *r, const json_t *entry,
                                     struct devimg_error *err)
{
    const char *file = json_string_value(json_object_get(entry, "file"));
    struct words words = { 0 };
    if (file == NULL)
        return refuse_entry(r, "no \"file\"", err);
    r->folder = json_string_value(json_object_get(entry, "directory"));
    r->responses = 0;
    struct dvi_promise *promise = DVI_ADD(&r->out->units);
    if (promise == NULL)
        return dvi_fail_memory(err, r->path);
    promise->unit = dvi_arena_copy(r->arena, dvi_base_name(file));
    enum devimg_status st =
        promise->unit != NULL ? words_of(r, entry, &words, err) : dvi_fail_memory(err, r->path);
    if (st == DEVIMG_OK)
        st = take_words(r, &words, promise, err);
    DVI_LIST_FREE(&words.list);
    dvi_arena_free(&r->scratch);
    return st;
}

static int compare_promises(const void *a, const void *b)
{
    const struct dvi_promise *x = a, *y = b;
    return strcmp(x->unit, y->unit);
}

static bool has_target(const struct dvi_target_set *set, const struct devimg_target *target)
{
    for (size_t i = 0; i < set->known.count; i++)
        if (set->known.items[i] == target)
            return true;
    return false;
}

/* Two units of one name, or one unit compiled twice (static and shared): a module that carries the
 * name may come from either, so only what every line promises is promised. */
static enum devimg_status merge_into(struct dvi_promise *unit, struct dvi_promise *other,
                                     struct dvi_arena *arena, struct devimg_error *err)
{
    size_t kept = 0;
    unit->compress = unit->compress && other->compress;
    for (size_t i = 0; i < unit->targets.known.count; i++)
        if (has_target(&other->targets, unit->targets.known.items[i]))
            unit->targets.known.items[kept++] = unit->targets.known.items[i];
    unit->targets.known.count = kept;
    for (size_t i = 0; i < other->targets.unknown.count; i++) /* to be told, not looked for */
        DVI_TRY(dvi_target_set_add(&unit->targets, other->targets.unknown.items[i], arena, err));
    dvi_target_set_free(&other->targets);
    return DEVIMG_OK;
}

static enum devimg_status merge(struct dvi_promises *p, struct dvi_arena *arena,
                                struct devimg_error *err)
{
    size_t kept = 0;
    if (p->units.count > 0)
        qsort(p->units.items, p->units.count, sizeof *p->units.items, compare_promises);
    for (size_t i = 0; i < p->units.count; i++) {
        struct dvi_promise *last = kept > 0 ? &p->units.items[kept - 1] : NULL;
        if (last != NULL && strcmp(last->unit, p->units.items[i].unit) == 0) {
            DVI_TRY(merge_into(last, &p->units.items[i], arena, err));
        } else {
            const struct dvi_promise moved = p->units.items[i];
            p->units.items[i] = (struct dvi_promise){ 0 };
            p->units.items[kept++] = moved;
        }
    }
    p->units.count = kept;
    return DEVIMG_OK;
}

/* Units that promise nothing that devimg can look for. */
static void drop_empty(struct dvi_promises *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->units.count; i++) {
        struct dvi_promise *at = &p->units.items[i];
        if (at->targets.known.count == 0 && at->targets.unknown.count == 0)
            dvi_target_set_free(&at->targets);
        else
            p->units.items[kept++] = *at;
    }
    p->units.count = kept;
}

static enum devimg_status refuse_json(struct reader *r, struct dvi_view text, size_t from,
                                      const json_error_t *problem, struct devimg_error *err)
{
    const size_t at = from + (size_t)(problem->position > 0 ? problem->position : 0);
    struct dvi_spot spot = { .source = r->path, .line = 1, .column = 1, .offset = at };
    for (size_t i = 0; i < at && i < text.size; i++) {
        spot.column = text.data[i] == '\n' ? 1 : spot.column + 1;
        spot.line += text.data[i] == '\n' ? 1 : 0;
    }
    return json_error_code(problem) == json_error_out_of_memory
               ? dvi_fail_memory(err, r->path)
               : dvi_refuse(err, &spot, "%s", problem->text);
}

static size_t skip_blanks(struct dvi_view text, size_t at)
{
    while (at < text.size && memchr(" \t\r\n", text.data[at], 4) != NULL)
        at++;
    return at;
}

/* The byte at `at` must be one of `expected`. */
static enum devimg_status expect(struct reader *r, struct dvi_view text, size_t at,
                                 const char *expected, const char *what, struct devimg_error *err)
{
    json_error_t problem = { .position = 0 };
    if (at < text.size && strchr(expected, text.data[at]) != NULL && text.data[at] != 0)
        return DEVIMG_OK;
    (void)snprintf(problem.text, sizeof problem.text - 1, "expected %s", what);
    return refuse_json(r, text, at, &problem, err);
}

/* One entry after the other: jansson takes 80 times the bytes of a file of many small ones. */
static enum devimg_status read_entries(struct reader *r, struct dvi_view text,
                                       struct devimg_error *err)
{
    size_t at = skip_blanks(text, 0);
    DVI_TRY(expect(r, text, at, "[", "a list of compile commands", err));
    at = skip_blanks(text, at + 1);
    bool is_last = at < text.size && text.data[at] == ']';
    if (is_last)
        at = skip_blanks(text, at + 1);
    for (r->index = 0; !is_last; r->index++) {
        json_error_t problem;
        json_t *entry = json_loadb((const char *)text.data + at, text.size - at,
                                   JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY, &problem);
        if (entry == NULL)
            return refuse_json(r, text, at, &problem, err);
        const enum devimg_status st = take_entry(r, entry, err);
        json_decref(entry);
        DVI_TRY(st);
        at = skip_blanks(text, at + (size_t)problem.position);
        DVI_TRY(expect(r, text, at, ",]", "\",\" or \"]\"", err));
        is_last = text.data[at] == ']';
        at = skip_blanks(text, at + 1);
    }
    return at == text.size ? DEVIMG_OK : expect(r, text, at, "", "the end of the file", err);
}

static enum devimg_status read_database(struct reader *r, struct dvi_view text,
                                        struct devimg_error *err)
{
    DVI_TRY(read_entries(r, text, err));
    DVI_TRY(merge(r->out, r->arena, err));
    drop_empty(r->out);
    return DEVIMG_OK;
}

enum devimg_status dvi_promises_load(struct dvi_promises *out, const char *path,
                                     struct dvi_arena *arena, struct devimg_error *err)
{
    struct dvi_view text = { 0 };
    struct dvi_promises fresh = { 0 };
    struct dvi_arena bytes = { 0 };
    struct reader r = { .out = &fresh, .arena = arena };
    enum devimg_status st = dvi_read_text(path, MOST_BYTES, &bytes, &text, err);
    if (st == DEVIMG_OK) {
        r.path = fresh.path = dvi_arena_copy(arena, path);
        st = r.path != NULL ? read_database(&r, text, err) : dvi_fail_memory(err, path);
    }
    dvi_arena_free(&bytes);
    if (st != DEVIMG_OK) {
        dvi_promises_free(&fresh);
        return st;
    }
    *out = fresh;
    return DEVIMG_OK;
}

void dvi_promises_free(struct dvi_promises *promises)
{
    for (size_t i = 0; i < promises->units.count; i++)
        dvi_target_set_free(&promises->units.items[i].targets);
    DVI_LIST_FREE(&promises->units);
    promises->path = NULL;
}

const struct dvi_promise *dvi_promise_of(const struct dvi_promises *promises, const char *unit)
{
    const struct dvi_promise key = { .unit = dvi_base_name(unit) };
    if (promises->units.count == 0)
        return NULL;
    return bsearch(&key, promises->units.items, promises->units.count,
                   sizeof *promises->units.items, compare_promises);
}
