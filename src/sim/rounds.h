/*
 * Rounds: runs the classes of a program round after round in virtual time, until two rounds take
 * equally long.
 *
 * Computation. An op takes its time alone; while data moves to or from its rank, as many times as
 * long as was measured for that message, else `slowdown` times.
 *
 * Communication. A message is under way once it is next on the comm lane of all its ranks and all
 * that its ops wait for is over there. It takes its time alone (latency and bytes alike) over the
 * rate at which it goes, which is 1, or less where nodes' ports are shared (sim/ports.h), and less
 * again while any of its ranks computes, where that was measured: on a CPU the lanes share cores.
 * All its ranks end together.
 *
 * Rounds. Lanes go into the next round by themselves, as in training, but not further than
 * LOOKAHEAD rounds past one that is not over: a loader without waits would never stop. A round ends
 * with the last computation that any rank has in it (with its last op, where none has any), and
 * begins where the one before ends. So rounds follow each other without a gap, and what a rank does
 * between two such moments (computes, waits while data moves, waits) adds up to the round. After
 * the round that is reported, lanes go on until all its ops are over, so that the last of them do
 * not have the links to themselves.
 */
#ifndef YK_SIM_ROUNDS_H
#define YK_SIM_ROUNDS_H

#include "base/arena.h"
#include "base/status.h"
#include "program/program.h"
#include "sim/ports.h"
#include "sim/rank_classes.h"
#include "sim/times.h"

#include <stdint.h>

enum {
    YK_ROUNDS_MIN = 3,
    YK_ROUNDS_MAX = 8,
    YK_ROUNDS_LOOKAHEAD = 2,
    YK_ROUNDS_ALL = YK_ROUNDS_MAX + YK_ROUNDS_LOOKAHEAD,
};

/* Two rounds are equally long when they differ by less than this part. */
#define YK_ROUNDS_TOLERANCE 1e-4

struct yk_round {
    /* (ops of all classes), in virtual time; INFINITY: it never came to this */
    double *start_s;
    double *end_s;
    double *exposed_s; /* of comm ops: while it ran, the compute lane waited this long */

    double end_of_round_s;
    /* (classes) from the beginning to the end of the round */
    double *computed_s;
    double *waited_s; /* while data moved */

    int32_t ops_left;
    int32_t classes_left; /* whose computations are not over */
};

struct yk_rounds {
    int32_t count;     /* of rounds that anything may have happened in */
    int32_t reported;  /* number of the round to report */
    double slowdown;   /* of computation during communication, the worst of all messages */
    int32_t *first_op; /* (classes + 1) of each class, in a round's arrays */
    struct yk_round rounds[YK_ROUNDS_ALL];
};

/* `slowdown` is at least 1, or 0: YK_SIM_SLOWDOWN where nothing was measured. The result lives in
 * `arena`. */
yk_status yk_rounds_run(const struct yk_program *program, const struct yk_rank_classes *classes,
                        const struct yk_times *times, double slowdown, struct yk_arena *arena,
                        struct yk_rounds **out) YK_MUST_USE;

#endif
