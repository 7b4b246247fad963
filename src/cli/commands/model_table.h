/* Model table: a described model as a table for people and as JSON for programs. */
#ifndef YK_CLI_COMMANDS_MODEL_TABLE_H
#define YK_CLI_COMMANDS_MODEL_TABLE_H

#include "base/status.h"
#include "base/text.h"
#include "job/models/model.h"

/* Runs of equal layers take one row; sentences below say the totals and how they are counted. */
yk_status yk_model_table_write_text(const struct yk_model_result *result,
                                    struct yk_text *out) YK_MUST_USE;

/* Every layer by itself, and the edges between them. */
yk_status yk_model_table_write_json(const struct yk_model_result *result,
                                    struct yk_text *out) YK_MUST_USE;

#endif
