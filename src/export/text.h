/* Words: names from files in the languages of other tools, and notes. */
#ifndef YK_EXPORT_TEXT_H
#define YK_EXPORT_TEXT_H

#include "base/status.h"
#include "base/text.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

/* Adds a sentence to the notes as a line of its own. */
void yk_export_text_note(struct yk_text *notes, const char *format, ...) YK_PRINTF(2, 3);

/* As part of a comment: control characters, and bytes that are no UTF-8, become '?'. */
void yk_export_text_add_clean(struct yk_text *out, const char *text);

/* "# gpt2 on 3xa30 @ 10GB/s: 12 samples of 1024 tokens a step in bf16", and the notes below it. */
void yk_export_text_add_header(struct yk_text *out, const struct yk_plan *plan,
                               const struct yk_text *notes);

/* "layer 0 to layer 10, head": the layers that `is_one` is true of, a run at a time. Their number
 * is returned. */
int32_t yk_export_text_add_layers(struct yk_text *out, const struct yk_plan *plan,
                                  const struct yk_model *model,
                                  bool (*is_one)(const struct yk_plan *plan, int32_t layer));

#endif
