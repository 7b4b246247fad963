/*
 * Memory sweep: finds the peak memory of a rank while its compute and comm lanes run concurrently.
 *
 * The progress of a lane is a point: point 2p is before op p of the lane, point 2p + 1 is while op
 * p runs. The state of the rank is a pair of points, one per lane. The waits restrict the possible
 * pairs: when an op runs, the ops it waits for have ended. In the plane of pairs, each buffer is
 * held in a quadrant or a strip. The sweep advances along the points of the compute lane. A segment
 * tree over the points of the comm lane returns the maximum of the bytes in a range. The ops of
 * three iterations follow each other; the peak is searched in the middle one.
 */
#ifndef YK_PROGRAM_MEMORY_MEMORY_SWEEP_H
#define YK_PROGRAM_MEMORY_MEMORY_SWEEP_H

#include "program/memory/memory.h"

struct yk_memory_sweep;

yk_status yk_memory_sweep_create(const struct yk_op_list *list,
                                 const struct yk_program_memory *memory,
                                 struct yk_memory_sweep **out) YK_MUST_USE;
void yk_memory_sweep_destroy(struct yk_memory_sweep *sweep);

/* The first point of the compute lane in the middle iteration, and the first point after it. */
int32_t yk_memory_sweep_first_point(const struct yk_memory_sweep *sweep);
int32_t yk_memory_sweep_end_point(const struct yk_memory_sweep *sweep);

/* Advances the compute lane to `point`, which must not be before the current one. */
void yk_memory_sweep_advance(struct yk_memory_sweep *sweep, int32_t point);

/* The possible points of the comm lane for the current point: from `*first` to `*last`, inclusive.
 */
void yk_memory_sweep_comm_range(const struct yk_memory_sweep *sweep, int32_t *first, int32_t *last);

/* The point that the comm lane must reach before the running or next compute op can end. */
int32_t yk_memory_sweep_required_comm_point(const struct yk_memory_sweep *sweep);

/* The maximum bytes for comm points from `first` to `last`, and the first point with the maximum.
 */
double yk_memory_sweep_max_bytes(const struct yk_memory_sweep *sweep, int32_t first, int32_t last);
int32_t yk_memory_sweep_argmax_bytes(const struct yk_memory_sweep *sweep, int32_t first,
                                     int32_t last);

/* Shrinks `*first` to `*last` to the largest range around `point` where the bytes are at most
 * `limit`. Returns false if they exceed the limit at `point`. */
bool yk_memory_sweep_range_below_limit(const struct yk_memory_sweep *sweep, double limit,
                                       int32_t point, int32_t *first, int32_t *last);

/* The op at a point of a lane, and its iteration (0 to 2). Returns −1 after the last op. */
int32_t yk_memory_sweep_op_at(const struct yk_memory_sweep *sweep, enum yk_lane lane, int32_t point,
                              int32_t *round);

/* The point before the first comm op that follows `op` in the list, in the middle iteration. */
int32_t yk_memory_sweep_comm_point_after(const struct yk_memory_sweep *sweep, int32_t op);

/* Updates the sweep for a new wait: the compute (or comm) op at `point` waits until the other lane
 * has reached the point `other`. */
void yk_memory_sweep_add_compute_wait(struct yk_memory_sweep *sweep, int32_t point, int32_t other);
void yk_memory_sweep_add_comm_wait(struct yk_memory_sweep *sweep, int32_t point, int32_t other);

/* The bytes of one kind at a pair of points. */
double yk_memory_sweep_bytes_of_kind(const struct yk_memory_sweep *sweep, enum yk_memory_kind kind,
                                     int32_t compute_point, int32_t comm_point);

#endif
