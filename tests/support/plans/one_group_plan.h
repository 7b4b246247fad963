/* Made plan: a plan of one group over all devices of a cluster, for tests to change. */
#ifndef YK_TESTS_MADE_PLAN_H
#define YK_TESTS_MADE_PLAN_H

#include "cluster/cluster.h"
#include "export/export.h"
#include "plan/plan.h"

struct made_plan {
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    const struct yk_model *model;
    struct yk_plan *plan;
    struct yk_text out; /* of the last export */
    struct yk_text notes;
};

/* bf16, 64 tokens a sample, equal parts, 1 micro-batch, all layers `strategy`; device i takes
 * shares[i] samples. */
void made_plan_begin(struct made_plan *made, const char *model, const char *cluster,
                     const int64_t *shares, enum yk_sharding_strategy strategy);
void made_plan_end(struct made_plan *made);

/* Describes the model anew after the workload was changed. */
void made_plan_describe(struct made_plan *made);

/* Checks the plan and exports it; fails the test when that fails. */
void made_plan_export(struct made_plan *made, const char *exporter);

/* Whether the last file, or its notes, have these words. */
bool made_plan_says(const struct made_plan *made, const char *words);
bool made_plan_notes(const struct made_plan *made, const char *words);

/* Fails the test unless every note is in the file as well, as a comment. */
void made_plan_assert_comments(const struct made_plan *made);

#endif
