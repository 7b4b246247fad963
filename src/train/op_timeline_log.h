/*
 * Op timeline log: records when the ops of this rank began and ended in some of the recent rounds.
 * A round is one pass through the rank's ops (train/executor/executor.h).
 *
 * The times of a round are read after the computation of the next round. By then, all communication
 * of the round has ended. All ranks record the same rounds: they skip the first two rounds, record
 * the next twenty rounds, and after that every eighth round, because reading the events of a GPU
 * takes time. The log has a fixed size and keeps the most recent rounds.
 *
 * Nothing is allocated while steps run. Only one thread at a time may use a log.
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

/* Must be called after every step. `step` is the number of the step that has ended. If the round of
 * step `step` − 1 is to be recorded (see above), adds it to the log. */
yk_status yk_op_timeline_log_record_due_round(struct yk_op_timeline_log *log,
                                              const struct yk_executor *executor,
                                              int64_t step) YK_MUST_USE;

/* The recorded rounds of one rank. */
struct yk_rank_timelines {
    int32_t op_count;
    int32_t round_count;
    const int64_t *steps;  /* (rounds) step of each round, ascending */
    const double *begin_s; /* (rounds, ops) when each op began */
    const double *end_s;   /* (rounds, ops) when each op ended */
};

/* Appends the recorded rounds to `out` in binary form, to be sent to another rank with the same
 * byte order. Adds `offset_s` to all times. */
yk_status yk_op_timeline_log_pack(const struct yk_op_timeline_log *log, double offset_s,
                                  struct yk_text *out) YK_MUST_USE;

/* Reads the bytes that yk_op_timeline_log_pack() wrote. The result is in the arena. Fails if the
 * bytes are invalid; the message begins with `source`, the origin of the bytes. */
yk_status yk_op_timeline_log_unpack(const void *bytes, size_t size, const char *source,
                                    struct yk_arena *arena,
                                    struct yk_rank_timelines *out) YK_MUST_USE;

/*
 * Computes how long each op took: the median over the rounds that all ranks recorded. The result is
 * in the arena. `rank_rounds` has one element for each rank; all times must be on the same clock.
 * out->steps is 0 if no round was recorded by all ranks. The versions of the ranks are "", until
 * the caller sets them.
 *
 * The time of a message starts when all its ranks are ready, and ends when the message has ended on
 * all of them. So the time in which a rank waits for another rank is not counted.
 */
yk_status yk_op_durations_compute_medians(const struct yk_program *program,
                                          const struct yk_rank_timelines *rank_rounds,
                                          struct yk_arena *arena,
                                          struct yk_op_times *out) YK_MUST_USE;

/* Sorts `numbers` and returns their median. */
double yk_op_durations_sort_and_find_median(double *numbers, int64_t count);

#endif
