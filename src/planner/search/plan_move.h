/*
 * Plan move: small changes from one plan to another, for local search. Each kind numbers its moves
 * of a plan; parts and the order of communication are found anew afterwards.
 */
#ifndef YK_PLANNER_SEARCH_PLAN_MOVE_H
#define YK_PLANNER_SEARCH_PLAN_MOVE_H

#include "planner/search/study.h"

enum yk_plan_move_result {
    YK_PLAN_MOVE_DONE,
    YK_PLAN_MOVE_NONE, /* this number changes nothing here, or what must not be */
    YK_PLAN_MOVE_END,  /* nor does any larger one */
};

/* The first kinds change how layers are kept and sent, those from YK_PLAN_MOVE_OF_SHAPE on where
 * they are and who computes which samples. */
enum {
    YK_PLAN_MOVE_OF_SHAPE = 2,
    YK_PLAN_MOVE_KINDS = 7,
};

/* Makes move `number` of a kind in `plan`, whose lists may move to the arena. */
yk_status yk_plan_move_make(const struct yk_study *study, int32_t kind, int32_t number,
                            struct yk_arena *arena, struct yk_plan *plan,
                            enum yk_plan_move_result *out) YK_MUST_USE;

/* Everything that is to be decided about how layers are kept in one of the variants that need
 * little memory; false past the last. */
bool yk_plan_move_save_memory(const struct yk_study *study, int32_t variant, struct yk_plan *plan);

/* The next larger number of micro-batches that is worth a look, or 0: one that divides the batch,
 * or a power of two. */
int32_t yk_plan_move_next_micro_batches(int64_t batch, int32_t micro_batches);

#endif
