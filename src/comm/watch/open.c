/* How a world's ranks come to watch each other, and what they say of it. */
#include "comm/exchange.h"
#include "comm/watch/machine.h"
#include "comm/watch/watch.h"

#include <string.h>

/* Where rank 0 is to listen; known to rank 0 alone. */
static yk_status choose_place(const struct yk_ranks *ranks, const char *address,
                              struct yk_address_list *out)
{
    struct yk_watch_machine own;
    struct yk_watch_machine *homes = NULL;
    struct yk_exchange_bytes *said = NULL;
    struct yk_arena *arena = NULL;
    yk_watch_machine_find(address, &own);
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_exchange_gather(ranks, &own, sizeof own, arena, &said);
    if (status == YK_OK && said) {
        homes = yk_arena_allocate(arena, (size_t)ranks->size, sizeof *homes);
        status = homes ? YK_OK : yk_fail_out_of_memory();
    }
    for (int32_t i = 0; homes && i < ranks->size; i++) {
        if (said[i].size == sizeof own) { /* another version of yoke is told of at the door */
            memcpy(&homes[i], said[i].bytes, sizeof own);
        }
    }
    if (homes) {
        status = yk_watch_machine_choose(homes, ranks->size, out);
    }
    yk_arena_destroy(arena);
    return status;
}

static yk_status hand_out(const struct yk_ranks *ranks, struct yk_watch_endpoint *invitation)
{
    struct yk_watch_endpoint copy = *invitation;
    copy.listener_count = 0;
    YK_TRY(yk_exchange_broadcast(ranks, &copy, sizeof copy));
    if (ranks->rank != 0) {
        *invitation = copy;
    }
    return YK_OK;
}

/* Whatever one rank cannot do, all hear of before any of them is judged by its silence. */
yk_status yk_watch_open(const struct yk_ranks *ranks, const struct yk_watch_options *options,
                        struct yk_watch **out)
{
    struct yk_address_list place = {.count = 0};
    struct yk_watch_endpoint invitation = {.listener_count = 0};
    struct yk_watch *watch = NULL;
    yk_status status = choose_place(ranks, options->address, &place);
    if (status == YK_OK && ranks->rank == 0) {
        status = yk_watch_link_listen(&place, &invitation);
    }
    YK_TRY(yk_exchange_agree(ranks, status));
    status = hand_out(ranks, &invitation);
    if (status != YK_OK) {
        yk_watch_link_stop_listening(&invitation);
        return status;
    }
    status = yk_watch_join(ranks->rank, ranks->size, &invitation, options, &watch);
    status = yk_exchange_agree(ranks, status);
    if (status == YK_OK) {
        status = yk_exchange_agree(ranks, yk_watch_begin(watch));
    }
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
