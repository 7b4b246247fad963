#include "train/run_agree.h"

#include "comm/exchange.h"

int32_t yk_run_own_rank(const struct yk_run *run)
{
    return run->executor.ranks ? run->executor.ranks->rank : 0;
}

void yk_run_steps_note_agreed(struct yk_run *run, yk_status status)
{
    const struct yk_ranks *ranks = run->executor.ranks;
    run->agreed = ranks && status != YK_OK && ranks->comm->check(ranks->world) == YK_OK;
}

yk_status yk_run_steps_agree(struct yk_run *run, yk_status mine)
{
    const yk_status status =
        run->executor.ranks ? yk_exchange_agree(run->executor.ranks, mine) : mine;
    yk_run_steps_note_agreed(run, status);
    return status;
}
