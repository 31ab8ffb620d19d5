/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C, C++ and OpenCL C source text as tokens, in one pass and without memory of its own. Comments
 * are left out; strings, raw strings and character literals are one token each; a line that a
 * backslash continues is one line. Sources: ISO C++20 [lex.phases], [lex.string], [lex.digraph];
 * as gcc and clang do, blanks may stand between the backslash and the line end. No trigraphs.
 */
#ifndef DVI_SYCL_SOURCE_LEX_H
#define DVI_SYCL_SOURCE_LEX_H

#include "base/view.h"

enum dvi_lex_kind {
    DVI_LEX_END,
    DVI_LEX_DIRECTIVE, /* the '#' that starts one: the first token of a line */
    DVI_LEX_LINE_END,  /* of a directive; other lines have none */
    DVI_LEX_NAME,      /* identifiers and keywords */
    DVI_LEX_NUMBER,    /* a preprocessing number */
    DVI_LEX_STRING,    /* raw strings too */
    DVI_LEX_CHARACTER,
    DVI_LEX_PUNCTUATOR
};

/** Punctuators of more than one character; the others are their character, digraphs as what they
 *  stand for. '>' always stands alone, so that lists of template arguments can end. */
enum {
    DVI_LEX_SCOPE = 256, /* :: */
    DVI_LEX_EQUAL,       /* == */
    DVI_LEX_UNEQUAL,     /* != */
    DVI_LEX_LESS_EQUAL,  /* <= */
    DVI_LEX_AND,         /* && */
    DVI_LEX_OR,          /* || */
    DVI_LEX_SHIFT_LEFT,  /* << */
    DVI_LEX_ARROW,       /* -> */
    DVI_LEX_PASTE        /* ## */
};

struct dvi_lexeme {
    enum dvi_lex_kind kind;
    int punctuator;  /* of PUNCTUATOR */
    uint32_t hash;   /* of NAME: dvi_lex_hash() of its text */
    bool spliced;    /* it goes on in another line: see dvi_lex_text() */
    size_t at, size; /* in the source */
    uint64_t line;   /* from 1 */
    uint64_t column; /* in bytes, from 1 */
};

/** Copy it to look ahead. */
struct dvi_lexer {
    struct dvi_view source;
    size_t at, line_start;
    uint64_t line;
    bool in_directive, line_begun;
    const char *open;         /* what has no end, or NULL: the rest of the source is in it */
    struct dvi_lexeme opened; /* where that starts */
};

struct dvi_lexer dvi_lexer_of(struct dvi_view source);
/** The next token; END, again and again, behind the last one. */
void dvi_lex(struct dvi_lexer *lexer, struct dvi_lexeme *out);

/** A directive's name after which the name of a file stands: "include" and its like. */
bool dvi_lex_is_include(const struct dvi_lexer *lexer, const struct dvi_lexeme *token);
/** What stands between "" or <>, behind the name of such a directive; false: no name of a file does,
 *  as where a macro has it. */
bool dvi_lex_header_name(struct dvi_lexer *lexer, struct dvi_view *out);

enum { DVI_LEX_ROOM = 256 };
/** The token without its line splices: in the source, or in `room`, where a longer one is cut. */
struct dvi_view dvi_lex_text(const struct dvi_lexer *lexer, const struct dvi_lexeme *token,
                             char room[DVI_LEX_ROOM]);
bool dvi_lex_is(const struct dvi_lexer *lexer, const struct dvi_lexeme *token, const char *word);
/** True for this punctuator. */
static inline bool dvi_lex_mark(const struct dvi_lexeme *token, int punctuator)
{
    return token->kind == DVI_LEX_PUNCTUATOR && token->punctuator == punctuator;
}
/** True where the source, or the directive at hand, ends. */
static inline bool dvi_lex_ends(const struct dvi_lexeme *token)
{
    return token->kind == DVI_LEX_END || token->kind == DVI_LEX_LINE_END ||
           token->kind == DVI_LEX_DIRECTIVE;
}
/** Go behind the ')' that closes what the lexer is in; false: none does within `most` tokens. */
bool dvi_lex_skip_parens(struct dvi_lexer *lexer, unsigned most);
uint32_t dvi_lex_hash(const char *text, size_t size);

#endif
