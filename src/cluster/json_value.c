#include "cluster/json_value.h"

#include "base/number.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SHOWN_COLUMNS = 60
};

yk_status yk_cluster_json_locate(yk_status status, const char *list, size_t index, const char *name)
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

yk_status yk_cluster_json_check_object(const struct yk_json *node, const char *const *known,
                                       size_t count)
{
    if (!yk_json_is_object(node)) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object, not %s", yk_json_kind(node));
    }
    return yk_json_check_keys(node, known, count);
}

yk_status yk_cluster_json_list(const struct yk_json *object, const char *key,
                               const struct yk_json **out)
{
    const struct yk_json *node = yk_json_get(object, key);
    if (node && !yk_json_is_array(node)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a list, not %s", key, yk_json_kind(node));
    }
    *out = node;
    return YK_OK;
}

yk_status yk_cluster_json_text(const struct yk_json *object, const char *key, const char **out)
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
static yk_status read_amount(const struct yk_json *node, enum yk_unit unit, double *out)
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
    if (!(number > 0)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be more than 0", word);
    }
    *out = number;
    return YK_OK;
}

yk_status yk_cluster_json_amount(const struct yk_json *object, const char *key, enum yk_unit unit,
                                 double *out)
{
    const struct yk_json *node = yk_json_get(object, key);
    const yk_status status = node ? read_amount(node, unit, out) : YK_OK;
    return status == YK_OK ? YK_OK : yk_fail_in(status, key);
}

yk_status yk_cluster_json_integer(const struct yk_json *object, const char *key, int64_t least,
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

yk_status yk_cluster_json_keep(struct yk_arena *arena, const char *text, const char **out)
{
    *out = text ? yk_arena_copy_text(arena, text, strlen(text)) : NULL;
    return text && !*out ? yk_fail_out_of_memory() : YK_OK;
}
