/*
 * Data parallel: what the exporters for DDP, FSDP and DeepSpeed share. These tools train the whole
 * model on all ranks: the plan must have all layers in one group. Ranks of the tool are the members
 * of that group, in order.
 */
#ifndef YK_EXPORT_DATA_PARALLEL_H
#define YK_EXPORT_DATA_PARALLEL_H

#include "export/text.h"

/* The name of a member's device: "gpu0". */
const char *yk_data_parallel_device_name(const struct yk_export_job *job,
                                         const struct yk_plan_group_member *member);

/* Notes the devices that hold no layer, and the ranks that take no samples. */
void yk_data_parallel_note_ranks(const struct yk_export_job *job);

/* Notes that the parts of sharded layers are unequal in the plan, but equal in `tool`. */
void yk_data_parallel_note_parts(const struct yk_export_job *job, const char *tool);

/* Notes that the plan has LoRA adapters, which the user must add to the model. */
void yk_data_parallel_note_adapters(const struct yk_export_job *job);

/* Properties of a layer, for yk_export_text_add_layers_note(). */
bool yk_data_parallel_is_sharded(const struct yk_plan *plan, int32_t layer);
bool yk_data_parallel_is_recomputed(const struct yk_plan *plan, int32_t layer);

#endif
