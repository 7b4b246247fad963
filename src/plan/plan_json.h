/*
 * Plan JSON: the readers and writers of plan files (docs/plans.md) that plan_file.c is made of.
 *
 *   plan_json         single values, with their types checked
 *   plan_options      the member "request"
 *   plan_transfers    the member "order"
 *
 * A reader leaves `*out` unchanged if the member is missing. Error messages name the member;
 * callers add its location.
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
yk_status yk_plan_json_require(const struct yk_json *object, const char *key) YK_MUST_USE;

/* An integer from `min` to `max`. */
yk_status yk_plan_json_read_integer(const struct yk_json *object, const char *key, int32_t min,
                                    int32_t max, int32_t *out) YK_MUST_USE;

/* "5MiB", or a number of bytes. It must be above 0, or at least 0 if `zero` is true. */
yk_status yk_plan_json_read_bytes(const struct yk_json *object, const char *key, bool zero,
                                  double *out) YK_MUST_USE;

/* A string that is one of `names`; `*out` is its index. */
yk_status yk_plan_json_read_choice(const struct yk_json *object, const char *key,
                                   const char *const *names, size_t count, int *out) YK_MUST_USE;

/* Writes a string such as "5MiB" that reads back as exactly `bytes`. */
void yk_plan_json_write_bytes(struct yk_json_writer *json, const char *key, double bytes);

/* Reads "request", the restrictions of the search. `batch` is the plan's; `devices` holds the
 * cluster's device names in order. */
yk_status yk_plan_options_read(const struct yk_json *root, int64_t batch,
                               const struct yk_name_index *devices, struct yk_arena *arena,
                               struct yk_plan_options *out) YK_MUST_USE;

/* Writes "request", unless there are no restrictions. */
void yk_plan_options_write(const struct yk_plan_options *options, const struct yk_cluster *cluster,
                           struct yk_json_writer *json);

/* For yk_name_index_require() of layer names. */
#define YK_PLAN_NO_LAYER "the model has no layer"

/*
 * Reads "order" into the plan's transfers; the plan's block size must be set. `list` may be NULL.
 * It has one element for each slot that has transfers:
 *
 *   {"during": "backward layer 30",
 *    "do": ["reduce_scatter layer 31", "all_gather layer 29 blocks 0-3"]}
 *
 * A slot is "forward LAYER", "backward LAYER", "middle", "end" or "begin". If no blocks are named,
 * a transfer has all blocks of its layer.
 */
yk_status yk_plan_transfers_read(const struct yk_json *list, const struct yk_model *model,
                                 const struct yk_name_index *layers, struct yk_arena *arena,
                                 struct yk_plan *plan) YK_MUST_USE;

/* Writes "order", one slot per line. */
void yk_plan_transfers_write(const struct yk_plan *plan, const struct yk_model *model,
                             struct yk_json_writer *json);

#endif
