#include "model/config_rope.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    MAX_POSITIONS = 1 << 30,
    BETA_FAST = 32, /* the presets of YaRN */
    BETA_SLOW = 1,
};

static const char *const scaling_names[] = {
    [YK_ROPE_DEFAULT] = "default", [YK_ROPE_LINEAR] = "linear", [YK_ROPE_DYNAMIC] = "dynamic",
    [YK_ROPE_LLAMA3] = "llama3",   [YK_ROPE_YARN] = "yarn",     [YK_ROPE_LONGROPE] = "longrope",
};

/* "su" is the name of LongRoPE in older files. */
static bool find_scaling(const char *name, enum yk_rope_scaling *out)
{
    if (strcmp(name, "su") == 0) {
        *out = YK_ROPE_LONGROPE;
        return true;
    }
    for (size_t i = 0; i < sizeof scaling_names / sizeof scaling_names[0]; i++) {
        if (strcmp(name, scaling_names[i]) == 0) {
            *out = (enum yk_rope_scaling)i;
            return true;
        }
    }
    return false;
}

/* The maximum sequence length of the training before the frequencies were changed. */
static yk_status read_positions(const struct yk_json *json, const struct yk_json *scaling,
                                const struct yk_model_config *config, struct yk_rope *rope)
{
    static const char key[] = "original_max_position_embeddings";
    double positions = (double)config->positions;
    YK_TRY(yk_config_fields_read_number(scaling, key, positions, &positions));
    YK_TRY(yk_config_fields_read_number(json, key, positions, &positions));
    if (!(positions >= 1 && positions <= MAX_POSITIONS)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is %g; it is a number of tokens, at most %d", key,
                       positions, MAX_POSITIONS);
    }
    rope->positions = (int64_t)positions;
    return YK_OK;
}

/* The scale of scores that YaRN recommends. */
static double yarn_scale(double factor, double multiplier)
{
    return factor <= 1 ? 1 : 0.1 * multiplier * log(factor) + 1;
}

static yk_status read_yarn(const struct yk_json *scaling, const struct yk_model_config *config,
                           struct yk_rope *rope)
{
    double multiplier = 0;
    double divisor = 0;
    bool truncated = true;
    if (!(rope->theta > 1)) {
        return yk_fail(YK_ERROR_INPUT,
                       "the base of rotary positions is %g; \"yarn\" needs one above 1",
                       rope->theta);
    }
    const double ratio = (double)config->positions / (double)rope->positions;
    YK_TRY(yk_config_fields_read_number(scaling, "factor", ratio, &rope->factor));
    YK_TRY(yk_config_fields_read_number(scaling, "beta_fast", BETA_FAST, &rope->beta_fast));
    YK_TRY(yk_config_fields_read_number(scaling, "beta_slow", BETA_SLOW, &rope->beta_slow));
    YK_TRY(yk_config_fields_read_number(scaling, "mscale", 0, &multiplier));
    YK_TRY(yk_config_fields_read_number(scaling, "mscale_all_dim", 0, &divisor));
    YK_TRY(yk_config_fields_read_flag(scaling, "truncate", true, &truncated));
    const double scale = multiplier > 0 && divisor > 0 ? yarn_scale(rope->factor, multiplier) /
                                                             yarn_scale(rope->factor, divisor)
                                                       : yarn_scale(rope->factor, 1);
    rope->untruncated = !truncated;
    return yk_config_fields_read_number(scaling, "attention_factor", scale,
                                        &rope->attention_factor);
}

static yk_status read_factors(const struct yk_json *scaling, const char *key, int64_t count,
                              struct yk_arena *arena, const double **out)
{
    const struct yk_json *list = yk_json_get_member(scaling, key);
    double *factors = NULL;
    if (!yk_json_is_array(list)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a list of %" PRId64 " numbers", key, count);
    }
    if (yk_json_array_count(list) != (size_t)count) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"%s\" has %zu numbers, but a head has %" PRId64 " pairs that are rotated",
                       key, yk_json_array_count(list), count);
    }
    YK_TRY_NEW(arena, factors, count);
    for (int64_t i = 0; i < count; i++) {
        if (!yk_json_number_value(yk_json_array_at(list, (size_t)i), &factors[i]) ||
            !(factors[i] > 0)) {
            return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a list of numbers above 0", key);
        }
    }
    *out = factors;
    return YK_OK;
}

static yk_status read_longrope(const struct yk_json *scaling, struct yk_arena *arena,
                               const struct yk_model_config *config, struct yk_rope *rope)
{
    const double ratio = (double)config->positions / (double)rope->positions;
    const int64_t pairs = config->rotary_size / 2;
    if (rope->positions < 2) { /* whose logarithm divides */
        return yk_fail(YK_ERROR_INPUT, "\"original_max_position_embeddings\" is 1; LongRoPE needs "
                                       "2 or more");
    }
    YK_TRY(read_factors(scaling, "short_factor", pairs, arena, &rope->short_factors));
    YK_TRY(read_factors(scaling, "long_factor", pairs, arena, &rope->long_factors));
    YK_TRY(yk_config_fields_read_number(scaling, "factor", ratio, &rope->factor));
    const double scale =
        rope->factor <= 1 ? 1 : sqrt(1 + log(rope->factor) / log((double)rope->positions));
    return yk_config_fields_read_number(scaling, "attention_factor", scale,
                                        &rope->attention_factor);
}

/* Reads a number without which a scaling would do nothing, or something else. */
static yk_status read_given_number(const struct yk_json *scaling, const struct yk_rope *rope,
                                   const char *key, double *out)
{
    const struct yk_json *number = yk_json_get_member(scaling, key);
    if (!number || yk_json_is_null(number)) {
        return yk_fail(YK_ERROR_INPUT, "\"rope_type\" is \"%s\", but \"%s\" is missing",
                       scaling_names[rope->scaling], key);
    }
    return yk_config_fields_read_number(scaling, key, 1, out);
}

static yk_status read_llama3(const struct yk_json *scaling, struct yk_rope *rope)
{
    YK_TRY(read_given_number(scaling, rope, "factor", &rope->factor));
    YK_TRY(read_given_number(scaling, rope, "low_freq_factor", &rope->low));
    YK_TRY(read_given_number(scaling, rope, "high_freq_factor", &rope->high));
    return rope->high > rope->low
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "\"rope_scaling\" makes no sense: high_freq_factor must "
                                         "be above low_freq_factor");
}

/* Reads the name of a scaling; NULL if there is none. Older files call it "type". */
static yk_status read_type(const struct yk_json *scaling, const char **out)
{
    static const char *const keys[] = {"rope_type", "type"};
    *out = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !*out; i++) {
        const struct yk_json *type = yk_json_get_member(scaling, keys[i]);
        *out = yk_json_string_value(type);
        if (type && !*out && !yk_json_is_null(type)) {
            return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a string, not %s", keys[i],
                           yk_json_type_name(type));
        }
    }
    return YK_OK;
}

/* Reads the scaling of frequencies. An unknown kind cannot be trained. */
static yk_status read_scaling(const struct yk_json *json, const struct yk_json *scaling,
                              struct yk_arena *arena, struct yk_model_config *config,
                              struct yk_rope *rope)
{
    const char *type = NULL;
    YK_TRY(read_type(scaling, &type));
    if (!type) {
        return YK_OK;
    }
    if (!find_scaling(type, &rope->scaling)) {
        config->not_trained = "its rope_scaling";
        return YK_OK;
    }
    if (rope->scaling == YK_ROPE_DEFAULT) {
        return YK_OK;
    }
    YK_TRY(read_positions(json, scaling, config, rope));
    switch (rope->scaling) {
    case YK_ROPE_LLAMA3:
        return read_llama3(scaling, rope);
    case YK_ROPE_YARN:
        return read_yarn(scaling, config, rope);
    case YK_ROPE_LONGROPE:
        return read_longrope(scaling, arena, config, rope);
    case YK_ROPE_DYNAMIC:
        rope->positions = config->positions;
        if (config->rotary_size == 2) {
            return yk_fail(YK_ERROR_INPUT,
                           "\"rope_type\" is \"dynamic\", which needs more than one "
                           "pair of numbers of a head to be rotated");
        }
        break;
    default:
        break;
    }
    return read_given_number(scaling, rope, "factor", &rope->factor);
}

/* The number of rotated elements of a head. */
static yk_status read_rotary_size(const struct yk_json *json, const struct yk_json *parameters,
                                  struct yk_model_config *config)
{
    const struct yk_architecture *architecture = config->architecture;
    double part = architecture->partial_rotary > 0 ? architecture->partial_rotary : 1;
    if (architecture->partial_key) {
        YK_TRY(yk_config_fields_read_number(json, architecture->partial_key, part, &part));
        YK_TRY(yk_config_fields_read_number(parameters, "partial_rotary_factor", part, &part));
    }
    if (!(part <= 1)) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"%s\" is %g; it is the part of a head that is rotated, at most 1",
                       architecture->partial_key, part);
    }
    const double size = floor((double)config->head_size * part);
    if (size < 2 || (int64_t)size % 2 != 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "%g of the %" PRId64 " numbers of a head are rotated; rotary positions "
                       "rotate pairs, so this must be an even number",
                       size, config->head_size);
    }
    config->rotary_size = (int64_t)size;
    return YK_OK;
}

/* Finds an object with members; NULL if it is missing, null or empty. */
static yk_status find_object(const struct yk_json *json, const char *key,
                             const struct yk_json **out)
{
    const struct yk_json *found = yk_json_get_member(json, key);
    const bool null = !found || yk_json_is_null(found);
    if (!null && !yk_json_is_object(found)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be an object, not %s", key,
                       yk_json_type_name(found));
    }
    *out = null || yk_json_member_count(found) == 0 ? NULL : found;
    return YK_OK;
}

yk_status yk_config_rope_read(const struct yk_json *json, struct yk_arena *arena,
                              struct yk_model_config *config)
{
    const struct yk_architecture *architecture = config->architecture;
    const struct yk_json *older = NULL;
    const struct yk_json *parameters = NULL;
    const struct yk_json *full = NULL;
    const struct yk_json *local = NULL;
    const char *key = architecture->theta_key ? architecture->theta_key : "rope_theta";
    if (config->rope.theta == 0) {
        return YK_OK;
    }
    YK_TRY(find_object(json, "rope_scaling", &older));
    YK_TRY(find_object(json, "rope_parameters", &parameters));
    YK_TRY(find_object(parameters, "full_attention", &full));
    YK_TRY(find_object(parameters, "sliding_attention", &local));
    /* Of both, transformers takes what users of older files add by hand. */
    const struct yk_json *scaling = older ? older : full ? full : parameters;
    YK_TRY(read_rotary_size(json, scaling, config));
    YK_TRY(yk_config_fields_read_number(json, key, config->rope.theta, &config->rope.theta));
    YK_TRY(
        yk_config_fields_read_number(full, "rope_theta", config->rope.theta, &config->rope.theta));
    YK_TRY(yk_config_fields_read_number(scaling, "rope_theta", config->rope.theta,
                                        &config->rope.theta));
    YK_TRY(read_scaling(json, scaling, arena, config, &config->rope));
    if (config->local_rope.theta > 0) {
        YK_TRY(yk_config_fields_read_number(json, "rope_local_base_freq", config->local_rope.theta,
                                            &config->local_rope.theta));
        YK_TRY(yk_config_fields_read_number(local, "rope_theta", config->local_rope.theta,
                                            &config->local_rope.theta));
        YK_TRY(read_scaling(json, local, arena, config, &config->local_rope));
    }
    return YK_OK;
}

static void write_factors(struct yk_json_writer *json, const char *key, const double *factors,
                          int64_t count)
{
    yk_json_write_begin_array(json, key);
    for (int64_t i = 0; i < count; i++) {
        yk_config_fields_write_number(json, NULL, factors[i]);
    }
    yk_json_write_end_array(json);
}

static void write_scaling(const struct yk_model_config *config, const struct yk_rope *rope,
                          struct yk_json_writer *json)
{
    if (rope->scaling == YK_ROPE_DEFAULT) {
        yk_json_write_null(json, "rope_scaling");
        return;
    }
    yk_json_write_begin_object(json, "rope_scaling");
    json->line_indent = 4;
    if (rope->attention_factor > 0) {
        yk_config_fields_write_number(json, "attention_factor", rope->attention_factor);
    }
    if (rope->scaling == YK_ROPE_YARN) {
        yk_config_fields_write_number(json, "beta_fast", rope->beta_fast);
        yk_config_fields_write_number(json, "beta_slow", rope->beta_slow);
    }
    yk_config_fields_write_number(json, "factor", rope->factor);
    if (rope->scaling == YK_ROPE_LLAMA3) {
        yk_config_fields_write_number(json, "high_freq_factor", rope->high);
        yk_config_fields_write_number(json, "low_freq_factor", rope->low);
    }
    json->line_indent = 0;
    if (rope->scaling == YK_ROPE_LONGROPE) {
        write_factors(json, "long_factor", rope->long_factors, config->rotary_size / 2);
    }
    json->line_indent = 4;
    if (rope->scaling != YK_ROPE_LINEAR && rope->scaling != YK_ROPE_DYNAMIC) {
        yk_json_write_integer(json, "original_max_position_embeddings", rope->positions);
    }
    yk_json_write_string(json, "rope_type", scaling_names[rope->scaling]);
    json->line_indent = 0;
    if (rope->scaling == YK_ROPE_LONGROPE) {
        write_factors(json, "short_factor", rope->short_factors, config->rotary_size / 2);
    }
    json->line_indent = 4;
    if (rope->scaling == YK_ROPE_YARN) {
        yk_json_write_bool(json, "truncate", !rope->untruncated);
    }
    json->line_indent = 2;
    yk_json_write_newline(json, 2);
    yk_json_write_end_object(json);
}

void yk_config_rope_write(const struct yk_model_config *config, struct yk_json_writer *json)
{
    const struct yk_architecture *architecture = config->architecture;
    if (config->rope.theta == 0) {
        return;
    }
    if (architecture->partial_key) {
        yk_config_fields_write_number(json, architecture->partial_key,
                                      (double)config->rotary_size / (double)config->head_size);
    }
    if (config->local_rope.theta > 0) {
        yk_config_fields_write_number(json, "rope_local_base_freq", config->local_rope.theta);
    }
    write_scaling(config, &config->rope, json);
    yk_config_fields_write_number(
        json, architecture->theta_key ? architecture->theta_key : "rope_theta", config->rope.theta);
}
