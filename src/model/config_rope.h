/*
 * Config of rotary positions: reads and writes the keys of a config.json that describe them. Files
 * of transformers 4 have "rope_theta" and "rope_scaling". Files of transformers 5 have
 * "rope_parameters", which contains both, for all blocks or for each type of block.
 */
#ifndef YK_MODEL_CONFIG_ROPE_H
#define YK_MODEL_CONFIG_ROPE_H

#include "model/architecture.h"

/* Reads the rotary positions of a config whose other sizes have been read. `config` has the bases
 * of the family. */
yk_status yk_config_rope_read(const struct yk_json *json, struct yk_arena *arena,
                              struct yk_model_config *config) YK_MUST_USE;

/* Writes the keys of transformers 4, which both versions can read. Writes nothing if positions are
 * not rotary. */
void yk_config_rope_write(const struct yk_model_config *config, struct yk_json_writer *json);

#endif
