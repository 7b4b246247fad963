/*
 * Precedence: a constraint between two ops of a rank. One op must end before the other op starts.
 * The rules about the order of ops on one rank are a list of precedences. yk_program_check()
 * verifies them, and yk_program_shuffle() does not violate them. The functions that create the list
 * fail if an op is missing, such as a pass, a message or an all_gather.
 */
#ifndef YK_PROGRAM_CHECK_PRECEDENCE_H
#define YK_PROGRAM_CHECK_PRECEDENCE_H

#include "program/op_index.h"

enum yk_precedence_reason {
    YK_PRECEDENCE_FORWARD_AFTER_INPUT,
    YK_PRECEDENCE_SAME_LAYER,
    YK_PRECEDENCE_BACKWARD_AFTER_OUTPUT_GRADIENT,
    YK_PRECEDENCE_SEND_AFTER_COMPUTE,
    YK_PRECEDENCE_USE_AFTER_GATHER,
    YK_PRECEDENCE_RELEASE_AFTER_USE,
    YK_PRECEDENCE_GATHER_AFTER_RELEASE,
    YK_PRECEDENCE_REDUCE_AFTER_BACKWARD,
    YK_PRECEDENCE_UPDATE_AFTER_REDUCE,
    YK_PRECEDENCE_AGREE_AFTER_REDUCE,
    YK_PRECEDENCE_UPDATE_AFTER_AGREE,
    YK_PRECEDENCE_UPDATE_AFTER_USE,
    YK_PRECEDENCE_GATHER_AFTER_UPDATE,
    YK_PRECEDENCE_USE_AFTER_UPDATE,
};

struct yk_precedence {
    int32_t before;
    int32_t after;
    int32_t lag; /* `before` of one round must end before `after` starts `lag` rounds later; 0
                    means: in the same round. A precedence with a negative lag is always violated */
    enum yk_precedence_reason reason;
};

struct yk_precedences {
    const struct yk_op_index *index;
    struct yk_precedence *items; /* free with yk_precedences_free() */
    int32_t count;
    int32_t capacity;
};

void yk_precedences_free(struct yk_precedences *precedences);

/* Adds a precedence. `steps` is the number of training steps from the step of `before` to the step
 * of `after`; 0 means: both ops belong to the same step. The lag is `steps` + step of
 * `before` − step of `after`. */
yk_status yk_precedences_add_across_steps(struct yk_precedences *precedences, int32_t before,
                                          int32_t after, int32_t steps,
                                          enum yk_precedence_reason reason) YK_MUST_USE;

/* Adds a precedence with this lag. */
yk_status yk_precedences_add_with_lag(struct yk_precedences *precedences, int32_t before,
                                      int32_t after, int32_t lag,
                                      enum yk_precedence_reason reason) YK_MUST_USE;

/* Adds the precedences of messages between groups: data is computed before it is sent, and is
 * received before a pass uses it. */
yk_status yk_precedences_add_for_messages(struct yk_precedences *precedences,
                                          struct yk_arena *arena) YK_MUST_USE;

/* Adds the precedences of weights: weights are gathered and updated before a pass uses them. */
yk_status yk_precedences_add_for_weights(struct yk_precedences *precedences,
                                         struct yk_arena *arena) YK_MUST_USE;

/* Adds the precedences of gradients: first gradients are reduced, then the ranks exchange their
 * norm (the agree op), then weights are updated. */
yk_status yk_precedences_add_for_gradients(struct yk_precedences *precedences,
                                           struct yk_arena *arena) YK_MUST_USE;

/* Adds all precedences: those of the three functions above, and those between passes and their
 * inputs. `*out` must be {0} before the call. */
yk_status yk_precedences_find_all(const struct yk_op_index *index, struct yk_arena *arena,
                                  struct yk_precedences *out) YK_MUST_USE;

/* Fails if the op list violates a precedence. The message describes the first violation. */
yk_status yk_precedences_check(const struct yk_precedences *precedences) YK_MUST_USE;

#endif
