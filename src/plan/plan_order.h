/*
 * Plan order: the JSON form of a plan's transfers, slot by slot:
 *
 *   {"during": "backward layer 30",
 *    "do": ["reduce_scatter layer 31", "all_gather layer 29 blocks 0-3"]}
 *
 * A slot is "forward LAYER", "backward LAYER", "middle", "end" or "begin". A transfer without
 * blocks is of all blocks of its layer.
 */
#ifndef YK_PLAN_PLAN_ORDER_H
#define YK_PLAN_PLAN_ORDER_H

#include "base/arena.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/names.h"
#include "base/status.h"
#include "plan/plan.h"

/* The index of the layer called `name`; an unknown name is an error that suggests the nearest. */
yk_status yk_plan_order_find_layer(const struct yk_names *layers, const char *name,
                                   int32_t *out) YK_MUST_USE;

/* Reads the list, which may be NULL, into the plan's transfers; its block size is there already. */
yk_status yk_plan_order_read(const struct yk_json *list, const struct yk_model *model,
                             const struct yk_names *layers, struct yk_arena *arena,
                             struct yk_plan *plan) YK_MUST_USE;

/* Writes the list as a member of the plan, one slot per line. */
void yk_plan_order_write(const struct yk_plan *plan, const struct yk_model *model,
                         struct yk_json_writer *json);

#endif
