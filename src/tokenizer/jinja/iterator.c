#include "tokenizer/jinja/iterator.h"

#include "tokenizer/jinja/dict.h"
#include "tokenizer/jinja/string.h"

static yk_status next_of_list(struct yk_jinja_run *run, struct yk_jinja_iterator *iterator,
                              struct yk_jinja_value *out, bool *found)
{
    const struct yk_jinja_list *list = iterator->source.as.list;
    *found = iterator->position < list->count;
    if (*found) {
        *out = list->items[iterator->position++];
    }
    return yk_jinja_run_step(run, 1);
}

static yk_status next_of_string(struct yk_jinja_run *run, struct yk_jinja_iterator *iterator,
                                struct yk_jinja_value *out, bool *found)
{
    const struct yk_jinja_string *string = iterator->source.as.string;
    const size_t at = (size_t)iterator->position;
    uint32_t character = 0;
    *found = at < string->length;
    if (*found) {
        const size_t used = yk_jinja_string_decode(string->bytes + at, &character);
        iterator->position += (int64_t)used;
        YK_TRY(yk_jinja_value_new_string(run, string->bytes + at, used, out));
        ((struct yk_jinja_string *)out->as.string)->characters = 1;
    }
    return yk_jinja_run_step(run, 1);
}

static yk_status next_of_view(struct yk_jinja_run *run, struct yk_jinja_iterator *iterator,
                              struct yk_jinja_value *out, bool *found)
{
    const bool keys = iterator->source.kind == YK_JINJA_DICT;
    const struct yk_jinja_dict *dict =
        keys ? iterator->source.as.dict : iterator->source.as.view->dict;
    const enum yk_jinja_view_kind kind = keys ? YK_JINJA_VIEW_KEYS : iterator->source.as.view->kind;
    YK_TRY(yk_jinja_run_step(run, 1));
    *found = iterator->position < dict->count;
    if (!*found) {
        return YK_OK;
    }
    const struct yk_jinja_dict_entry *entry = &dict->entries[iterator->position++];
    if (kind == YK_JINJA_VIEW_ITEMS) {
        return yk_jinja_value_new_pair(run, entry->key, entry->value, out);
    }
    *out = kind == YK_JINJA_VIEW_KEYS ? entry->key : entry->value;
    return YK_OK;
}

static yk_status next_of_range(struct yk_jinja_run *run, struct yk_jinja_iterator *iterator,
                               struct yk_jinja_value *out, bool *found)
{
    const struct yk_jinja_range *range = iterator->source.as.range;
    *found = iterator->position < range->count;
    if (*found) {
        *out = yk_jinja_iterator_range_item(range, iterator->position++);
    }
    return yk_jinja_run_step(run, 1);
}

static yk_status next_of_nothing(struct yk_jinja_run *run, struct yk_jinja_iterator *iterator,
                                 struct yk_jinja_value *out, bool *found)
{
    (void)iterator;
    (void)out;
    *found = false;
    return yk_jinja_run_step(run, 1);
}

/* Generators are shared: what one reader has read, others do not get. */
static yk_status next_of_iterator(struct yk_jinja_run *run, struct yk_jinja_iterator *iterator,
                                  struct yk_jinja_value *out, bool *found)
{
    struct yk_jinja_iterator *shared = iterator->source.as.iterator;
    YK_TRY(yk_jinja_run_step(run, 1));
    YK_TRY(yk_jinja_run_enter(run));
    const yk_status status = shared->next(run, shared, out, found);
    yk_jinja_run_leave(run);
    return status;
}

bool yk_jinja_iterator_accepts(struct yk_jinja_value value)
{
    struct yk_jinja_iterator unused = {0};
    return yk_jinja_iterator_open(value, &unused) == YK_OK;
}

yk_status yk_jinja_iterator_open(struct yk_jinja_value value, struct yk_jinja_iterator *out)
{
    *out = (struct yk_jinja_iterator){.source = value};
    switch (value.kind) {
    case YK_JINJA_LIST:
    case YK_JINJA_TUPLE:
        out->next = next_of_list;
        return YK_OK;
    case YK_JINJA_STRING:
        out->next = next_of_string;
        return YK_OK;
    case YK_JINJA_DICT:
    case YK_JINJA_VIEW:
        out->next = next_of_view;
        return YK_OK;
    case YK_JINJA_RANGE:
        out->next = next_of_range;
        return YK_OK;
    case YK_JINJA_ITERATOR:
        out->next = next_of_iterator;
        return YK_OK;
    case YK_JINJA_UNDEFINED:
        out->next = next_of_nothing;
        return YK_OK;
    default:
        return yk_fail(YK_ERROR_INPUT, "a value of type %s cannot be iterated",
                       yk_jinja_value_type_name(value));
    }
}

yk_status yk_jinja_iterator_count(struct yk_jinja_value value, int64_t *out)
{
    switch (value.kind) {
    case YK_JINJA_LIST:
    case YK_JINJA_TUPLE:
        *out = value.as.list->count;
        return YK_OK;
    case YK_JINJA_STRING:
        *out = yk_jinja_value_count_characters(value.as.string);
        return YK_OK;
    case YK_JINJA_DICT:
        *out = value.as.dict->count;
        return YK_OK;
    case YK_JINJA_VIEW:
        *out = value.as.view->dict->count;
        return YK_OK;
    case YK_JINJA_RANGE:
        *out = value.as.range->count;
        return YK_OK;
    case YK_JINJA_UNDEFINED:
        *out = 0;
        return YK_OK;
    default:
        return yk_fail(YK_ERROR_INPUT, "a value of type %s has no length%s",
                       yk_jinja_value_type_name(value),
                       value.kind == YK_JINJA_ITERATOR ? "; add the filter list" : "");
    }
}

yk_status yk_jinja_iterator_to_list(struct yk_jinja_run *run, struct yk_jinja_value value,
                                    const struct yk_jinja_list **out)
{
    struct yk_jinja_list_builder builder = {0};
    struct yk_jinja_iterator iterator = {0};
    struct yk_jinja_value item = {0};
    bool found = true;
    if (value.kind == YK_JINJA_LIST || value.kind == YK_JINJA_TUPLE) {
        *out = value.as.list;
        return YK_OK;
    }
    YK_TRY(yk_jinja_iterator_open(value, &iterator));
    while (found) {
        YK_TRY(iterator.next(run, &iterator, &item, &found));
        if (found) {
            YK_TRY(yk_jinja_value_append(run, &builder, item));
        }
    }
    YK_TRY(yk_jinja_value_finish_list(run, &builder, YK_JINJA_LIST, &item));
    *out = item.as.list;
    return YK_OK;
}

yk_status yk_jinja_iterator_new(struct yk_jinja_run *run, struct yk_jinja_value source,
                                struct yk_jinja_value *out)
{
    struct yk_jinja_iterator *iterator = NULL;
    YK_JINJA_TRY_NEW(run, iterator, 1);
    YK_TRY(yk_jinja_iterator_open(source, iterator));
    *out = (struct yk_jinja_value){.kind = YK_JINJA_ITERATOR, .as.iterator = iterator};
    return YK_OK;
}
