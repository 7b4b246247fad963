/* Explain: a plan and its simulated step in words. */
#ifndef YK_PLANNER_EXPLAIN_H
#define YK_PLANNER_EXPLAIN_H

#include "base/text.h"
#include "planner/search/trial.h"

/* What takes the time: "rank 2's link: 38 % of the step is exposed gathers of layers 20–31". The
 * trial has been kept. */
void yk_explain_bottleneck(const struct yk_study *study, const struct yk_trial *trial,
                           struct yk_text *out);

/* The plan in a sentence: "data-parallel on 3 devices, shares 28/18/18; …". */
void yk_explain_plan(const struct yk_study *study, const struct yk_plan *plan, struct yk_text *out);

/* What processes hold besides, and whether that was measured: "24MiB on a CPU, assumed". */
void yk_explain_context(const struct yk_study *study, const struct yk_plan *plan,
                        struct yk_text *out);

/* "layers 20–31", "embed", "layer 3, head": a run of layers by name. */
void yk_explain_layers(const struct yk_model *model, int32_t first, int32_t last,
                       struct yk_text *out);

#endif
