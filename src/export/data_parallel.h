/*
 * Data parallel: what the tools that train one model on all ranks (DDP, FSDP, DeepSpeed) have in
 * common: one group, whose members are the tool's ranks, numbered as in the group, and the parts of
 * a plan that none of them can express.
 */
#ifndef YK_EXPORT_DATA_PARALLEL_H
#define YK_EXPORT_DATA_PARALLEL_H

#include "base/status.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "plan/plan.h"

/* The one group that all layers are in; a plan with layers in several is refused. */
yk_status yk_data_parallel_group(const struct yk_plan *plan, const char *tool,
                                 const struct yk_plan_group **out) YK_MUST_USE;

/* "gpu0": the device of a member. */
const char *yk_data_parallel_device(const struct yk_plan *plan, const struct yk_cluster *cluster,
                                    const struct yk_plan_member *member);

/* Which rank is which device, where that is not their number in the plan; which do not run. */
void yk_data_parallel_note_ranks(const struct yk_plan *plan, const struct yk_cluster *cluster,
                                 const struct yk_plan_group *group, struct yk_text *notes);

/* Unequal parts, if any layer is sharded. */
void yk_data_parallel_note_parts(const struct yk_plan *plan, const struct yk_plan_group *group,
                                 const char *tool, struct yk_text *notes);

/* Adapters and weights of four bits, which somebody else must put into the model. */
void yk_data_parallel_note_adapters(const struct yk_plan *plan, struct yk_text *notes);

bool yk_data_parallel_has_unequal_shares(const struct yk_plan_group *group);

bool yk_data_parallel_is_sharded(const struct yk_plan *plan, int32_t layer);
bool yk_data_parallel_is_replicated(const struct yk_plan *plan, int32_t layer);
bool yk_data_parallel_is_recomputed(const struct yk_plan *plan, int32_t layer);

#endif
