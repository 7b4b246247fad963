/*
 * Config of blocks: reads and writes the keys of a config.json that say in what the blocks of one
 * model differ: "layer_types", "sliding_window", "no_rope_layers", and others that older files have
 * instead.
 */
#ifndef YK_MODEL_CONFIG_BLOCKS_H
#define YK_MODEL_CONFIG_BLOCKS_H

#include "model/architecture.h"

/* Sets `block_flags` of a config whose sizes and window have been read. */
yk_status yk_config_blocks_read(const struct yk_json *json, struct yk_arena *arena,
                                struct yk_model_config *config) YK_MUST_USE;

/* Writes the keys, except "sliding_window", which is a field. */
void yk_config_blocks_write(const struct yk_model_config *config, struct yk_json_writer *json);

#endif
