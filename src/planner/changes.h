/*
 * Changes: small steps from one plan to another, for searches that go downhill. Each kind has a
 * number of them for every plan; parts and the order of communication are for others to find anew.
 */
#ifndef YK_PLANNER_CHANGES_H
#define YK_PLANNER_CHANGES_H

#include "planner/study.h"

enum yk_changed {
    YK_CHANGED,
    YK_UNCHANGED,   /* this number changes nothing here, or what must not be */
    YK_NONE_BEYOND, /* nor does any larger one */
};

struct yk_change {
    const char *how; /* the better plan was found */
    /* Makes change number `number` of its kind in `plan`, whose lists may move to the arena. */
    yk_status (*make)(const struct yk_study *study, int32_t number, struct yk_arena *arena,
                      struct yk_plan *plan, enum yk_changed *out);
};

/* The first ones change how layers are kept and sent, those from YK_CHANGES_OF_SHAPE on where they
 * are and who takes which samples. */
enum {
    YK_CHANGES_OF_SHAPE = 2
};

extern const struct yk_change yk_changes[];
extern const int32_t yk_change_count;

/* Everything that is to be decided about how layers are kept in one of the ways that take little
 * memory; false past the last way. */
bool yk_changes_save_memory(const struct yk_study *study, int32_t way, struct yk_plan *plan);

/* The next larger number of micro-batches that is worth a look, or 0: one that divides the batch,
 * or a power of two. */
int32_t yk_changes_next_micro_batches(int64_t batch, int32_t micro_batches);

#endif
