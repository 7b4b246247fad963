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
    if (field->preset != YK_CONFIG_FIELD_REQUIRED && (!node || yk_json_is_null(node))) {
        *out = field->preset == YK_CONFIG_FIELD_DERIVED ? 0 : field->preset;
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

yk_status yk_config_fields_read_flag(const struct yk_json *json, const char *key, bool preset,
                                     bool *out)
{
    *out = preset;
    return yk_json_is_null(yk_json_get_member(json, key)) ? YK_OK
                                                          : yk_json_get_bool(json, key, out);
}

yk_status yk_config_fields_string_equals(const struct yk_json *json, const char *key,
                                         const char *name, bool *out)
{
    const struct yk_json *node = yk_json_get_member(json, key);
    const char *found = yk_json_string_value(node);
    if (node && !yk_json_is_null(node) && !found) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a string, not %s", key,
                       yk_json_type_name(node));
    }
    *out = found && strcmp(found, name) == 0;
    return YK_OK;
}

bool yk_config_fields_names_contain(const char *name, const char *const *names)
{
    while (name && *names && strcmp(name, *names) != 0) {
        names++;
    }
    return name && *names;
}

yk_status yk_config_fields_read_activation(const struct yk_json *json, const char *key,
                                           const char *preset, const char *what,
                                           struct yk_model_config *config)
{
    static const char *const exact[] = {"gelu", "gelu_python", NULL};
    static const char *const by_tanh[] = {"gelu_new", "gelu_pytorch_tanh", "gelu_fast", NULL};
    static const char *const silu[] = {"silu", "swish", NULL};
    YK_TRY(yk_config_fields_string_equals(json, key, "relu", &config->relu)); /* checks the type */
    const char *found = yk_json_string_value(yk_json_get_member(json, key));
    const char *name = found ? found : preset;
    config->gelu_erf = yk_config_fields_names_contain(name, exact);
    config->silu = yk_config_fields_names_contain(name, silu);
    if (!config->relu && !config->gelu_erf && !config->silu &&
        !yk_config_fields_names_contain(name, by_tanh)) {
        config->not_trained = what;
    }
    return YK_OK;
}

/* Reads a number, or the first number of a list; −1 unless it is below `bound`. */
static yk_status read_id(const struct yk_json *json, const char *key, int64_t bound, int64_t *out)
{
    const struct yk_json *node = yk_json_get_member(json, key);
    const struct yk_json *one = yk_json_is_array(node) ? yk_json_array_at(node, 0) : node;
    double value = -1;
    *out = -1;
    if (!one || yk_json_is_null(one)) {
        return YK_OK;
    }
    if (!yk_json_number_value(one, &value) || value != floor(value)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a token's id, a whole number", key);
    }
    if (value >= 0 && value < (double)bound) {
        *out = (int64_t)value;
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

static int64_t size_at(const struct yk_model_config *config, size_t offset)
{
    return *(const int64_t *)(const void *)((const char *)config + offset);
}

yk_status yk_config_fields_read(const struct yk_config_field_table *table,
                                const struct yk_json *json, struct yk_model_config *config)
{
    for (size_t i = 0; i < table->field_count; i++) {
        YK_TRY(read_size(&table->fields[i], json, at(config, table->fields[i].offset)));
    }
    for (size_t i = 0; i < table->flag_count; i++) {
        const struct yk_config_flag *flag = &table->flags[i];
        YK_TRY(yk_config_fields_read_flag(json, flag->key, flag->preset, at(config, flag->offset)));
    }
    return YK_OK;
}

static const char *key_at(const struct yk_config_field_table *table, const struct yk_json *json,
                          size_t offset)
{
    const char *key = "";
    for (size_t i = 0; i < table->field_count; i++) {
        if (table->fields[i].offset == offset) {
            (void)find(&table->fields[i], json, &key);
        }
    }
    return key;
}

yk_status yk_config_fields_check_divisible(const struct yk_config_field_table *table,
                                           const struct yk_json *json,
                                           const struct yk_model_config *config, size_t part,
                                           size_t whole)
{
    if (size_at(config, whole) % size_at(config, part) == 0) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT, "\"%s\" is %" PRId64 ", which does not divide \"%s\", %" PRId64,
                   key_at(table, json, part), size_at(config, part), key_at(table, json, whole),
                   size_at(config, whole));
}
