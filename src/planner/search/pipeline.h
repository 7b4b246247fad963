/*
 * Pipeline: consecutive stages of layers on groups of devices. A group of several devices shares
 * every micro-batch out among them. Cuts are found by dynamic programming from the last stage to
 * the first, so that the slowest stage is as fast as can be and each fits, by an estimate, with its
 * micro-batches in flight. Layers that share weights are with the first of them.
 */
#ifndef YK_PLANNER_SEARCH_PIPELINE_H
#define YK_PLANNER_SEARCH_PIPELINE_H

#include "planner/search/study.h"

struct yk_pipeline_spec {
    const int32_t *devices; /* (of all groups) in the order of the stages */
    const int32_t *sizes;   /* (group_count) devices of each group */
    int32_t group_count;    /* K */
    int32_t micro_batches;
    enum yk_pipeline order;
    enum yk_strategy strategy; /* of all layers in groups of several */
    bool recompute;            /* of all blocks */
};

/* The plan, in the arena; where no cut seems to fit, the one that lacks least. NULL when there are
 * more groups than layers, or the samples cannot be shared out. */
yk_status yk_pipeline_plan(struct yk_study *study, const struct yk_pipeline_spec *spec,
                           struct yk_arena *arena, struct yk_plan **out) YK_MUST_USE;

#endif
