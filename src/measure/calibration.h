/*
 * Calibration: compares the measured op times of a run with their predictions, and computes new
 * profile entries. With these entries, the prediction for the same plan agrees with the
 * measurement.
 *
 * Ops are grouped into classes. All ops of a class share one entry of a profile. Such an entry is
 * for the forward or backward pass of a layer shape with a batch size on a type of device, for the
 * update of a layer shape, or for a message or collective of a size on a link.
 *
 * A profile holds times without overlap. An op that took d, with a fraction f of its time
 * overlapped by another lane, would take d·(1 − f + f / slowdown) alone. The slowdown of
 * computation is estimated from classes that have both ops that overlap almost fully and ops that
 * overlap almost not at all. If there are no such classes, the slowdown in the profile is used. For
 * messages the slowdown in the profile is preferred, because a message without overlap is often the
 * first or the last message of a step and not typical. No slowdown is estimated if the run uses
 * several kinds of links. Overlapped messages with an unknown slowdown are not added to the
 * profile, because their times are too long.
 *
 * As in `yoke profile`, the time to clear the gradients counts as part of the update. It is the
 * time by which the backward pass of the first micro-batch is longer than the others. With a single
 * micro-batch it is unknown and remains part of the backward pass.
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

struct yk_calibration_op_class {
    enum yk_op_kind kind;    /* forward, backward, update, send or a collective */
    const char *profile_key; /* profile key of the device or link, or the name of the device if
                                `is_known` is false */
    const char *layer;       /* layer kind: "gpt-block"; NULL for a message */
    const char *shape;       /* layer shape; NULL for a message */
    int64_t size;         /* batch size; 0 for an update; for a message: bytes, with all parts of a
                             collective counted as large as the largest part */
    int32_t ranks;        /* number of ranks of a message or collective; 0 for computation */
    int32_t device;       /* index of a device of this class in the cluster */
    const char *versions; /* software versions of the rank of its first op */
    bool is_known;        /* profile_key is a key of the profile */
    int32_t place;        /* index of the class in the order of the first ops */

    int32_t count;         /* number of ops of this class in a step, on all ranks */
    int32_t times;         /* the same, only on the rank that has most of them */
    double predicted_s;    /* mean simulated time of one op, including overlap */
    double measured_s;     /* mean measured time of one op */
    double difference_s;   /* times · (measured_s − predicted_s) */
    double layer_fraction; /* for an update: mean fraction of the layer that a rank updates */
    double alone_s;        /* mean time without overlap, for the profile; NAN means: no entry */
    double spread;         /* mean of (half the interquartile range / median) */
};

struct yk_calibration {
    struct yk_calibration_op_class *classes; /* sorted by |difference_s|, largest first */
    int32_t class_count;
    int32_t class_capacity;
    struct yk_profiler rows; /* entries for the profile */
    double compute_slowdown; /* slowdown factor that was used; NAN means: unknown */
    double message_slowdown;
    bool estimated_compute; /* true: from this run; false: from the profile */
    bool estimated_message;
    int32_t skipped_message_classes; /* number of message classes that get no profile entry */
};

struct yk_calibration_request {
    const struct yk_program *program;      /* the last program of the run */
    const struct yk_sim_result *sim;       /* the simulation of this program */
    const struct yk_cost_sources *sources; /* the costs used by the simulation */
    const struct yk_op_times *measured;    /* measured times */
};

/* Fails if the times belong to another program. Initialise `out` to {0}. Its strings are in the
 * arena. */
yk_status yk_calibration_compute(const struct yk_calibration_request *request,
                                 struct yk_arena *arena, struct yk_calibration *out) YK_MUST_USE;
void yk_calibration_free(struct yk_calibration *calibration);

#endif
