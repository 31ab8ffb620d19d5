/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compile_commands.json and the words in it.
 * Source: https://clang.llvm.org/docs/JSONCompilationDatabase.html ("file", "output", and either
 * "arguments" or "command", the latter quoted as a shell would); intel/llvm
 * sycl/doc/UsersManual.md for the options:
 *
 *   -fsycl-targets=A,B                            spir64_gen, spir64, intel_gpu_bmg_g21, ...
 *   -Xsycl-target-backend[=spir64_gen] "-device A,B"
 *   -Xs "-device A,B"
 *   --offload-arch=A,B, --cuda-gpu-arch=A, --no-offload-arch=A|all      gfx90a:xnack+, sm_80, native
 *   -Xclang WORD, -Xlinker WORD, ...              words that the compiler hands on
 *   @FILE                                         words from a file, quoted in the same way
 */
#include "check/compile_lines.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "check/policy.h"

enum {
    MOST_BYTES = 128 << 20,
    MOST_COMMAND_BYTES = 4 << 20, /* Linux takes 2 MiB of words at most */
    MOST_RESPONSE_BYTES = 16 << 20,
    MOST_RESPONSES = 256,
    KEPT_RESPONSES = 4 /* many commands name the same file */
};

/* A response file that was read before, as UTF-8. */
struct response {
    struct dvi_arena arena; /* of the rest */
    const char *path, *text;
    size_t size;
};

struct reader {
    const char *path;
    struct dvi_arena scratch; /* of one command: given back after it */
    size_t index;             /* of the command, from 0 */
    const char *folder;       /* it runs there; NULL: not said */
    unsigned responses;       /* files that its words came from */
    size_t response_bytes;    /* and how long they are, together */
    struct response kept[KEPT_RESPONSES];
    unsigned oldest; /* of them: the next to make room */
    bool open_quote;
    dvi_take_line *take;
    void *context;
};

struct words {
    DVI_LIST(const char *) list;
};

static enum devimg_status refuse_entry(const struct reader *r, enum devimg_status status,
                                       const char *what, struct devimg_error *err)
{
    if (r->path == NULL)
        return dvi_fail_plain(err, status, "", "%s", what);
    return dvi_fail_plain(err, status, r->path, "compile command %zu: %s", r->index + 1, what);
}

static enum devimg_status fail_memory(const struct reader *r, struct devimg_error *err)
{
    return dvi_fail_memory(err, r->path != NULL ? r->path : "");
}

/* ---- words of a command ---- */

bool dvi_next_shell_word(const char **text, char *out, bool *open_quote)
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
    *open_quote = *open_quote || quote != 0;
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
        return fail_memory(r, err);
    while (dvi_next_shell_word(&command, room, &r->open_quote)) {
        DVI_TRY(add_word(r, words, room, err));
        room += strlen(room) + 1;
    }
    return DEVIMG_OK;
}

/* One code unit of UTF-16 at `at`. NULs at the end of the file are not in the view. */
static uint32_t unit_at(struct dvi_view v, size_t at, bool big)
{
    const uint32_t first = at < v.size ? v.data[at] : 0;
    const uint32_t second = at + 1 < v.size ? v.data[at + 1] : 0;
    return big ? first << 8 | second : second << 8 | first;
}

static char *put_utf8(char *out, uint32_t point)
{
    if (point < 0x80) {
        *out++ = (char)point;
        return out;
    }
    const unsigned more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const uint8_t first[] = { 0, 0xc0, 0xe0, 0xf0 };
    *out++ = (char)(first[more] | point >> 6 * more);
    for (unsigned i = more; i-- > 0;)
        *out++ = (char)(0x80 | (point >> 6 * i & 0x3f));
    return out;
}

/* UTF-16 as UTF-8, which takes 3 bytes at most for 2. */
static enum devimg_status from_utf16(struct response *to, struct dvi_view v, bool big,
                                     struct devimg_error *err)
{
    char *room = dvi_arena_array(&to->arena, v.size / 2 * 3 + 4, 1), *out = room;
    if (room == NULL)
        return dvi_fail_memory(err, v.source);
    for (size_t at = 0; at < v.size; at += 2) {
        const size_t start = at;
        uint32_t point = unit_at(v, at, big);
        if (point >= 0xd800 && point < 0xdc00) {
            const uint32_t low = unit_at(v, at + 2, big);
            at += 2;
            point = low >= 0xdc00 && low < 0xe000
                        ? 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00)
                        : 0xd800;
        }
        if (point >= 0xd800 && point < 0xe000)
            return dvi_fail(err, DEVIMG_MALFORMED, v, start,
                            "response file: starts as UTF-16, and holds half a surrogate pair");
        out = put_utf8(out, point);
    }
    to->text = room;
    to->size = (size_t)(out - room);
    return DEVIMG_OK;
}

/* The bytes of a response file as text: UTF-8, or UTF-16 that says so, as LLVM takes them. */
static enum devimg_status decode(struct response *to, struct dvi_view v, struct devimg_error *err)
{
    const bool big = dvi_starts_with(v, "\xfe\xff", 2);
    if (big || dvi_starts_with(v, "\xff\xfe", 2)) {
        DVI_TRY(from_utf16(to, dvi_from(v, 2), big, err));
    } else {
        v = dvi_from(v, dvi_starts_with(v, "\xef\xbb\xbf", 3) ? 3 : 0);
        to->text = dvi_arena_text(&to->arena, v);
        to->size = v.size;
        if (to->text == NULL)
            return dvi_fail_memory(err, v.source);
    }
    if (strlen(to->text) < to->size)
        return dvi_fail(err, DEVIMG_MALFORMED, v, strlen(to->text),
                        "response file: no text, it holds a NUL behind %zu of %zu bytes",
                        strlen(to->text), to->size);
    return DEVIMG_OK;
}

static enum devimg_status read_response(struct response *to, const char *path,
                                        struct devimg_error *err)
{
    struct dvi_view bytes = { 0 };
    struct dvi_arena whole = { 0 };
    enum devimg_status st = dvi_read_text(path, MOST_RESPONSE_BYTES, &whole, &bytes, err);
    if (st == DEVIMG_OK)
        st = decode(to, bytes, err);
    dvi_arena_free(&whole);
    to->path = dvi_arena_copy(&to->arena, path);
    return st == DEVIMG_OK && to->path == NULL ? dvi_fail_memory(err, path) : st;
}

/* The file, read now or before. */
static enum devimg_status find_response(struct reader *r, const char *path,
                                        const struct response **out, struct devimg_error *err)
{
    for (size_t i = 0; i < KEPT_RESPONSES; i++)
        if (r->kept[i].path != NULL && strcmp(r->kept[i].path, path) == 0) {
            *out = &r->kept[i];
            return DEVIMG_OK;
        }
    struct response *to = &r->kept[r->oldest];
    r->oldest = (r->oldest + 1) % KEPT_RESPONSES;
    dvi_arena_free(&to->arena);
    *to = (struct response){ 0 };
    const enum devimg_status st = read_response(to, path, err);
    *out = to;
    if (st != DEVIMG_OK)
        to->path = NULL;
    return st;
}

static void forget_responses(struct reader *r)
{
    for (size_t i = 0; i < KEPT_RESPONSES; i++)
        dvi_arena_free(&r->kept[i].arena);
}

static enum devimg_status add_response(struct reader *r, struct words *words, const char *file,
                                       struct devimg_error *err)
{
    const bool relative = *file != '/' && r->folder != NULL;
    const char *path = relative ? dvi_arena_format(&r->scratch, "%s/%s", r->folder, file) : file;
    const struct response *response = NULL;
    if (path == NULL)
        return fail_memory(r, err);
    if (r->responses++ == MOST_RESPONSES) /* or they name each other */
        return refuse_entry(r, DEVIMG_MALFORMED, "more than 256 response files", err);
    DVI_TRY(find_response(r, path, &response, err));
    r->response_bytes += response->size;
    if (r->response_bytes > MOST_RESPONSE_BYTES)
        return refuse_entry(r, DEVIMG_LIMIT, "more than 16 MiB of response files", err);
    return split(r, response->text, words, err);
}

static enum devimg_status add_word(struct reader *r, struct words *words, const char *word,
                                   struct devimg_error *err)
{
    if (word[0] == '@' && word[1] != 0)
        return add_response(r, words, word + 1, err);
    const char **added = DVI_ADD(&words->list);
    if (added == NULL)
        return fail_memory(r, err);
    *added = word;
    return DEVIMG_OK;
}

static enum devimg_status words_of(struct reader *r, const json_t *entry, struct words *words,
                                   struct devimg_error *err)
{
    const json_t *arguments = json_object_get(entry, "arguments");
    const char *command = json_string_value(json_object_get(entry, "command"));
    if (json_string_value(json_object_get(entry, "file")) == NULL)
        return refuse_entry(r, DEVIMG_MALFORMED, "no \"file\"", err);
    if (arguments == NULL)
        return command != NULL ? split(r, command, words, err)
                               : refuse_entry(r, DEVIMG_MALFORMED,
                                              "neither \"arguments\" nor \"command\"", err);
    if (!json_is_array(arguments) || json_array_size(arguments) == 0)
        return refuse_entry(
            r, DEVIMG_MALFORMED,
            json_is_array(arguments) ? "\"arguments\" is empty" : "\"arguments\" is no list", err);
    for (size_t i = 0; i < json_array_size(arguments); i++) {
        const char *word = json_string_value(json_array_get(arguments, i));
        if (word == NULL)
            return refuse_entry(r, DEVIMG_MALFORMED, "\"arguments\" holds what is no text", err);
        DVI_TRY(add_word(r, words, word, err));
    }
    return DEVIMG_OK;
}

/* Hand a command over and forget it; `status` is how its words could be read. */
static enum devimg_status give(struct reader *r, const char *file, struct words *words,
                               enum devimg_status status, struct devimg_error *err)
{
    const struct dvi_compile_line line = {
        .path = r->path,
        .index = r->index,
        .file = file,
        .folder = r->folder,
        .words = words->list.items,
        .count = status == DEVIMG_OK ? words->list.count : 0,
        .open_quote = r->open_quote,
        .scratch = &r->scratch,
    };
    const enum devimg_status st = r->take(r->context, &line, status, err);
    DVI_LIST_FREE(&words->list);
    dvi_arena_free(&r->scratch);
    return st;
}

static enum devimg_status take_entry(struct reader *r, const json_t *entry,
                                     struct devimg_error *err)
{
    struct words words = { 0 };
    r->folder = json_string_value(json_object_get(entry, "directory"));
    r->responses = 0;
    r->response_bytes = 0;
    r->open_quote = false;
    const enum devimg_status st = words_of(r, entry, &words, err);
    return give(r, json_string_value(json_object_get(entry, "file")), &words, st, err);
}

enum devimg_status dvi_compile_line_take(const char *const *words, size_t count,
                                         dvi_take_line *take, void *context,
                                         struct devimg_error *err)
{
    struct reader r = { .take = take, .context = context };
    struct words list = { 0 };
    enum devimg_status st = DEVIMG_OK;
    for (size_t i = 0; i < count && st == DEVIMG_OK; i++)
        st = add_word(&r, &list, words[i], err);
    st = give(&r, NULL, &list, st, err);
    forget_responses(&r);
    return st;
}

/* ---- the file ---- */

static enum devimg_status refuse_json(struct reader *r, struct dvi_view text, size_t from,
                                      const json_error_t *problem, struct devimg_error *err)
{
    const size_t at = from + (size_t)(problem->position > 0 ? problem->position : 0);
    struct dvi_spot spot = { .source = r->path, .line = 1, .column = 1, .offset = at };
    for (size_t i = 0; i < at && i < text.size; i++) {
        spot.column = text.data[i] == '\n' ? 1 : spot.column + 1;
        spot.line += text.data[i] == '\n' ? 1 : 0;
    }
    /* jansson has words for every fault of a text, and none where it gets no memory */
    if (json_error_code(problem) == json_error_out_of_memory || problem->text[0] == '\0')
        return dvi_fail_memory(err, r->path);
    return dvi_refuse(err, &spot, "%s", problem->text);
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

/* jansson takes up to 80 times the bytes of what it reads: it is given one command at most. */
static enum devimg_status read_entry(struct reader *r, struct dvi_view text, size_t *at,
                                     struct devimg_error *err)
{
    json_error_t problem;
    const size_t left = text.size - *at;
    const size_t size = left < MOST_COMMAND_BYTES ? left : MOST_COMMAND_BYTES;
    json_t *entry = json_loadb((const char *)text.data + *at, size,
                               JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY, &problem);
    if (entry == NULL && size < left &&
        json_error_code(&problem) == json_error_premature_end_of_input)
        return refuse_entry(r, DEVIMG_LIMIT, "more than 4 MiB", err);
    if (entry == NULL)
        return refuse_json(r, text, *at, &problem, err);
    const enum devimg_status st = take_entry(r, entry, err);
    json_decref(entry);
    *at += (size_t)problem.position;
    return st;
}

/* One entry after the other. */
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
        DVI_TRY(read_entry(r, text, &at, err));
        at = skip_blanks(text, at);
        DVI_TRY(expect(r, text, at, ",]", "\",\" or \"]\"", err));
        is_last = text.data[at] == ']';
        at = skip_blanks(text, at + 1);
    }
    return at == text.size ? DEVIMG_OK : expect(r, text, at, "", "the end of the file", err);
}

enum devimg_status dvi_compile_lines_take(const char *path, struct dvi_view text,
                                          dvi_take_line *take, void *context,
                                          struct devimg_error *err)
{
    struct reader r = { .path = path, .take = take, .context = context };
    const enum devimg_status st = read_entries(&r, text, err);
    forget_responses(&r);
    return st;
}

enum devimg_status dvi_compile_lines_read(const char *path, dvi_take_line *take, void *context,
                                          struct devimg_error *err)
{
    struct dvi_view text = { 0 };
    struct dvi_arena bytes = { 0 };
    enum devimg_status st = dvi_read_text(path, MOST_BYTES, &bytes, &text, err);
    if (st == DEVIMG_OK)
        st = dvi_compile_lines_take(path, text, take, context, err);
    dvi_arena_free(&bytes);
    return st;
}

/* ---- options ---- */

const char *dvi_word_after(const char *word, const char *option)
{
    const size_t size = strlen(option);
    if ((word[0] != '-' && word[0] != '/') || word[1] != *option) /* most words, without a call */
        return NULL;
    return strncmp(word + 1, option, size) == 0 ? word + 1 + size : NULL;
}

static enum dvi_backend_word backend_of(const char *word)
{
    const char *rest = dvi_word_after(word, "Xs");
    if (rest == NULL)
        return DVI_BACKEND_NONE;
    if (*rest == 0)
        return DVI_BACKEND_XS;
    rest = dvi_word_after(word, "Xsycl-target-backend");
    if (rest == NULL || (*rest != 0 && *rest != '='))
        return DVI_BACKEND_NONE;
    if (*rest == 0)
        return DVI_BACKEND_UNQUALIFIED;
    return strncmp(rest, "=spir64_gen", strlen("=spir64_gen")) == 0 ? DVI_BACKEND_GEN
                                                                    : DVI_BACKEND_OTHER;
}

/* Options that hand their next word on; those with a '=' name the target that it is for. Source:
 * clang/include/clang/Driver/Options.td (Options/Options.td), "Separate" and "JoinedAndSeparate". */
static bool hands_on(const char *word)
{
    static const char *const plain[] = { "Xclang",        "Xlinker",     "Xassembler",
                                         "Xpreprocessor", "Xarch_host",  "Xarch_device",
                                         "mllvm",         "Xcuda-ptxas", "Xcuda-fatbinary" };
    static const char *const targeted[] = { "Xsycl-target-frontend", "Xsycl-target-linker",
                                            "Xopenmp-target" };
    const char *rest = NULL;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if ((rest = dvi_word_after(word, plain[i])) != NULL && *rest == 0)
            return true;
    for (size_t i = 0; i < sizeof targeted / sizeof *targeted; i++)
        if ((rest = dvi_word_after(word, targeted[i])) != NULL && (*rest == 0 || *rest == '='))
            return true;
    return false;
}

bool dvi_line_next(const struct dvi_compile_line *line, size_t *at, struct dvi_line_word *out)
{
    if (*at >= line->count)
        return false;
    const char *word = line->words[(*at)++];
    *out = (struct dvi_line_word){ .word = word, .backend = backend_of(word) };
    out->takes_value = out->backend != DVI_BACKEND_NONE || hands_on(word);
    if (out->takes_value && *at < line->count)
        out->value = line->words[(*at)++];
    return true;
}

struct dvi_line_facts dvi_line_facts(const struct dvi_compile_line *line)
{
    struct dvi_line_facts facts = { 0 };
    struct dvi_line_word w = { 0 };
    for (size_t at = 0; dvi_line_next(line, &at, &w);) {
        const char *targets = dvi_word_after(w.word, "fsycl-targets=");
        if (targets != NULL)
            facts.sycl_targets = targets;
        else if (strcmp(w.word, "--offload-compress") == 0)
            facts.compress = true;
        else if (strcmp(w.word, "--no-offload-compress") == 0)
            facts.compress = false;
    }
    return facts;
}

bool dvi_names_no_gpu(struct dvi_view entry)
{
    return dvi_starts_with(entry, "spir64_gen", strlen("spir64_gen"));
}

/* The lists of the one word that goes to ocloc, which splits it again. */
static enum devimg_status take_devices(const char *options, struct dvi_target_set *set,
                                       struct dvi_arena *arena, struct dvi_arena *scratch,
                                       struct devimg_error *err)
{
    char *room = dvi_arena_array(scratch, strlen(options) + 2, 1);
    bool is_list = false, open_quote = false;
    if (room == NULL)
        return dvi_fail_memory(err, "-device");
    while (dvi_next_shell_word(&options, room, &open_quote)) {
        if (is_list) {
            const char *list = dvi_arena_copy(arena, room);
            if (list == NULL)
                return dvi_fail_memory(err, "-device");
            DVI_TRY(dvi_target_set_add(set, list, arena, err));
        }
        is_list = strcmp(room, "-device") == 0;
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_line_devices(const struct dvi_compile_line *line, struct dvi_target_set *set,
                                    struct dvi_arena *arena, struct devimg_error *err)
{
    struct dvi_line_word w = { 0 };
    for (size_t at = 0; dvi_line_next(line, &at, &w);)
        if (w.backend != DVI_BACKEND_NONE && w.backend != DVI_BACKEND_OTHER && w.value != NULL)
            DVI_TRY(take_devices(w.value, set, arena, line->scratch, err));
    return DEVIMG_OK;
}

/* The GPUs that a line asks for so far. */
struct archs {
    DVI_LIST(struct dvi_view) names;
};

static bool is_same_arch(struct dvi_view a, struct dvi_view b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static void take_away(struct archs *archs, struct dvi_view name)
{
    size_t kept = 0;
    for (size_t i = 0; i < archs->names.count; i++)
        if (!dvi_equals(name, "all") && !is_same_arch(archs->names.items[i], name))
            archs->names.items[kept++] = archs->names.items[i];
    archs->names.count = kept;
}

/* "A,B" behind an option with two dashes: with one, clang takes it for another option. */
static bool add_archs(struct archs *archs, const char *list, bool away)
{
    struct dvi_view rest = dvi_view_of(list, strlen(list), ""), name = { 0 };
    while (dvi_next_field(&rest, ',', &name)) {
        take_away(archs, name);
        if (away || name.size == 0 || dvi_equals(name, "native"))
            continue;
        struct dvi_view *added = DVI_ADD(&archs->names);
        if (added == NULL)
            return false;
        *added = name;
    }
    return true;
}

static bool read_archs(const struct dvi_compile_line *line, struct archs *archs)
{
    static const struct {
        const char *option;
        bool away;
    } options[] = { { "-offload-arch=", false },
                    { "-cuda-gpu-arch=", false },
                    { "-no-offload-arch=", true },
                    { "-no-cuda-gpu-arch=", true } };
    struct dvi_line_word w = { 0 };
    for (size_t at = 0; dvi_line_next(line, &at, &w);)
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            const char *list = w.word[0] == '-' ? dvi_word_after(w.word, options[i].option) : NULL;
            if (list != NULL && !add_archs(archs, list, options[i].away))
                return false;
        }
    return true;
}

enum devimg_status dvi_line_archs(const struct dvi_compile_line *line, struct dvi_target_set *set,
                                  struct dvi_arena *arena, struct devimg_error *err)
{
    struct archs archs = { 0 };
    enum devimg_status status = DEVIMG_OK;
    if (!read_archs(line, &archs))
        status = dvi_fail_memory(err, "--offload-arch");
    for (size_t i = 0; status == DEVIMG_OK && i < archs.names.count; i++) {
        const char *name = dvi_arena_text(arena, archs.names.items[i]);
        status = name != NULL ? dvi_target_set_add(set, name, arena, err)
                              : dvi_fail_memory(err, "--offload-arch");
    }
    DVI_LIST_FREE(&archs.names);
    return status;
}
