/*
 * Sweep: the most that a rank's device can hold while its lanes run side by side.
 *
 * Where the compute and the comm lane are at a moment is a pair of points; point 2p of a lane is
 * before its op p, point 2p + 1 while op p runs. The waits say which pairs can be: an op that
 * started has all it waits for behind it. Bytes are held in a quadrant or a strip of the plane of
 * pairs. The sweep goes along the compute lane, with a tree over the points of the comm lane that
 * answers for the largest sum of bytes in a range of them. Ops of three rounds are laid out one
 * after the other; the middle round is looked at.
 */
#ifndef YK_PROGRAM_MEMORY_SWEEP_H
#define YK_PROGRAM_MEMORY_SWEEP_H

#include "program/memory/memory.h"

struct yk_sweep;

yk_status yk_sweep_create(const struct yk_program_rank *list,
                          const struct yk_program_memory *memory,
                          struct yk_sweep **out) YK_MUST_USE;
void yk_sweep_destroy(struct yk_sweep *sweep);

/* The points of the compute lane in the middle round. */
int32_t yk_sweep_first(const struct yk_sweep *sweep);
int32_t yk_sweep_end(const struct yk_sweep *sweep);

/* Moves on to `point`, which must not be before the last one. */
void yk_sweep_advance(struct yk_sweep *sweep, int32_t point);

/* The points that the comm lane can be at now, from `*first` to `*last`. */
void yk_sweep_range(const struct yk_sweep *sweep, int32_t *first, int32_t *last);

/* The point that the comm lane must come to before the op of the compute lane that runs now, or
 * comes next, can end. */
int32_t yk_sweep_needed(const struct yk_sweep *sweep);

/* The largest sum of bytes with the comm lane from `first` to `last`, and the first point of that
 * many. */
double yk_sweep_max(const struct yk_sweep *sweep, int32_t first, int32_t last);
int32_t yk_sweep_argmax(const struct yk_sweep *sweep, int32_t first, int32_t last);

/* The largest range around `point` in which bytes are at most `limit`, within `first` to `last`;
 * false when they are more at `point` itself. */
bool yk_sweep_around(const struct yk_sweep *sweep, double limit, int32_t point, int32_t *first,
                     int32_t *last);

/* The op of the list at a point of a lane, and its round (0 to 2); −1 past the last one. */
int32_t yk_sweep_op(const struct yk_sweep *sweep, enum yk_lane lane, int32_t point, int32_t *round);

/* The point before the first op of the comm lane that stands after op `op` in the list, in the
 * middle round. */
int32_t yk_sweep_comm_after(const struct yk_sweep *sweep, int32_t op);

/* Notes that a wait was added to the list: the op at `point` of one lane waits until the other lane
 * is at `other`. */
void yk_sweep_add_compute_wait(struct yk_sweep *sweep, int32_t point, int32_t other);
void yk_sweep_add_comm_wait(struct yk_sweep *sweep, int32_t point, int32_t other);

/* Bytes of one kind at a pair of points. */
double yk_sweep_bytes(const struct yk_sweep *sweep, enum yk_memory_kind kind, int32_t compute_point,
                      int32_t comm_point);

#endif
