#include "tokenizer/jinja/library.h"

#include "tokenizer/jinja/attribute.h"
#include "tokenizer/jinja/dict.h"
#include "tokenizer/jinja/iterator.h"
#include "tokenizer/jinja/operation.h"
#include "tokenizer/jinja/string.h"
#include "tokenizer/jinja/value_compare.h"
#include "tokenizer/jinja/value_text.h"

static yk_status new_undefined(struct yk_jinja_run *run, const char *hint,
                               struct yk_jinja_value *out)
{
    return yk_jinja_value_new_undefined(run, (struct yk_jinja_undefined){.hint = hint}, out);
}

static yk_status length(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    int64_t count = 0;
    YK_TRY(yk_jinja_iterator_count(call->subject, &count));
    *out = yk_jinja_value_int(count);
    return YK_OK;
}

static yk_status first(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    struct yk_jinja_iterator iterator = {0};
    bool found = false;
    YK_TRY(yk_jinja_iterator_open(call->subject, &iterator));
    YK_TRY(iterator.next(call->run, &iterator, out, &found));
    return found ? YK_OK : new_undefined(call->run, "the first item of nothing is used", out);
}

static yk_status check_reversible(struct yk_jinja_value value)
{
    return value.kind == YK_JINJA_ITERATOR
               ? yk_fail(YK_ERROR_INPUT, "a generator cannot be reversed; add the filter list")
               : YK_OK;
}

static yk_status last(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_list *list = NULL;
    YK_TRY(check_reversible(call->subject));
    YK_TRY(yk_jinja_iterator_to_list(call->run, call->subject, &list));
    if (list->count == 0) {
        return new_undefined(call->run, "the last item of nothing is used", out);
    }
    *out = list->items[list->count - 1];
    return YK_OK;
}

static yk_status to_list(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_list *list = NULL;
    YK_TRY(yk_jinja_iterator_to_list(call->run, call->subject, &list));
    *out = (struct yk_jinja_value){.kind = YK_JINJA_LIST, .as.list = list};
    return YK_OK;
}

static yk_status reverse(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_list *list = NULL;
    struct yk_jinja_value *items = NULL;
    const bool generator = call->subject.kind == YK_JINJA_ITERATOR;
    if (call->subject.kind == YK_JINJA_STRING) {
        const int64_t count = yk_jinja_value_count_characters(call->subject.as.string);
        return yk_jinja_string_slice(call->run, call->subject.as.string, count - 1, -1, count, out);
    }
    YK_TRY(yk_jinja_iterator_to_list(call->run, call->subject, &list));
    YK_TRY(yk_jinja_value_new_list(call->run, YK_JINJA_LIST, list->count, &items, out));
    YK_TRY(yk_jinja_run_step(call->run, list->count / 4));
    for (int64_t i = 0; i < list->count; i++) {
        items[i] = list->items[list->count - 1 - i];
    }
    return generator ? YK_OK : yk_jinja_iterator_new(call->run, *out, out);
}

static yk_status default_value(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const bool missing =
        call->subject.kind == YK_JINJA_UNDEFINED || (yk_jinja_function_get_truth(call, 1, false) &&
                                                     !yk_jinja_value_compare_truth(call->subject));
    *out = call->subject;
    if (missing && call->values[0].kind == YK_JINJA_ABSENT) {
        return yk_jinja_value_new_string(call->run, "", 0, out);
    }
    if (missing) {
        *out = call->values[0];
    }
    return YK_OK;
}

static yk_status join(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    static const struct yk_jinja_string empty = {.bytes = "", .length = 0, .characters = 0};
    const struct yk_jinja_string *separator = &empty;
    struct yk_jinja_value joined = yk_jinja_value_string(&empty);
    struct yk_jinja_iterator iterator = {0};
    bool found = true;
    if (call->values[0].kind != YK_JINJA_ABSENT) {
        YK_TRY(yk_jinja_value_text_make(call->run, call->values[0], &separator));
    }
    YK_TRY(yk_jinja_iterator_open(call->subject, &iterator));
    for (bool begin = true;; begin = false) {
        struct yk_jinja_value item = {0};
        const struct yk_jinja_string *text = NULL;
        YK_TRY(iterator.next(call->run, &iterator, &item, &found));
        if (!found) {
            break;
        }
        YK_TRY(yk_jinja_attribute_get_path(call->run, item, call->values[1],
                                           (struct yk_jinja_value){0}, &item));
        YK_TRY(yk_jinja_value_text_make(call->run, item, &text));
        if (!begin) {
            YK_TRY(yk_jinja_value_concatenate(call->run, joined.as.string, separator, &joined));
        }
        YK_TRY(yk_jinja_value_concatenate(call->run, joined.as.string, text, &joined));
    }
    *out = joined;
    return YK_OK;
}

static yk_status attribute(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *name = NULL;
    YK_TRY(yk_jinja_function_get_string(call, 0, &name));
    if (!name) {
        return yk_fail(YK_ERROR_INPUT, "attr needs a name");
    }
    const struct yk_jinja_function *method =
        call->run->library->find_method(call->subject.kind, name->bytes, name->length);
    if (call->subject.kind == YK_JINJA_DICT && !method) { /* items are no attributes */
        const struct yk_jinja_undefined reason = {
            .owner = "dict", .name = name->bytes, .name_length = name->length};
        return yk_jinja_value_new_undefined(call->run, reason, out);
    }
    return yk_jinja_attribute_get(call->run, call->subject, name, method, out);
}

static yk_status items(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    struct yk_jinja_view *view = NULL;
    struct yk_jinja_dict *dict = call->subject.as.dict;
    if (call->subject.kind == YK_JINJA_UNDEFINED) {
        YK_TRY(yk_jinja_dict_new(call->run, 0, &dict));
    } else if (call->subject.kind != YK_JINJA_DICT) {
        return yk_fail(YK_ERROR_INPUT, "items needs a dict, not a value of type %s",
                       yk_jinja_value_type_name(call->subject));
    }
    YK_JINJA_TRY_NEW(call->run, view, 1);
    *view = (struct yk_jinja_view){.kind = YK_JINJA_VIEW_ITEMS, .dict = dict};
    *out = (struct yk_jinja_value){.kind = YK_JINJA_VIEW, .as.view = view};
    return yk_jinja_iterator_new(call->run, *out, out);
}

/* What map, select and reject do with each item. */
struct selector {
    struct yk_jinja_iterator source;
    const struct yk_jinja_function *function; /* NULL: the attribute, or the truth of the item */
    struct yk_jinja_arguments arguments;
    struct yk_jinja_value path; /* absent: the item itself */
    struct yk_jinja_value otherwise;
    bool rejects;
};

static yk_status map_item(struct yk_jinja_run *run, const struct selector *selector,
                          struct yk_jinja_value item, struct yk_jinja_value *out)
{
    YK_TRY(yk_jinja_attribute_get_path(run, item, selector->path, selector->otherwise, &item));
    if (selector->function) {
        return yk_jinja_function_call(run, selector->function, item, &selector->arguments, out);
    }
    *out = item;
    return YK_OK;
}

static yk_status next_mapped(struct yk_jinja_run *run, struct yk_jinja_iterator *iterator,
                             struct yk_jinja_value *out, bool *found)
{
    struct selector *selector = iterator->state;
    struct yk_jinja_value item = {0};
    YK_TRY(selector->source.next(run, &selector->source, &item, found));
    return *found ? map_item(run, selector, item, out) : YK_OK;
}

static yk_status next_selected(struct yk_jinja_run *run, struct yk_jinja_iterator *iterator,
                               struct yk_jinja_value *out, bool *found)
{
    struct selector *selector = iterator->state;
    for (;;) {
        struct yk_jinja_value result = {0};
        YK_TRY(selector->source.next(run, &selector->source, out, found));
        if (!*found) {
            return YK_OK;
        }
        YK_TRY(map_item(run, selector, *out, &result));
        if (yk_jinja_value_compare_truth(result) != selector->rejects) {
            return YK_OK;
        }
    }
}

/* Copies the arguments behind the first `skipped`, which outlive the call in a generator. */
static yk_status copy_arguments(struct yk_jinja_run *run,
                                const struct yk_jinja_arguments *arguments, int64_t skipped,
                                struct yk_jinja_arguments *out)
{
    struct yk_jinja_value *values = NULL;
    const int64_t count = arguments->positional + arguments->named - skipped;
    YK_JINJA_TRY_NEW(run, values, count + 1);
    for (int64_t i = 0; i < count; i++) {
        values[i] = arguments->values[skipped + i];
    }
    *out = (struct yk_jinja_arguments){.values = values,
                                       .names = arguments->names,
                                       .positional = arguments->positional - skipped,
                                       .named = arguments->named};
    return YK_OK;
}

static yk_status find_function(struct yk_jinja_run *run, struct yk_jinja_value name, bool filter,
                               const struct yk_jinja_function **out)
{
    const struct yk_jinja_string *string = name.kind == YK_JINJA_STRING ? name.as.string : NULL;
    *out = !string  ? NULL
           : filter ? run->library->find_filter(string->bytes, string->length)
                    : run->library->find_test(string->bytes, string->length);
    return *out ? YK_OK
                : yk_fail(YK_ERROR_INPUT, "there is no %s \"%.*s\"", filter ? "filter" : "test",
                          string && string->length < 100 ? (int)string->length : 0,
                          string ? string->bytes : "");
}

/* Makes the generator. What is false, such as none, has no items. */
static yk_status make_generator(struct yk_jinja_call *call, struct selector *selector, bool selects,
                                struct yk_jinja_value *out)
{
    struct yk_jinja_iterator *generator = NULL;
    if (yk_jinja_value_compare_truth(call->subject)) {
        YK_TRY(yk_jinja_iterator_open(call->subject, &selector->source));
    }
    YK_JINJA_TRY_NEW(call->run, generator, 1);
    generator->next = selects ? next_selected : next_mapped;
    generator->state = selector;
    *out = (struct yk_jinja_value){.kind = YK_JINJA_ITERATOR, .as.iterator = generator};
    return YK_OK;
}

static yk_status new_selector(struct yk_jinja_run *run, struct selector **out)
{
    YK_JINJA_TRY_NEW(run, *out, 1);
    return yk_jinja_iterator_open((struct yk_jinja_value){.kind = YK_JINJA_UNDEFINED},
                                  &(*out)->source);
}

static yk_status read_map_attribute(struct yk_jinja_call *call, struct selector *selector)
{
    const struct yk_jinja_arguments *arguments = call->arguments;
    for (int64_t i = 0; i < arguments->named; i++) {
        const struct yk_jinja_value name = yk_jinja_value_string(arguments->names[i]);
        if (yk_jinja_value_is_string(name, "attribute")) {
            selector->path = arguments->values[i];
        } else if (yk_jinja_value_is_string(name, "default")) {
            selector->otherwise = arguments->values[i];
        } else {
            return yk_fail(YK_ERROR_INPUT, "map has no argument \"%.*s\"",
                           (int)arguments->names[i]->length, arguments->names[i]->bytes);
        }
    }
    return selector->path.kind != YK_JINJA_ABSENT
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "map needs the name of a filter or an attribute");
}

static yk_status map(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    struct selector *selector = NULL;
    YK_TRY(new_selector(call->run, &selector));
    if (!yk_jinja_value_compare_truth(call->subject)) {
        return make_generator(call, selector, false, out);
    }
    if (call->arguments->positional == 0) {
        YK_TRY(read_map_attribute(call, selector));
    } else {
        YK_TRY(find_function(call->run, call->arguments->values[0], true, &selector->function));
        YK_TRY(copy_arguments(call->run, call->arguments, 1, &selector->arguments));
    }
    return make_generator(call, selector, false, out);
}

static yk_status select_items(struct yk_jinja_call *call, bool by_attribute, bool rejects,
                              struct yk_jinja_value *out)
{
    struct selector *selector = NULL;
    const struct yk_jinja_arguments *arguments = call->arguments;
    const int64_t skipped = by_attribute ? 1 : 0;
    YK_TRY(new_selector(call->run, &selector));
    if (!yk_jinja_value_compare_truth(call->subject)) {
        return make_generator(call, selector, false, out);
    }
    if (arguments->positional < skipped) {
        return yk_fail(YK_ERROR_INPUT, "selectattr and rejectattr need the name of an attribute");
    }
    if (by_attribute) {
        selector->path = arguments->values[0];
    }
    if (arguments->positional > skipped) {
        YK_TRY(find_function(call->run, arguments->values[skipped], false, &selector->function));
        YK_TRY(copy_arguments(call->run, arguments, skipped + 1, &selector->arguments));
    }
    selector->rejects = rejects;
    return make_generator(call, selector, true, out);
}

static yk_status select_filter(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return select_items(call, false, false, out);
}

static yk_status reject(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return select_items(call, false, true, out);
}

static yk_status selectattr(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return select_items(call, true, false, out);
}

static yk_status rejectattr(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return select_items(call, true, true, out);
}

static yk_status sum(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    struct yk_jinja_iterator iterator = {0};
    struct yk_jinja_value total =
        call->values[1].kind == YK_JINJA_ABSENT ? yk_jinja_value_int(0) : call->values[1];
    bool found = true;
    if (total.kind == YK_JINJA_STRING) {
        return yk_fail(YK_ERROR_INPUT, "sum cannot add strings; use join");
    }
    YK_TRY(yk_jinja_iterator_open(call->subject, &iterator));
    for (;;) {
        struct yk_jinja_value item = {0};
        YK_TRY(iterator.next(call->run, &iterator, &item, &found));
        if (!found) {
            *out = total;
            return YK_OK;
        }
        YK_TRY(yk_jinja_attribute_get_path(call->run, item, call->values[0],
                                           (struct yk_jinja_value){0}, &item));
        YK_TRY(yk_jinja_operation_apply(call->run, YK_JINJA_ADD, total, item, &total));
    }
}

static yk_status append_slice(struct yk_jinja_run *run, const struct yk_jinja_list *list,
                              int64_t begin, int64_t count, int64_t fill_count,
                              struct yk_jinja_value fill, struct yk_jinja_list_builder *builder)
{
    struct yk_jinja_value *slice = NULL;
    struct yk_jinja_value value = {0};
    YK_TRY(yk_jinja_value_new_list(run, YK_JINJA_LIST, count + fill_count, &slice, &value));
    for (int64_t i = 0; i < count + fill_count; i++) {
        slice[i] = i < count ? list->items[begin + i] : fill;
    }
    return yk_jinja_value_append(run, builder, value);
}

static yk_status batch(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_list *list = NULL;
    struct yk_jinja_list_builder builder = {0};
    int64_t size = 0;
    const bool filled =
        call->values[1].kind != YK_JINJA_ABSENT && call->values[1].kind != YK_JINJA_NONE;
    YK_TRY(yk_jinja_iterator_to_list(call->run, call->subject, &list));
    YK_TRY(yk_jinja_function_get_integer(call, 0, &size));
    /* Python never reaches a size below 1: all items are one batch. */
    const int64_t step = size < 1 ? list->count + 1 : size;
    if (size == 0 && list->count > 0) {
        YK_TRY(append_slice(call->run, list, 0, 0, 0, call->values[1], &builder));
    }
    for (int64_t i = 0; i < list->count; i += step) {
        const int64_t count = list->count - i < step ? list->count - i : step;
        YK_TRY(append_slice(call->run, list, i, count, filled && size > count ? size - count : 0,
                            call->values[1], &builder));
    }
    YK_TRY(yk_jinja_value_finish_list(call->run, &builder, YK_JINJA_LIST, out));
    return yk_jinja_iterator_new(call->run, *out, out);
}

static yk_status slice(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_list *list = NULL;
    struct yk_jinja_list_builder builder = {0};
    int64_t slices = 0;
    int64_t begin = 0;
    const bool filled =
        call->values[1].kind != YK_JINJA_ABSENT && call->values[1].kind != YK_JINJA_NONE;
    YK_TRY(yk_jinja_iterator_to_list(call->run, call->subject, &list));
    YK_TRY(yk_jinja_function_get_integer(call, 0, &slices));
    if (slices == 0) {
        return yk_fail(YK_ERROR_INPUT, "slice needs more than 0 slices");
    }
    for (int64_t i = 0; i < slices; i++) {
        const bool longer = i < list->count % slices;
        const int64_t count = list->count / slices + longer;
        YK_TRY(append_slice(call->run, list, begin, count, filled && !longer ? 1 : 0,
                            call->values[1], &builder));
        begin += count;
    }
    YK_TRY(yk_jinja_value_finish_list(call->run, &builder, YK_JINJA_LIST, out));
    return yk_jinja_iterator_new(call->run, *out, out);
}

static const struct yk_jinja_function filters[] = {
    {.name = "length", .call = length},
    {.name = "count", .call = length},
    {.name = "first", .call = first},
    {.name = "last", .call = last},
    {.name = "list", .call = to_list},
    {.name = "reverse", .call = reverse},
    {.name = "default", .call = default_value, .parameters = {"default_value", "boolean"}},
    {.name = "d", .call = default_value, .parameters = {"default_value", "boolean"}},
    {.name = "join", .call = join, .parameters = {"d", "attribute"}},
    {.name = "attr", .call = attribute, .parameters = {"name"}, .required = 1},
    {.name = "items", .call = items},
    {.name = "map", .call = map, .any = true},
    {.name = "select", .call = select_filter, .any = true},
    {.name = "reject", .call = reject, .any = true},
    {.name = "selectattr", .call = selectattr, .any = true},
    {.name = "rejectattr", .call = rejectattr, .any = true},
    {.name = "sum", .call = sum, .parameters = {"attribute", "start"}},
    {.name = "batch", .call = batch, .parameters = {"linecount", "fill_with"}, .required = 1},
    {.name = "slice", .call = slice, .parameters = {"slices", "fill_with"}, .required = 1},
    {.name = "random"},
};

const struct yk_jinja_function_table yk_jinja_sequence_filters = YK_JINJA_FUNCTION_TABLE(filters);
