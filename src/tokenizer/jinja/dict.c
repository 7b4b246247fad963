#include "tokenizer/jinja/dict.h"

#include "base/hash.h"

#include <math.h>

enum {
    SMALL = 8,      /* entries that are searched one by one */
    MAX_NESTED = 64 /* tuples in tuples that are keys */
};

#define LARGEST_EXACT_INTEGER 9007199254740992.0 /* 2^53 */

/* Every item that is visited counts: tuples may share their items, so that visiting them takes time
 * that is exponential in their depth. */
static yk_status is_hashable(struct yk_jinja_run *run, struct yk_jinja_value value, int nested,
                             bool *out)
{
    if (value.kind != YK_JINJA_TUPLE) {
        *out = value.kind != YK_JINJA_LIST && value.kind != YK_JINJA_DICT &&
               value.kind != YK_JINJA_SLICE && value.kind != YK_JINJA_VIEW;
        return YK_OK;
    }
    *out = true;
    for (int64_t i = 0; i < value.as.list->count && *out; i++) {
        YK_TRY(yk_jinja_run_step(run, 1));
        *out = nested < MAX_NESTED;
        if (*out) {
            YK_TRY(is_hashable(run, value.as.list->items[i], nested + 1, out));
        }
    }
    return YK_OK;
}

yk_status yk_jinja_dict_check_key(struct yk_jinja_run *run, struct yk_jinja_value key)
{
    bool hashable = false;
    YK_TRY(is_hashable(run, key, 0, &hashable));
    return hashable ? YK_OK
                    : yk_fail(YK_ERROR_INPUT, "a value of type %s cannot be the key of a dict",
                              yk_jinja_value_type_name(key));
}

static bool is_number(enum yk_jinja_kind kind)
{
    return kind == YK_JINJA_INT || kind == YK_JINJA_FLOAT || kind == YK_JINJA_BOOL;
}

static bool same_number(struct yk_jinja_value a, struct yk_jinja_value b)
{
    int64_t i = 0;
    int64_t j = 0;
    double x = 0;
    double y = 0;
    if (yk_jinja_value_get_integer(a, &i) && yk_jinja_value_get_integer(b, &j)) {
        return i == j;
    }
    return yk_jinja_value_get_number(a, &x) && yk_jinja_value_get_number(b, &y) && x == y;
}

static yk_status compare_tuples(struct yk_jinja_run *run, const struct yk_jinja_list *a,
                                const struct yk_jinja_list *b, bool *out)
{
    *out = a->count == b->count;
    for (int64_t i = 0; i < a->count && *out; i++) {
        YK_TRY(yk_jinja_run_step(run, 1));
        YK_TRY(yk_jinja_dict_compare_keys(run, a->items[i], b->items[i], out));
    }
    return YK_OK;
}

yk_status yk_jinja_dict_compare_keys(struct yk_jinja_run *run, struct yk_jinja_value a,
                                     struct yk_jinja_value b, bool *out)
{
    if (is_number(a.kind) && is_number(b.kind)) {
        *out = same_number(a, b);
        return YK_OK;
    }
    *out = a.kind == b.kind;
    if (!*out) {
        return YK_OK;
    }
    switch (a.kind) {
    case YK_JINJA_STRING:
        return yk_jinja_value_compare_strings(run, a.as.string, b.as.string, out);
    case YK_JINJA_TUPLE:
        return compare_tuples(run, a.as.list, b.as.list, out);
    case YK_JINJA_RANGE:
        *out = a.as.range->count == b.as.range->count &&
               (a.as.range->count == 0 || a.as.range->start == b.as.range->start) &&
               (a.as.range->count < 2 || a.as.range->step == b.as.range->step);
        return YK_OK;
    case YK_JINJA_NONE:
    case YK_JINJA_UNDEFINED:
        return YK_OK;
    default:
        *out = a.as.string == b.as.string; /* the same object */
        return YK_OK;
    }
}

static uint64_t mix(uint64_t bits)
{
    bits ^= bits >> 33;
    bits *= 0xff51afd7ed558ccdULL;
    return bits ^ bits >> 33;
}

static uint64_t hash_number(struct yk_jinja_value value)
{
    int64_t integer = 0;
    if (!yk_jinja_value_get_integer(value, &integer)) {
        const double number = value.as.number;
        if (number == trunc(number) && fabs(number) < LARGEST_EXACT_INTEGER) {
            integer = (int64_t)number;
        } else {
            memcpy(&integer, &number, sizeof integer);
        }
    } else if (fabs((double)integer) >= LARGEST_EXACT_INTEGER) {
        /* equal to a float, which is hashed by its bits */
        const double number = (double)integer;
        memcpy(&integer, &number, sizeof integer);
    }
    return mix((uint64_t)integer);
}

static yk_status hash_value(struct yk_jinja_run *run, struct yk_jinja_value value, uint64_t *out)
{
    if (value.kind == YK_JINJA_STRING) {
        const struct yk_jinja_string *string = value.as.string;
        *out = string->hash ? string->hash : yk_hash_bytes(string->bytes, string->length);
        return string->hash ? YK_OK : yk_jinja_run_charge_bytes(run, string->length);
    }
    if (is_number(value.kind)) {
        *out = hash_number(value);
        return YK_OK;
    }
    *out = (uint64_t)value.kind;
    for (int64_t i = 0; value.kind == YK_JINJA_TUPLE && i < value.as.list->count; i++) {
        uint64_t hash = 0;
        YK_TRY(yk_jinja_run_step(run, 1));
        YK_TRY(hash_value(run, value.as.list->items[i], &hash));
        *out = mix(*out * 31 + hash);
    }
    return YK_OK;
}

yk_status yk_jinja_dict_new(struct yk_jinja_run *run, int64_t capacity, struct yk_jinja_dict **out)
{
    YK_JINJA_TRY_NEW(run, *out, 1);
    if (capacity > 0) {
        YK_JINJA_TRY_NEW(run, (*out)->entries, capacity);
    }
    (*out)->capacity = capacity;
    return YK_OK;
}

/* Keys with the same hash are passed one by one: each counts. */
static yk_status index_entry(struct yk_jinja_run *run, struct yk_jinja_dict *dict, int64_t entry)
{
    uint64_t slot = dict->entries[entry].hash & dict->index_mask;
    while (dict->index[slot] != 0) {
        YK_TRY(yk_jinja_run_step(run, 1));
        slot = (slot + 1) & dict->index_mask;
    }
    dict->index[slot] = (int32_t)entry + 1;
    return YK_OK;
}

static yk_status make_index(struct yk_jinja_run *run, struct yk_jinja_dict *dict)
{
    uint64_t slots = (uint64_t)4 * SMALL;
    while (slots < 2 * (uint64_t)dict->capacity) {
        slots *= 2;
    }
    const bool hashed = dict->index != NULL;
    YK_JINJA_TRY_NEW(run, dict->index, slots);
    dict->index_mask = slots - 1;
    for (int64_t i = 0; i < dict->count; i++) {
        if (!hashed) {
            YK_TRY(hash_value(run, dict->entries[i].key, &dict->entries[i].hash));
        }
        YK_TRY(index_entry(run, dict, i));
    }
    return YK_OK;
}

static yk_status grow(struct yk_jinja_run *run, struct yk_jinja_dict *dict)
{
    struct yk_jinja_dict_entry *entries = NULL;
    const int64_t capacity = dict->capacity > 0 ? dict->capacity * 2 : 4;
    if (capacity >= INT32_MAX) {
        return yk_fail(YK_ERROR_INPUT, "a dict has too many entries");
    }
    YK_JINJA_TRY_NEW(run, entries, capacity);
    if (dict->count > 0) {
        memcpy(entries, dict->entries, (size_t)dict->count * sizeof *entries);
    }
    dict->entries = entries;
    dict->capacity = capacity;
    return dict->index ? make_index(run, dict) : YK_OK;
}

/* Most keys are strings that differ in this. */
static bool have_two_lengths(struct yk_jinja_value a, struct yk_jinja_value b)
{
    return a.kind == YK_JINJA_STRING && b.kind == YK_JINJA_STRING &&
           a.as.string->length != b.as.string->length;
}

/* Sets `*out` to the index of the entry of a key, or to -1. */
static yk_status find_entry(struct yk_jinja_run *run, const struct yk_jinja_dict *dict,
                            struct yk_jinja_value key, int64_t *out)
{
    uint64_t hash = 0;
    bool same = false;
    *out = -1;
    if (!dict->index) {
        for (int64_t i = 0; i < dict->count && !same; i++) {
            if (!have_two_lengths(dict->entries[i].key, key)) {
                YK_TRY(yk_jinja_dict_compare_keys(run, dict->entries[i].key, key, &same));
            }
            *out = same ? i : -1;
        }
        return YK_OK;
    }
    YK_TRY(hash_value(run, key, &hash));
    for (uint64_t slot = hash & dict->index_mask; dict->index[slot] != 0 && !same;
         slot = (slot + 1) & dict->index_mask) {
        const int64_t i = dict->index[slot] - 1;
        YK_TRY(yk_jinja_run_step(run, 1));
        if (dict->entries[i].hash == hash) {
            YK_TRY(yk_jinja_dict_compare_keys(run, dict->entries[i].key, key, &same));
        }
        *out = same ? i : -1;
    }
    return YK_OK;
}

yk_status yk_jinja_dict_set(struct yk_jinja_run *run, struct yk_jinja_dict *dict,
                            struct yk_jinja_value key, struct yk_jinja_value value)
{
    int64_t found = 0;
    YK_TRY(yk_jinja_dict_check_key(run, key));
    YK_TRY(yk_jinja_run_step(run, 1));
    YK_TRY(find_entry(run, dict, key, &found));
    if (found >= 0) {
        dict->entries[found].value = value;
        return YK_OK;
    }
    if (dict->count == dict->capacity) {
        YK_TRY(grow(run, dict));
    }
    struct yk_jinja_dict_entry *entry = &dict->entries[dict->count++];
    *entry = (struct yk_jinja_dict_entry){.key = key, .value = value};
    if (dict->index) {
        YK_TRY(hash_value(run, key, &entry->hash));
        return index_entry(run, dict, dict->count - 1);
    }
    return dict->count > SMALL ? make_index(run, dict) : YK_OK;
}

yk_status yk_jinja_dict_find(struct yk_jinja_run *run, const struct yk_jinja_dict *dict,
                             struct yk_jinja_value key, const struct yk_jinja_value **out)
{
    bool hashable = false;
    int64_t found = -1;
    YK_TRY(is_hashable(run, key, 0, &hashable));
    if (hashable) {
        YK_TRY(find_entry(run, dict, key, &found));
    }
    *out = found >= 0 ? &dict->entries[found].value : NULL;
    return YK_OK;
}

yk_status yk_jinja_dict_find_string(struct yk_jinja_run *run, const struct yk_jinja_dict *dict,
                                    const struct yk_jinja_string *key,
                                    const struct yk_jinja_value **out)
{
    int64_t found = 0;
    YK_TRY(find_entry(run, dict, yk_jinja_value_string(key), &found));
    *out = found >= 0 ? &dict->entries[found].value : NULL;
    return YK_OK;
}
