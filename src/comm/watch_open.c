/* How a world's ranks come to watch each other, and what they say of it. */
#include "comm/exchange.h"
#include "comm/watch.h"

#include <string.h>
#include <unistd.h>

/* Whether all ranks are on rank 0's machine; known to rank 0 alone. */
static yk_status ask_machines(const struct yk_ranks *ranks, bool *is_local)
{
    char machine[YK_WATCH_MACHINE_SIZE];
    struct yk_exchange_bytes *machines = NULL;
    struct yk_arena *arena = NULL;
    yk_watch_machine(machine);
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = yk_exchange_collect(ranks, machine, sizeof machine, arena, &machines);
    *is_local = true;
    for (int32_t i = 0; machines && i < ranks->size; i++) {
        *is_local = *is_local && memcmp(machines[i].bytes, machine, sizeof machine) == 0;
    }
    yk_arena_destroy(arena);
    return status;
}

static yk_status hand_out(const struct yk_ranks *ranks, struct yk_watch_invitation *invitation)
{
    struct yk_watch_invitation copy = *invitation;
    const struct yk_comm_broadcast op = {ranks->all, &copy, sizeof copy, 0};
    copy.listener = -1;
    ranks->comm->broadcast(&op);
    YK_TRY(yk_ranks_finish(ranks));
    if (ranks->rank != 0) {
        *invitation = copy;
    }
    return YK_OK;
}

yk_status yk_watch_open(const struct yk_ranks *ranks, const struct yk_watch_options *options,
                        struct yk_watch **out)
{
    bool is_local = true;
    struct yk_watch_invitation invitation = {.listener = -1};
    struct yk_watch *watch = NULL;
    YK_TRY(ask_machines(ranks, &is_local));
    yk_status status = ranks->rank == 0 ? yk_watch_invite(is_local, &invitation) : YK_OK;
    YK_TRY(yk_exchange_agree(ranks, status));
    status = hand_out(ranks, &invitation);
    if (status != YK_OK) {
        if (invitation.listener >= 0) {
            (void)close(invitation.listener);
        }
        return status;
    }
    status = yk_watch_start(ranks->rank, ranks->size, &invitation, options, &watch);
    status = yk_exchange_agree(ranks, status);
    if (status != YK_OK) {
        yk_watch_close(watch);
        return status;
    }
    *out = watch;
    return YK_OK;
}

void yk_watch_describe(const struct yk_watch_verdict *verdict, struct yk_text *out)
{
    yk_text_addf(out, "rank %d ", (int)verdict->rank);
    switch (verdict->reason) {
    case YK_WATCH_GONE:
        yk_text_add(out, "has ended");
        break;
    case YK_WATCH_SILENT:
        yk_text_addf(out, "has not been heard of for %.3g s", verdict->since_s);
        break;
    case YK_WATCH_HANGING:
        yk_text_addf(out, "has been %s for %.3g s", verdict->lane >= 0 ? "in one op" : "in no op",
                     verdict->since_s);
        break;
    }
}
