/*
 * Calibration: compares the measured op times of a run with their predictions, and computes profile
 * entries with which the same plan is predicted as it was measured.
 *
 * Ops are grouped into classes. All ops of a class have one entry in a profile: a forward or
 * backward pass of a layer shape with a batch size on a type of device, the update of a layer
 * shape, or a collective of a size on a link.
 *
 * A profile holds times without overlap. An op that took d, with a fraction f of its time
 * overlapped by another lane, would take d·(1 − f + f / slowdown) alone. The slowdown of
 * computation is estimated from classes that have both kinds of ops: almost fully overlapped, and
 * almost not overlapped. Without such classes the value of the profile is used. For messages the
 * value of the profile is preferred, because a message without overlap is often the first or last
 * of a step and not typical. No slowdown is estimated if the run uses several kinds of links.
 * Overlapped messages with an unknown slowdown are not added to the profile, because their times
 * are too long.
 *
 * As in `yoke profile`, the time to clear gradients counts as part of the update. It is the extra
 * time of the first micro-batch. With a single micro-batch it remains part of the backward pass.
 */
#ifndef YK_MEASURE_CALIBRATION_H
#define YK_MEASURE_CALIBRATION_H

#include "base/arena.h"
#include "base/status.h"
#include "cost/cost.h"
#include "measure/profiler/profiler.h"
#include "program/program.h"
#include "sim/sim.h"
#include "trace/op_times.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_calibration_class {
    enum yk_op_kind kind;    /* forward, backward, update, send or a collective */
    const char *profile_key; /* profile key of the device or link; else the device's name */
    const char *layer;       /* layer kind: "gpt-block"; NULL for a message */
    const char *shape;       /* layer shape; NULL for a message */
    int64_t size;         /* batch size; 0 for an update; for a message: bytes, as if all parts of
                             the collective had the size of the largest */
    int32_t ranks;        /* number of ranks of a message; 0 for computation */
    int32_t device;       /* index of a device of this class in the cluster */
    const char *versions; /* software versions of its rank */
    bool is_known;        /* `on` is a profile key */
    int32_t place;        /* position of its first op in the step, relative to other classes */

    int32_t count;         /* ops of this class in a step, on all ranks */
    int32_t times;         /* ops of this class in a step, on the rank that has most of them */
    double predicted_s;    /* mean time of one op as simulated, including overlap */
    double measured_s;     /* mean time of one op as measured */
    double difference_s;   /* times · (measured_s − predicted_s) */
    double layer_fraction; /* for an update: mean fraction of the layer that a rank updates */
    double alone_s;        /* mean time without overlap, for the profile; NAN: no entry */
    double spread;         /* mean of (half the interquartile range / median) */
};

struct yk_calibration {
    struct yk_calibration_class *classes; /* sorted by |difference_s|, largest first */
    int32_t class_count;
    int32_t class_capacity;
    struct yk_profiler rows; /* entries for the profile */
    double compute_slowdown; /* slowdown factors used; NAN if unknown */
    double message_slowdown;
    bool estimated_compute; /* compute_slowdown was estimated from this run */
    bool estimated_message;
    int32_t skipped_message_classes; /* number of message classes without a profile entry */
};

struct yk_calibration_request {
    const struct yk_program *program;      /* the last program of the run */
    const struct yk_sim *sim;              /* the simulation of this program */
    const struct yk_cost_sources *sources; /* the costs used by the simulation */
    const struct yk_op_times *measured;    /* measured times */
};

/* Fails if the times belong to another program. `out` starts as {0}. Strings are in the arena. */
yk_status yk_calibration_compute(const struct yk_calibration_request *request,
                                 struct yk_arena *arena, struct yk_calibration *out) YK_MUST_USE;
void yk_calibration_free(struct yk_calibration *calibration);

#endif
