#include "comm/rendezvous/guest.h"

#include "base/clock.h"
#include "comm/rendezvous/client.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const double grace_s = 10; /* in which rank 0 tells what it waited for in vain */

static yk_status fail_token(const struct yk_rendezvous *meeting)
{
    return yk_fail(YK_ERROR_INPUT,
                   "rank 0 at %s, port %" PRId32 ", has another token than rank %" PRId32
                   ": it is another job's, or YOKE_TOKEN is not the same for all",
                   meeting->address, meeting->port, meeting->rank);
}

static yk_status call_until_welcome(const struct yk_rendezvous *meeting, struct yk_client *call,
                                    struct yk_connection *talk)
{
    double pause_s = 0;
    yk_status status = YK_OK;
    do {
        struct yk_address_list place;
        enum yk_client_result end = YK_CLIENT_RETRY;
        status = yk_address_resolve(meeting->address, meeting->port, &place);
        if (status == YK_OK) {
            end = yk_client_connect_any(call, &place, talk, &status);
        } else if (status != YK_ERROR_LOST) { /* a machine that starts late gets its name late */
            return status;
        }
        if (end != YK_CLIENT_RETRY) {
            return end == YK_CLIENT_WRONG_TOKEN ? fail_token(meeting) : status;
        }
        yk_client_back_off(&pause_s);
    } while (yk_clock_now_s() < call->end_s);
    if (status == YK_ERROR_LOST) {
        return status;
    }
    return yk_fail(YK_ERROR_LOST,
                   "rank %" PRId32 " did not find rank 0 at %s, port %" PRId32
                   ", within %.3g s (%s); start rank 0 there, or name its machine in MASTER_ADDR "
                   "or --master",
                   meeting->rank, meeting->address, meeting->port, meeting->limit_s, call->trouble);
}

/* The record of this kind; a refusal is a failure. */
static yk_status await(const struct yk_rendezvous *meeting, const struct yk_connection *talk,
                       uint32_t kind, struct yk_connection_record *out, double end_s)
{
    if (!yk_client_receive(talk, out, end_s)) {
        return yk_fail(YK_ERROR_LOST,
                       "rank 0 at %s, port %" PRId32 ", was lost while the ranks met",
                       meeting->address, meeting->port);
    }
    yk_status refused = YK_OK;
    if (out->kind == YK_CONNECTION_REFUSED && yk_client_is_refused(talk, out, end_s, &refused)) {
        return refused;
    }
    return out->kind == kind ? YK_OK : fail_token(meeting);
}

static yk_status take_bytes(const struct yk_rendezvous *meeting, const struct yk_connection *talk,
                            void *bytes, size_t size)
{
    const struct yk_connection_record have = {.kind = YK_CONNECTION_RECEIVED};
    /* Rank 0 ends the waiting, and says for whom. */
    const double end_s = yk_clock_now_s() + meeting->limit_s + grace_s;
    struct yk_connection_record heard;
    YK_TRY(await(meeting, talk, YK_CONNECTION_BYTES, &heard, end_s));
    if (heard.length != size || !yk_connection_receive(talk->link, bytes, size, end_s) ||
        !yk_connection_is_proven(talk, &heard, bytes)) {
        return yk_fail(YK_ERROR_LOST, "what rank 0 at %s, port %" PRId32 ", shares came damaged",
                       meeting->address, meeting->port);
    }
    (void)yk_connection_send(talk, &have, NULL, end_s);
    YK_TRY(await(meeting, talk, YK_CONNECTION_DONE, &heard, end_s));
    return yk_connection_is_proven(talk, &heard, NULL) ? YK_OK : fail_token(meeting);
}

yk_status yk_rendezvous_join(const struct yk_rendezvous *rendezvous, void *bytes, size_t size)
{
    struct yk_connection talk = {.link = -1};
    struct yk_client call = {
        .token = rendezvous->token,
        .rank = rendezvous->rank,
        .size = rendezvous->size,
        .length = (uint32_t)size,
        .end_s = yk_clock_now_s() + rendezvous->limit_s,
        .trouble = "nobody answers",
    };
    void *taken = malloc(size > 0 ? size : 1);
    if (!taken) {
        return yk_fail_out_of_memory();
    }
    yk_status status = call_until_welcome(rendezvous, &call, &talk);
    if (status == YK_OK) {
        status = take_bytes(rendezvous, &talk, taken, size);
    }
    if (status == YK_OK) {
        memcpy(bytes, taken, size);
    }
    yk_connection_close(&talk);
    free(taken);
    return status;
}
