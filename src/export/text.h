/* Export text: notes, comments, and the header of generated files. */
#ifndef YK_EXPORT_TEXT_H
#define YK_EXPORT_TEXT_H

#include "base/status.h"
#include "base/text.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

/* Adds a sentence to the notes, as a line of its own. */
void yk_export_text_add_note(struct yk_text *notes, const char *format, ...) YK_PRINTF(2, 3);

/* Adds the note "LAYERS: SENTENCE" about the layers for which `is_one` returns true, such as "layer
 * 0 to layer 10, head". Adds nothing if there is no such layer. */
void yk_export_text_add_layers_note(struct yk_text *notes, const struct yk_plan *plan,
                                    const struct yk_model *model,
                                    bool (*is_one)(const struct yk_plan *plan, int32_t layer),
                                    const char *sentence);

/* Adds text that is safe in a comment: control characters and invalid UTF-8 become '?'. */
void yk_export_text_add_sanitized(struct yk_text *out, const char *text);

/* Adds comment lines: "# gpt2 on 3xa30 @ 10GB/s: 12 samples of 1024 tokens a step in bf16", and the
 * notes. */
void yk_export_text_add_header(struct yk_text *out, const struct yk_plan *plan,
                               const struct yk_text *notes);

#endif
