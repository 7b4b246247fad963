#include "tokenizer/jinja/value_compare.h"

#include "tokenizer/jinja/dict.h"

#include "base/number.h"

bool yk_jinja_value_compare_truth(struct yk_jinja_value value)
{
    switch (value.kind) {
    case YK_JINJA_ABSENT:
    case YK_JINJA_UNDEFINED:
    case YK_JINJA_NONE:
        return false;
    case YK_JINJA_BOOL:
        return value.as.boolean;
    case YK_JINJA_INT:
        return value.as.integer != 0;
    case YK_JINJA_FLOAT:
        return value.as.number != 0;
    case YK_JINJA_STRING:
        return value.as.string->length > 0;
    case YK_JINJA_LIST:
    case YK_JINJA_TUPLE:
        return value.as.list->count > 0;
    case YK_JINJA_DICT:
        return value.as.dict->count > 0;
    case YK_JINJA_VIEW:
        return value.as.view->dict->count > 0;
    case YK_JINJA_RANGE:
        return value.as.range->count > 0;
    default:
        return true;
    }
}

yk_status yk_jinja_value_compare_identity(struct yk_jinja_run *run, struct yk_jinja_value a,
                                          struct yk_jinja_value b, bool *out)
{
    *out = a.kind == b.kind;
    if (!*out) {
        return YK_OK;
    }
    switch (a.kind) {
    case YK_JINJA_BOOL:
        *out = a.as.boolean == b.as.boolean;
        return YK_OK;
    case YK_JINJA_INT:
        *out = a.as.integer == b.as.integer;
        return YK_OK;
    case YK_JINJA_STRING:
        return yk_jinja_value_compare_strings(run, a.as.string, b.as.string, out);
    case YK_JINJA_NONE:
        return YK_OK;
    case YK_JINJA_FLOAT:
        *out = false;
        return YK_OK;
    default:
        *out = a.as.list == b.as.list;
        return YK_OK;
    }
}

static yk_status equal_lists(struct yk_jinja_run *run, const struct yk_jinja_list *a,
                             const struct yk_jinja_list *b, bool *out)
{
    *out = a->count == b->count;
    for (int64_t i = 0; *out && i < a->count; i++) {
        YK_TRY(yk_jinja_value_compare_equal(run, a->items[i], b->items[i], out));
    }
    return YK_OK;
}

static yk_status equal_dicts(struct yk_jinja_run *run, const struct yk_jinja_dict *a,
                             const struct yk_jinja_dict *b, bool *out)
{
    *out = a->count == b->count;
    for (int64_t i = 0; *out && i < a->count; i++) {
        const struct yk_jinja_value *other = NULL;
        YK_TRY(yk_jinja_run_step(run, 1));
        YK_TRY(yk_jinja_dict_find(run, b, a->entries[i].key, &other));
        *out = other != NULL;
        if (other) {
            YK_TRY(yk_jinja_value_compare_equal(run, a->entries[i].value, *other, out));
        }
    }
    return YK_OK;
}

static yk_status equal_nested(struct yk_jinja_run *run, struct yk_jinja_value a,
                              struct yk_jinja_value b, bool *out)
{
    YK_TRY(yk_jinja_run_enter(run));
    const yk_status status = a.kind == YK_JINJA_DICT ? equal_dicts(run, a.as.dict, b.as.dict, out)
                                                     : equal_lists(run, a.as.list, b.as.list, out);
    yk_jinja_run_leave(run);
    return status;
}

yk_status yk_jinja_value_compare_equal(struct yk_jinja_run *run, struct yk_jinja_value a,
                                       struct yk_jinja_value b, bool *out)
{
    YK_TRY(yk_jinja_run_step(run, 1));
    if (a.kind == b.kind &&
        (a.kind == YK_JINJA_LIST || a.kind == YK_JINJA_TUPLE || a.kind == YK_JINJA_DICT)) {
        return equal_nested(run, a, b, out);
    }
    return yk_jinja_dict_compare_keys(run, a, b, out);
}

static yk_status fail_order(struct yk_jinja_value a, struct yk_jinja_value b,
                            enum yk_jinja_order order)
{
    static const char *const signs[] = {"<", "<=", ">", ">="};
    if (a.kind == YK_JINJA_UNDEFINED || b.kind == YK_JINJA_UNDEFINED) {
        return yk_jinja_value_fail_undefined(a.kind == YK_JINJA_UNDEFINED ? a : b);
    }
    return yk_fail(YK_ERROR_INPUT, "%s cannot compare a value of type %s with one of type %s",
                   signs[order], yk_jinja_value_type_name(a), yk_jinja_value_type_name(b));
}

/* UTF-8 has the order of code points. */
static int compare_strings(const struct yk_jinja_string *a, const struct yk_jinja_string *b)
{
    const size_t common = a->length < b->length ? a->length : b->length;
    const int order = memcmp(a->bytes, b->bytes, common);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static bool holds(int comparison, enum yk_jinja_order order)
{
    switch (order) {
    case YK_JINJA_LESS:
        return comparison < 0;
    case YK_JINJA_LESS_OR_EQUAL:
        return comparison <= 0;
    case YK_JINJA_GREATER:
        return comparison > 0;
    default:
        return comparison >= 0;
    }
}

/* The first items that differ decide. */
static yk_status order_lists(struct yk_jinja_run *run, const struct yk_jinja_list *a,
                             const struct yk_jinja_list *b, enum yk_jinja_order order, bool *out)
{
    for (int64_t i = 0; i < a->count && i < b->count; i++) {
        bool equal = false;
        YK_TRY(yk_jinja_value_compare_equal(run, a->items[i], b->items[i], &equal));
        if (!equal) {
            return yk_jinja_value_compare_order(run, a->items[i], b->items[i], order, out);
        }
    }
    *out = holds(yk_number_compare(a->count, b->count), order);
    return YK_OK;
}

static bool order_numbers(double x, double y, enum yk_jinja_order order)
{
    switch (order) {
    case YK_JINJA_LESS:
        return x < y;
    case YK_JINJA_LESS_OR_EQUAL:
        return x <= y;
    case YK_JINJA_GREATER:
        return x > y;
    default:
        return x >= y;
    }
}

yk_status yk_jinja_value_compare_order(struct yk_jinja_run *run, struct yk_jinja_value a,
                                       struct yk_jinja_value b, enum yk_jinja_order order,
                                       bool *out)
{
    int64_t i = 0;
    int64_t j = 0;
    double x = 0;
    double y = 0;
    YK_TRY(yk_jinja_run_step(run, 1));
    if (yk_jinja_value_get_integer(a, &i) && yk_jinja_value_get_integer(b, &j)) {
        *out = holds(yk_number_compare(i, j), order);
        return YK_OK;
    }
    if (yk_jinja_value_get_number(a, &x) && yk_jinja_value_get_number(b, &y)) {
        *out = order_numbers(x, y, order);
        return YK_OK;
    }
    if (a.kind != b.kind) {
        return fail_order(a, b, order);
    }
    if (a.kind == YK_JINJA_STRING) {
        YK_TRY(yk_jinja_run_charge_bytes(run, a.as.string->length));
        *out = holds(compare_strings(a.as.string, b.as.string), order);
        return YK_OK;
    }
    if (a.kind != YK_JINJA_LIST && a.kind != YK_JINJA_TUPLE) {
        return fail_order(a, b, order);
    }
    YK_TRY(yk_jinja_run_enter(run));
    const yk_status status = order_lists(run, a.as.list, b.as.list, order, out);
    yk_jinja_run_leave(run);
    return status;
}

static yk_status merge_sort(struct yk_jinja_run *run, struct yk_jinja_sorted_item *items,
                            struct yk_jinja_sorted_item *other, int64_t count, bool reverse)
{
    if (count < 2) {
        return YK_OK;
    }
    const int64_t middle = count / 2;
    YK_TRY(merge_sort(run, items, other, middle, reverse));
    YK_TRY(merge_sort(run, items + middle, other, count - middle, reverse));
    int64_t left = 0;
    int64_t right = middle;
    for (int64_t i = 0; i < count; i++) {
        bool from_right = right < count;
        if (from_right && left < middle) {
            const struct yk_jinja_value a = reverse ? items[left].key : items[right].key;
            const struct yk_jinja_value b = reverse ? items[right].key : items[left].key;
            YK_TRY(yk_jinja_value_compare_order(run, a, b, YK_JINJA_LESS, &from_right));
        }
        other[i] = from_right ? items[right++] : items[left++];
    }
    memcpy(items, other, (size_t)count * sizeof *items);
    return YK_OK;
}

yk_status yk_jinja_value_compare_sort(struct yk_jinja_run *run, struct yk_jinja_sorted_item *items,
                                      int64_t count, bool reverse)
{
    struct yk_jinja_sorted_item *other = NULL;
    YK_JINJA_TRY_NEW(run, other, count);
    return merge_sort(run, items, other, count, reverse);
}

yk_status yk_jinja_value_compare_sort_to_list(struct yk_jinja_run *run,
                                              struct yk_jinja_sorted_item *items, int64_t count,
                                              bool reverse, struct yk_jinja_value *out)
{
    struct yk_jinja_value *sorted = NULL;
    YK_TRY(yk_jinja_value_compare_sort(run, items, count, reverse));
    YK_TRY(yk_jinja_value_new_list(run, YK_JINJA_LIST, count, &sorted, out));
    for (int64_t i = 0; i < count; i++) {
        sorted[i] = items[i].item;
    }
    return YK_OK;
}
