/*
 * Iterator: goes through the items of any value that Python can iterate. Generators, which filters
 * such as map return, compute an item when it is asked for, and can be read only once.
 */
#ifndef YK_TOKENIZER_JINJA_ITERATOR_H
#define YK_TOKENIZER_JINJA_ITERATOR_H

#include "tokenizer/jinja/value.h"

struct yk_jinja_iterator {
    /* Sets `*found` to whether there was another item, and `*out` to this item. */
    yk_status (*next)(struct yk_jinja_run *run, struct yk_jinja_iterator *iterator,
                      struct yk_jinja_value *out, bool *found);
    struct yk_jinja_value source;
    int64_t position;
    void *state; /* of a generator */
};

/* Initializes an iterator over the items of a value. Fails if the value cannot be iterated. */
yk_status yk_jinja_iterator_open(struct yk_jinja_value value,
                                 struct yk_jinja_iterator *out) YK_MUST_USE;

/* Returns whether Python can iterate over the value. */
bool yk_jinja_iterator_accepts(struct yk_jinja_value value);

/* Sets `*out` to the number of items, as len() does. Fails if the value has no length. */
yk_status yk_jinja_iterator_count(struct yk_jinja_value value, int64_t *out) YK_MUST_USE;

/* Makes a list of all items. A list or a tuple is not copied; the caller must not change it. */
yk_status yk_jinja_iterator_to_list(struct yk_jinja_run *run, struct yk_jinja_value value,
                                    const struct yk_jinja_list **out) YK_MUST_USE;

/* Makes a value of an iterator over `source`. */
yk_status yk_jinja_iterator_new(struct yk_jinja_run *run, struct yk_jinja_value source,
                                struct yk_jinja_value *out) YK_MUST_USE;

/* Makes the item `index` of a range. The distance to the first item may have more than 63 bits. */
static inline struct yk_jinja_value yk_jinja_iterator_range_item(const struct yk_jinja_range *range,
                                                                 int64_t index)
{
    return yk_jinja_value_int(
        (int64_t)((uint64_t)range->start + (uint64_t)index * (uint64_t)range->step));
}

#endif
