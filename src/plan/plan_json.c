#include "plan/plan_json.h"

#include "base/json.h"
#include "base/nearest_name.h"
#include "base/number.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>

enum {
    SHORT_ENOUGH = 8, /* digits that are still readable */
};

yk_status yk_plan_json_read_integer(const struct yk_json *object, const char *key, int32_t min,
                                    int32_t max, int32_t *out)
{
    int64_t number = *out;
    YK_TRY(yk_json_get_integer(object, key, min, max, &number));
    *out = (int32_t)number;
    return YK_OK;
}

yk_status yk_plan_json_require_member(const struct yk_json *object, const char *key)
{
    return yk_json_get_member(object, key) ? YK_OK
                                           : yk_fail(YK_ERROR_INPUT, "\"%s\" is missing", key);
}

yk_status yk_plan_json_read_byte_size(const struct yk_json *object, const char *key, bool zero,
                                      double *out)
{
    const struct yk_json *node = yk_json_get_member(object, key);
    double bytes = 0;
    if (!node) {
        return YK_OK;
    }
    YK_TRY(yk_json_read_quantity(node, key, YK_UNIT_BYTES, &bytes));
    if (!(bytes > 0 || (zero && bytes == 0))) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be %s", key,
                       zero ? "0 bytes or more" : "more than 0 bytes");
    }
    *out = bytes;
    return YK_OK;
}

yk_status yk_plan_json_read_choice(const struct yk_json *object, const char *key,
                                   const char *const *names, size_t count, int *out)
{
    const char *name = NULL;
    YK_TRY(yk_json_get_string(object, key, &name));
    for (size_t i = 0; name && i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = (int)i;
            return YK_OK;
        }
    }
    if (!name) {
        return YK_OK;
    }
    struct yk_text all = {0};
    for (size_t i = 0; i < count; i++) {
        yk_text_addf(&all, "%s\"%s\"", i == 0 ? "" : i + 1 < count ? ", " : " or ", names[i]);
    }
    const char *nearest = yk_nearest_name(name, names, count);
    const yk_status status =
        nearest
            ? yk_fail(YK_ERROR_INPUT, "\"%s\" is \"%s\"; did you mean \"%s\"?", key, name, nearest)
            : yk_fail(YK_ERROR_INPUT, "\"%s\" must be %s, not \"%s\"", key, yk_text_chars(&all),
                      name);
    yk_text_free(&all);
    return status;
}

void yk_plan_json_write_byte_size(struct yk_json_writer *json, const char *key, double bytes)
{
    static const struct {
        const char *suffix;
        double factor;
    } scales[] = {
        {"TiB", 0x1p40}, {"GiB", 0x1p30}, {"MiB", 0x1p20},
        {"KiB", 0x1p10}, {"GB", 1e9},     {"MB", 1e6},
    };
    char name[YK_NUMBER_BUFFER_SIZE + 8];
    char digits[YK_NUMBER_BUFFER_SIZE];
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        double again = 0;
        yk_number_format(bytes / scales[i].factor, digits);
        (void)snprintf(name, sizeof name, "%s%s", digits, scales[i].suffix);
        if (bytes >= scales[i].factor && strlen(digits) <= SHORT_ENOUGH &&
            yk_units_parse(name, YK_UNIT_BYTES, &again) == YK_OK && again == bytes) {
            yk_json_write_string(json, key, name);
            return;
        }
    }
    yk_number_format(bytes, digits);
    (void)snprintf(name, sizeof name, "%sB", digits);
    yk_json_write_string(json, key, name);
}
