/* Inspect output: what yoke inspect found, as text and as JSON. */
#ifndef YK_CLI_COMMANDS_INSPECT_OUTPUT_H
#define YK_CLI_COMMANDS_INSPECT_OUTPUT_H

#include "base/status.h"
#include "base/text.h"
#include "job/models/inspect.h"

yk_status yk_inspect_output_text(const struct yk_inspect_result *result,
                                 struct yk_text *out) YK_MUST_USE;
yk_status yk_inspect_output_json(const struct yk_inspect_result *result,
                                 struct yk_text *out) YK_MUST_USE;

#endif
