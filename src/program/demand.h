/*
 * Demand: an op of a rank that must have ended before another one starts, and why. All that the
 * rules of program/check say about order on one rank is a list of these; so is what a shuffle must
 * leave alone.
 *
 * What is missing altogether (a pass, a message, a gather) is refused while demands are looked for.
 */
#ifndef YK_PROGRAM_DEMAND_H
#define YK_PROGRAM_DEMAND_H

#include "program/rank_view.h"

enum yk_demand_reason {
    YK_DEMAND_INPUT,
    YK_DEMAND_SAVED,
    YK_DEMAND_OUTPUT_GRADIENT,
    YK_DEMAND_MESSAGE,
    YK_DEMAND_GATHERED,
    YK_DEMAND_RELEASED,
    YK_DEMAND_DROPPED,
    YK_DEMAND_GRADIENT,
    YK_DEMAND_REDUCED,
    YK_DEMAND_NORM,
    YK_DEMAND_AGREED,
    YK_DEMAND_LAST_USE,
    YK_DEMAND_NEW_PART,
    YK_DEMAND_NEW_WEIGHTS,
};

struct yk_demand {
    int32_t before;
    int32_t after; /* `lag` rounds later; less than 0 if that cannot be */
    int32_t lag;
    enum yk_demand_reason reason;
};

struct yk_demands {
    struct yk_demand *items; /* free with yk_demands_free() */
    int32_t count;
    int32_t capacity;
};

void yk_demands_free(struct yk_demands *demands);

yk_status yk_demands_add(struct yk_demands *demands, struct yk_demand demand) YK_MUST_USE;

/* The same where `after` is of the training step `steps` later than that of `before`: the rounds
 * between follow from the steps that the two are for. */
yk_status yk_demands_add_step(const struct yk_rank_view *view, struct yk_demands *demands,
                              int32_t before, int32_t after, int32_t steps,
                              enum yk_demand_reason reason) YK_MUST_USE;

/* Messages from group to group bring what the other one's layers take. */
yk_status yk_demands_find_messages(const struct yk_rank_view *view, struct yk_arena *arena,
                                   struct yk_demands *demands) YK_MUST_USE;

/* Weights are there, and new, when a pass uses them. */
yk_status yk_demands_find_weights(const struct yk_rank_view *view, struct yk_arena *arena,
                                  struct yk_demands *demands) YK_MUST_USE;

/* Gradients are reduced, agreed upon, and weights updated. */
yk_status yk_demands_find_gradients(const struct yk_rank_view *view, struct yk_arena *arena,
                                    struct yk_demands *demands) YK_MUST_USE;

/* All of these, and that passes are done once, after all that they take: samples, outputs,
 * gradients of outputs. */
yk_status yk_demands_find(const struct yk_rank_view *view, struct yk_arena *arena,
                          struct yk_demands *demands) YK_MUST_USE;

/* Refuses the rank's list by the first demand that it does not meet. */
yk_status yk_demands_check(const struct yk_rank_view *view,
                           const struct yk_demands *demands) YK_MUST_USE;

#endif
