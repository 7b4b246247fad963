#include "tokenizer/jinja/dict.h"

#include "base/hash.h"

#include <math.h>

enum {
    SMALL = 8,      /* entries that are searched one by one */
    MAX_NESTED = 64 /* tuples in tuples that are keys */
};

#define LARGEST_EXACT_INTEGER 9007199254740992.0 /* 2^53 */

static bool is_hashable(struct yk_jinja_value value, int nested)
{
    if (value.kind != YK_JINJA_TUPLE) {
        return value.kind != YK_JINJA_LIST && value.kind != YK_JINJA_DICT &&
               value.kind != YK_JINJA_SLICE && value.kind != YK_JINJA_VIEW;
    }
    for (int64_t i = 0; i < value.as.list->count; i++) {
        if (nested >= MAX_NESTED || !is_hashable(value.as.list->items[i], nested + 1)) {
            return false;
        }
    }
    return true;
}

bool yk_jinja_dict_is_hashable(struct yk_jinja_value value)
{
    return is_hashable(value, 0);
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

bool yk_jinja_dict_same_key(struct yk_jinja_value a, struct yk_jinja_value b)
{
    if (is_number(a.kind) && is_number(b.kind)) {
        return same_number(a, b);
    }
    if (a.kind != b.kind) {
        return false;
    }
    switch (a.kind) {
    case YK_JINJA_STRING:
        return yk_jinja_value_same_string(a.as.string, b.as.string);
    case YK_JINJA_TUPLE:
        if (a.as.list->count != b.as.list->count) {
            return false;
        }
        for (int64_t i = 0; i < a.as.list->count; i++) {
            if (!yk_jinja_dict_same_key(a.as.list->items[i], b.as.list->items[i])) {
                return false;
            }
        }
        return true;
    case YK_JINJA_RANGE:
        return a.as.range->count == b.as.range->count &&
               (a.as.range->count == 0 || a.as.range->start == b.as.range->start) &&
               (a.as.range->count < 2 || a.as.range->step == b.as.range->step);
    case YK_JINJA_NONE:
    case YK_JINJA_UNDEFINED:
        return true;
    default:
        return a.as.string == b.as.string; /* the same object */
    }
}

static uint64_t mix(uint64_t bits)
{
    bits ^= bits >> 33;
    bits *= 0xff51afd7ed558ccdULL;
    return bits ^ bits >> 33;
}

static uint64_t hash_string(const struct yk_jinja_string *string)
{
    return string->hash ? string->hash : yk_hash_bytes(string->bytes, string->length);
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

static uint64_t hash_value(struct yk_jinja_value value)
{
    if (value.kind == YK_JINJA_STRING) {
        return hash_string(value.as.string);
    }
    if (is_number(value.kind)) {
        return hash_number(value);
    }
    uint64_t hash = (uint64_t)value.kind;
    if (value.kind == YK_JINJA_TUPLE) {
        for (int64_t i = 0; i < value.as.list->count; i++) {
            hash = mix(hash * 31 + hash_value(value.as.list->items[i]));
        }
    }
    return hash;
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

static void index_entry(struct yk_jinja_dict *dict, int64_t entry)
{
    uint64_t slot = dict->entries[entry].hash & dict->index_mask;
    while (dict->index[slot] != 0) {
        slot = (slot + 1) & dict->index_mask;
    }
    dict->index[slot] = (int32_t)entry + 1;
}

static yk_status make_index(struct yk_jinja_run *run, struct yk_jinja_dict *dict)
{
    uint64_t slots = (uint64_t)4 * SMALL;
    while (slots < 2 * (uint64_t)dict->capacity) {
        slots *= 2;
    }
    YK_JINJA_TRY_NEW(run, dict->index, slots);
    dict->index_mask = slots - 1;
    for (int64_t i = 0; i < dict->count; i++) {
        dict->entries[i].hash = hash_value(dict->entries[i].key);
        index_entry(dict, i);
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

/* Returns the entry of a key, or -1. */
static int64_t find_entry(const struct yk_jinja_dict *dict, struct yk_jinja_value key)
{
    if (!dict->index) {
        for (int64_t i = 0; i < dict->count; i++) {
            if (yk_jinja_dict_same_key(dict->entries[i].key, key)) {
                return i;
            }
        }
        return -1;
    }
    const uint64_t hash = hash_value(key);
    for (uint64_t slot = hash & dict->index_mask; dict->index[slot] != 0;
         slot = (slot + 1) & dict->index_mask) {
        const struct yk_jinja_dict_entry *entry = &dict->entries[dict->index[slot] - 1];
        if (entry->hash == hash && yk_jinja_dict_same_key(entry->key, key)) {
            return dict->index[slot] - 1;
        }
    }
    return -1;
}

yk_status yk_jinja_dict_set(struct yk_jinja_run *run, struct yk_jinja_dict *dict,
                            struct yk_jinja_value key, struct yk_jinja_value value)
{
    if (!yk_jinja_dict_is_hashable(key)) {
        return yk_fail(YK_ERROR_INPUT, "a value of type %s cannot be the key of a dict",
                       yk_jinja_value_type_name(key));
    }
    YK_TRY(yk_jinja_run_step(run, 1));
    const int64_t found = find_entry(dict, key);
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
        entry->hash = hash_value(key);
        index_entry(dict, dict->count - 1);
        return YK_OK;
    }
    return dict->count > SMALL ? make_index(run, dict) : YK_OK;
}

const struct yk_jinja_value *yk_jinja_dict_find(const struct yk_jinja_dict *dict,
                                                struct yk_jinja_value key)
{
    if (!yk_jinja_dict_is_hashable(key)) {
        return NULL;
    }
    const int64_t found = find_entry(dict, key);
    return found >= 0 ? &dict->entries[found].value : NULL;
}

const struct yk_jinja_value *yk_jinja_dict_find_string(const struct yk_jinja_dict *dict,
                                                       const struct yk_jinja_string *key)
{
    const int64_t found = find_entry(dict, yk_jinja_value_string(key));
    return found >= 0 ? &dict->entries[found].value : NULL;
}

const struct yk_jinja_value *yk_jinja_dict_find_name(const struct yk_jinja_dict *dict,
                                                     const char *name)
{
    const struct yk_jinja_string key = {.bytes = name, .length = strlen(name), .characters = -1};
    return yk_jinja_dict_find_string(dict, &key);
}
