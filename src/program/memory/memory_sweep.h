/*
 * Memory sweep: finds the peak memory of a rank while its compute and comm lanes run concurrently.
 *
 * The progress of a lane is a point. At point 2p, op p of the lane has not started, but all earlier
 * ops have ended. At point 2p + 1, op p is running. The state of the rank is a pair of points, one
 * for each lane. The waits restrict the possible pairs: when an op runs, the ops for which it waits
 * have ended. The ops that begin and end the lifetime of a buffer determine at which pairs the
 * buffer uses memory. The sweep advances along the points of the compute lane. For each of these
 * points, a segment tree over the points of the comm lane finds the maximum of the bytes in a
 * range. The sweep covers the ops of three iterations, and the peak is searched in the middle
 * iteration.
 */
#ifndef YK_PROGRAM_MEMORY_MEMORY_SWEEP_H
#define YK_PROGRAM_MEMORY_MEMORY_SWEEP_H

#include "program/memory/memory.h"

struct yk_memory_sweep;

yk_status yk_memory_sweep_create(const struct yk_op_list *list,
                                 const struct yk_program_memory *memory,
                                 struct yk_memory_sweep **out) YK_MUST_USE;
void yk_memory_sweep_destroy(struct yk_memory_sweep *sweep);

/* Return the first point of the compute lane in the middle iteration, and the first point after the
 * middle iteration. */
int32_t yk_memory_sweep_middle_begin_compute_point(const struct yk_memory_sweep *sweep);
int32_t yk_memory_sweep_middle_end_compute_point(const struct yk_memory_sweep *sweep);

/* Advances the compute lane to `point`, which must not be before the current point. */
void yk_memory_sweep_advance_compute(struct yk_memory_sweep *sweep, int32_t point);

/* Finds the points of the comm lane that are possible at the current point of the compute lane:
 * `*first` to `*last`, inclusive. */
void yk_memory_sweep_possible_comm_range(const struct yk_memory_sweep *sweep, int32_t *first,
                                         int32_t *last);

/* Returns the comm point that must be reached before the current compute op can start. The current
 * op is the running op, or the next op if no op is running. */
int32_t yk_memory_sweep_required_comm_point(const struct yk_memory_sweep *sweep);

/* Return the maximum of the bytes at the comm points `first` to `last`, and the first comm point
 * that has this maximum. */
double yk_memory_sweep_max_bytes_in_comm_range(const struct yk_memory_sweep *sweep, int32_t first,
                                               int32_t last);
int32_t yk_memory_sweep_comm_point_of_max_bytes(const struct yk_memory_sweep *sweep, int32_t first,
                                                int32_t last);

/* Shrinks the range from `*first` to `*last` to the largest range around `point` in which the bytes
 * are at most `limit`. Returns false if the bytes at `point` exceed the limit. */
bool yk_memory_sweep_shrink_range_to_limit(const struct yk_memory_sweep *sweep, double limit,
                                           int32_t point, int32_t *first, int32_t *last);

/* Returns the op at a point of a lane, or −1 after the last op. Sets `*round` to the iteration of
 * the op: 0 to 2, or 3 after the last op. */
int32_t yk_memory_sweep_op_at_point(const struct yk_memory_sweep *sweep, enum yk_lane lane,
                                    int32_t point, int32_t *round);

/* Returns the comm point at which the comm ops that precede `op` in the op list have ended and no
 * other comm op of the middle iteration has started. */
int32_t yk_memory_sweep_comm_point_after_op(const struct yk_memory_sweep *sweep, int32_t op);

/* Update the sweep for a new wait. add_compute_wait: the compute op at `point` waits until the comm
 * lane has reached the point `other`. add_comm_wait: the comm op at `point` waits until the compute
 * lane has reached the point `other`. The wait applies to the op in all three iterations. */
void yk_memory_sweep_add_compute_wait(struct yk_memory_sweep *sweep, int32_t point, int32_t other);
void yk_memory_sweep_add_comm_wait(struct yk_memory_sweep *sweep, int32_t point, int32_t other);

/* Returns the bytes of one kind at a pair of points. */
double yk_memory_sweep_bytes_of_kind(const struct yk_memory_sweep *sweep, enum yk_memory_kind kind,
                                     int32_t compute_point, int32_t comm_point);

#endif
