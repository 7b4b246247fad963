/*
 * Fixture plan: a plan report made by hand, whose every number can be told from its options.
 *
 * All ranks are one group. Slot i of forward lasts slot_s from i × slot_s on; then comes backward,
 * last layer first, with slots twice as long; then update, one slot. A rank computes for the part
 * fixture_plan_speed() of each slot. In each slot of forward but the last the parameters of the
 * next layer are gathered, in each of backward gradients are scattered.
 */
#ifndef YK_TESTS_FIXTURE_PLAN_H
#define YK_TESTS_FIXTURE_PLAN_H

#include "report/plan/report.h"
#include "trace/trace.h"

struct fixture_plan_options {
    int32_t ranks;
    int32_t layers;
    int32_t spare_devices; /* that the plan does not use */
    bool all_different;    /* no two ranks are equally fast; else the first half and the rest are */
    const char *name;      /* begins every name of a device, layer and op; NULL: none */
    bool images;           /* samples are images of 224 × 160 pixels */
};

struct fixture_plan {
    struct yk_arena *arena;
    struct yk_trace *trace;
    struct yk_plan *plan;
    struct yk_plan_result_rank *ranks;
    struct yk_plan_result report;
};

extern const double fixture_plan_slot_s; /* 0.01 */

struct fixture_plan fixture_plan_make(const struct fixture_plan_options *options);
void fixture_plan_free(struct fixture_plan *fixture);

/* How much of a slot a rank computes: 1 of the first half of the ranks, 0.8 of the others. */
double fixture_plan_speed(const struct fixture_plan_options *options, int32_t rank);

/* Curves that fall and rise, alternatives, devices left out: as many as the page has to show. */
void fixture_plan_add_choices(struct fixture_plan *fixture);

#endif
