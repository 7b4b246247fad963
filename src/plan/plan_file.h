/*
 * Plan file: a plan as JSON that a person can read and edit (docs/plans.md). Runs of equal layers
 * stand in one line; the order of communication is said slot by slot in words.
 *
 * The file names the model, cluster and profile it was made for and carries a hash of each. What
 * the workload says of `recompute` is not written: each layer says it.
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

/* What a plan is made for. */
struct yk_plan_context {
    const struct yk_model_config *config;
    const struct yk_cluster *cluster;
    struct yk_profile *profile; /* or NULL */
    bool any_profile;           /* to be read: it may have been made with another one, or none */
    const char *path; /* to be written: where, so that files are named from there; NULL: nowhere */
};

/* What a file says it was made for, so that those can be opened: paths are from here. In the
 * arena. */
struct yk_plan_sources {
    const char *model;
    const char *cluster;
    const char *profile; /* NULL: none */
};

yk_status yk_plan_file_sources(const char *text, size_t length, const char *source,
                               struct yk_arena *arena, struct yk_plan_sources *out) YK_MUST_USE;

/*
 * Reads and checks a plan. One that was made for another model, cluster or profile is refused with
 * the difference. `source`, the name the user knows the file by, begins every message, and the
 * files that the plan names are looked for in its folder.
 */
yk_status yk_plan_file_read(const char *text, size_t length, const char *source,
                            const struct yk_plan_context *context, struct yk_arena *arena,
                            const struct yk_plan **out) YK_MUST_USE;

/* The plan as a file that reads back as the same plan. */
yk_status yk_plan_file_write(const struct yk_plan *plan, const struct yk_plan_context *context,
                             struct yk_text *out) YK_MUST_USE;

#endif
