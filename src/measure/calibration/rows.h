/* The calibration's insides: what its parts share. */
#ifndef YK_MEASURE_CALIBRATION_ROWS_H
#define YK_MEASURE_CALIBRATION_ROWS_H

#include "measure/calibration/calibration.h"
#include "sim/rings.h"

struct yk_calibration_state {
    const struct yk_calibration_request *request;
    struct yk_arena *arena;
    struct yk_ring *rings; /* by group; the last is of all ranks */
    struct yk_calibration *out;
    int32_t **class_of; /* (ranks), each (ops); −1: of no sort */
};

/* Below this part of its time beside another lane an op counts as alone, above 1 less this as
 * beside it throughout. */
#define YK_CALIBRATION_APART 0.1

/* Finds both slowdowns, what every sort takes alone, and the rows. */
yk_status yk_calibration_rows_compute(struct yk_calibration_state *state) YK_MUST_USE;

#endif
