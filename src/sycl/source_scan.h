/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one source file says of sub-group sizes: the sizes that it requires, the constants they may
 * be spelled with, and the macros that spell them. Nothing is preprocessed: files that it includes
 * are not opened, and of a conditional both sides count, but for #if 0 and #if 1.
 */
#ifndef DVI_SYCL_SOURCE_SCAN_H
#define DVI_SYCL_SOURCE_SCAN_H

#include "base/arena.h"
#include "sycl/source_lex.h"

enum {
    DVI_SOURCE_MOST_BYTES = 256 << 20,
    DVI_SOURCE_MOST_ITEMS = 500000,
    DVI_SOURCE_MOST_USINGS = 32,
    DVI_SOURCE_MOST_DEPTH = 5000,          /* scopes inside each other */
    DVI_SOURCE_MOST_PATH_BYTES = 64 << 20, /* of all scopes: a name in 1000 others is long */
};

enum dvi_scope_kind {
    DVI_SCOPE_NAMED,    /* a namespace, class or enumeration; the file itself */
    DVI_SCOPE_BLOCK,    /* any other braces */
    DVI_SCOPE_TEMPLATE, /* from "template <...>" to the end of what it declares */
    DVI_SCOPE_MACRO     /* what a #define says */
};

struct dvi_scope {
    uint32_t parent; /* of the file itself: its own index, 0 */
    enum dvi_scope_kind kind;
    const char *path; /* "a::b": of the innermost NAMED one */
    const char *name; /* of a class, a function-like macro, or what a template declares; or NULL */
    const char *const *params;   /* of TEMPLATE and MACRO; "": one without a name */
    const char *const *defaults; /* of TEMPLATE: an expression for each parameter; NULL: none */
    const char *arguments;       /* of a class: those that it is specialized for; NULL: none */
    uint32_t class_at;           /* of a class, and of what is its member: 1 + its CLASS */
    uint32_t param_count;
    uint32_t parens; /* that are open around it */
    uint32_t depth;
    uint32_t macro; /* it, or the one around it, that is a MACRO; 0: none */
    bool is_lambda;
    bool is_member; /* a body outside of the class, or namespace, that `path` is */
};

enum dvi_constant_kind {
    DVI_CONSTANT_VALUE, /* const, constexpr, an enumerator: `text` is an expression */
    DVI_CONSTANT_MACRO, /* #define NAME ...: likewise */
    DVI_CONSTANT_ALIAS, /* another name: `text` is a path */
    DVI_CONSTANT_CLASS  /* a class; `params` are those that it is derived from */
};

struct dvi_constant {
    enum dvi_constant_kind kind;
    const char *name, *text; /* "": of a function that does more than return an expression */
    const char *const *params;
    uint32_t param_count;
    bool is_function; /* VALUE and MACRO: it is called, with `params` */
    uint32_t scope;
    uint32_t hash;     /* of the name */
    uint32_t before;   /* of MACRO: 1 + the macro before it whose name has a like hash; 0: none */
    uint64_t plus;     /* added to the text's value: an enumerator's place behind it */
    size_t begin, end; /* in the file: where it can be used */
    uint64_t line, column;
};

/** How a size is spelled. */
enum dvi_size_form {
    DVI_FORM_ATTRIBUTE,
    DVI_FORM_PROPERTY,
    DVI_FORM_MACRO,
    DVI_FORM_TEMPLATE,
    DVI_FORM_CALL, /* in a macro: its parameter `name` is used as a macro, as "X(8)" */
    DVI_FORM_NAME  /* none: the name of one of the others is handed on, as in "LIST(X)" */
};

/** A size that is required, or, in a macro with parameters, one that its uses require. */
struct dvi_size_request {
    enum dvi_size_form form;
    const char *name;  /* as it stands there: "reqd_sub_group_size", or the macro's or template's */
    const char *text;  /* the expression; NULL: `argument` is not there */
    uint32_t argument; /* of MACRO and TEMPLATE, from 1 */
    uint32_t scope;
    bool no_size;       /* "primary" or "automatic": left to the compiler */
    bool cut;           /* a directive or the end of the text stands inside the size */
    size_t offset, end; /* of NAME and MACRO: behind it */
    uint64_t line, column;
};

/** A condition of a static_assert. */
struct dvi_size_check {
    const char *text;
    uint32_t scope;
    size_t offset;
    uint64_t line, column;
};

/** What is looked for beside the built-in forms: macros and templates. */
struct dvi_source_word {
    const char *name;
    uint32_t argument; /* that holds the size, from 1; 0: as the macro's own definitions have it */
    bool is_template;
    const char *same_as; /* another name of a built-in form: "reqd_sub_group_size"; or NULL */
};
struct dvi_source_words {
    const struct dvi_source_word *items;
    size_t count;
    uint32_t *slots; /* of a hash table: 1 + a place in `entries`; 0: free */
    uint32_t mask;
    struct dvi_word_entry *entries;
};

/** Make the table; free with dvi_source_words_free(). NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_source_words_make(struct dvi_source_words *words,
                                                        struct devimg_error *err);
void dvi_source_words_free(struct dvi_source_words *words);
/** What a name of a macro or attribute is looked for as; false: it is not. */
bool dvi_source_words_find(const struct dvi_source_words *words, struct dvi_view name,
                           struct dvi_source_word *out);

enum { DVI_SOURCE_MOST_WORDS = 4096 };

/** Names that a file may hold: never no where it holds one. */
enum { DVI_SOURCE_NAME_BITS = 16384 };

/** Start with { 0 }; free with dvi_source_free(). */
struct dvi_source {
    struct dvi_arena arena;
    DVI_LIST(struct dvi_scope) scopes;
    DVI_LIST(struct dvi_constant) constants;
    DVI_LIST(struct dvi_size_request) requests;
    DVI_LIST(struct dvi_size_check) checks;
    DVI_LIST(struct dvi_source_word) aliases;   /* "#define A B", B being looked for */
    bool hands_on;                              /* there is a request of the form NAME */
    DVI_LIST(const char *) includes;            /* as written */
    const char *usings[DVI_SOURCE_MOST_USINGS]; /* namespaces; those past the last are not seen */
    uint32_t using_count;
    const char *open; /* a comment or raw string that has no end; NULL: none */
    struct dvi_lexeme opened;
    uint8_t names[DVI_SOURCE_NAME_BITS / 8];
    uint8_t words[DVI_SOURCE_MOST_WORDS / 8]; /* a bit for each of dvi_source_words: it is there */
};

/**
 * Read a source. Free it in any case.
 * @return UNSUPPORTED: no text that is read here (a NUL in it, or another encoding than UTF-8 or
 *         its like); LIMIT: too large, or too many of something; NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_source_scan(struct dvi_view text,
                                                  const struct dvi_source_words *words,
                                                  struct dvi_source *out, struct devimg_error *err);
void dvi_source_free(struct dvi_source *source);
bool dvi_source_may_name(const struct dvi_source *source, const char *name);

/** True when the scope, or one around it, has a template or macro parameter of this name. */
bool dvi_source_is_param(const struct dvi_source *source, uint32_t scope, const char *name,
                         enum dvi_scope_kind of);
/** The macro whose definition the scope is in; NULL: none. */
const struct dvi_scope *dvi_source_macro(const struct dvi_source *source, uint32_t scope);

#endif
