/*
 * Data parallel: functions that the exporters for DDP, FSDP and DeepSpeed share. These tools train
 * the whole model on all ranks, so all layers of the plan must be in one group. Rank i of the
 * exported file is member i of that group.
 *
 * "Notes …" at the beginning of a comment means: the function adds sentences to the notes of the
 * job.
 */
#ifndef YK_EXPORT_DATA_PARALLEL_H
#define YK_EXPORT_DATA_PARALLEL_H

#include "export/export_job.h"

/* Returns the name of the device of a group member, such as "gpu0". */
const char *yk_data_parallel_member_device_name(const struct yk_export_job *job,
                                                const struct yk_plan_group_member *member);

/* Notes which devices hold no layers, and which ranks compute no samples. */
void yk_data_parallel_add_idle_rank_notes(const struct yk_export_job *job);

/* Notes that the plan splits sharded layers into unequal parts, but that `tool` splits them into
 * equal parts. Adds nothing if the parts of the plan are equal. */
void yk_data_parallel_add_unequal_shards_note(const struct yk_export_job *job, const char *tool);

/* Notes that the user must add LoRA adapters to the model. Adds nothing if the plan has no
 * adapters. */
void yk_data_parallel_add_lora_note(const struct yk_export_job *job);

/* Properties of a layer, for the argument `is_one` of yk_export_job_add_layers_note(). */
bool yk_data_parallel_layer_is_sharded(const struct yk_plan *plan, int32_t layer);
bool yk_data_parallel_layer_is_recomputed(const struct yk_plan *plan, int32_t layer);

#endif
