#include "tokenizer/jinja/library.h"

#include "tokenizer/jinja/attribute.h"
#include "tokenizer/jinja/dict.h"
#include "tokenizer/jinja/iterator.h"
#include "tokenizer/jinja/string.h"
#include "tokenizer/jinja/string_case.h"
#include "tokenizer/jinja/value_compare.h"

/* Makes the key by which an item is compared. Strings are compared in lower case unless
 * `case_sensitive` is true. */
static yk_status make_key(struct yk_jinja_run *run, struct yk_jinja_value item,
                          struct yk_jinja_value path, struct yk_jinja_value otherwise,
                          bool case_sensitive, struct yk_jinja_value *out)
{
    YK_TRY(yk_jinja_attribute_get_path(run, item, path, otherwise, out));
    if (!case_sensitive && out->kind == YK_JINJA_STRING) {
        return yk_jinja_string_case_change(run, out->as.string, YK_JINJA_LOWER, out);
    }
    return YK_OK;
}

/* Makes a list of the keys of several attributes: "role,name". */
static yk_status make_sort_key(struct yk_jinja_run *run, struct yk_jinja_value item,
                               struct yk_jinja_value paths, bool case_sensitive,
                               struct yk_jinja_value *out)
{
    static const struct yk_jinja_string comma = {.bytes = ",", .length = 1, .characters = 1};
    struct yk_jinja_value *keys = NULL;
    struct yk_jinja_value parts = {0};
    const struct yk_jinja_value none = {0};
    if (paths.kind != YK_JINJA_STRING) {
        YK_TRY(yk_jinja_value_new_list(run, YK_JINJA_LIST, 1, &keys, out));
        return make_key(run, item, paths, none, case_sensitive, &keys[0]);
    }
    YK_TRY(yk_jinja_string_split(run, paths.as.string, &comma, -1, false, &parts));
    YK_TRY(yk_jinja_value_new_list(run, YK_JINJA_LIST, parts.as.list->count, &keys, out));
    for (int64_t i = 0; i < parts.as.list->count; i++) {
        YK_TRY(make_key(run, item, parts.as.list->items[i], none, case_sensitive, &keys[i]));
    }
    return YK_OK;
}

static yk_status sort(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_list *list = NULL;
    struct yk_jinja_sorted_item *entries = NULL;
    const bool case_sensitive = yk_jinja_function_get_truth(call, 1, false);
    YK_TRY(yk_jinja_iterator_to_list(call->run, call->subject, &list));
    YK_JINJA_TRY_NEW(call->run, entries, list->count);
    for (int64_t i = 0; i < list->count; i++) {
        entries[i].item = list->items[i];
        YK_TRY(make_sort_key(call->run, list->items[i], call->values[2], case_sensitive,
                             &entries[i].key));
    }
    return yk_jinja_value_compare_sort_to_list(call->run, entries, list->count,
                                               yk_jinja_function_get_truth(call, 0, false), out);
}

static yk_status dictsort(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    struct yk_jinja_sorted_item *entries = NULL;
    const bool case_sensitive = yk_jinja_function_get_truth(call, 0, false);
    const bool by_value = yk_jinja_value_is_string(call->values[1], "value");
    const struct yk_jinja_value none = {0};
    if (call->subject.kind != YK_JINJA_DICT) {
        return yk_fail(YK_ERROR_INPUT, "dictsort needs a dict, not a value of type %s",
                       yk_jinja_value_type_name(call->subject));
    }
    if (!by_value && call->values[1].kind != YK_JINJA_ABSENT &&
        !yk_jinja_value_is_string(call->values[1], "key")) {
        return yk_fail(YK_ERROR_INPUT, "dictsort sorts by \"key\" or \"value\"");
    }
    const struct yk_jinja_dict *dict = call->subject.as.dict;
    YK_JINJA_TRY_NEW(call->run, entries, dict->count);
    for (int64_t i = 0; i < dict->count; i++) {
        const struct yk_jinja_dict_entry *entry = &dict->entries[i];
        YK_TRY(yk_jinja_value_new_pair(call->run, entry->key, entry->value, &entries[i].item));
        YK_TRY(make_key(call->run, by_value ? entry->value : entry->key, none, none, case_sensitive,
                        &entries[i].key));
    }
    return yk_jinja_value_compare_sort_to_list(call->run, entries, dict->count,
                                               yk_jinja_function_get_truth(call, 2, false), out);
}

static yk_status unique(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_list *list = NULL;
    struct yk_jinja_dict *known = NULL;
    struct yk_jinja_list_builder builder = {0};
    const bool case_sensitive = yk_jinja_function_get_truth(call, 0, false);
    YK_TRY(yk_jinja_dict_new(call->run, 8, &known));
    YK_TRY(yk_jinja_iterator_to_list(call->run, call->subject, &list));
    for (int64_t i = 0; i < list->count; i++) {
        struct yk_jinja_value key = {0};
        YK_TRY(make_key(call->run, list->items[i], call->values[1], (struct yk_jinja_value){0},
                        case_sensitive, &key));
        const struct yk_jinja_value *found = NULL;
        YK_TRY(yk_jinja_dict_find(call->run, known, key, &found));
        if (!found) {
            YK_TRY(yk_jinja_dict_set(call->run, known, key, key));
            YK_TRY(yk_jinja_value_append(call->run, &builder, list->items[i]));
        }
    }
    YK_TRY(yk_jinja_value_finish_list(call->run, &builder, YK_JINJA_LIST, out));
    return yk_jinja_iterator_new(call->run, *out, out);
}

static yk_status find_extreme(struct yk_jinja_call *call, enum yk_jinja_order order,
                              struct yk_jinja_value *out)
{
    const struct yk_jinja_list *list = NULL;
    struct yk_jinja_value best = {0};
    const bool case_sensitive = yk_jinja_function_get_truth(call, 0, false);
    YK_TRY(yk_jinja_iterator_to_list(call->run, call->subject, &list));
    if (list->count == 0) {
        const struct yk_jinja_undefined reason = {
            .hint = "the smallest or largest item of nothing is used"};
        return yk_jinja_value_new_undefined(call->run, reason, out);
    }
    for (int64_t i = 0; i < list->count; i++) {
        struct yk_jinja_value key = {0};
        bool better = i == 0;
        YK_TRY(make_key(call->run, list->items[i], call->values[1], (struct yk_jinja_value){0},
                        case_sensitive, &key));
        if (i > 0) {
            YK_TRY(yk_jinja_value_compare_order(call->run, key, best, order, &better));
        }
        if (better) {
            best = key;
            *out = list->items[i];
        }
    }
    return YK_OK;
}

static yk_status min(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return find_extreme(call, YK_JINJA_LESS, out);
}

static yk_status max(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return find_extreme(call, YK_JINJA_GREATER, out);
}

static yk_status finish_group(struct yk_jinja_run *run, struct yk_jinja_value key,
                              const struct yk_jinja_list_builder *members,
                              struct yk_jinja_list_builder *groups)
{
    struct yk_jinja_value list = {0};
    struct yk_jinja_value group = {0};
    YK_TRY(yk_jinja_value_finish_list(run, members, YK_JINJA_LIST, &list));
    YK_TRY(yk_jinja_value_new_pair(run, key, list, &group));
    ((struct yk_jinja_list *)group.as.list)->group = true;
    return yk_jinja_value_append(run, groups, group);
}

static yk_status group_sorted(struct yk_jinja_call *call, const struct yk_jinja_list *sorted,
                              bool case_sensitive, struct yk_jinja_list_builder *groups)
{
    struct yk_jinja_list_builder members = {0};
    struct yk_jinja_value key = {0};
    struct yk_jinja_value shown = {0};
    for (int64_t i = 0; i < sorted->count; i++) {
        struct yk_jinja_value next = {0};
        bool equal = false;
        YK_TRY(make_key(call->run, sorted->items[i], call->values[0], call->values[1],
                        case_sensitive, &next));
        if (i > 0) {
            YK_TRY(yk_jinja_value_compare_equal(call->run, key, next, &equal));
        }
        if (!equal) {
            if (i > 0) {
                YK_TRY(finish_group(call->run, shown, &members, groups));
            }
            members = (struct yk_jinja_list_builder){0};
            key = next;
            YK_TRY(make_key(call->run, sorted->items[i], call->values[0], call->values[1], true,
                            &shown));
        }
        YK_TRY(yk_jinja_value_append(call->run, &members, sorted->items[i]));
    }
    return sorted->count > 0 ? finish_group(call->run, shown, &members, groups) : YK_OK;
}

static yk_status groupby(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_list *list = NULL;
    struct yk_jinja_sorted_item *entries = NULL;
    struct yk_jinja_list_builder groups = {0};
    const bool case_sensitive = yk_jinja_function_get_truth(call, 2, false);
    YK_TRY(yk_jinja_iterator_to_list(call->run, call->subject, &list));
    YK_JINJA_TRY_NEW(call->run, entries, list->count);
    for (int64_t i = 0; i < list->count; i++) {
        entries[i].item = list->items[i];
        YK_TRY(make_key(call->run, list->items[i], call->values[0], call->values[1], case_sensitive,
                        &entries[i].key));
    }
    YK_TRY(yk_jinja_value_compare_sort_to_list(call->run, entries, list->count, false, out));
    YK_TRY(group_sorted(call, out->as.list, case_sensitive, &groups));
    return yk_jinja_value_finish_list(call->run, &groups, YK_JINJA_LIST, out);
}

static const struct yk_jinja_function filters[] = {
    {.name = "sort", .call = sort, .parameters = {"reverse", "case_sensitive", "attribute"}},
    {.name = "dictsort", .call = dictsort, .parameters = {"case_sensitive", "by", "reverse"}},
    {.name = "unique", .call = unique, .parameters = {"case_sensitive", "attribute"}},
    {.name = "min", .call = min, .parameters = {"case_sensitive", "attribute"}},
    {.name = "max", .call = max, .parameters = {"case_sensitive", "attribute"}},
    {.name = "groupby",
     .call = groupby,
     .parameters = {"attribute", "default", "case_sensitive"},
     .required = 1},
};

const struct yk_jinja_function_table yk_jinja_order_filters = YK_JINJA_FUNCTION_TABLE(filters);
