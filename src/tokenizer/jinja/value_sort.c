#include "tokenizer/jinja/value_sort.h"

#include "tokenizer/jinja/value_compare.h"

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

yk_status yk_jinja_value_sort(struct yk_jinja_run *run, struct yk_jinja_sorted_item *items,
                              int64_t count, bool reverse, struct yk_jinja_value *out)
{
    struct yk_jinja_sorted_item *other = NULL;
    struct yk_jinja_value *sorted = NULL;
    YK_JINJA_TRY_NEW(run, other, count);
    YK_TRY(merge_sort(run, items, other, count, reverse));
    YK_TRY(yk_jinja_value_new_list(run, YK_JINJA_LIST, count, &sorted, out));
    for (int64_t i = 0; i < count; i++) {
        sorted[i] = items[i].item;
    }
    return YK_OK;
}
