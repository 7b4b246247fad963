/*
 * Op timeline log: records when the ops of this rank began and ended in some of the recent steps.
 *
 * A round is read after the following round was computed, because its communication has ended by
 * then. All ranks record the same rounds: they skip the first two, record the next twenty, and then
 * every eighth, because reading the events of a GPU takes time. The log keeps the most recent
 * rounds that fit.
 *
 * Nothing is allocated while steps run. One thread at a time.
 */
#ifndef YK_TRAIN_OP_TIMELINE_LOG_H
#define YK_TRAIN_OP_TIMELINE_LOG_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "program/program.h"
#include "trace/op_times.h"
#include "train/executor/executor.h"

#include <stddef.h>
#include <stdint.h>

struct yk_op_timeline_log;

yk_status yk_op_timeline_log_create(int32_t op_count, struct yk_op_timeline_log **out) YK_MUST_USE;
void yk_op_timeline_log_destroy(struct yk_op_timeline_log *log);

/* Must be called after every step that ends. `step` is the number of that step. */
yk_status yk_op_timeline_log_add(struct yk_op_timeline_log *log, const struct yk_executor *executor,
                                 int64_t step) YK_MUST_USE;

/* The recorded rounds of one rank. */
struct yk_rank_timelines {
    int32_t op_count;
    int32_t round_count;
    const int64_t *steps;  /* (rounds) ascending */
    const double *begin_s; /* (rounds, ops) */
    const double *end_s;   /* (rounds, ops) */
};

/* Appends the recorded rounds in binary form, to be sent to another rank of the same byte order.
 * `offset_s` is added to all times. */
yk_status yk_op_timeline_log_pack(const struct yk_op_timeline_log *log, double offset_s,
                                  struct yk_text *out) YK_MUST_USE;

/* Reads what yk_op_timeline_log_pack() wrote, into the arena. Fails for invalid bytes; `source`
 * names their origin in the message. */
yk_status yk_op_timeline_log_unpack(const void *bytes, size_t size, const char *source,
                                    struct yk_arena *arena,
                                    struct yk_rank_timelines *out) YK_MUST_USE;

/*
 * Computes how long each op took, from the rounds that all ranks recorded: medians over the rounds,
 * in the arena. `rank_rounds` has one entry for each rank, with times on one clock. `steps` is 0 if
 * there is no such round. The caller sets the versions.
 *
 * The time of a message starts when its last rank arrives and ends when it has ended on all ranks:
 * waiting for another rank is not counted as time of the link.
 */
yk_status yk_op_durations_compute(const struct yk_program *program,
                                  const struct yk_rank_timelines *rank_rounds,
                                  struct yk_arena *arena, struct yk_op_times *out) YK_MUST_USE;

/* Sorts `numbers` and returns their median. */
double yk_op_durations_median(double *numbers, int64_t count);

#endif
