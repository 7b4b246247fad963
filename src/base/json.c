#include "base/json.h"

#include "base/nearest_name.h"
#include "base/number.h"
#include "base/system.h"
#include "base/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LONG_TEXT_BYTES = 16 << 20, /* from here on, the memory of the values is estimated */
    VALUE_BYTES = 64            /* of memory for each comma and each opening bracket */
};

/* struct yk_json is never defined: a node is a json_t, so that no other file depends on the JSON
 * library. */
static json_t *node_of(const struct yk_json *node)
{
    return (json_t *)node;
}

static const struct yk_json *wrap(const json_t *node)
{
    return (const struct yk_json *)node;
}

/* The message without the library's terms and without a quotation of the text: the path may come
 * from an untrusted file, and messages must not reveal the content of other files. */
static const char *fault_of(json_error_t *error)
{
    char *quotation = strstr(error->text, " near '");
    switch (json_error_code(error)) {
    case json_error_null_character:
        return "\\u0000 is not allowed in a string";
    case json_error_null_byte_in_key:
        return "\\u0000 is not allowed in a name";
    default:
        if (quotation) {
            *quotation = '\0';
        }
        return error->text;
    }
}

/* Fails if the values of a text may take more than half of the free memory. */
static yk_status check_memory(const char *bytes, size_t length)
{
    const double most = yk_system_free_memory_bytes() / 2;
    double values = 1;
    if (length < LONG_TEXT_BYTES || most <= 0) {
        return YK_OK;
    }
    for (size_t i = 0; i < length; i++) {
        values += bytes[i] == ',' || bytes[i] == '[' || bytes[i] == '{';
    }
    return values * VALUE_BYTES <= most
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT,
                         "up to %.0f values of JSON in one piece may need more than half of the "
                         "free memory; divide it",
                         values);
}

static yk_status parse(const char *bytes, size_t length, size_t flags, struct yk_json **out,
                       enum json_error_code *code)
{
    json_error_t error;
    YK_TRY(check_memory(bytes, length));
    json_t *root = json_loadb(bytes, length, flags, &error);
    if (root) {
        *out = (struct yk_json *)root;
        return YK_OK;
    }
    *code = json_error_code(&error);
    /* If the library runs out of memory, it may only set no line. */
    if (*code == json_error_out_of_memory || error.line < 0) {
        return yk_fail_out_of_memory();
    }
    return yk_fail(YK_ERROR_INPUT, "line %d, column %d: broken JSON: %s", error.line, error.column,
                   fault_of(&error));
}

yk_status yk_json_parse(const char *bytes, size_t length, struct yk_json **out)
{
    enum json_error_code code = json_error_unknown;
    return parse(bytes, length, JSON_REJECT_DUPLICATES, out, &code);
}

yk_status yk_json_parse_foreign(const char *bytes, size_t length, struct yk_json **out)
{
    enum json_error_code code = json_error_unknown;
    const yk_status status = parse(bytes, length, JSON_ALLOW_NUL, out, &code);
    return status != YK_OK && code == json_error_numeric_overflow
               ? parse(bytes, length, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, out, &code)
               : status;
}

void yk_json_destroy(struct yk_json *root)
{
    json_decref(node_of(root));
}

const char *yk_json_type_name(const struct yk_json *node)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object",    [JSON_ARRAY] = "a list",  [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number",    [JSON_REAL] = "a number", [JSON_TRUE] = "true or false",
        [JSON_FALSE] = "true or false", [JSON_NULL] = "null",
    };
    return node ? names[json_typeof(node_of(node))] : "nothing";
}

bool yk_json_is_object(const struct yk_json *node)
{
    return json_is_object(node_of(node));
}

bool yk_json_is_array(const struct yk_json *node)
{
    return json_is_array(node_of(node));
}

bool yk_json_is_null(const struct yk_json *node)
{
    return json_is_null(node_of(node));
}

const struct yk_json *yk_json_get_member(const struct yk_json *node, const char *key)
{
    return wrap(json_object_get(node_of(node), key));
}

bool yk_json_next_member(const struct yk_json *object, struct yk_json_member_iterator *member)
{
    json_t *node = node_of(object);
    void *place =
        member->place ? json_object_iter_next(node, member->place) : json_object_iter(node);
    if (!place) {
        return false;
    }
    *member = (struct yk_json_member_iterator){.name = json_object_iter_key(place),
                                               .value = wrap(json_object_iter_value(place)),
                                               .place = place};
    return true;
}

size_t yk_json_member_count(const struct yk_json *object)
{
    return json_object_size(node_of(object));
}

size_t yk_json_array_count(const struct yk_json *node)
{
    return json_array_size(node_of(node));
}

const struct yk_json *yk_json_array_at(const struct yk_json *node, size_t index)
{
    return wrap(json_array_get(node_of(node), index));
}

const char *yk_json_string_value(const struct yk_json *node)
{
    size_t length = 0;
    const char *bytes = yk_json_string_bytes(node, &length);
    return bytes && strlen(bytes) == length ? bytes : NULL;
}

const char *yk_json_string_bytes(const struct yk_json *node, size_t *length)
{
    *length = json_string_length(node_of(node));
    return json_string_value(node_of(node));
}

bool yk_json_integer_value(const struct yk_json *node, int64_t *out)
{
    if (!json_is_integer(node_of(node))) {
        return false;
    }
    *out = json_integer_value(node_of(node));
    return true;
}

bool yk_json_number_value(const struct yk_json *node, double *out)
{
    if (!json_is_number(node_of(node))) {
        return false;
    }
    *out = json_number_value(node_of(node));
    return true;
}

bool yk_json_boolean_value(const struct yk_json *node, bool *out)
{
    if (!json_is_boolean(node_of(node))) {
        return false;
    }
    *out = json_is_true(node_of(node));
    return true;
}

yk_status yk_json_check_keys(const struct yk_json *object, const char *const *known, size_t count)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(node_of(object), key, value)
    {
        size_t i = 0;
        while (i < count && strcmp(known[i], key) != 0) {
            i++;
        }
        if (i < count) {
            continue;
        }
        const char *nearest = yk_nearest_name(key, known, count);
        return nearest ? yk_fail(YK_ERROR_INPUT, "unknown key \"%s\"; did you mean \"%s\"?", key,
                                 nearest)
                       : yk_fail(YK_ERROR_INPUT, "unknown key \"%s\"", key);
    }
    return YK_OK;
}

enum {
    FORM_VERSION = 1,
    SHOWN_COLUMNS = 60
};

yk_status yk_json_prefix_error_with_element(yk_status status, const char *list, size_t index,
                                            const char *name)
{
    if (status == YK_OK) {
        return YK_OK;
    }
    char place[400];
    if (name && *name) {
        snprintf(place, sizeof place, "%s[%zu] (\"%.*s\")", list, index,
                 (int)yk_text_fitting_prefix_length(name, SHOWN_COLUMNS), name);
    } else {
        snprintf(place, sizeof place, "%s[%zu]", list, index);
    }
    return yk_status_prefix_message(status, place);
}

yk_status yk_json_check_object_keys(const struct yk_json *node, const char *const *known,
                                    size_t count)
{
    if (!yk_json_is_object(node)) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object, not %s", yk_json_type_name(node));
    }
    return yk_json_check_keys(node, known, count);
}

yk_status yk_json_check_is_array(const struct yk_json *node, const char *key)
{
    return yk_json_is_array(node) ? YK_OK
                                  : yk_fail(YK_ERROR_INPUT, "\"%s\" must be a list, not %s", key,
                                            yk_json_type_name(node));
}

yk_status yk_json_get_array(const struct yk_json *object, const char *key,
                            const struct yk_json **out)
{
    *out = yk_json_get_member(object, key);
    return *out ? yk_json_check_is_array(*out, key) : YK_OK;
}

yk_status yk_json_require_array(const struct yk_json *object, const char *key,
                                const struct yk_json **out)
{
    YK_TRY(yk_json_get_array(object, key, out));
    return *out ? YK_OK : yk_fail(YK_ERROR_INPUT, "\"%s\" is missing", key);
}

yk_status yk_json_read_nonempty_string(const struct yk_json *node, const char *key,
                                       const char **out)
{
    double number = 0;
    const char *name = yk_json_string_value(node);
    if (name && *name) {
        *out = name;
        return YK_OK;
    }
    if (name) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is empty", key);
    }
    if (!node) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is missing", key);
    }
    if (yk_json_number_value(node, &number)) {
        char digits[YK_NUMBER_BUFFER_SIZE];
        yk_number_format(number, digits);
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a string: \"%s\", not %s", key, digits,
                       digits);
    }
    return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a string, not %s", key, yk_json_type_name(node));
}

yk_status yk_json_read_quantity(const struct yk_json *node, const char *key, enum yk_unit unit,
                                double *out)
{
    if (yk_json_number_value(node, out)) {
        return YK_OK;
    }
    const char *word = yk_json_string_value(node);
    if (word) {
        const yk_status status = yk_units_parse(word, unit, out);
        return yk_status_prefix_message(status, key);
    }
    return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a number, not %s", key, yk_json_type_name(node));
}

yk_status yk_json_get_string(const struct yk_json *object, const char *key, const char **out)
{
    const struct yk_json *node = yk_json_get_member(object, key);
    const char *text = yk_json_string_value(node);
    if (node && !text) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a string, not %s", key,
                       yk_json_type_name(node));
    }
    if (text && !*text) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is empty", key);
    }
    *out = text;
    return YK_OK;
}

/* A number without a unit is formatted, so that the message about the missing unit can show it. */
static yk_status read_amount(const struct yk_json *node, enum yk_unit unit, bool zero, double *out)
{
    char digits[YK_NUMBER_BUFFER_SIZE];
    double number = 0;
    const char *word = yk_json_string_value(node);
    if (!word && yk_json_number_value(node, &number)) {
        yk_number_format(number, digits);
        word = digits;
    }
    if (!word) {
        return yk_fail(YK_ERROR_INPUT, "this must be a string with a unit, not %s",
                       yk_json_type_name(node));
    }
    YK_TRY(yk_units_parse(word, unit, &number));
    if (!(number > 0 || (zero && number == 0))) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be %s", word,
                       zero ? "0 or more" : "more than 0");
    }
    *out = number;
    return YK_OK;
}

static yk_status amount_of(const struct yk_json *object, const char *key, enum yk_unit unit,
                           bool zero, double *out)
{
    const struct yk_json *node = yk_json_get_member(object, key);
    return yk_status_prefix_message(node ? read_amount(node, unit, zero, out) : YK_OK, key);
}

yk_status yk_json_get_positive_quantity(const struct yk_json *object, const char *key,
                                        enum yk_unit unit, double *out)
{
    return amount_of(object, key, unit, false, out);
}

yk_status yk_json_get_nonnegative_quantity(const struct yk_json *object, const char *key,
                                           enum yk_unit unit, double *out)
{
    return amount_of(object, key, unit, true, out);
}

yk_status yk_json_get_integer(const struct yk_json *object, const char *key, int64_t min,
                              int64_t max, int64_t *out)
{
    const struct yk_json *node = yk_json_get_member(object, key);
    double number = 0;
    if (!node) {
        return YK_OK;
    }
    if (!yk_json_number_value(node, &number) || number != trunc(number) || number < (double)min ||
        number > (double)max) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a whole number from %" PRId64 " to %" PRId64,
                       key, min, max);
    }
    *out = (int64_t)number;
    return YK_OK;
}

yk_status yk_json_get_bool(const struct yk_json *object, const char *key, bool *out)
{
    const struct yk_json *node = yk_json_get_member(object, key);
    if (node && !yk_json_boolean_value(node, out)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be true or false, not %s", key,
                       yk_json_type_name(node));
    }
    return YK_OK;
}

static yk_status check_version(const struct yk_json *root, const char *kind, int reads)
{
    double version = 0;
    const struct yk_json *node = yk_json_get_member(root, "yoke");
    if (!node) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"yoke\" is missing; a %s says \"yoke\": %d, the version of its form", kind,
                       reads);
    }
    if (!yk_json_number_value(node, &version)) {
        return yk_fail(YK_ERROR_INPUT, "\"yoke\" must be %d, not %s", reads,
                       yk_json_type_name(node));
    }
    return version == (double)reads
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "\"yoke\" is %g, but this program reads version %d",
                         version, reads);
}

yk_status yk_json_check_yoke_document(const struct yk_json *root, const char *kind,
                                      const char *const *known, size_t count)
{
    return yk_json_check_versioned_yoke_document(root, kind, FORM_VERSION, known, count);
}

yk_status yk_json_check_versioned_yoke_document(const struct yk_json *root, const char *kind,
                                                int version, const char *const *known, size_t count)
{
    const char *given = NULL;
    const char *words = NULL;
    if (!yk_json_is_object(root)) {
        return yk_fail(YK_ERROR_INPUT, "a %s is an object, not %s", kind, yk_json_type_name(root));
    }
    given = yk_json_string_value(yk_json_get_member(root, "kind"));
    if (!given || strcmp(given, kind) == 0) {
        YK_TRY(check_version(root, kind, version));
    }
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(root, "kind"), "kind", &given));
    if (strcmp(given, kind) != 0) {
        return yk_fail(YK_ERROR_INPUT, "\"kind\" is \"%s\", but a \"%s\" is needed here", given,
                       kind);
    }
    YK_TRY(yk_json_check_keys(root, known, count));
    YK_TRY(yk_json_get_string(root, "name", &words));
    return yk_json_get_string(root, "comment", &words);
}
