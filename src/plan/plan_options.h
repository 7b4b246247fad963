/*
 * Plan options: the member "request" of a plan file, which says what the search was restricted to
 * (docs/plans.md). Files without it are plans of a search that was free, or that do not say.
 */
#ifndef YK_PLAN_PLAN_OPTIONS_H
#define YK_PLAN_PLAN_OPTIONS_H

#include "base/arena.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/names.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "plan/plan.h"

/* Reads the member of `root`, of a plan for `batch` samples; `devices` are the cluster's, by
 * number. */
yk_status yk_plan_options_read(const struct yk_json *root, int64_t batch,
                               const struct yk_names *devices, struct yk_arena *arena,
                               struct yk_plan_options *out) YK_MUST_USE;

/* Writes the member on a line of its own; nothing where nothing was asked for. */
void yk_plan_options_write(const struct yk_plan_options *options, const struct yk_cluster *cluster,
                           struct yk_json_writer *json);

#endif
