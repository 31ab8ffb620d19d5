/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of dvi_source_scan() share. */
#ifndef DVI_SYCL_SOURCE_SCANNER_H
#define DVI_SYCL_SOURCE_SCANNER_H

#include "sycl/source_scan.h"

enum dvi_word_id {
    DVI_WORD_NONE,
    DVI_WORD_TEMPLATE,
    DVI_WORD_CLASS,
    DVI_WORD_ENUM,
    DVI_WORD_NAMESPACE,
    DVI_WORD_USING,
    DVI_WORD_CONST,
    DVI_WORD_ASSERT,
    DVI_WORD_REQUIRES,
    DVI_WORD_GNU_ATTRIBUTE,
    DVI_WORD_REQD, /* reqd_sub_group_size(N) */
    DVI_WORD_SIZE, /* sub_group_size(N), sub_group_size<N> */
    DVI_WORD_NAMED_SIZE,
    DVI_WORD_KEY, /* sub_group_size_key::value_t<N> */
    DVI_WORD_USER /* and the place in dvi_source_words.items */
};

/** `*user` is set for USER. */
enum dvi_word_id dvi_word_of(const struct dvi_source_words *words, const struct dvi_lexer *lexer,
                             const struct dvi_lexeme *token, const struct dvi_source_word **user);

/** A name of the built-in form. */
const char *dvi_word_name(enum dvi_word_id id);

/** What the next '{' opens, as far as what stands before it tells. */
struct dvi_pending {
    bool named;
    const char *path, *name;
    const char *arguments; /* as in dvi_scope */
    uint32_t class_at;
    const char *member_of; /* of a function: "a::K" of "void a::K::f(...)"; or NULL */
};

/** A conditional that is open. */
struct dvi_conditional {
    bool outer_dead, dead, known_true;
    bool has_end;
    uint32_t scope, parens; /* where it starts */
    uint32_t end_scope, end_parens;
};

struct dvi_scanner {
    struct dvi_lexer lexer;
    struct dvi_lexeme token, before; /* `before` is of the same macro or of no directive */
    struct dvi_lexeme before_that;
    struct dvi_lexeme path_start; /* of the name whose last "::" was read */
    const struct dvi_source_words *words;
    struct dvi_source *out;
    struct devimg_error *err;
    enum devimg_status status; /* the first that is not OK ends the scan */
    uint32_t scope, parens;
    uint32_t kept;       /* scopes up to this one are referred to */
    unsigned attribute;  /* brackets that are open, of [[...]] */
    bool in_gnu;         /* __attribute__((...)) */
    uint32_t gnu_parens; /* that were open before it */
    uint32_t brackets;   /* of lambdas and subscripts, that are open */
    uint64_t lambdas;    /* a bit each, the innermost lowest: it opens a lambda */
    bool after_lambda;   /* the ']' of a lambda was just read */
    enum { DVI_NO_REQUIRES, DVI_REQUIRES, DVI_REQUIRES_PARENS, DVI_REQUIRES_BRACES } requirement;
    uint32_t requires_parens;
    size_t named_until; /* declarators up to here were read */
    struct dvi_pending pending;
    DVI_LIST(struct dvi_conditional) conditionals;
    uint32_t *macros; /* heads of chains of constants, by the hash of their names; NULL: none yet */
    uint64_t macro_steps;
    size_t path_bytes; /* of all scopes */
};

/** The next token of the source; false: none is left, or the scan failed. */
bool dvi_scanner_next(struct dvi_scanner *s);
void dvi_scanner_fail(struct dvi_scanner *s, enum devimg_status status, const char *what);
/** The scope is referred to from now on. */
uint32_t dvi_scanner_keep(struct dvi_scanner *s);
/** Open a scope in the one at hand; `path` NULL: that of its parent. */
void dvi_scanner_enter(struct dvi_scanner *s, enum dvi_scope_kind kind, const char *path,
                       const char *name);
/** What a named thing of the scope at hand is called, "a::b::name"; NULL: the scan failed. */
const char *dvi_scanner_path(struct dvi_scanner *s, const char *name);
/** Back to the scope around the one at hand, which is forgotten where nothing refers to it. */
void dvi_scanner_leave(struct dvi_scanner *s);
bool dvi_scanner_in_macro(const struct dvi_scanner *s);
/** A word that is looked for is here; NULL: none. */
void dvi_scanner_saw(struct dvi_scanner *s, const struct dvi_source_word *word);
/** In a side of a conditional that no compiler takes. */
bool dvi_scanner_is_dead(const struct dvi_scanner *s);
/** The token at hand becomes the one before; there is none before. */
void dvi_scanner_remember(struct dvi_scanner *s);
void dvi_scanner_forget(struct dvi_scanner *s);

/** An expression while it is copied: tokens with a blank between them. */
struct dvi_spelling {
    char bytes[1024];
    size_t size;
    bool cut;
    bool glue; /* what comes next is put to what is there, as ## does */
};
void dvi_spell(struct dvi_spelling *to, const struct dvi_lexer *lexer,
               const struct dvi_lexeme *token);
void dvi_spell_text(struct dvi_spelling *to, const char *text);
/** What was spelled; one that is too long is a text that is no expression. NULL: no memory. */
const char *dvi_spelled(const struct dvi_spelling *from, struct dvi_arena *arena);

/** Copy a token's text. NULL: no memory, and the scan has failed. */
const char *dvi_scanner_text(struct dvi_scanner *s, const struct dvi_lexer *lexer,
                             const struct dvi_lexeme *token);

/** Add a constant of the scope at hand, or, for `around`, of the file; its name is at `token`.
 *  NULL: none was added. */
struct dvi_constant *dvi_scanner_constant(struct dvi_scanner *s, enum dvi_constant_kind kind,
                                          const char *name, const char *text,
                                          const struct dvi_lexeme *token, bool around);
/** A list of its own; NULL: no memory, and the scan has failed. */
const char *const *dvi_scanner_list(struct dvi_scanner *s, const char *const *items,
                                    uint32_t count);
/** dvi_spelled(); NULL: the scan has failed. */
const char *dvi_scanner_spelled(struct dvi_scanner *s, const struct dvi_spelling *from);

/** The directive whose '#' is at hand, to the end of its line. */
void dvi_scan_directive(struct dvi_scanner *s);
/** The name at hand, whatever it is. */
void dvi_scan_name(struct dvi_scanner *s);
/* Each looks at what the name at hand starts. */
void dvi_scan_template(struct dvi_scanner *s);
void dvi_scan_lambda_params(struct dvi_scanner *s);
void dvi_scan_class(struct dvi_scanner *s);
void dvi_scan_enum(struct dvi_scanner *s);
void dvi_scan_namespace(struct dvi_scanner *s);
void dvi_scan_using(struct dvi_scanner *s);
void dvi_scan_const(struct dvi_scanner *s);
void dvi_scan_assert(struct dvi_scanner *s);
void dvi_scan_size(struct dvi_scanner *s, enum dvi_word_id id, const struct dvi_source_word *user);
/** In a macro: true for its parameter X, also in "X(...)"; and "reqd_ ## x". */
bool dvi_scan_call(struct dvi_scanner *s);
void dvi_scan_paste(struct dvi_scanner *s);

#endif
