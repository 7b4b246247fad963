#include "tokenizer/jinja/attribute.h"

#include "tokenizer/jinja/dict.h"
#include "tokenizer/jinja/iterator.h"
#include "tokenizer/jinja/loop.h"
#include "tokenizer/jinja/string.h"
#include "tokenizer/jinja/value_compare.h"

#include "base/number.h"

enum {
    LOOK_UP_STEPS = 4 /* of searching a method by its name */
};

static yk_status make_missing(struct yk_jinja_run *run, struct yk_jinja_value object,
                              const char *name, size_t length, struct yk_jinja_value *out)
{
    const struct yk_jinja_undefined reason = {
        .owner = yk_jinja_value_type_name(object), .name = name, .name_length = length};
    return yk_jinja_value_new_undefined(run, reason, out);
}

/* Finds attributes that are neither methods nor items. */
static yk_status find_attribute(struct yk_jinja_run *run, struct yk_jinja_value object,
                                const struct yk_jinja_string *name, struct yk_jinja_value *out,
                                bool *found)
{
    const struct yk_jinja_value *value = NULL;
    *found = false;
    if (object.kind == YK_JINJA_LOOP) {
        return yk_jinja_loop_get(run, object.as.loop, name->bytes, name->length, out, found);
    }
    if (object.kind == YK_JINJA_NAMESPACE) {
        YK_TRY(yk_jinja_dict_find_string(run, object.as.dict, name, &value));
    } else if (object.kind == YK_JINJA_TUPLE && object.as.list->group) {
        const struct yk_jinja_value key = yk_jinja_value_string(name);
        value = yk_jinja_value_is_string(key, "grouper") ? &object.as.list->items[0]
                : yk_jinja_value_is_string(key, "list")  ? &object.as.list->items[1]
                                                         : NULL;
    } else if (object.kind == YK_JINJA_CYCLER &&
               yk_jinja_value_is_string(yk_jinja_value_string(name), "current")) {
        value = &object.as.cycler->items->items[object.as.cycler->position];
    }
    *found = value != NULL;
    if (value) {
        *out = *value;
    }
    return YK_OK;
}

yk_status yk_jinja_attribute_get(struct yk_jinja_run *run, struct yk_jinja_value object,
                                 const struct yk_jinja_string *name,
                                 const struct yk_jinja_function *method, struct yk_jinja_value *out)
{
    bool found = false;
    if (object.kind == YK_JINJA_UNDEFINED) {
        return yk_jinja_value_fail_undefined(object);
    }
    if (method && object.kind != YK_JINJA_NAMESPACE) {
        return yk_jinja_function_bind(run, method, object, out);
    }
    if (object.kind == YK_JINJA_DICT) {
        const struct yk_jinja_value *value = NULL;
        YK_TRY(yk_jinja_dict_find_string(run, object.as.dict, name, &value));
        if (value) {
            *out = *value;
            return YK_OK;
        }
    }
    YK_TRY(find_attribute(run, object, name, out, &found));
    return found ? YK_OK : make_missing(run, object, name->bytes, name->length, out);
}

/* The items of a slice, as Python's slice.indices() has them. */
struct indices {
    int64_t start;
    int64_t stop;
    int64_t step;
    int64_t count;
};

static yk_status read_index(struct yk_jinja_value value, int64_t otherwise, int64_t *out)
{
    *out = otherwise;
    if (value.kind == YK_JINJA_NONE || value.kind == YK_JINJA_ABSENT ||
        yk_jinja_value_get_integer(value, out)) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT, "the bounds of a slice must be integers, not of type %s",
                   yk_jinja_value_type_name(value));
}

static int64_t clamp_index(int64_t index, int64_t length, bool backwards)
{
    if (index < 0) {
        index += length;
        if (index < 0) {
            return backwards ? -1 : 0;
        }
    }
    return index >= length ? (backwards ? length - 1 : length) : index;
}

static yk_status find_indices(const struct yk_jinja_slice *slice, int64_t length,
                              struct indices *out)
{
    int64_t step = 1;
    int64_t start = 0;
    int64_t stop = 0;
    YK_TRY(read_index(slice->step, 1, &step));
    if (step == 0) {
        return yk_fail(YK_ERROR_INPUT, "the step of a slice is 0");
    }
    const bool backwards = step < 0;
    YK_TRY(read_index(slice->start, backwards ? INT64_MAX : 0, &start));
    YK_TRY(read_index(slice->stop, backwards ? INT64_MIN : INT64_MAX, &stop));
    start = clamp_index(start, length, backwards);
    stop = stop == INT64_MIN ? -1 : clamp_index(stop, length, backwards);
    /* Nothing is longer than the step then, and the count stays right. */
    step = step > length + 1 ? length + 1 : step < -length - 1 ? -length - 1 : step;
    out->start = start;
    out->stop = stop;
    out->step = step;
    out->count = backwards ? (start > stop ? (start - stop - 1) / -step + 1 : 0)
                           : (stop > start ? (stop - start - 1) / step + 1 : 0);
    return YK_OK;
}

static yk_status slice_list(struct yk_jinja_run *run, struct yk_jinja_value object,
                            const struct indices *indices, struct yk_jinja_value *out)
{
    struct yk_jinja_value *items = NULL;
    const struct yk_jinja_list *list = object.as.list;
    YK_TRY(yk_jinja_value_new_list(run, object.kind, indices->count, &items, out));
    for (int64_t i = 0; i < indices->count; i++) {
        items[i] = list->items[indices->start + i * indices->step];
    }
    return yk_jinja_run_step(run, indices->count / 4);
}

/* What follows the items of a range may have more than 64 bits. */
static int64_t range_bound(const struct yk_jinja_range *range, int64_t index)
{
    const __int128 bound = range->start + (__int128)index * range->step;
    return bound > INT64_MAX ? INT64_MAX : bound < INT64_MIN ? INT64_MIN : (int64_t)bound;
}

static yk_status slice_range(struct yk_jinja_run *run, const struct yk_jinja_range *range,
                             const struct indices *indices, struct yk_jinja_value *out)
{
    struct yk_jinja_range *made = NULL;
    YK_JINJA_TRY_NEW(run, made, 1);
    made->start = range_bound(range, indices->start);
    made->stop = range_bound(range, indices->stop);
    made->count = indices->count;
    if (__builtin_mul_overflow(range->step, indices->step, &made->step)) {
        made->step = range->step; /* of one item at most, which has no distance to a next one */
        if (made->count > 1) {
            return yk_fail(YK_ERROR_INPUT, "an integer is too large: integers have 64 bits here");
        }
    }
    *out = (struct yk_jinja_value){.kind = YK_JINJA_RANGE, .as.range = made};
    return YK_OK;
}

static yk_status get_slice(struct yk_jinja_run *run, struct yk_jinja_value object,
                           const struct yk_jinja_slice *slice, struct yk_jinja_value *out)
{
    int64_t length = 0;
    struct indices indices = {0};
    YK_TRY(yk_jinja_iterator_count(object, &length));
    YK_TRY(find_indices(slice, length, &indices));
    if (object.kind == YK_JINJA_STRING) {
        return yk_jinja_string_slice(run, object.as.string, indices.start, indices.step,
                                     indices.count, out);
    }
    return object.kind == YK_JINJA_RANGE ? slice_range(run, object.as.range, &indices, out)
                                         : slice_list(run, object, &indices, out);
}

static bool is_sequence(enum yk_jinja_kind kind)
{
    return kind == YK_JINJA_LIST || kind == YK_JINJA_TUPLE || kind == YK_JINJA_STRING ||
           kind == YK_JINJA_RANGE;
}

static yk_status get_index(struct yk_jinja_run *run, struct yk_jinja_value object, int64_t index,
                           struct yk_jinja_value *out, bool *found)
{
    int64_t length = 0;
    YK_TRY(yk_jinja_iterator_count(object, &length));
    index = index < 0 ? index + length : index;
    *found = index >= 0 && index < length;
    if (!*found) {
        return YK_OK;
    }
    if (object.kind == YK_JINJA_STRING) {
        return yk_jinja_string_slice(run, object.as.string, index, 1, 1, out);
    }
    *out = object.kind == YK_JINJA_RANGE ? yk_jinja_iterator_range_item(object.as.range, index)
                                         : object.as.list->items[index];
    return YK_OK;
}

static yk_status get_named(struct yk_jinja_run *run, struct yk_jinja_value object,
                           const struct yk_jinja_string *name, struct yk_jinja_value *out)
{
    bool found = false;
    YK_TRY(yk_jinja_run_step(run, LOOK_UP_STEPS));
    const struct yk_jinja_function *method =
        run->library->find_method(object.kind, name->bytes, name->length);
    if (method) {
        return yk_jinja_function_bind(run, method, object, out);
    }
    YK_TRY(find_attribute(run, object, name, out, &found));
    return found ? YK_OK : make_missing(run, object, name->bytes, name->length, out);
}

yk_status yk_jinja_attribute_get_item(struct yk_jinja_run *run, struct yk_jinja_value object,
                                      struct yk_jinja_value key, struct yk_jinja_value *out)
{
    int64_t index = 0;
    bool found = false;
    if (object.kind == YK_JINJA_UNDEFINED) {
        return yk_jinja_value_fail_undefined(object);
    }
    if (key.kind == YK_JINJA_SLICE) {
        return is_sequence(object.kind)
                   ? get_slice(run, object, key.as.slice, out)
                   : yk_fail(YK_ERROR_INPUT, "a value of type %s has no slices",
                             yk_jinja_value_type_name(object));
    }
    if (object.kind == YK_JINJA_DICT) {
        const struct yk_jinja_value *value = NULL;
        YK_TRY(yk_jinja_dict_find(run, object.as.dict, key, &value));
        if (value) {
            *out = *value;
            return YK_OK;
        }
    } else if (is_sequence(object.kind)) {
        if (yk_jinja_value_get_integer(key, &index)) {
            YK_TRY(get_index(run, object, index, out, &found));
            if (found) {
                return YK_OK;
            }
        }
    }
    return key.kind == YK_JINJA_STRING ? get_named(run, object, key.as.string, out)
                                       : make_missing(run, object, "[…]", strlen("[…]"), out);
}

static yk_status search(struct yk_jinja_run *run, struct yk_jinja_value container,
                        struct yk_jinja_value item, bool *out)
{
    struct yk_jinja_iterator iterator = {0};
    struct yk_jinja_value other = {0};
    bool found = true;
    *out = false;
    YK_TRY(yk_jinja_iterator_open(container, &iterator));
    while (found && !*out) {
        YK_TRY(iterator.next(run, &iterator, &other, &found));
        if (found) {
            YK_TRY(yk_jinja_value_compare_equal(run, other, item, out));
        }
    }
    return YK_OK;
}

yk_status yk_jinja_attribute_contains(struct yk_jinja_run *run, struct yk_jinja_value container,
                                      struct yk_jinja_value item, bool *out)
{
    if (container.kind == YK_JINJA_STRING) {
        if (item.kind != YK_JINJA_STRING) {
            return item.kind == YK_JINJA_UNDEFINED
                       ? yk_jinja_value_fail_undefined(item)
                       : yk_fail(YK_ERROR_INPUT, "a value of type %s cannot be part of a string",
                                 yk_jinja_value_type_name(item));
        }
        size_t found = SIZE_MAX;
        YK_TRY(yk_jinja_string_find(run, container.as.string, item.as.string, 0, &found));
        *out = found != SIZE_MAX;
        return YK_OK;
    }
    const bool keys =
        container.kind == YK_JINJA_DICT ||
        (container.kind == YK_JINJA_VIEW && container.as.view->kind == YK_JINJA_VIEW_KEYS);
    if (keys) {
        const struct yk_jinja_dict *dict =
            container.kind == YK_JINJA_DICT ? container.as.dict : container.as.view->dict;
        const struct yk_jinja_value *found = NULL;
        YK_TRY(yk_jinja_dict_check_key(run, item));
        YK_TRY(yk_jinja_dict_find(run, dict, item, &found));
        *out = found != NULL;
        return YK_OK;
    }
    return search(run, container, item, out);
}

static bool is_all_digits(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] < '0' || bytes[i] > '9') {
            return false;
        }
    }
    return length > 0;
}

static yk_status get_part(struct yk_jinja_run *run, struct yk_jinja_value object,
                          struct yk_jinja_value part, struct yk_jinja_value otherwise,
                          struct yk_jinja_value *out)
{
    YK_TRY(yk_jinja_attribute_get_item(run, object, part, out));
    if (out->kind == YK_JINJA_UNDEFINED && otherwise.kind != YK_JINJA_ABSENT &&
        otherwise.kind != YK_JINJA_NONE) {
        *out = otherwise;
    }
    return YK_OK;
}

yk_status yk_jinja_attribute_get_path(struct yk_jinja_run *run, struct yk_jinja_value object,
                                      struct yk_jinja_value path, struct yk_jinja_value otherwise,
                                      struct yk_jinja_value *out)
{
    *out = object;
    if (path.kind == YK_JINJA_NONE || path.kind == YK_JINJA_ABSENT) {
        return YK_OK;
    }
    if (path.kind != YK_JINJA_STRING) {
        return get_part(run, object, path, otherwise, out);
    }
    const struct yk_jinja_string *name = path.as.string;
    for (size_t begin = 0; begin <= name->length;) {
        const char *dot =
            name->length > begin ? memchr(name->bytes + begin, '.', name->length - begin) : NULL;
        const size_t end = dot ? (size_t)(dot - name->bytes) : name->length;
        struct yk_jinja_string part = {
            .bytes = name->bytes + begin, .length = end - begin, .characters = -1};
        struct yk_jinja_value key = yk_jinja_value_string(&part);
        int64_t index = 0;
        if (is_all_digits(part.bytes, part.length) &&
            yk_number_parse_integer(part.bytes, part.length, &index)) {
            key = yk_jinja_value_int(index);
        }
        YK_TRY(yk_jinja_run_step(run, 1));
        YK_TRY(get_part(run, *out, key, otherwise, out));
        begin = end + 1;
    }
    return YK_OK;
}
