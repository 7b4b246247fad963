/* Tokenize output: what yoke tokenize prints, as text or as JSON. Main thread. */
#ifndef YK_CLI_COMMANDS_TOKENIZE_OUTPUT_H
#define YK_CLI_COMMANDS_TOKENIZE_OUTPUT_H

#include "base/status.h"
#include "base/text.h"
#include "job/models/tokenize.h"

#include <stdbool.h>

void yk_tokenize_output_learned(const struct yk_tokenize_learn_request *request,
                                const struct yk_tokenize_learn_result *result, bool json,
                                struct yk_text *out);

void yk_tokenize_output_encoded(const struct yk_tokenize_encode_request *request,
                                const struct yk_tokenize_encode_result *result, bool json,
                                struct yk_text *out);

/* Runs the request, whose callbacks are filled in. What is long is printed as it comes; `out` is
 * the rest. */
yk_status yk_tokenize_output_tokens(const struct yk_tokenize_show_request *request, bool json,
                                    struct yk_text *out) YK_MUST_USE;

#endif
