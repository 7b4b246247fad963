/*
 * Launch: runs a command as several processes (ranks). The program starts itself once per rank with
 * mpirun and the same arguments. The output of the ranks appears on the terminal of the
 * process that launched them.
 */
#ifndef YK_CLI_COMMANDS_LAUNCH_H
#define YK_CLI_COMMANDS_LAUNCH_H

#include "job/rank.h"

/* Determines the rank of this process. Sets `*launches` to true if this process is not a rank, but
 * must start the ranks. If this process is one of several ranks, calls yk_terminal_set_rank(). */
yk_status yk_command_launch_detect_rank(const struct yk_rank_options *place, int64_t ranks,
                                        struct yk_launcher *out, bool *launches) YK_MUST_USE;

/* Starts the ranks and waits until they have ended. The first signal asks the ranks to stop. A
 * second signal kills the ranks, and then also this process. */
yk_status yk_command_launch_ranks_and_wait(int64_t ranks) YK_MUST_USE;

#endif
