/*
 * Python: the parts that files for PyTorch have in common: the numbers of the plan, a sampler that
 * gives each rank its share, weights that keep the gradient of unequal shares right, and the step.
 */
#ifndef YK_EXPORT_PYTHON_H
#define YK_EXPORT_PYTHON_H

#include "base/text.h"
#include "cluster/cluster.h"
#include "plan/plan.h"

/* RANKS, BATCH, SHARES … */
void yk_python_add_numbers(struct yk_text *out, const struct yk_plan *plan,
                           const struct yk_cluster *cluster, const struct yk_plan_group *group);

/* samples(), Shares, loss_weights(), limit_memory(), recompute(). */
void yk_python_add_sharing(struct yk_text *out);

/* step(): lines of its own that come `first`, those that take micro-batch `k` forward and backward
 * with its `weight`, and those that `clip`. */
void yk_python_add_step(struct yk_text *out, const char *first, const char *passes,
                        const char *clip);

/* "torch.bfloat16", or NULL where everything is 32 bit. */
const char *yk_python_type(enum yk_precision precision);

const char *yk_python_truth(bool value);

/* ["transformer.wte", "transformer.wpe"] */
void yk_python_add_names(struct yk_text *out, const char *const *names, int32_t count);

/* What the step does that the plan does not say, and what it needs. */
void yk_python_note_step(const struct yk_plan *plan, struct yk_text *notes);

#endif
