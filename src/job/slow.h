/*
 * Slow: the word of --slow, which makes ranks of a run compute more slowly than they could, to
 * try out unequal devices where all are alike: "1:2.5" or "1:2.5,3:4".
 */
#ifndef YK_JOB_SLOW_H
#define YK_JOB_SLOW_H

#include "base/arena.h"
#include "base/status.h"

#include <stdint.h>

/* How many times as long each of `ranks` computes, 1 where nothing is said; `word` may be NULL. */
yk_status yk_rank_read_slowdowns(const char *word, int32_t ranks, struct yk_arena *arena,
                                 double **out) YK_MUST_USE;

#endif
