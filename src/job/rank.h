/*
 * Rank: determines the rank of this process and the number of ranks, from options or from the
 * environment variables of a launcher (mpirun, srun, torchrun). Also parses --slow, which slows
 * ranks down artificially in order to try out unequal devices on equal ones.
 */
#ifndef YK_JOB_RANK_H
#define YK_JOB_RANK_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/launcher.h"

#include <stdbool.h>
#include <stdint.h>

/* The options --rank, --world and --master. */
struct yk_rank_options {
    int64_t rank;       /* -1: not given */
    int64_t world;      /* number of ranks; 0: not given */
    const char *master; /* address of rank 0; NULL: not given */
};

#define YK_RANK_OPTION_HELP                                                                        \
    "By hand: this process is rank R, one of --world, each started on its own; YOKE_TOKEN holds "  \
    "the same secret for all"
#define YK_RANK_WORLD_OPTION_HELP "By hand: how many ranks there are"
#define YK_RANK_MASTER_OPTION_HELP "By hand: where rank 0 is, and a free port there, else 29500"

/* Determines the rank of this process from `place`, else from the environment. */
yk_status yk_rank_detect(const struct yk_rank_options *place, struct yk_launcher *out) YK_MUST_USE;

/* Sets `*out` to whether this process must start the ranks itself: `ranks` is above 1 and no
 * launcher has started this process. Fails if a launcher has started a different number of ranks;
 * `ranks` 0 accepts any number. */
yk_status yk_rank_needs_launch(const struct yk_launcher *launcher, int64_t ranks,
                               bool *out) YK_MUST_USE;

/* Parses the value of --slow ("1:2.5,3:2"; may be NULL). `*out` (ranks) is the factor by which each
 * rank's computation takes longer; 1 means: not slowed down. */
yk_status yk_rank_parse_slowdowns(const char *word, int32_t ranks, struct yk_arena *arena,
                                  double **out) YK_MUST_USE;

#endif
