/* Config parser: makes a config from a parsed config.json, by the row of its architecture. */
#ifndef YK_MODEL_CONFIG_PARSER_H
#define YK_MODEL_CONFIG_PARSER_H

#include "base/json.h"
#include "model/config.h"

/* Reads a config. `source` becomes its name, and every error message begins with it. The config and
 * its strings are in the arena. */
yk_status yk_config_parser_read(const struct yk_json *json, const char *source,
                                struct yk_arena *arena,
                                const struct yk_model_config **out) YK_MUST_USE;

#endif
