/* BLEU output: the score of translations, as yoke bleu and yoke translate print it. Any thread may
 * call this. */
#ifndef YK_CLI_COMMANDS_BLEU_OUTPUT_H
#define YK_CLI_COMMANDS_BLEU_OUTPUT_H

#include "base/status.h"
#include "base/text.h"
#include "data/bleu.h"
#include "data/lines.h"

#include <stdbool.h>

/*
 * Adds the score of the hypotheses against the file at `reference_path`, which has a line for each
 * of them: the line sacreBLEU prints and the signature below it, or one object of JSON.
 */
yk_status yk_bleu_report(const struct yk_lines *hypotheses, const char *reference_path,
                         const struct yk_bleu_options *options, bool json,
                         struct yk_text *out) YK_MUST_USE;

#endif
