/*
 * Round log: when the ops of this rank began and ended, in some of the last steps of a run.
 *
 * A round is read when the one after it has been computed: its communication has ended by then. All
 * ranks keep the same rounds: none of the first two, the twenty after them, then one of eight, so
 * that reading the clocks of a GPU's events costs next to nothing; of these the last ones that fit.
 *
 * Nothing is allocated while steps run. One thread at a time.
 */
#ifndef YK_TRAIN_ROUND_LOG_H
#define YK_TRAIN_ROUND_LOG_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "train/executor/executor.h"

#include <stddef.h>
#include <stdint.h>

struct yk_round_log; /* opaque */

/* For a rank's list of so many ops. */
yk_status yk_round_log_create(int32_t op_count, struct yk_round_log **out) YK_MUST_USE;
void yk_round_log_destroy(struct yk_round_log *log);

/* After every step that `executor` has ended, whose number is `step`. */
yk_status yk_round_log_add(struct yk_round_log *log, const struct yk_executor *executor,
                           int64_t step) YK_MUST_USE;

/* The rounds of one rank that were kept. */
struct yk_rank_rounds {
    int32_t op_count;
    int32_t round_count;
    const int64_t *steps;  /* (rounds) rising */
    const double *begin_s; /* (rounds, ops) */
    const double *end_s;
};

/* Adds what was kept, as bytes for another rank of the same machine or kind of machine; `offset_s`
 * is added to all times. */
yk_status yk_round_log_pack(const struct yk_round_log *log, double offset_s,
                            struct yk_text *out) YK_MUST_USE;

/* Bytes that do not make sense are refused; `source`, whose they are, begins the message. In the
 * arena. */
yk_status yk_round_log_unpack(const void *bytes, size_t size, const char *source,
                              struct yk_arena *arena, struct yk_rank_rounds *out) YK_MUST_USE;

#endif
