/*
 * Translating: lines of text through an encoder–decoder that is loaded, by beam search, several
 * sentences of like length at a time. One thread at a time.
 */
#ifndef YK_JOB_MODELS_TRANSLATING_H
#define YK_JOB_MODELS_TRANSLATING_H

#include "base/status.h"
#include "base/text.h"
#include "data/lines.h"
#include "job/loaded.h"

#include <stdint.h>

struct yk_translating {
    int64_t beams;
    double length_penalty;
    int64_t batch;   /* sentences at a time */
    int64_t longest; /* tokens of a translation; 0: twice those of its sentence and 16 */
};

/*
 * Adds a line for each of `lines` to `out`, in their order; an empty one for one that is empty.
 * `source` is what messages call them. A line of more tokens than the model has positions is
 * refused by its number.
 */
yk_status yk_translate_lines(const struct yk_translating *how, const struct yk_loaded *loaded,
                             const struct yk_lines *lines, const char *source,
                             struct yk_text *out) YK_MUST_USE;

#endif
