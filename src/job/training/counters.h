/* Train counters: what the meters of the ranks' devices showed during a training, from each rank to
 * rank 0. */
#ifndef YK_JOB_TRAINING_COUNTERS_H
#define YK_JOB_TRAINING_COUNTERS_H

#include "job/training/training.h"

/* Adds what this rank's gauge has come to, as a file of one rank; nothing without a gauge. */
yk_status yk_train_counters_pack(const struct yk_training *training,
                                 struct yk_text *out) YK_MUST_USE;

/* On rank 0: what rank `rank` has packed, whose step began `offset_s` after rank 0's. */
yk_status yk_train_counters_unpack(struct yk_training *training, int32_t rank, double offset_s,
                                   const char *bytes, size_t size) YK_MUST_USE;

#endif
