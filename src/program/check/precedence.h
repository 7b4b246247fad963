/*
 * Precedence: an op of a rank that must have ended before another one starts, and why. The rules of
 * program/check about the order on one rank are a list of these; a shuffle obeys the same list.
 *
 * A program in which an op is missing (a pass, a message, an all_gather) is refused while the list
 * is made.
 */
#ifndef YK_PROGRAM_CHECK_PRECEDENCE_H
#define YK_PROGRAM_CHECK_PRECEDENCE_H

#include "program/rank_view.h"

enum yk_precedence_reason {
    YK_PRECEDENCE_INPUT,
    YK_PRECEDENCE_SAVED,
    YK_PRECEDENCE_OUTPUT_GRADIENT,
    YK_PRECEDENCE_MESSAGE,
    YK_PRECEDENCE_GATHERED,
    YK_PRECEDENCE_RELEASED,
    YK_PRECEDENCE_DROPPED,
    YK_PRECEDENCE_GRADIENT,
    YK_PRECEDENCE_REDUCED,
    YK_PRECEDENCE_NORM,
    YK_PRECEDENCE_AGREED,
    YK_PRECEDENCE_LAST_USE,
    YK_PRECEDENCE_NEW_PART,
    YK_PRECEDENCE_NEW_WEIGHTS,
};

struct yk_precedence {
    int32_t before;
    int32_t after; /* `lag` rounds later; less than 0 if that cannot be */
    int32_t lag;
    enum yk_precedence_reason reason;
};

struct yk_precedences {
    struct yk_precedence *items; /* free with yk_precedences_free() */
    int32_t count;
    int32_t capacity;
};

void yk_precedences_free(struct yk_precedences *precedences);

yk_status yk_precedences_add(struct yk_precedences *precedences,
                             struct yk_precedence precedence) YK_MUST_USE;

/* The same where `after` belongs to a training step `steps` later than that of `before`; the lag in
 * rounds follows from the steps that the two ops work for. */
yk_status yk_precedences_add_step(const struct yk_rank_view *view,
                                  struct yk_precedences *precedences, int32_t before, int32_t after,
                                  int32_t steps, enum yk_precedence_reason reason) YK_MUST_USE;

/* A message between groups arrives before the layers that need its content run. */
yk_status yk_precedences_find_messages(const struct yk_rank_view *view, struct yk_arena *arena,
                                       struct yk_precedences *precedences) YK_MUST_USE;

/* Weights are gathered and updated before a pass uses them. */
yk_status yk_precedences_find_weights(const struct yk_rank_view *view, struct yk_arena *arena,
                                      struct yk_precedences *precedences) YK_MUST_USE;

/* Gradients are reduced, the ranks agree on the norm, and weights are updated, in this order. */
yk_status yk_precedences_find_gradients(const struct yk_rank_view *view, struct yk_arena *arena,
                                        struct yk_precedences *precedences) YK_MUST_USE;

/* All of these, and that each pass runs once, after all of its inputs: samples, outputs, gradients
 * of outputs. */
yk_status yk_precedences_find(const struct yk_rank_view *view, struct yk_arena *arena,
                              struct yk_precedences *precedences) YK_MUST_USE;

/* Fails with the first precedence that the rank's list violates. */
yk_status yk_precedences_check(const struct yk_rank_view *view,
                               const struct yk_precedences *precedences) YK_MUST_USE;

#endif
