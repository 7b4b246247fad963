#include "model/config_fields.h"

#include "base/json.h"
#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const double MAX_SIZE = 0x1p40;

/* Finds the value of the last key that is present, and that key; or NULL and the first key. */
static const struct yk_json *find(const struct yk_config_field *field, const struct yk_json *json,
                                  const char **key)
{
    const struct yk_json *found = NULL;
    *key = field->keys[0];
    for (int i = 0; i < YK_CONFIG_FIELD_MAX_KEYS && field->keys[i]; i++) {
        const struct yk_json *node = yk_json_get_member(json, field->keys[i]);
        if (node) {
            *key = field->keys[i];
            found = node;
        }
    }
    return found;
}

static yk_status read_size(const struct yk_config_field *field, const struct yk_json *json,
                           int64_t *out)
{
    const char *key = NULL;
    const struct yk_json *node = find(field, json, &key);
    const bool null = node && yk_json_is_null(node);
    if (field->kind != YK_CONFIG_FIELD_SIZE && (!node || null)) {
        *out = null || field->preset < 0 ? 0 : (int64_t)field->preset;
        return YK_OK;
    }
    if ((int)field->preset != YK_CONFIG_FIELD_REQUIRED && (!node || null)) {
        *out = (int)field->preset == YK_CONFIG_FIELD_DERIVED ? 0 : (int64_t)field->preset;
        return YK_OK;
    }
    if (!node) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is missing; it gives %s", key, field->what);
    }
    double value = 0;
    if (!yk_json_number_value(node, &value)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a whole number, %s, not %s", key,
                       field->what, yk_json_type_name(node));
    }
    if (field->kind == YK_CONFIG_FIELD_SIZE_OR_ZERO && value == 0) {
        *out = 0;
        return YK_OK;
    }
    char digits[YK_NUMBER_BUFFER_SIZE];
    yk_number_format(value, digits);
    if (!(value >= 1) || value != floor(value)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is %s; %s is a whole number, 1 or more", key, digits,
                       field->what);
    }
    if (value > MAX_SIZE) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is %s; %s is at most %.0f", key, digits, field->what,
                       MAX_SIZE);
    }
    *out = (int64_t)value;
    return YK_OK;
}

yk_status yk_config_fields_read_size(const struct yk_json *json, const char *key, int64_t preset,
                                     const char *what, int64_t *out)
{
    const struct yk_config_field field = {
        .kind = YK_CONFIG_FIELD_SIZE, .preset = (double)preset, .what = what, .keys = {key}};
    return read_size(&field, json, out);
}

yk_status yk_config_fields_read_flag(const struct yk_json *json, const char *key, bool preset,
                                     bool *out)
{
    *out = preset;
    return yk_json_is_null(yk_json_get_member(json, key)) ? YK_OK
                                                          : yk_json_get_bool(json, key, out);
}

/* Reads a string; NULL if it is missing or null. */
static yk_status read_string(const struct yk_json *json, const char *key, const char **out)
{
    const struct yk_json *node = yk_json_get_member(json, key);
    *out = yk_json_string_value(node);
    return !node || yk_json_is_null(node) || *out
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "\"%s\" must be a string, not %s", key,
                         yk_json_type_name(node));
}

yk_status yk_config_fields_string_equals(const struct yk_json *json, const char *key,
                                         const char *name, bool *out)
{
    const char *found = NULL;
    YK_TRY(read_string(json, key, &found));
    *out = found && strcmp(found, name) == 0;
    return YK_OK;
}

/* The names of activations in config.json. The first name of each is the one that is written. */
static const struct {
    const char *name;
    enum yk_activation activation;
} activation_names[] = {
    {"gelu", YK_ACTIVATION_GELU},           {"gelu_python", YK_ACTIVATION_GELU},
    {"gelu_new", YK_ACTIVATION_GELU_TANH},  {"gelu_pytorch_tanh", YK_ACTIVATION_GELU_TANH},
    {"gelu_fast", YK_ACTIVATION_GELU_TANH}, {"relu", YK_ACTIVATION_RELU},
    {"relu2", YK_ACTIVATION_RELU_SQUARED},  {"silu", YK_ACTIVATION_SILU},
    {"swish", YK_ACTIVATION_SILU},
};
static const size_t ACTIVATION_NAME_COUNT = sizeof activation_names / sizeof activation_names[0];

yk_status yk_config_fields_read_activation(const struct yk_json *json, const char *key,
                                           enum yk_activation *out, bool *known)
{
    const char *name = NULL;
    YK_TRY(read_string(json, key, &name));
    *known = !name;
    for (size_t i = 0; name && i < ACTIVATION_NAME_COUNT; i++) {
        if (strcmp(name, activation_names[i].name) == 0) {
            *out = activation_names[i].activation;
            *known = true;
            return YK_OK;
        }
    }
    return YK_OK;
}

const char *yk_config_fields_activation_name(enum yk_activation activation)
{
    size_t i = 0;
    while (i + 1 < ACTIVATION_NAME_COUNT && activation_names[i].activation != activation) {
        i++;
    }
    return activation_names[i].name;
}

static yk_status read_one_id(const struct yk_json *node, const char *key, int64_t bound,
                             int64_t *out)
{
    double value = -1;
    *out = -1;
    if (!node || yk_json_is_null(node)) {
        return YK_OK;
    }
    if (!yk_json_number_value(node, &value) || value != floor(value)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a token's id, a whole number", key);
    }
    if (value >= 0 && value < (double)bound) {
        *out = (int64_t)value;
    }
    return YK_OK;
}

/* Reads a number, or the first number of a list; −1 unless it is below `bound`. A missing key
 * leaves the family's id. */
static yk_status read_id(const struct yk_json *json, const char *key, int64_t bound, int64_t *out)
{
    const struct yk_json *node = yk_json_get_member(json, key);
    if (!node) {
        *out = *out < bound ? *out : -1;
        return YK_OK;
    }
    return read_one_id(yk_json_is_array(node) ? yk_json_array_at(node, 0) : node, key, bound, out);
}

/* Reads the numbers of a list of end tokens after the first. */
static yk_status read_more_ends(const struct yk_json *json, int64_t bound,
                                struct yk_special_token_ids *ids)
{
    static const char key[] = "eos_token_id";
    const struct yk_json *list = yk_json_get_member(json, key);
    const size_t count = yk_json_is_array(list) ? yk_json_array_count(list) : 0;
    ids->more_end_count = 0;
    for (size_t i = 1; i < count && ids->more_end_count < YK_MAX_END_TOKENS - 1; i++) {
        int64_t id = -1;
        YK_TRY(read_one_id(yk_json_array_at(list, i), key, bound, &id));
        if (id >= 0) {
            ids->more_ends[ids->more_end_count++] = id;
        }
    }
    return YK_OK;
}

yk_status yk_config_fields_read_token_ids(const struct yk_json *json,
                                          struct yk_model_config *config)
{
    const int64_t target = yk_model_config_target_vocabulary_size(config);
    const int64_t min = target < config->vocabulary ? target : config->vocabulary;
    YK_TRY(read_id(json, "pad_token_id", min, &config->ids.pad));
    YK_TRY(read_id(json, "bos_token_id", min, &config->ids.begin));
    YK_TRY(read_id(json, "eos_token_id", min, &config->ids.end));
    YK_TRY(read_more_ends(json, min, &config->ids));
    return read_id(json, "decoder_start_token_id", target, &config->ids.decoder_start);
}

yk_status yk_config_fields_read_number(const struct yk_json *json, const char *key, double preset,
                                       double *out)
{
    const struct yk_json *node = yk_json_get_member(json, key);
    *out = preset;
    if (!node || yk_json_is_null(node)) {
        return YK_OK;
    }
    if (!yk_json_number_value(node, out) || !(*out > 0)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a number above 0", key);
    }
    return YK_OK;
}

yk_status yk_config_fields_check_flag_is_false(const struct yk_json *json, const char *key,
                                               const char *why)
{
    bool set = false;
    YK_TRY(yk_config_fields_read_flag(json, key, false, &set));
    return set ? yk_fail(YK_ERROR_INPUT, "\"%s\" is true; %s", key, why) : YK_OK;
}

static void *at(struct yk_model_config *config, size_t offset)
{
    return (char *)config + offset;
}

static const void *const_at(const struct yk_model_config *config, size_t offset)
{
    return (const char *)config + offset;
}

static int64_t size_at(const struct yk_model_config *config, size_t offset)
{
    return *(const int64_t *)const_at(config, offset);
}

static yk_status read_field(const struct yk_config_field *field, const struct yk_json *json,
                            struct yk_model_config *config)
{
    void *to = at(config, field->offset);
    switch (field->kind) {
    case YK_CONFIG_FIELD_FLAG:
        return yk_config_fields_read_flag(json, field->keys[0], field->preset != 0, to);
    case YK_CONFIG_FIELD_OPTIONAL_NUMBER: {
        const struct yk_json *node = yk_json_get_member(json, field->keys[0]);
        const double preset = node && yk_json_is_null(node) ? 0 : field->preset;
        return yk_config_fields_read_number(json, field->keys[0], preset, to);
    }
    case YK_CONFIG_FIELD_NUMBER:
        return yk_config_fields_read_number(json, field->keys[0], field->preset, to);
    default:
        return read_size(field, json, to);
    }
}

yk_status yk_config_fields_read(const struct yk_config_field *fields, const struct yk_json *json,
                                struct yk_model_config *config)
{
    for (; fields->keys[0]; fields++) {
        YK_TRY(read_field(fields, json, config));
    }
    return YK_OK;
}

void yk_config_fields_write_number(struct yk_json_writer *json, const char *key, double value)
{
    char digits[YK_NUMBER_BUFFER_SIZE];
    yk_number_format(value, digits);
    yk_json_write_key(json, key);
    yk_text_addf(json->text, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
}

static void write_field(const struct yk_config_field *field, const struct yk_model_config *config,
                        struct yk_json_writer *json)
{
    const char *key = field->keys[0];
    const void *from = const_at(config, field->offset);
    if (field->kind == YK_CONFIG_FIELD_FLAG) {
        yk_json_write_bool(json, key, *(const bool *)from);
    } else if (field->kind == YK_CONFIG_FIELD_NUMBER ||
               field->kind == YK_CONFIG_FIELD_OPTIONAL_NUMBER) {
        const double value = *(const double *)from;
        if (value > 0) {
            yk_config_fields_write_number(json, key, value);
        } else {
            yk_json_write_null(json, key);
        }
    } else if (*(const int64_t *)from > 0) {
        yk_json_write_integer(json, key, *(const int64_t *)from);
    } else if (field->kind != YK_CONFIG_FIELD_SIZE) {
        yk_json_write_null(json, key);
    }
}

void yk_config_fields_write(const struct yk_config_field *fields,
                            const struct yk_model_config *config, struct yk_json_writer *json)
{
    for (const struct yk_config_field *field = fields; field->keys[0]; field++) {
        const struct yk_config_field *first = fields;
        while (strcmp(first->keys[0], field->keys[0]) != 0) {
            first++;
        }
        if (first == field) {
            write_field(field, config, json);
        }
    }
}

static const char *key_at(const struct yk_config_field *fields, const struct yk_json *json,
                          size_t offset)
{
    const char *key = "";
    for (; fields->keys[0]; fields++) {
        if (fields->offset == offset) {
            (void)find(fields, json, &key);
        }
    }
    return key;
}

yk_status yk_config_fields_check_divisible(const struct yk_config_field *fields,
                                           const struct yk_json *json,
                                           const struct yk_model_config *config, size_t part,
                                           size_t whole)
{
    if (size_at(config, whole) % size_at(config, part) == 0) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT, "\"%s\" is %" PRId64 ", which does not divide \"%s\", %" PRId64,
                   key_at(fields, json, part), size_at(config, part), key_at(fields, json, whole),
                   size_at(config, whole));
}
