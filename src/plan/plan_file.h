/*
 * Plan file: reads and writes plans as JSON that people can read and edit (docs/plans.md). The file
 * contains the names or paths of the model, the cluster and the profile for which the plan was
 * made, each with a hash. The workload's `recompute` is not written, because every layer has its
 * own `recompute`.
 */
#ifndef YK_PLAN_PLAN_FILE_H
#define YK_PLAN_PLAN_FILE_H

#include "base/status.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_profile;

/* The model, the cluster and the profile for which a plan is read or written. This struct owns
 * nothing. */
struct yk_plan_file_context {
    const struct yk_model_config *config;
    const struct yk_cluster *cluster;
    struct yk_profile *profile; /* may be NULL */
    bool any_profile; /* for reading: also accept a plan that was made with another profile or
                         without a profile */
    const char *path; /* for writing: path of the plan file. Paths are written relative to the
                         folder of the plan file. NULL means: paths are written unchanged */
};

/* Names or paths of the model, the cluster and the profile for which a plan was made. Paths are
 * relative to the working directory. */
struct yk_plan_source_paths {
    const char *model;
    const char *cluster;
    const char *profile; /* NULL means: none */
};

/* Reads only the names or paths of the model, the cluster and the profile. `source` is the path of
 * the plan file. The strings are in `arena`. */
yk_status yk_plan_file_parse_source_paths(const char *text, size_t length, const char *source,
                                          struct yk_arena *arena,
                                          struct yk_plan_source_paths *out) YK_MUST_USE;

/*
 * Reads a plan into `arena` and checks it. Fails if the plan was made for another model, cluster or
 * profile; the message says what differs. `source` is the path of the plan file. Every error
 * message begins with it. Paths in the plan file are relative to the folder of the plan file.
 */
yk_status yk_plan_file_parse(const char *text, size_t length, const char *source,
                             const struct yk_plan_file_context *context, struct yk_arena *arena,
                             const struct yk_plan **out) YK_MUST_USE;

/* Checks the plan and appends it to `out` as JSON. If yk_plan_file_parse() reads this text, the
 * result is the same plan. */
yk_status yk_plan_file_to_json(const struct yk_plan *plan,
                               const struct yk_plan_file_context *context,
                               struct yk_text *out) YK_MUST_USE;

#endif
