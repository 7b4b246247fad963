/*
 * Dict: an ordered dictionary. Keys are what Python can hash: none, booleans, numbers, strings and
 * tuples of these; 1, 1.0 and true are the same key. Also holds the attributes of a namespace.
 */
#ifndef YK_TOKENIZER_JINJA_DICT_H
#define YK_TOKENIZER_JINJA_DICT_H

#include "tokenizer/jinja/value.h"

struct yk_jinja_dict_entry {
    struct yk_jinja_value key;
    struct yk_jinja_value value;
    uint64_t hash; /* only if the dict has an index */
};

struct yk_jinja_dict {
    struct yk_jinja_dict_entry *entries; /* in the order of insertion */
    int64_t count;
    int64_t capacity;
    int32_t *index; /* open addressing, entry + 1; NULL while the dict is small */
    uint64_t index_mask;
};

/* Makes an empty dict with room for `capacity` entries. */
yk_status yk_jinja_dict_new(struct yk_jinja_run *run, int64_t capacity,
                            struct yk_jinja_dict **out) YK_MUST_USE;

/* Sets an entry. Fails if the key cannot be hashed. */
yk_status yk_jinja_dict_set(struct yk_jinja_run *run, struct yk_jinja_dict *dict,
                            struct yk_jinja_value key, struct yk_jinja_value value) YK_MUST_USE;

/* Sets `*out` to the value of a key, or to NULL if there is none or if the key cannot be hashed. */
yk_status yk_jinja_dict_find(struct yk_jinja_run *run, const struct yk_jinja_dict *dict,
                             struct yk_jinja_value key,
                             const struct yk_jinja_value **out) YK_MUST_USE;
yk_status yk_jinja_dict_find_string(struct yk_jinja_run *run, const struct yk_jinja_dict *dict,
                                    const struct yk_jinja_string *key,
                                    const struct yk_jinja_value **out) YK_MUST_USE;

/* Fails if Python cannot hash the key. */
yk_status yk_jinja_dict_check_key(struct yk_jinja_run *run, struct yk_jinja_value key) YK_MUST_USE;

/* Sets `*out` to whether two values that can be hashed are equal. */
yk_status yk_jinja_dict_compare_keys(struct yk_jinja_run *run, struct yk_jinja_value a,
                                     struct yk_jinja_value b, bool *out) YK_MUST_USE;

#endif
