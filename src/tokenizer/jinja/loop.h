/* Loop: the variable `loop` inside {% for %}. */
#ifndef YK_TOKENIZER_JINJA_LOOP_H
#define YK_TOKENIZER_JINJA_LOOP_H

#include "tokenizer/jinja/function.h"
#include "tokenizer/jinja/iterator.h"

struct yk_jinja_loop {
    struct yk_jinja_iterator iterator;
    int64_t index0;
    int64_t length; /* -1: not known yet */
    int64_t depth0;
    struct yk_jinja_value current; /* absent before the first item */
    struct yk_jinja_value before;
    struct yk_jinja_value after;             /* read ahead; absent: nothing was read ahead */
    bool finished;                           /* the iterator has no further items */
    struct yk_jinja_value changed;           /* the last arguments of loop.changed() */
    const struct yk_jinja_callable *recurse; /* NULL: the loop is not recursive */
};

/* Initializes a loop over the items of a value. */
yk_status yk_jinja_loop_open(struct yk_jinja_value value, struct yk_jinja_loop *out) YK_MUST_USE;

/* Advances to the next item. */
yk_status yk_jinja_loop_next(struct yk_jinja_run *run, struct yk_jinja_loop *loop,
                             struct yk_jinja_value *out, bool *found) YK_MUST_USE;

/* Sets `*out` to an attribute such as index or last. Sets `*found` to whether there is one with
 * this name. */
yk_status yk_jinja_loop_get(struct yk_jinja_run *run, struct yk_jinja_loop *loop, const char *name,
                            size_t length, struct yk_jinja_value *out, bool *found) YK_MUST_USE;

extern const struct yk_jinja_function_table yk_jinja_loop_methods;

#endif
