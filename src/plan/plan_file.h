/*
 * Plan file: a plan as JSON that people can read and edit (docs/plans.md). The file names the
 * model, cluster and profile that the plan was made for, each with a hash. The workload's
 * `recompute` is not written, since every layer has its own.
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

/* What a plan is made for. Nothing is owned. */
struct yk_plan_file_context {
    const struct yk_model_config *config;
    const struct yk_cluster *cluster;
    struct yk_profile *profile; /* may be NULL */
    bool any_profile;           /* reading: accept plans made with another profile or none */
    const char *path;           /* writing: the plan file, whose folder paths are relative to; NULL
                                   means: keep paths as they are */
};

/* Names or paths of what a plan was made for. Paths are from the working directory. */
struct yk_plan_source_paths {
    const char *model;
    const char *cluster;
    const char *profile; /* NULL means: none */
};

/* Reads only the sources. The strings are in `arena`. */
yk_status yk_plan_file_read_source_paths(const char *text, size_t length, const char *source,
                                         struct yk_arena *arena,
                                         struct yk_plan_source_paths *out) YK_MUST_USE;

/*
 * Reads and checks a plan, into `arena`. Fails if it was made for another model, cluster or
 * profile; the message says what differs. `source` is the file's path: it begins every message, and
 * paths in the plan are relative to its folder.
 */
yk_status yk_plan_file_read(const char *text, size_t length, const char *source,
                            const struct yk_plan_file_context *context, struct yk_arena *arena,
                            const struct yk_plan **out) YK_MUST_USE;

/* Checks the plan and writes it; reading it back gives the same plan. */
yk_status yk_plan_file_write(const struct yk_plan *plan, const struct yk_plan_file_context *context,
                             struct yk_text *out) YK_MUST_USE;

#endif
