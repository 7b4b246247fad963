/*
 * Iterations: the event loop of the simulator. It executes the op lists of all rank classes
 * (rank_classes.h) again and again in virtual time, until two successive iterations have equal
 * durations. The second of these two is the reported iteration. Each rank has several lanes (for
 * example the compute lane and the comm lane); a lane runs one op at a time.
 *
 * Compute ops. A compute op takes its isolated time. While its rank sends or receives a message,
 * the op takes longer: its time is multiplied by the compute slowdown. The compute slowdown is the
 * first of these that is known: the argument `slowdown`, the value measured for the device of the
 * rank, the value measured for the links of the message, YK_SIM_DEFAULT_SLOWDOWN.
 *
 * Communication ops. A message starts when its op is the next op on the comm lane of each of its
 * ranks, and the waits of these ops are satisfied. The duration of the message is its isolated time
 * divided by its rate. The rate is 1, or less if the message shares node ports with other messages.
 * While one of its ranks computes, the rate is also divided by the measured slowdown of messages,
 * because on a CPU the lanes share cores. A message ends on all its ranks at the same time.
 *
 * Iterations. As in training, a lane begins its next iteration without waiting for the other lanes.
 * But it is never more than YK_SIM_ITERATIONS_LOOKAHEAD iterations ahead of the oldest unfinished
 * iteration. (Otherwise a lane of load ops without waits would never stop.) An iteration ends with
 * its last compute op, or with its last op if no rank computes. Its duration is the time from the
 * end of the previous iteration to its own end. So there are no gaps between iterations, and the
 * compute, exposed and idle times of a rank sum up to the duration of the iteration. (Exposed time:
 * the compute lane waits while a message of the rank is in flight.) After the end of the reported
 * iteration the lanes continue until all its ops have ended, so that its last messages share the
 * links as usual.
 */
#ifndef YK_SIM_ITERATIONS_H
#define YK_SIM_ITERATIONS_H

#include "base/arena.h"
#include "base/status.h"
#include "program/program.h"
#include "sim/node_ports.h"
#include "sim/op_times.h"
#include "sim/rank_classes.h"

#include <stdint.h>

enum {
    YK_SIM_ITERATIONS_MIN = 3, /* the third iteration is the first that can be reported */
    YK_SIM_ITERATIONS_MAX = 8, /* the eighth is reported if no earlier iteration can be */
    YK_SIM_ITERATIONS_LOOKAHEAD = 2,
    YK_SIM_ITERATIONS_CAPACITY = YK_SIM_ITERATIONS_MAX + YK_SIM_ITERATIONS_LOOKAHEAD,
};

/* Two durations are equal if their relative difference is at most this. */
#define YK_SIM_ITERATIONS_TOLERANCE 1e-4

struct yk_sim_iteration {
    /* (ops of all classes) virtual times; INFINITY means: the op did not start or did not end */
    double *start_s;
    double *end_s;
    double *exposed_s; /* for comm ops: how long the compute lane waited while the op ran */

    double end_s_of_iteration;
    /* (classes) sums from the start of the simulation to the end of this iteration */
    double *computed_s; /* time in which the compute lane was busy */
    double *waited_s;   /* time in which the compute lane waited while a message was in flight */

    int32_t ops_left;     /* number of ops that have not ended */
    int32_t classes_left; /* number of classes whose compute ops have not all ended */
};

struct yk_sim_iterations {
    int32_t count;     /* number of iterations that were started */
    int32_t reported;  /* index of the reported iteration */
    double slowdown;   /* largest compute slowdown of all messages */
    int32_t *first_op; /* (classes + 1) index of the first op of each class in arrays with the ops
                          of all classes */
    struct yk_sim_iteration iterations[YK_SIM_ITERATIONS_CAPACITY];
};

/* Runs the simulation. `slowdown` is the compute slowdown of all messages, at least 1; if it is 0,
 * the measured values are used, as described above. The result lives in `arena`. */
yk_status yk_sim_iterations_run(const struct yk_program *program,
                                const struct yk_rank_classes *classes,
                                const struct yk_sim_op_times *times, double slowdown,
                                struct yk_arena *arena, struct yk_sim_iterations **out) YK_MUST_USE;

#endif
