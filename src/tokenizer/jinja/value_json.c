#include "tokenizer/jinja/value_json.h"

#include "tokenizer/jinja/dict.h"
#include "tokenizer/jinja/string.h"
#include "tokenizer/jinja/value_compare.h"
#include "tokenizer/jinja/value_text.h"

#include <math.h>

enum {
    MAX_ESCAPE_BYTES = 12,
    LEVELS_PER_STEP = 4 /* of indentation */
};

static yk_status read_list(struct yk_jinja_run *run, const struct yk_json *node,
                           struct yk_jinja_value *out)
{
    struct yk_jinja_value *items = NULL;
    const size_t count = yk_json_array_count(node);
    YK_TRY(yk_jinja_value_new_list(run, YK_JINJA_LIST, (int64_t)count, &items, out));
    for (size_t i = 0; i < count; i++) {
        YK_TRY(yk_jinja_value_json_read(run, yk_json_array_at(node, i), &items[i]));
    }
    return YK_OK;
}

static yk_status read_dict(struct yk_jinja_run *run, const struct yk_json *node,
                           struct yk_jinja_value *out)
{
    struct yk_jinja_dict *dict = NULL;
    struct yk_json_member_iterator member = {0};
    YK_TRY(yk_jinja_dict_new(run, (int64_t)yk_json_member_count(node), &dict));
    while (yk_json_next_member(node, &member)) {
        struct yk_jinja_value key = {0};
        struct yk_jinja_value value = {0};
        YK_TRY(yk_jinja_value_new_string(run, member.name, strlen(member.name), &key));
        YK_TRY(yk_jinja_value_json_read(run, member.value, &value));
        YK_TRY(yk_jinja_dict_set(run, dict, key, value));
    }
    *out = (struct yk_jinja_value){.kind = YK_JINJA_DICT, .as.dict = dict};
    return YK_OK;
}

static yk_status read_nested(struct yk_jinja_run *run, const struct yk_json *node,
                             struct yk_jinja_value *out)
{
    YK_TRY(yk_jinja_run_enter(run));
    const yk_status status =
        yk_json_is_array(node) ? read_list(run, node, out) : read_dict(run, node, out);
    yk_jinja_run_leave(run);
    return status;
}

yk_status yk_jinja_value_json_read(struct yk_jinja_run *run, const struct yk_json *node,
                                   struct yk_jinja_value *out)
{
    bool boolean = false;
    int64_t integer = 0;
    double number = 0;
    size_t length = 0;
    const char *bytes = yk_json_string_bytes(node, &length);
    if (bytes) {
        return yk_jinja_value_new_string(run, bytes, length, out);
    }
    if (yk_json_is_array(node) || yk_json_is_object(node)) {
        return read_nested(run, node, out);
    }
    if (yk_json_boolean_value(node, &boolean)) {
        *out = yk_jinja_value_bool(boolean);
    } else if (yk_json_integer_value(node, &integer)) {
        *out = yk_jinja_value_int(integer);
    } else if (yk_json_number_value(node, &number)) {
        *out = yk_jinja_value_float(number);
    } else {
        *out = yk_jinja_value_none();
    }
    return YK_OK;
}

struct writer {
    struct yk_jinja_run *run;
    const struct yk_jinja_json_style *style;
    struct yk_text *out;
    int64_t level;
};

static yk_status write_value(struct writer *writer, struct yk_jinja_value value);

static void add_string(struct yk_text *out, const struct yk_jinja_string *string)
{
    yk_text_add_bytes(out, string->bytes, string->length);
}

static void write_escape(struct yk_text *out, uint32_t character)
{
    static const char *const escapes[] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['\n'] = "\\n", ['\r'] = "\\r",
        ['\t'] = "\\t", ['\f'] = "\\f",  ['\b'] = "\\b",
    };
    if (character < sizeof escapes / sizeof *escapes && escapes[character]) {
        yk_text_add(out, escapes[character]);
    } else if (character < 0x10000) {
        yk_jinja_value_text_add_escape('u', character, 4, out);
    } else {
        const uint32_t rest = character - 0x10000;
        yk_jinja_value_text_add_escape('u', 0xd800U + (rest >> 10), 4, out);
        yk_jinja_value_text_add_escape('u', 0xdc00U + (rest & 0x3ff), 4, out);
    }
}

static yk_status write_string(struct writer *writer, const struct yk_jinja_string *string)
{
    struct yk_text *out = writer->out;
    const bool ascii = writer->style->escape_non_ascii;
    size_t begin = 0; /* of what is not written yet */
    YK_TRY(yk_jinja_run_charge_bytes(writer->run, string->length * 2));
    YK_TRY(yk_jinja_run_charge_memory(writer->run, string->length));
    yk_text_add(out, "\"");
    for (size_t at = 0; at < string->length;) {
        uint32_t character = 0;
        const size_t used = yk_jinja_string_decode(string->bytes + at, &character);
        if (character < ' ' || character == '"' || character == '\\' ||
            (ascii && character >= 0x7f)) {
            YK_TRY(yk_jinja_run_charge_memory(writer->run, MAX_ESCAPE_BYTES));
            yk_text_add_bytes(out, string->bytes + begin, at - begin);
            write_escape(out, character);
            begin = at + used;
        }
        at += used;
    }
    yk_text_add_bytes(out, string->bytes + begin, string->length - begin);
    yk_text_add(out, "\"");
    return YK_OK;
}

static void write_float(struct yk_text *out, double number)
{
    if (isfinite(number)) {
        yk_jinja_value_text_add_float(number, out);
    } else {
        yk_text_add(out, isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity");
    }
}

static yk_status write_newline(struct writer *writer)
{
    if (writer->style->indent) {
        const size_t bytes = (size_t)writer->level * writer->style->indent->length + 1;
        YK_TRY(yk_jinja_run_charge_memory(writer->run, bytes));
        YK_TRY(yk_jinja_run_step(writer->run, writer->level / LEVELS_PER_STEP));
        yk_text_add(writer->out, "\n");
        for (int64_t i = 0; i < writer->level; i++) {
            add_string(writer->out, writer->style->indent);
        }
    }
    return YK_OK;
}

static yk_status write_separator(struct writer *writer, const struct yk_jinja_string *separator)
{
    if (separator) {
        YK_TRY(yk_jinja_run_charge_memory(writer->run, separator->length));
        add_string(writer->out, separator);
    }
    return YK_OK;
}

/* Writes none, a boolean or a number. Returns whether the value is one of these. */
static bool write_plain(struct yk_text *out, struct yk_jinja_value value)
{
    switch (value.kind) {
    case YK_JINJA_NONE:
        yk_text_add(out, "null");
        return true;
    case YK_JINJA_BOOL:
        yk_text_add(out, value.as.boolean ? "true" : "false");
        return true;
    case YK_JINJA_INT:
        yk_jinja_value_text_add_integer(value.as.integer, out);
        return true;
    case YK_JINJA_FLOAT:
        write_float(out, value.as.number);
        return true;
    default:
        return false;
    }
}

static yk_status write_key(struct writer *writer, struct yk_jinja_value key)
{
    if (key.kind == YK_JINJA_STRING) {
        return write_string(writer, key.as.string);
    }
    YK_TRY(yk_jinja_run_charge_memory(writer->run, YK_JINJA_MAX_PLAIN_BYTES));
    yk_text_add(writer->out, "\"");
    if (!write_plain(writer->out, key)) {
        return yk_fail(YK_ERROR_INPUT, "a key of type %s cannot be written as JSON",
                       yk_jinja_value_type_name(key));
    }
    yk_text_add(writer->out, "\"");
    return YK_OK;
}

/* Sets `*out` to the entries in the order of their keys, or to NULL if they stay in their order. */
static yk_status sort_entries(struct writer *writer, const struct yk_jinja_dict *dict,
                              struct yk_jinja_sorted_item **out)
{
    *out = NULL;
    if (!writer->style->sort_keys || dict->count < 2) {
        return YK_OK;
    }
    YK_JINJA_TRY_NEW(writer->run, *out, dict->count);
    for (int64_t i = 0; i < dict->count; i++) {
        (*out)[i].key = dict->entries[i].key;
        (*out)[i].item = dict->entries[i].value;
    }
    return yk_jinja_value_compare_sort(writer->run, *out, dict->count, false);
}

static yk_status write_dict(struct writer *writer, const struct yk_jinja_dict *dict)
{
    struct yk_jinja_sorted_item *sorted = NULL;
    if (dict->count == 0) {
        yk_text_add(writer->out, "{}");
        return YK_OK;
    }
    YK_TRY(sort_entries(writer, dict, &sorted));
    yk_text_add(writer->out, "{");
    writer->level++;
    for (int64_t i = 0; i < dict->count; i++) {
        YK_TRY(write_separator(writer, i > 0 ? writer->style->item_separator : NULL));
        YK_TRY(write_newline(writer));
        YK_TRY(write_key(writer, sorted ? sorted[i].key : dict->entries[i].key));
        YK_TRY(write_separator(writer, writer->style->key_separator));
        YK_TRY(write_value(writer, sorted ? sorted[i].item : dict->entries[i].value));
    }
    writer->level--;
    YK_TRY(write_newline(writer));
    yk_text_add(writer->out, "}");
    return YK_OK;
}

static yk_status write_list(struct writer *writer, const struct yk_jinja_list *list)
{
    if (list->count == 0) {
        yk_text_add(writer->out, "[]");
        return YK_OK;
    }
    yk_text_add(writer->out, "[");
    writer->level++;
    for (int64_t i = 0; i < list->count; i++) {
        YK_TRY(write_separator(writer, i > 0 ? writer->style->item_separator : NULL));
        YK_TRY(write_newline(writer));
        YK_TRY(write_value(writer, list->items[i]));
    }
    writer->level--;
    YK_TRY(write_newline(writer));
    yk_text_add(writer->out, "]");
    return YK_OK;
}

static yk_status write_nested(struct writer *writer, struct yk_jinja_value value)
{
    YK_TRY(yk_jinja_run_enter(writer->run));
    const yk_status status = value.kind == YK_JINJA_DICT ? write_dict(writer, value.as.dict)
                                                         : write_list(writer, value.as.list);
    yk_jinja_run_leave(writer->run);
    return status;
}

static yk_status write_value(struct writer *writer, struct yk_jinja_value value)
{
    YK_TRY(yk_jinja_run_step(writer->run, value.kind == YK_JINJA_FLOAT ? YK_JINJA_FLOAT_STEPS : 1));
    YK_TRY(yk_jinja_run_charge_memory(writer->run, YK_JINJA_MAX_PLAIN_BYTES));
    switch (value.kind) {
    case YK_JINJA_STRING:
        return write_string(writer, value.as.string);
    case YK_JINJA_LIST:
    case YK_JINJA_TUPLE:
    case YK_JINJA_DICT:
        return write_nested(writer, value);
    default:
        return write_plain(writer->out, value)
                   ? YK_OK
                   : yk_fail(YK_ERROR_INPUT, "a value of type %s cannot be written as JSON",
                             yk_jinja_value_type_name(value));
    }
}

yk_status yk_jinja_value_json_write(struct yk_jinja_run *run, struct yk_jinja_value value,
                                    const struct yk_jinja_json_style *style, struct yk_text *out)
{
    struct writer writer = {.run = run, .style = style, .out = out};
    return write_value(&writer, value);
}
