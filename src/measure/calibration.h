/*
 * Calibration: compares the measured op times of a run with their predictions, and computes new
 * profile entries. With these entries, the prediction for the same plan agrees with the
 * measurement.
 *
 * Ops are grouped into classes. All ops of a class share one entry of a profile. There are three
 * kinds of entries:
 * - a forward or backward pass, for a layer shape, a batch size and a type of device;
 * - an update, for a layer shape and a type of device;
 * - a message or collective, for a size and a link.
 *
 * A profile contains times without overlap. If an op took the time d, and another lane was busy
 * during the fraction f of this time, the op would take this time alone:
 *   d · (1 − f + f / slowdown)
 *
 * The slowdown of computation is estimated from classes in which some ops overlap almost fully and
 * other ops overlap almost not at all. If the run has no such class, the slowdown with which the
 * plan was simulated is used. For messages the slowdown in the profile is preferred, because
 * messages without overlap are often the first or the last message of a step and not typical. No
 * slowdown is estimated if the run uses several kinds of links. If the slowdown of messages is
 * unknown, messages with overlap are not added to the profile, because their times are too long.
 *
 * As in `yoke profile`, the time to clear the gradients counts as part of the update. The first
 * micro-batch clears them, so this time is the difference between its backward pass and the other
 * backward passes. If there is only one micro-batch, the time is unknown and remains part of the
 * backward pass.
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
    const char *profile_key; /* key of the device or link in the profile; if `is_known` is false:
                                name of the device */
    const char *layer;       /* layer kind: "gpt-block"; NULL for a message */
    const char *shape;       /* layer shape; NULL for a message */
    int64_t size;         /* for a pass: batch size; for an update: 0; for a message: bytes; for a
                             collective: number of ranks · bytes of the largest part */
    int32_t ranks;        /* number of ranks of a message or collective; 0 for computation */
    int32_t device;       /* index of one device of this class in the cluster */
    const char *versions; /* software versions of the rank that has the first op of this class */
    bool is_known;        /* the device or link has a profile key */
    int32_t place;        /* index of the class before `classes` was sorted */

    int32_t count;         /* number of ops of this class in a step, on all ranks */
    int32_t times;         /* number of ops in a step on the rank that has most of them */
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
    struct yk_profiler rows;         /* entries for the profile */
    double compute_slowdown;         /* slowdown of computation that was used; NAN means: unknown */
    double message_slowdown;         /* the same for messages */
    bool estimated_compute;          /* compute_slowdown was estimated from this run */
    bool estimated_message;          /* message_slowdown was estimated from this run */
    int32_t skipped_message_classes; /* number of message classes that get no profile entry */
};

struct yk_calibration_request {
    const struct yk_program *program;      /* program of the last plan of the run */
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
