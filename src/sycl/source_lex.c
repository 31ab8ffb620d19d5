/* SPDX-License-Identifier: Apache-2.0 */
#include "sycl/source_lex.h"

#include <string.h>

enum class { OTHER, BLANK, NEWLINE, LETTER, DIGIT, QUOTE, APOSTROPHE };

/* Bytes past ASCII are letters of identifiers: UTF-8 is not looked into. */
static enum class class_of(uint8_t c)
{
    static const uint8_t classes[128] = {
        ['\t'] = BLANK, ['\v'] = BLANK, ['\f'] = BLANK, ['\r'] = BLANK, [' '] = BLANK,
        ['\n'] = NEWLINE, ['"'] = QUOTE, ['\''] = APOSTROPHE, ['$'] = LETTER, ['_'] = LETTER,
        ['0'] = DIGIT, ['1'] = DIGIT, ['2'] = DIGIT, ['3'] = DIGIT, ['4'] = DIGIT,
        ['5'] = DIGIT, ['6'] = DIGIT, ['7'] = DIGIT, ['8'] = DIGIT, ['9'] = DIGIT,
        ['A'] = LETTER, ['B'] = LETTER, ['C'] = LETTER, ['D'] = LETTER, ['E'] = LETTER,
        ['F'] = LETTER, ['G'] = LETTER, ['H'] = LETTER, ['I'] = LETTER, ['J'] = LETTER,
        ['K'] = LETTER, ['L'] = LETTER, ['M'] = LETTER, ['N'] = LETTER, ['O'] = LETTER,
        ['P'] = LETTER, ['Q'] = LETTER, ['R'] = LETTER, ['S'] = LETTER, ['T'] = LETTER,
        ['U'] = LETTER, ['V'] = LETTER, ['W'] = LETTER, ['X'] = LETTER, ['Y'] = LETTER,
        ['Z'] = LETTER, ['a'] = LETTER, ['b'] = LETTER, ['c'] = LETTER, ['d'] = LETTER,
        ['e'] = LETTER, ['f'] = LETTER, ['g'] = LETTER, ['h'] = LETTER, ['i'] = LETTER,
        ['j'] = LETTER, ['k'] = LETTER, ['l'] = LETTER, ['m'] = LETTER, ['n'] = LETTER,
        ['o'] = LETTER, ['p'] = LETTER, ['q'] = LETTER, ['r'] = LETTER, ['s'] = LETTER,
        ['t'] = LETTER, ['u'] = LETTER, ['v'] = LETTER, ['w'] = LETTER, ['x'] = LETTER,
        ['y'] = LETTER, ['z'] = LETTER,
    };
    return c < 128 ? (enum class)classes[c] : LETTER;
}

static bool is_word(uint8_t c)
{
    const enum class k = class_of(c);
    return k == LETTER || k == DIGIT;
}

/* FNV-1a, 32 bit: http://www.isthe.com/chongo/tech/comp/fnv/ */
static const uint32_t hash_start = 0x811c9dc5, hash_prime = 0x01000193;

uint32_t dvi_lex_hash(const char *text, size_t size)
{
    uint32_t hash = hash_start;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)text[i]) * hash_prime;
    return hash;
}

struct dvi_lexer dvi_lexer_of(struct dvi_view source)
{
    struct dvi_lexer lexer = { .source = source, .line = 1 };
    if (dvi_starts_with(source, "\xef\xbb\xbf", 3))
        lexer.at = lexer.line_start = 3;
    return lexer;
}

/* The byte at `at`; 0 past the end, which is no part of any token. */
static uint8_t byte_at(const struct dvi_lexer *l, size_t at)
{
    return at < l->source.size ? l->source.data[at] : 0;
}

/* Behind the line end when a line splice starts at `at`; else `at`. */
static size_t behind_splice(const struct dvi_lexer *l, size_t at)
{
    size_t end = at + 1;
    if (byte_at(l, at) != '\\')
        return at;
    while (end < l->source.size && class_of(l->source.data[end]) == BLANK)
        end++;
    return byte_at(l, end) == '\n' ? end + 1 : at;
}

static void new_line(struct dvi_lexer *l, size_t start)
{
    l->line++;
    l->line_start = start;
}

/* Go on behind line splices at the lexer's place; true: there were some. */
static bool skip_splices(struct dvi_lexer *l)
{
    bool any = false;
    for (size_t end; (end = behind_splice(l, l->at)) != l->at; any = true) {
        l->at = end;
        new_line(l, end);
    }
    return any;
}

/* ---- blanks and comments ---- */

static void skip_line_comment(struct dvi_lexer *l)
{
    while (l->at < l->source.size) {
        const uint8_t *from = l->source.data + l->at;
        const uint8_t *end = memchr(from, '\n', l->source.size - l->at);
        l->at = end != NULL ? (size_t)(end - l->source.data) : l->source.size;
        if (end == NULL)
            return;
        const uint8_t *before = end;
        while (before > from && class_of(before[-1]) == BLANK)
            before--;
        if (before == from || before[-1] != '\\')
            return; /* the line end stays: a directive ends there */
        new_line(l, ++l->at);
    }
}

static void skip_block_comment(struct dvi_lexer *l, const struct dvi_lexeme *start)
{
    const uint8_t *data = l->source.data;
    const size_t size = l->source.size;
    size_t at = l->at;
    for (; at < size; at++) {
        if (data[at] == '\n') {
            new_line(l, at + 1);
        } else if (data[at] == '*') {
            size_t next = at + 1; /* "*" and "/" may be two lines apart */
            for (size_t end; (end = behind_splice(l, next)) != next;) {
                next = end;
                new_line(l, end);
            }
            if (byte_at(l, next) == '/') {
                l->at = next + 1;
                return;
            }
            at = next - 1;
        }
    }
    l->at = size;
    l->open = "comment";
    l->opened = *start;
}

static void begin(const struct dvi_lexer *l, struct dvi_lexeme *out)
{
    *out = (struct dvi_lexeme){ .at = l->at, .line = l->line, .column = l->at - l->line_start + 1 };
}

/* True when a comment starts here; it is skipped. */
static bool skip_comment(struct dvi_lexer *l)
{
    struct dvi_lexeme start;
    const struct dvi_lexer before = *l;
    begin(l, &start);
    l->at++;
    (void)skip_splices(l);
    const uint8_t next = byte_at(l, l->at);
    if (next != '/' && next != '*') {
        *l = before;
        return false;
    }
    l->at++;
    if (next == '/')
        skip_line_comment(l);
    else
        skip_block_comment(l, &start);
    return true;
}

/* Up to the next token, or the line end of a directive. */
static void skip_blanks(struct dvi_lexer *l)
{
    while (l->at < l->source.size) {
        const uint8_t c = l->source.data[l->at];
        if (c == ' ' || class_of(c) == BLANK || c == 0) {
            l->at++;
        } else if (c == '\n') {
            if (l->in_directive)
                return;
            new_line(l, ++l->at);
            l->line_begun = false;
        } else if (c == '/') {
            if (!skip_comment(l))
                return;
        } else if (c != '\\' || !skip_splices(l)) {
            return;
        }
    }
}

/* ---- tokens ---- */

static void lex_name(struct dvi_lexer *l, struct dvi_lexeme *out)
{
    uint32_t hash = hash_start;
    const uint8_t *data = l->source.data;
    const size_t size = l->source.size;
    out->kind = DVI_LEX_NAME;
    for (;;) {
        size_t at = l->at;
        for (; at < size && is_word(data[at]); at++)
            hash = (hash ^ data[at]) * hash_prime;
        l->at = at;
        if (at >= size || data[at] != '\\')
            break;
        struct dvi_lexer ahead = *l; /* a splice that no letter follows is not of the name */
        if (!skip_splices(&ahead) || !is_word(byte_at(&ahead, ahead.at)))
            break;
        *l = ahead;
        out->spliced = true;
    }
    out->hash = hash;
}

static bool is_exponent(uint8_t c)
{
    return c == 'e' || c == 'E' || c == 'p' || c == 'P';
}

static void lex_number(struct dvi_lexer *l, struct dvi_lexeme *out)
{
    uint8_t before = 0;
    out->kind = DVI_LEX_NUMBER;
    while (l->at < l->source.size) {
        const uint8_t c = l->source.data[l->at];
        const bool sign = (c == '+' || c == '-') && is_exponent(before);
        const bool separator = c == '\'' && is_word(byte_at(l, l->at + 1));
        if (c == '\\') {
            struct dvi_lexer ahead = *l;
            if (!skip_splices(&ahead) || !is_word(byte_at(&ahead, ahead.at)))
                break;
            *l = ahead;
            out->spliced = true;
            continue;
        }
        if (!is_word(c) && c != '.' && !sign && !separator)
            break;
        before = c;
        l->at++;
    }
}

/* A string or character literal; without an end it ends with its line. */
static void lex_quoted(struct dvi_lexer *l, struct dvi_lexeme *out, uint8_t quote)
{
    out->kind = quote == '"' ? DVI_LEX_STRING : DVI_LEX_CHARACTER;
    l->at++;
    while (l->at < l->source.size && l->source.data[l->at] != '\n') {
        const uint8_t c = l->source.data[l->at];
        if (c == '\\' && skip_splices(l)) {
            out->spliced = true;
            continue;
        }
        l->at++;
        if (c == quote)
            return;
        if (c != '\\')
            continue;
        if (skip_splices(l)) /* an escape over two lines */
            out->spliced = true;
        if (l->at < l->source.size && l->source.data[l->at] != '\n')
            l->at++;
    }
}

/* R"mark( ... )mark": false where what follows R is no raw string. */
static bool lex_raw_string(struct dvi_lexer *l, struct dvi_lexeme *out)
{
    enum { MOST_MARK = 16 };
    const uint8_t *data = l->source.data, *mark = data + l->at + 1;
    const size_t size = l->source.size;
    size_t mark_size = 0, at = l->at + 1;
    for (; at < size && data[at] != '('; at++, mark_size++)
        if (mark_size == MOST_MARK || class_of(data[at]) == BLANK || data[at] == '\n' ||
            data[at] == ')' || data[at] == '\\' || data[at] == '"')
            return false;
    if (at >= size)
        return false;
    out->kind = DVI_LEX_STRING;
    for (at++; at < size; at++) {
        if (data[at] == '\n')
            new_line(l, at + 1);
        if (data[at] != ')' || mark_size + 1 >= size - at || data[at + 1 + mark_size] != '"' ||
            memcmp(data + at + 1, mark, mark_size) != 0)
            continue;
        l->at = at + mark_size + 2;
        return true;
    }
    l->at = size;
    l->open = "raw string";
    l->opened = *out;
    return true;
}

/* Is the name that was just read the prefix of a raw string? */
static bool is_raw_prefix(const struct dvi_lexer *l, const struct dvi_lexeme *name)
{
    static const char *const prefixes[] = { "R", "u8R", "uR", "UR", "LR" };
    if (byte_at(l, l->at) != '"')
        return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (dvi_lex_is(l, name, prefixes[i]))
            return true;
    return false;
}

static const struct pair {
    char first, second;
    int punctuator;
} pairs[] = {
    { ':', ':', DVI_LEX_SCOPE },
    { '=', '=', DVI_LEX_EQUAL },
    { '!', '=', DVI_LEX_UNEQUAL },
    { '<', '=', DVI_LEX_LESS_EQUAL },
    { '&', '&', DVI_LEX_AND },
    { '|', '|', DVI_LEX_OR },
    { '<', '<', DVI_LEX_SHIFT_LEFT },
    { '-', '>', DVI_LEX_ARROW },
    { '#', '#', DVI_LEX_PASTE },
    { '<', ':', '[' },
    { ':', '>', ']' },
    { '<', '%', '{' },
    { '%', '>', '}' },
    { '%', ':', '#' },
};

/* "<::" is "<" and "::", unless ':' or '>' follows: [lex.pptoken]. */
static bool is_less_and_scope(const struct dvi_lexer *l)
{
    const uint8_t behind = byte_at(l, l->at + 2);
    return byte_at(l, l->at + 1) == ':' && behind != ':' && behind != '>';
}

static void lex_punctuator(struct dvi_lexer *l, struct dvi_lexeme *out)
{
    const uint8_t c = l->source.data[l->at];
    out->kind = DVI_LEX_PUNCTUATOR;
    out->punctuator = c;
    l->at++;
    if (strchr(":=!<&|-#%", c) == NULL || c == 0)
        return;
    struct dvi_lexer ahead = *l;
    out->spliced = skip_splices(&ahead);
    const uint8_t next = byte_at(&ahead, ahead.at);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i].first != (char)c || pairs[i].second != (char)next)
            continue;
        if (c == '<' && next == ':' && !out->spliced && is_less_and_scope(&ahead))
            return;
        out->punctuator = pairs[i].punctuator;
        *l = ahead;
        l->at++;
        return;
    }
    out->spliced = false;
}

static void lex_token(struct dvi_lexer *l, struct dvi_lexeme *out)
{
    const uint8_t c = l->source.data[l->at];
    switch (class_of(c)) {
    case LETTER:
        lex_name(l, out);
        out->size = l->at - out->at;
        if (is_raw_prefix(l, out))
            (void)lex_raw_string(l, out);
        return;
    case DIGIT: lex_number(l, out); return;
    case QUOTE:
    case APOSTROPHE: lex_quoted(l, out, c); return;
    default: break;
    }
    if (c == '.' && class_of(byte_at(l, l->at + 1)) == DIGIT)
        lex_number(l, out);
    else
        lex_punctuator(l, out);
}

void dvi_lex(struct dvi_lexer *l, struct dvi_lexeme *out)
{
    skip_blanks(l);
    begin(l, out);
    if (l->at >= l->source.size) {
        out->kind = l->in_directive ? DVI_LEX_LINE_END : DVI_LEX_END;
        l->in_directive = false;
        return;
    }
    if (l->source.data[l->at] == '\n') { /* of a directive */
        out->kind = DVI_LEX_LINE_END;
        l->in_directive = l->line_begun = false;
        new_line(l, ++l->at);
        return;
    }
    lex_token(l, out);
    out->size = l->at - out->at;
    if (!l->line_begun && dvi_lex_mark(out, '#')) {
        out->kind = DVI_LEX_DIRECTIVE;
        l->in_directive = true;
    }
    l->line_begun = true;
}

/* ---- text ---- */

struct dvi_view dvi_lex_text(const struct dvi_lexer *l, const struct dvi_lexeme *token,
                             char room[DVI_LEX_ROOM])
{
    const struct dvi_view raw = dvi_head(dvi_from(l->source, token->at), token->size);
    size_t used = 0;
    if (!token->spliced)
        return raw;
    for (size_t at = token->at; at < token->at + token->size && used < DVI_LEX_ROOM - 1;) {
        const size_t end = behind_splice(l, at);
        if (end == at)
            room[used++] = (char)l->source.data[at++];
        at = end > at ? end : at;
    }
    room[used] = 0;
    return (struct dvi_view){ (const uint8_t *)room, used, raw.offset, raw.source };
}

bool dvi_lex_is(const struct dvi_lexer *l, const struct dvi_lexeme *token, const char *word)
{
    char room[DVI_LEX_ROOM];
    return token->kind == DVI_LEX_NAME && dvi_equals(dvi_lex_text(l, token, room), word);
}

bool dvi_lex_is_include(const struct dvi_lexer *l, const struct dvi_lexeme *token)
{
    return dvi_lex_is(l, token, "include") || dvi_lex_is(l, token, "include_next") ||
           dvi_lex_is(l, token, "import");
}

bool dvi_lex_header_name(struct dvi_lexer *l, struct dvi_view *out)
{
    skip_blanks(l);
    const uint8_t open = byte_at(l, l->at), close = open == '<' ? '>' : '"';
    if (open != '<' && open != '"')
        return false;
    const struct dvi_view rest = dvi_from(l->source, l->at + 1);
    const uint8_t *end = memchr(rest.data, close, rest.size);
    const size_t size = end != NULL ? (size_t)(end - rest.data) : 0;
    if (size == 0 || memchr(rest.data, '\n', size) != NULL)
        return false;
    l->at += size + 2;
    *out = dvi_head(rest, size);
    return true;
}

bool dvi_lex_skip_parens(struct dvi_lexer *lexer, unsigned most)
{
    struct dvi_lexeme t;
    unsigned depth = 1;
    for (unsigned i = 0; i < most && depth > 0; i++) {
        dvi_lex(lexer, &t);
        if (dvi_lex_ends(&t))
            return false;
        depth += dvi_lex_mark(&t, '(');
        depth -= dvi_lex_mark(&t, ')');
    }
    return depth == 0;
}
