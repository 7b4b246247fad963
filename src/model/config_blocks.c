#include "model/config_blocks.h"

#include <inttypes.h>
#include <string.h>

static const char WINDOW_TYPE[] = "sliding_attention";
static const char FULL_TYPE[] = "full_attention";

/* Returns the list at `key`, or NULL if it is missing or null. It must have one element a block. */
static yk_status find_list(const struct yk_json *json, const char *key,
                           const struct yk_model_config *config, const struct yk_json **out)
{
    const struct yk_json *list = yk_json_get_member(json, key);
    *out = NULL;
    if (!list || yk_json_is_null(list)) {
        return YK_OK;
    }
    if (!yk_json_is_array(list)) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"%s\" must be a list with one element for each block, "
                       "not %s",
                       key, yk_json_type_name(list));
    }
    if (yk_json_array_count(list) != (size_t)config->layers) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"%s\" has %zu elements, but the model has %" PRId64 " blocks", key,
                       yk_json_array_count(list), config->layers);
    }
    *out = list;
    return YK_OK;
}

/* 1 means: the block has rotary positions. */
static yk_status read_no_rope(const struct yk_json *json, const struct yk_model_config *config,
                              unsigned char *flags)
{
    const struct yk_json *list = NULL;
    int64_t period = config->architecture->no_rope_period;
    if (period == 0) {
        return YK_OK;
    }
    YK_TRY(find_list(json, "no_rope_layers", config, &list));
    YK_TRY(yk_config_fields_read_size(json, "no_rope_layer_interval", period,
                                      "the distance of blocks without rotary positions", &period));
    for (int64_t i = 0; i < config->layers; i++) {
        double rotates = (i + 1) % period != 0;
        if (list && !yk_json_number_value(yk_json_array_at(list, (size_t)i), &rotates)) {
            return yk_fail(YK_ERROR_INPUT, "\"no_rope_layers\" must be a list of 0 and 1");
        }
        flags[i] |= rotates != 0 ? 0 : YK_BLOCK_NO_ROPE;
    }
    return YK_OK;
}

static yk_status read_types(const struct yk_json *list, const struct yk_model_config *config,
                            unsigned char *flags)
{
    for (int64_t i = 0; i < config->layers; i++) {
        const struct yk_json *element = yk_json_array_at(list, (size_t)i);
        const char *type = yk_json_string_value(element);
        if (!type) {
            return yk_fail(YK_ERROR_INPUT, "\"layer_types\" must be a list of strings, not of %s",
                           yk_json_type_name(element));
        }
        if (strcmp(type, WINDOW_TYPE) != 0 && strcmp(type, FULL_TYPE) != 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "\"layer_types\" says \"%s\" for block %" PRId64
                           "; known are \"%s\" and \"%s\"",
                           type, i, FULL_TYPE, WINDOW_TYPE);
        }
        flags[i] |= strcmp(type, WINDOW_TYPE) == 0 ? YK_BLOCK_WINDOW : 0;
    }
    return YK_OK;
}

/* The blocks with a window if there is no list of types. */
static yk_status derive_windows(const struct yk_json *json, const struct yk_model_config *config,
                                unsigned char *flags)
{
    const struct yk_architecture *architecture = config->architecture;
    const enum yk_window_pattern pattern = architecture->window_pattern;
    int64_t period = architecture->window_period;
    double first = (double)config->layers;
    if (pattern == YK_WINDOW_PERIODIC) {
        YK_TRY(yk_config_fields_read_size(json, "sliding_window_pattern", period,
                                          "the distance of blocks without a window", &period));
    }
    if (pattern == YK_WINDOW_FROM_LAYER) {
        const struct yk_json *node = yk_json_get_member(json, "max_window_layers");
        if (node && !yk_json_is_null(node) && !yk_json_number_value(node, &first)) {
            return yk_fail(YK_ERROR_INPUT, "\"max_window_layers\" must be a number, not %s",
                           yk_json_type_name(node));
        }
    }
    for (int64_t i = 0; i < config->layers; i++) {
        const bool has = pattern == YK_WINDOW_ALL ||
                         (pattern == YK_WINDOW_FROM_LAYER && (double)i >= first) ||
                         (pattern == YK_WINDOW_PERIODIC && (i + 1) % period != 0) ||
                         (pattern == YK_WINDOW_NO_ROPE && (flags[i] & YK_BLOCK_NO_ROPE));
        flags[i] |= has ? YK_BLOCK_WINDOW : 0;
    }
    return YK_OK;
}

static bool has_switch(const struct yk_architecture *architecture)
{
    return architecture->window_pattern == YK_WINDOW_FROM_LAYER ||
           architecture->window_pattern == YK_WINDOW_NO_ROPE;
}

/* Keeps the flags only if blocks differ, or if they differ from the default. */
static void simplify(struct yk_model_config *config, unsigned char *flags)
{
    unsigned all = 0;
    bool same = true;
    for (int64_t i = 0; i < config->layers; i++) {
        flags[i] = (unsigned char)(config->window > 0 ? flags[i] : flags[i] & ~YK_BLOCK_WINDOW);
        all |= flags[i];
        same = same && flags[i] == flags[0];
    }
    config->window = all & YK_BLOCK_WINDOW ? config->window : 0;
    config->block_flags = same && (all & ~(unsigned)YK_BLOCK_WINDOW) == 0 ? NULL : flags;
}

yk_status yk_config_blocks_read(const struct yk_json *json, struct yk_arena *arena,
                                struct yk_model_config *config)
{
    unsigned char *flags = NULL;
    const struct yk_json *types = NULL;
    bool uses_window = true;
    YK_TRY_NEW(arena, flags, config->layers);
    YK_TRY(read_no_rope(json, config, flags));
    if (has_switch(config->architecture)) {
        YK_TRY(yk_config_fields_read_flag(json, "use_sliding_window", false, &uses_window));
    }
    config->window = uses_window ? config->window : 0;
    YK_TRY(find_list(json, "layer_types", config, &types));
    YK_TRY(types ? read_types(types, config, flags) : derive_windows(json, config, flags));
    simplify(config, flags);
    return YK_OK;
}

static void write_types(const struct yk_model_config *config, struct yk_json_writer *json)
{
    const int32_t indent = json->line_indent;
    yk_json_write_begin_array(json, "layer_types");
    json->line_indent = 0;
    for (int64_t i = 0; i < config->layers; i++) {
        const bool window = yk_model_config_block_window(config, i) > 0;
        yk_json_write_string(json, NULL, window ? WINDOW_TYPE : FULL_TYPE);
    }
    yk_json_write_end_array(json);
    json->line_indent = indent;
}

/* The first block with a window, for versions of transformers that do not know "layer_types". */
static int64_t first_window(const struct yk_model_config *config)
{
    int64_t first = 0;
    while (first < config->layers && yk_model_config_block_window(config, first) == 0) {
        first++;
    }
    return first;
}

void yk_config_blocks_write(const struct yk_model_config *config, struct yk_json_writer *json)
{
    const struct yk_architecture *architecture = config->architecture;
    const int32_t indent = json->line_indent;
    if (architecture->window_pattern != YK_WINDOW_ALL) {
        write_types(config, json);
    }
    if (has_switch(architecture)) {
        yk_json_write_bool(json, "use_sliding_window", config->window > 0);
    }
    if (architecture->window_pattern == YK_WINDOW_FROM_LAYER) {
        yk_json_write_integer(json, "max_window_layers", first_window(config));
    }
    if (architecture->no_rope_period > 0) {
        yk_json_write_begin_array(json, "no_rope_layers");
        json->line_indent = 0;
        for (int64_t i = 0; i < config->layers; i++) {
            const unsigned flags = yk_model_config_block_flags(config, i);
            yk_json_write_integer(json, NULL, flags & YK_BLOCK_NO_ROPE ? 0 : 1);
        }
        yk_json_write_end_array(json);
        json->line_indent = indent;
    }
}
