#include "base/json_value.h"

#include "base/number.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    FORM_VERSION = 1,
    SHOWN_COLUMNS = 60
};

yk_status yk_json_add_location(yk_status status, const char *list, size_t index, const char *name)
{
    if (status == YK_OK) {
        return YK_OK;
    }
    char place[400];
    if (name && *name) {
        snprintf(place, sizeof place, "%s[%zu] (\"%.*s\")", list, index,
                 (int)yk_text_prefix(name, SHOWN_COLUMNS), name);
    } else {
        snprintf(place, sizeof place, "%s[%zu]", list, index);
    }
    return yk_fail_in(status, place);
}

yk_status yk_json_check_object(const struct yk_json *node, const char *const *known, size_t count)
{
    if (!yk_json_is_object(node)) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object, not %s", yk_json_kind(node));
    }
    return yk_json_check_keys(node, known, count);
}

yk_status yk_json_get_list(const struct yk_json *object, const char *key,
                           const struct yk_json **out)
{
    const struct yk_json *node = yk_json_get(object, key);
    if (node && !yk_json_is_array(node)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a list, not %s", key, yk_json_kind(node));
    }
    *out = node;
    return YK_OK;
}

yk_status yk_json_require_list(const struct yk_json *object, const char *key,
                               const struct yk_json **out)
{
    YK_TRY(yk_json_get_list(object, key, out));
    return *out ? YK_OK : yk_fail(YK_ERROR_INPUT, "\"%s\" is missing", key);
}

yk_status yk_json_read_name(const struct yk_json *node, const char *key, const char **out)
{
    double number = 0;
    const char *name = yk_json_string(node);
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
    if (yk_json_number(node, &number)) {
        char digits[YK_NUMBER_SIZE];
        yk_number_format(number, digits);
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a string: \"%s\", not %s", key, digits,
                       digits);
    }
    return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a string, not %s", key, yk_json_kind(node));
}

yk_status yk_json_read_quantity(const struct yk_json *node, const char *key, enum yk_unit unit,
                                double *out)
{
    if (yk_json_number(node, out)) {
        return YK_OK;
    }
    const char *word = yk_json_string(node);
    if (word) {
        const yk_status status = yk_units_read(word, unit, out);
        return status == YK_OK ? YK_OK : yk_fail_in(status, key);
    }
    return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a number, not %s", key, yk_json_kind(node));
}

yk_status yk_json_get_text(const struct yk_json *object, const char *key, const char **out)
{
    const struct yk_json *node = yk_json_get(object, key);
    const char *text = yk_json_string(node);
    if (node && !text) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a string, not %s", key, yk_json_kind(node));
    }
    if (text && !*text) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is empty", key);
    }
    *out = text;
    return YK_OK;
}

/* A bare number is written out, so that the sentence about its missing unit can show it. */
static yk_status read_amount(const struct yk_json *node, enum yk_unit unit, bool zero, double *out)
{
    char digits[YK_NUMBER_SIZE];
    double number = 0;
    const char *word = yk_json_string(node);
    if (!word && yk_json_number(node, &number)) {
        yk_number_format(number, digits);
        word = digits;
    }
    if (!word) {
        return yk_fail(YK_ERROR_INPUT, "this must be a string with a unit, not %s",
                       yk_json_kind(node));
    }
    YK_TRY(yk_units_read(word, unit, &number));
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
    const struct yk_json *node = yk_json_get(object, key);
    const yk_status status = node ? read_amount(node, unit, zero, out) : YK_OK;
    return status == YK_OK ? YK_OK : yk_fail_in(status, key);
}

yk_status yk_json_get_amount(const struct yk_json *object, const char *key, enum yk_unit unit,
                             double *out)
{
    return amount_of(object, key, unit, false, out);
}

yk_status yk_json_get_amount_or_zero(const struct yk_json *object, const char *key,
                                     enum yk_unit unit, double *out)
{
    return amount_of(object, key, unit, true, out);
}

yk_status yk_json_get_integer(const struct yk_json *object, const char *key, int64_t least,
                              int64_t most, int64_t *out)
{
    const struct yk_json *node = yk_json_get(object, key);
    double number = 0;
    if (!node) {
        return YK_OK;
    }
    if (!yk_json_number(node, &number) || number != trunc(number) || number < (double)least ||
        number > (double)most) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a whole number from %" PRId64 " to %" PRId64,
                       key, least, most);
    }
    *out = (int64_t)number;
    return YK_OK;
}

yk_status yk_json_get_flag(const struct yk_json *object, const char *key, bool *out)
{
    const struct yk_json *node = yk_json_get(object, key);
    if (node && !yk_json_boolean(node, out)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be true or false, not %s", key,
                       yk_json_kind(node));
    }
    return YK_OK;
}

yk_status yk_json_copy_text(struct yk_arena *arena, const char *text, const char **out)
{
    *out = text ? yk_arena_copy_text(arena, text, strlen(text)) : NULL;
    return text && !*out ? yk_fail_out_of_memory() : YK_OK;
}

static yk_status check_version(const struct yk_json *root, const char *kind, int reads)
{
    double version = 0;
    const struct yk_json *node = yk_json_get(root, "yoke");
    if (!node) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"yoke\" is missing; a %s says \"yoke\": %d, the version of its form", kind,
                       reads);
    }
    if (!yk_json_number(node, &version)) {
        return yk_fail(YK_ERROR_INPUT, "\"yoke\" must be %d, not %s", reads, yk_json_kind(node));
    }
    return version == (double)reads
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "\"yoke\" is %g, but this program reads version %d",
                         version, reads);
}

yk_status yk_json_check_document(const struct yk_json *root, const char *kind,
                                 const char *const *known, size_t count)
{
    return yk_json_check_version(root, kind, FORM_VERSION, known, count);
}

yk_status yk_json_check_version(const struct yk_json *root, const char *kind, int version,
                                const char *const *known, size_t count)
{
    const char *given = NULL;
    const char *words = NULL;
    if (!yk_json_is_object(root)) {
        return yk_fail(YK_ERROR_INPUT, "a %s is an object, not %s", kind, yk_json_kind(root));
    }
    given = yk_json_string(yk_json_get(root, "kind"));
    if (!given || strcmp(given, kind) == 0) {
        YK_TRY(check_version(root, kind, version));
    }
    YK_TRY(yk_json_read_name(yk_json_get(root, "kind"), "kind", &given));
    if (strcmp(given, kind) != 0) {
        return yk_fail(YK_ERROR_INPUT, "\"kind\" is \"%s\", but a \"%s\" is needed here", given,
                       kind);
    }
    YK_TRY(yk_json_check_keys(root, known, count));
    YK_TRY(yk_json_get_text(root, "name", &words));
    return yk_json_get_text(root, "comment", &words);
}
