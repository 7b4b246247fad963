/*
 * Plan JSON: functions that read and write the parts of a plan file (docs/plans.md). plan_file.c
 * uses them.
 *
 *   plan_json         single values, with their types checked
 *   plan_restrictions the member "request"
 *   plan_transfers    the member "order"
 *
 * A function that reads a member does not change `*out` if the member is missing. Error messages
 * contain the name of the member; callers add its location in the file.
 */
#ifndef YK_PLAN_PLAN_JSON_H
#define YK_PLAN_PLAN_JSON_H

#include "base/arena.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/name_index.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fails if `object` has no member `key`. */
yk_status yk_plan_json_require_member(const struct yk_json *object, const char *key) YK_MUST_USE;

/* Reads an integer from `min` to `max`. */
yk_status yk_plan_json_read_integer(const struct yk_json *object, const char *key, int32_t min,
                                    int32_t max, int32_t *out) YK_MUST_USE;

/* Reads a size, such as "5MiB" or a number of bytes. The size must be above 0; if `zero` is true,
 * it may also be 0. */
yk_status yk_plan_json_read_byte_size(const struct yk_json *object, const char *key, bool zero,
                                      double *out) YK_MUST_USE;

/* Reads a string that must be one of `names`. Sets `*out` to its index in `names`. */
yk_status yk_plan_json_read_choice(const struct yk_json *object, const char *key,
                                   const char *const *names, size_t count, int *out) YK_MUST_USE;

/* Writes a string such as "5MiB". yk_plan_json_read_byte_size() reads it as exactly `bytes`. */
void yk_plan_json_write_byte_size(struct yk_json_writer *json, const char *key, double bytes);

/* Reads the member "request", the restrictions of the search. `batch` is the batch of the plan.
 * `devices` are the names of the cluster's devices, in the order of the cluster. */
yk_status yk_plan_restrictions_read_json(const struct yk_json *root, int64_t batch,
                                         const struct yk_name_index *devices,
                                         struct yk_arena *arena,
                                         struct yk_plan_restrictions *out) YK_MUST_USE;

/* Writes the member "request" if there are restrictions. */
void yk_plan_restrictions_write_json(const struct yk_plan_restrictions *options,
                                     const struct yk_cluster *cluster, struct yk_json_writer *json);

/* The text that yk_name_index_find_or_fail() puts into the error message for an unknown layer. */
#define YK_PLAN_UNKNOWN_LAYER_MESSAGE "the model has no layer"

/*
 * Reads the member "order" into the plan's transfers. The plan's block size must be set before.
 * `list` is the value of the member; NULL means: the member is missing. The list has one element
 * for each slot with transfers:
 *
 *   {"during": "backward layer 30",
 *    "do": ["reduce_scatter layer 31", "all_gather layer 29 blocks 0-3"]}
 *
 * A slot is "forward LAYER", "backward LAYER", "middle", "end" or "begin". A transfer without
 * "blocks" transfers all blocks of its layer.
 */
yk_status yk_plan_transfers_read_json(const struct yk_json *list, const struct yk_model *model,
                                      const struct yk_name_index *layers, struct yk_arena *arena,
                                      struct yk_plan *plan) YK_MUST_USE;

/* Writes the member "order", one slot per line. */
void yk_plan_transfers_write_json(const struct yk_plan *plan, const struct yk_model *model,
                                  struct yk_json_writer *json);

#endif
