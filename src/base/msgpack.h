/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MessagePack, pulled value by value: nothing is allocated, and a count is believed only as far as
 * the bytes that are left could hold so many values.
 */
#ifndef DVI_BASE_MSGPACK_H
#define DVI_BASE_MSGPACK_H

#include "base/view.h"

enum dvi_msgpack_type {
    DVI_MSGPACK_NIL,
    DVI_MSGPACK_BOOL,  /* `number`: 0 or 1 */
    DVI_MSGPACK_UINT,  /* `number` */
    DVI_MSGPACK_INT,   /* negative; `number` is its two's complement */
    DVI_MSGPACK_FLOAT, /* not decoded */
    DVI_MSGPACK_TEXT,  /* `bytes` */
    DVI_MSGPACK_BYTES, /* `bytes`, also of an extension */
    DVI_MSGPACK_ARRAY, /* `number` values follow */
    DVI_MSGPACK_MAP    /* `number` pairs of a key and a value follow */
};

struct dvi_msgpack_item {
    enum dvi_msgpack_type type;
    uint64_t number;
    struct dvi_view bytes;
    uint64_t at; /* of its first byte, in the view that is read */
};

/** The next value, or what starts it where it is an array or a map. TRUNCATED, MALFORMED. */
DEVIMG_CHECKED enum devimg_status dvi_msgpack_next(struct dvi_cursor *c,
                                                   struct dvi_msgpack_item *out,
                                                   struct devimg_error *err);
/** Past one value with all that it holds. */
DEVIMG_CHECKED enum devimg_status dvi_msgpack_skip(struct dvi_cursor *c, struct devimg_error *err);
/** Past what an item holds: nothing, unless it is an array or a map. */
DEVIMG_CHECKED enum devimg_status dvi_msgpack_skip_rest(struct dvi_cursor *c,
                                                        const struct dvi_msgpack_item *item,
                                                        struct devimg_error *err);
/** The next value, which must be of that type: MALFORMED names `what` otherwise. */
DEVIMG_CHECKED enum devimg_status dvi_msgpack_expect(struct dvi_cursor *c,
                                                     enum dvi_msgpack_type type, const char *what,
                                                     struct dvi_msgpack_item *out,
                                                     struct devimg_error *err);

#endif
