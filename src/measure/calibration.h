/*
 * Calibration: the measured times of a run's ops against their predictions, class by class, and the
 * numbers that a profile should have so that the same plan is predicted as it was measured.
 *
 * A class is what a profile knows by one number: a pass of a layer's shape for so many samples on a
 * kind of device, the update of a shape, a collective of so many bytes on a link.
 *
 * An op that took d, a part f of its time overlapped by another lane, would have taken
 * d·(1 − f + f / slowdown) alone: that is what a profile holds, and what the simulator slows again.
 * The slowdown of computation is read off the run where classes have ops on both sides, almost all
 * of their time alone or overlapped; elsewhere the profile's fact counts. Messages are fewer, and
 * one that is alone in a step is seldom like the others (the first, the last): there the profile's
 * fact goes first. Neither is read off a run with several kinds of links, of which it could belong
 * to any. Overlapped messages with no known slowdown stay out of the profile: they would make the
 * link's curve too slow.
 *
 * Clearing gradients is part of the update, as yoke profile has it, where the first of several
 * micro-batches shows how long it takes; with one micro-batch it stays in its backward.
 */
#ifndef YK_MEASURE_CALIBRATION_H
#define YK_MEASURE_CALIBRATION_H

#include "base/arena.h"
#include "base/status.h"
#include "cost/cost.h"
#include "measure/survey/survey.h"
#include "program/program.h"
#include "sim/sim.h"
#include "trace/op_times.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_calibration_class {
    enum yk_op_kind kind; /* forward, backward, update, send or a collective */
    const char *on;       /* device or link as a profile calls it, else the device's name */
    const char *layer;    /* its kind, "gpt-block"; NULL of messages */
    const char *shape;    /* likewise */
    int64_t size;         /* samples; bytes of a message in equal parts; 0 of an update */
    int32_t ranks;        /* of a message; 0 of computation */
    int32_t device;       /* one that it is on, in the cluster */
    const char *versions; /* of its rank */
    bool is_known;        /* `on` is what a profile would know it by */
    int32_t place;        /* of its first op among the classes */

    int32_t count;      /* of its ops on all ranks */
    int32_t times;      /* in a step, on the rank that has most of them */
    double predicted_s; /* of one, the mean, as simulated, with its overlaps */
    double measured_s;
    double difference_s; /* measured less predicted of all of them on that rank */
    double part;         /* of an update: of the whole layer's, the mean */
    double alone_s;      /* of one, the mean: what the profile gets; NAN: nothing */
    double spread;       /* half the distance between quartiles over the median, the mean */
};

struct yk_calibration {
    struct yk_calibration_class *classes; /* the largest difference first */
    int32_t class_count;
    int32_t class_capacity;
    struct yk_survey rows;   /* for the profile */
    double compute_slowdown; /* slowdowns as counted with; NAN where nothing is known */
    double message_slowdown;
    bool estimated_compute; /* read off the run */
    bool estimated_message;
    int32_t left; /* classes of messages that stay out of the profile */
};

struct yk_calibration_request {
    const struct yk_program *program; /* that the run ended with */
    const struct yk_sim *sim;         /* its prediction */
    const struct yk_cost_book *book;  /* that this was made with */
    const struct yk_op_times *spent;  /* what was measured */
};

/* Refuses times of another program. `out` starts as {0}; texts are in the arena. */
yk_status yk_calibration_compute(const struct yk_calibration_request *request,
                                 struct yk_arena *arena, struct yk_calibration *out) YK_MUST_USE;
void yk_calibration_free(struct yk_calibration *calibration);

/* Writes the rows down, all of them or nothing. */
yk_status yk_calibration_save(const struct yk_calibration *calibration,
                              struct yk_profile *profile) YK_MUST_USE;

#endif
