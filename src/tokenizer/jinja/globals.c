#include "tokenizer/jinja/library.h"

#include "tokenizer/jinja/dict.h"
#include "tokenizer/jinja/iterator.h"
#include "tokenizer/jinja/value_text.h"

#include "base/text.h"

#include <time.h>

enum {
    MAX_RANGE = 100 * 1000, /* as in the sandbox of jinja2 */
    MAX_DATE_BYTES = 4096,
    DATE_STEPS = 64,   /* of writing a date, for eight bytes of the format */
    SHOWN_BYTES = 2000 /* of the message of raise_exception() */
};

static yk_status make_range(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    int64_t start = 0;
    int64_t stop = 0;
    int64_t step = 1;
    struct yk_jinja_range *range = NULL;
    const bool one = call->values[1].kind == YK_JINJA_ABSENT;
    YK_TRY(yk_jinja_function_get_integer(call, 0, one ? &stop : &start));
    YK_TRY(yk_jinja_function_get_integer(call, 1, &stop));
    YK_TRY(yk_jinja_function_get_integer(call, 2, &step));
    if (step == 0) {
        return yk_fail(YK_ERROR_INPUT, "the step of range() is 0");
    }
    const __int128 distance = step > 0 ? (__int128)stop - start : (__int128)start - stop;
    const __int128 width = step > 0 ? step : -(__int128)step;
    const __int128 count = distance > 0 ? (distance + width - 1) / width : 0;
    if (count > MAX_RANGE) {
        return yk_fail(YK_ERROR_INPUT, "range() has more than %d items", MAX_RANGE);
    }
    YK_JINJA_TRY_NEW(call->run, range, 1);
    *range = (struct yk_jinja_range){
        .start = start, .stop = stop, .step = step, .count = (int64_t)count};
    *out = (struct yk_jinja_value){.kind = YK_JINJA_RANGE, .as.range = range};
    return YK_OK;
}

static yk_status add_pairs(struct yk_jinja_run *run, struct yk_jinja_value pairs,
                           struct yk_jinja_dict *dict)
{
    const struct yk_jinja_list *list = NULL;
    YK_TRY(yk_jinja_iterator_to_list(run, pairs, &list));
    for (int64_t i = 0; i < list->count; i++) {
        const struct yk_jinja_list *pair = NULL;
        YK_TRY(yk_jinja_iterator_to_list(run, list->items[i], &pair));
        if (pair->count != 2) {
            return yk_fail(YK_ERROR_INPUT, "dict() needs pairs of a key and a value");
        }
        YK_TRY(yk_jinja_dict_set(run, dict, pair->items[0], pair->items[1]));
    }
    return YK_OK;
}

static yk_status add_first_argument(struct yk_jinja_run *run, struct yk_jinja_value value,
                                    struct yk_jinja_dict *dict)
{
    if (value.kind == YK_JINJA_UNDEFINED) {
        return yk_jinja_value_fail_undefined(value);
    }
    if (value.kind != YK_JINJA_DICT) {
        return add_pairs(run, value, dict);
    }
    for (int64_t i = 0; i < value.as.dict->count; i++) {
        const struct yk_jinja_dict_entry *entry = &value.as.dict->entries[i];
        YK_TRY(yk_jinja_dict_set(run, dict, entry->key, entry->value));
    }
    return YK_OK;
}

/* dict() and namespace() make a dict of a mapping or of pairs, and of named arguments. */
static yk_status collect(struct yk_jinja_call *call, struct yk_jinja_dict **out)
{
    const struct yk_jinja_arguments *arguments = call->arguments;
    YK_TRY(yk_jinja_dict_new(call->run, arguments->named, out));
    if (arguments->positional > 1) {
        return yk_fail(YK_ERROR_INPUT, "dict() and namespace() have at most one unnamed argument");
    }
    if (arguments->positional == 1) {
        YK_TRY(add_first_argument(call->run, arguments->values[0], *out));
    }
    for (int64_t i = 0; i < arguments->named; i++) {
        YK_TRY(yk_jinja_dict_set(call->run, *out, yk_jinja_value_string(arguments->names[i]),
                                 arguments->values[arguments->positional + i]));
    }
    return YK_OK;
}

static yk_status make_dict(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    struct yk_jinja_dict *dict = NULL;
    YK_TRY(collect(call, &dict));
    *out = (struct yk_jinja_value){.kind = YK_JINJA_DICT, .as.dict = dict};
    return YK_OK;
}

static yk_status make_namespace(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    struct yk_jinja_dict *dict = NULL;
    YK_TRY(collect(call, &dict));
    for (int64_t i = 0; i < dict->count; i++) {
        const struct yk_jinja_value key = dict->entries[i].key;
        if (key.kind == YK_JINJA_STRING && key.as.string->length > 0 &&
            key.as.string->bytes[0] == '_') {
            return yk_fail(YK_ERROR_INPUT, "attributes of a namespace must not begin with \"_\"");
        }
    }
    *out = (struct yk_jinja_value){.kind = YK_JINJA_NAMESPACE, .as.dict = dict};
    return YK_OK;
}

static yk_status make_cycler(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    struct yk_jinja_cycler *cycler = NULL;
    struct yk_jinja_value *items = NULL;
    struct yk_jinja_value list = {0};
    const int64_t count = call->arguments->positional;
    if (count == 0 || call->arguments->named > 0) {
        return yk_fail(YK_ERROR_INPUT, "cycler() needs items and no names");
    }
    YK_JINJA_TRY_NEW(call->run, cycler, 1);
    YK_TRY(yk_jinja_value_new_list(call->run, YK_JINJA_TUPLE, count, &items, &list));
    for (int64_t i = 0; i < count; i++) {
        items[i] = call->arguments->values[i];
    }
    cycler->items = list.as.list;
    *out = (struct yk_jinja_value){.kind = YK_JINJA_CYCLER, .as.cycler = cycler};
    return YK_OK;
}

static yk_status make_joiner(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    struct yk_jinja_cycler *joiner = NULL;
    struct yk_jinja_value *items = NULL;
    struct yk_jinja_value list = {0};
    YK_JINJA_TRY_NEW(call->run, joiner, 1);
    YK_TRY(yk_jinja_value_new_list(call->run, YK_JINJA_TUPLE, 1, &items, &list));
    items[0] = call->values[0];
    if (items[0].kind == YK_JINJA_ABSENT) {
        YK_TRY(yk_jinja_value_new_string(call->run, ", ", 2, &items[0]));
    }
    joiner->items = list.as.list;
    *out = (struct yk_jinja_value){.kind = YK_JINJA_JOINER, .as.cycler = joiner};
    return YK_OK;
}

static yk_status raise_exception(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    (void)out;
    const struct yk_jinja_string *message = NULL;
    YK_TRY(yk_jinja_value_text_make(call->run, call->values[0], &message));
    struct yk_text shown = {0};
    yk_text_add_escaped_controls(&shown, message->bytes,
                                 message->length < SHOWN_BYTES ? message->length : SHOWN_BYTES);
    const yk_status status =
        yk_fail(YK_ERROR_INPUT, "the template refuses the conversation: %s", yk_text_chars(&shown));
    yk_text_free(&shown);
    return status;
}

static yk_status strftime_now(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *format = NULL;
    char date[MAX_DATE_BYTES];
    struct tm local = {0};
    const time_t now = call->run->unix_time_s != 0 ? (time_t)call->run->unix_time_s : time(NULL);
    YK_TRY(yk_jinja_function_get_string(call, 0, &format));
    if (!format || !localtime_r(&now, &local)) {
        return yk_fail(YK_ERROR_INPUT, "strftime_now() needs a format");
    }
    /* The space behind the format tells an empty date from one that is too long. */
    YK_TRY(yk_jinja_run_charge_memory(call->run, format->length + 1));
    YK_TRY(yk_jinja_run_step(call->run, DATE_STEPS * (1 + (int64_t)format->length / 8)));
    const char *terminated =
        yk_arena_format(call->run->arena, "%.*s ", (int)format->length, format->bytes);
    YK_TRY_ALLOCATED(terminated);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const size_t length = strftime(date, sizeof date, terminated, &local);
#pragma GCC diagnostic pop
    if (length == 0) {
        return yk_fail(YK_ERROR_INPUT, "strftime_now() makes more than %d bytes", MAX_DATE_BYTES);
    }
    return yk_jinja_value_copy_string(call->run, date, length - 1, out);
}

static const struct yk_jinja_function functions[] = {
    {.name = "range",
     .call = make_range,
     .parameters = {"start", "stop", "step"},
     .required = 1,
     .no_names = true},
    {.name = "dict", .call = make_dict, .any = true},
    {.name = "namespace", .call = make_namespace, .any = true},
    {.name = "cycler", .call = make_cycler, .any = true},
    {.name = "joiner", .call = make_joiner, .parameters = {"sep"}},
    {.name = "raise_exception", .call = raise_exception, .parameters = {"message"}, .required = 1},
    {.name = "strftime_now", .call = strftime_now, .parameters = {"format"}, .required = 1},
    {.name = "lipsum"},
};

yk_status yk_jinja_globals_set(struct yk_jinja_run *run, const struct yk_name_index *names,
                               const bool *hidden, struct yk_jinja_value *variables)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const int32_t name = yk_name_index_find(names, functions[i].name);
        if (name >= 0 && !hidden[name]) {
            YK_TRY(yk_jinja_function_bind(run, &functions[i], yk_jinja_value_none(),
                                          &variables[name]));
        }
    }
    return YK_OK;
}
