#include "tokenizer/jinja/value.h"

enum {
    FIRST_LIST_CAPACITY = 8,
    SHOWN_BYTES = 200 /* of a name in messages */
};

const char *yk_jinja_value_type_name(struct yk_jinja_value value)
{
    static const char *const views[] = {"dict_keys", "dict_values", "dict_items"};
    static const char *const names[YK_JINJA_KIND_COUNT] = {
        [YK_JINJA_ABSENT] = "nothing",
        [YK_JINJA_UNDEFINED] = "Undefined",
        [YK_JINJA_NONE] = "None",
        [YK_JINJA_BOOL] = "bool",
        [YK_JINJA_INT] = "int",
        [YK_JINJA_FLOAT] = "float",
        [YK_JINJA_STRING] = "str",
        [YK_JINJA_LIST] = "list",
        [YK_JINJA_TUPLE] = "tuple",
        [YK_JINJA_DICT] = "dict",
        [YK_JINJA_RANGE] = "range",
        [YK_JINJA_SLICE] = "slice",
        [YK_JINJA_ITERATOR] = "generator",
        [YK_JINJA_NAMESPACE] = "namespace",
        [YK_JINJA_LOOP] = "loop",
        [YK_JINJA_CALLABLE] = "function",
        [YK_JINJA_CYCLER] = "cycler",
        [YK_JINJA_JOINER] = "joiner",
    };
    return value.kind == YK_JINJA_VIEW ? views[value.as.view->kind] : names[value.kind];
}

int64_t yk_jinja_value_count_characters(const struct yk_jinja_string *string)
{
    if (string->characters >= 0) {
        return string->characters;
    }
    const uint64_t ones = UINT64_C(0x0101010101010101);
    int64_t count = (int64_t)string->length; /* without the bytes that continue a character */
    size_t at = 0;
    for (uint64_t eight = 0; at + sizeof eight <= string->length; at += sizeof eight) {
        memcpy(&eight, string->bytes + at, sizeof eight);
        count -= (int64_t)(((eight >> 7 & ~eight >> 6 & ones) * ones) >> 56);
    }
    for (; at < string->length; at++) {
        count -= ((unsigned char)string->bytes[at] & 0xc0) == 0x80;
    }
    /* Strings of a template, which threads share, were counted when it was parsed. */
    ((struct yk_jinja_string *)string)->characters = count;
    return count;
}

yk_status yk_jinja_value_new_string(struct yk_jinja_run *run, const char *bytes, size_t length,
                                    struct yk_jinja_value *out)
{
    struct yk_jinja_string *string = NULL;
    YK_TRY(yk_jinja_run_charge_bytes(run, length));
    YK_JINJA_TRY_NEW(run, string, 1);
    string->bytes = bytes;
    string->length = length;
    string->characters = -1;
    *out = yk_jinja_value_string(string);
    return YK_OK;
}

yk_status yk_jinja_value_reserve_string(struct yk_jinja_run *run, size_t length, char **bytes,
                                        struct yk_jinja_value *out)
{
    YK_JINJA_TRY_NEW(run, *bytes, length + 1);
    return yk_jinja_value_new_string(run, *bytes, length, out);
}

yk_status yk_jinja_value_copy_string(struct yk_jinja_run *run, const char *bytes, size_t length,
                                     struct yk_jinja_value *out)
{
    char *copy = NULL;
    YK_TRY(yk_jinja_value_reserve_string(run, length, &copy, out));
    if (length > 0) {
        memcpy(copy, bytes, length);
    }
    return YK_OK;
}

/* Makes a buffer that begins with `a`. What was appended to before will probably be appended to
 * again. */
static yk_status new_buffer(struct yk_jinja_run *run, const struct yk_jinja_string *a, size_t more,
                            struct yk_jinja_buffer **out)
{
    void *memory = NULL;
    const size_t needed = a->length + more;
    const size_t capacity = a->buffer ? 2 * needed + 64 : needed + 16;
    YK_TRY(yk_jinja_run_allocate(run, sizeof **out + capacity, 1, &memory));
    struct yk_jinja_buffer *buffer = memory;
    buffer->capacity = capacity;
    buffer->used = a->length;
    memcpy(buffer->bytes, a->bytes, a->length);
    *out = buffer;
    return YK_OK;
}

yk_status yk_jinja_value_concatenate(struct yk_jinja_run *run, const struct yk_jinja_string *a,
                                     const struct yk_jinja_string *b, struct yk_jinja_value *out)
{
    struct yk_jinja_buffer *buffer = a->buffer;
    const bool in_place = buffer && a->bytes + a->length == buffer->bytes + buffer->used &&
                          b->length <= buffer->capacity - buffer->used;
    const char *begin = a->bytes;
    YK_TRY(yk_jinja_run_charge_bytes(run, b->length + (in_place ? 0 : a->length)));
    if (!in_place) {
        YK_TRY(new_buffer(run, a, b->length, &buffer));
        begin = buffer->bytes;
    }
    memcpy(buffer->bytes + buffer->used, b->bytes, b->length);
    buffer->used += b->length;
    struct yk_jinja_string *made = NULL;
    YK_JINJA_TRY_NEW(run, made, 1);
    *made = (struct yk_jinja_string){
        .bytes = begin,
        .length = a->length + b->length,
        .characters = yk_jinja_value_count_characters(a) + yk_jinja_value_count_characters(b),
        .buffer = buffer,
    };
    *out = yk_jinja_value_string(made);
    return YK_OK;
}

yk_status yk_jinja_value_new_list(struct yk_jinja_run *run, enum yk_jinja_kind kind, int64_t count,
                                  struct yk_jinja_value **items, struct yk_jinja_value *out)
{
    struct yk_jinja_list *list = NULL;
    YK_JINJA_TRY_NEW(run, list, 1);
    YK_JINJA_TRY_NEW(run, list->items, count);
    list->count = count;
    *items = list->items;
    *out = (struct yk_jinja_value){.kind = kind, .as.list = list};
    return YK_OK;
}

yk_status yk_jinja_value_new_pair(struct yk_jinja_run *run, struct yk_jinja_value first,
                                  struct yk_jinja_value second, struct yk_jinja_value *out)
{
    struct yk_jinja_value *items = NULL;
    YK_TRY(yk_jinja_value_new_list(run, YK_JINJA_TUPLE, 2, &items, out));
    items[0] = first;
    items[1] = second;
    return YK_OK;
}

yk_status yk_jinja_value_append(struct yk_jinja_run *run, struct yk_jinja_list_builder *builder,
                                struct yk_jinja_value item)
{
    if (builder->count == builder->capacity) {
        const int64_t capacity =
            builder->capacity > 0 ? builder->capacity * 2 : FIRST_LIST_CAPACITY;
        struct yk_jinja_value *items = NULL;
        YK_JINJA_TRY_NEW(run, items, capacity);
        if (builder->count > 0) {
            memcpy(items, builder->items, (size_t)builder->count * sizeof *items);
        }
        builder->items = items;
        builder->capacity = capacity;
    }
    builder->items[builder->count++] = item;
    return yk_jinja_run_step(run, 1);
}

yk_status yk_jinja_value_finish_list(struct yk_jinja_run *run,
                                     const struct yk_jinja_list_builder *builder,
                                     enum yk_jinja_kind kind, struct yk_jinja_value *out)
{
    struct yk_jinja_list *list = NULL;
    YK_JINJA_TRY_NEW(run, list, 1);
    list->items = builder->items;
    list->count = builder->count;
    *out = (struct yk_jinja_value){.kind = kind, .as.list = list};
    return YK_OK;
}

yk_status yk_jinja_value_new_undefined(struct yk_jinja_run *run,
                                       struct yk_jinja_undefined undefined,
                                       struct yk_jinja_value *out)
{
    struct yk_jinja_undefined *made = NULL;
    YK_JINJA_TRY_NEW(run, made, 1);
    *made = undefined;
    *out = (struct yk_jinja_value){.kind = YK_JINJA_UNDEFINED, .as.undefined = made};
    return YK_OK;
}

yk_status yk_jinja_value_fail_undefined(struct yk_jinja_value value)
{
    const struct yk_jinja_undefined *reason =
        value.kind == YK_JINJA_UNDEFINED ? value.as.undefined : NULL;
    if (!reason) {
        return yk_fail(YK_ERROR_INPUT, "a value that is used here is undefined");
    }
    if (reason->hint) {
        return yk_fail(YK_ERROR_INPUT, "%s", reason->hint);
    }
    const int shown = reason->name_length < SHOWN_BYTES ? (int)reason->name_length : SHOWN_BYTES;
    if (reason->owner) {
        return yk_fail(YK_ERROR_INPUT, "a value of type %s has no attribute \"%.*s\"",
                       reason->owner, shown, reason->name);
    }
    return yk_fail(YK_ERROR_INPUT, "\"%.*s\" is undefined", shown, reason->name);
}
