/*
 * Rank: which of how many ranks this process is, by its options or by the environment that a
 * launcher (mpirun, srun, torchrun) has set; and --slow, which makes ranks compute more slowly than
 * they could, to try out unequal devices where all are alike.
 */
#ifndef YK_JOB_RANK_H
#define YK_JOB_RANK_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/launcher.h"

#include <stdbool.h>
#include <stdint.h>

/* Which rank of how many a process is, where a person says so. */
struct yk_rank_choice {
    int64_t rank;       /* -1: not given */
    int64_t world;      /* 0: not given */
    const char *master; /* NULL: not given */
};

#define YK_RANK_NUMBER_HELP                                                                        \
    "By hand: this process is rank R, one of --world, each started on its own; YOKE_TOKEN holds "  \
    "the same secret for all"
#define YK_RANK_WORLD_HELP "By hand: how many ranks there are"
#define YK_RANK_MASTER_HELP "By hand: where rank 0 is, and a free port there, else 29500"

/* Which rank this process is: from `place`, else from the environment. */
yk_status yk_rank_find(const struct yk_rank_choice *place, struct yk_launcher *out) YK_MUST_USE;

/* Whether this process must start `ranks` ranks itself: several are asked for, and no launcher has
 * started it. A launcher must have started as many as are asked for; 0: any number. */
yk_status yk_rank_decide_launch(const struct yk_launcher *launcher, int64_t ranks,
                                bool *out) YK_MUST_USE;

/* Reads --slow: for each rank the factor by which its computation takes longer, 1 where none is
 * given; `word` may be NULL. */
yk_status yk_rank_read_slowdowns(const char *word, int32_t ranks, struct yk_arena *arena,
                                 double **out) YK_MUST_USE;

#endif
