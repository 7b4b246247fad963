#include "comm/rendezvous/host.h"

#include "base/clock.h"
#include "base/text.h"
#include "comm/rendezvous/listener.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct host {
    const struct yk_rendezvous *meeting;
    struct yk_address_list place;
    struct yk_listener door;
};

/* ---- the place ---- */

static yk_status fail_to_listen(const struct host *host, int problem)
{
    const struct yk_rendezvous *meeting = host->meeting;
    return yk_fail(YK_ERROR_INPUT, "rank 0 cannot listen at %s, port %" PRId32 ": %s; %s",
                   meeting->interface ? meeting->interface : meeting->address, meeting->port,
                   strerror(problem),
                   problem == EADDRNOTAVAIL
                       ? "MASTER_ADDR or --master must name the machine of rank 0"
                       : "name another port in MASTER_PORT or --master");
}

static yk_status open_place(struct host *host)
{
    struct yk_listener *door = &host->door;
    int problem = 0;
    YK_TRY(yk_address_choose(host->meeting, &host->place));
    for (int32_t i = 0; i < host->place.count; i++) {
        if (yk_address_listen(&host->place, i, &door->listeners[door->listener_count])) {
            door->listener_count++;
        } else if (problem != EADDRINUSE) {
            problem = errno;
        }
    }
    return door->listener_count > 0 ? YK_OK : fail_to_listen(host, problem);
}

/* ---- until all have come ---- */

static yk_status fail_missing(struct host *host)
{
    const struct yk_rendezvous *meeting = host->meeting;
    struct yk_text text = {0};
    yk_listener_name_missing(&host->door, &text);
    yk_text_addf(&text,
                 " of %" PRId32 " did not come to rank 0 at %s, port %" PRId32 ", within %.3g s",
                 meeting->size, meeting->interface ? meeting->interface : meeting->address,
                 meeting->port, meeting->limit_s);
    if (host->door.strangers > 0) {
        yk_text_addf(&text,
                     "; %" PRId32 " called with another token: YOKE_TOKEN must be the same "
                     "for all",
                     host->door.strangers);
    }
    if (yk_address_is_local(&host->place)) {
        yk_text_add(&text, "; that is ");
        yk_address_describe(&host->place, &text);
        yk_text_add(&text, " here, which no other machine reaches: for several machines give its "
                           "address as a number, or set YOKE_INTERFACE");
    }
    const yk_status status = yk_fail(YK_ERROR_LOST, "%s", yk_text_chars(&text));
    yk_text_free(&text);
    return yk_listener_refuse(&host->door, status);
}

static yk_status all_gather(struct host *host)
{
    YK_TRY(yk_listener_accept_all(&host->door, yk_clock_now_s() + host->meeting->limit_s));
    return host->door.missing == 0 ? YK_OK : fail_missing(host);
}

/* ---- the bytes ---- */

static yk_status fail_lost(struct host *host, int32_t rank)
{
    yk_connection_close(&host->door.guests[rank]);
    return yk_listener_refuse(
        &host->door, yk_fail(YK_ERROR_LOST, "rank %" PRId32 " was lost while the ranks met", rank));
}

static bool has_them(const struct yk_connection *guest, double end_s)
{
    unsigned char wire[YK_CONNECTION_RECORD_SIZE];
    struct yk_connection_record heard;
    return yk_connection_receive(guest->link, wire, sizeof wire, end_s) &&
           yk_connection_unpack(wire, &heard) && heard.kind == YK_CONNECTION_RECEIVED &&
           yk_connection_is_proven(guest, &heard, NULL);
}

static yk_status hand_out(struct host *host, const void *bytes)
{
    const struct yk_connection_record record = {.kind = YK_CONNECTION_BYTES,
                                                .length = host->door.length};
    const struct yk_connection_record done = {.kind = YK_CONNECTION_DONE};
    const int32_t size = host->meeting->size;
    const double end_s = yk_clock_now_s() + host->meeting->limit_s;
    for (int32_t i = 1; i < size; i++) {
        if (!yk_connection_send(&host->door.guests[i], &record, bytes, end_s)) {
            return fail_lost(host, i);
        }
    }
    for (int32_t i = 1; i < size; i++) {
        if (!has_them(&host->door.guests[i], end_s)) {
            return fail_lost(host, i);
        }
    }
    for (int32_t i = 1; i < size; i++) {
        if (!yk_connection_send(&host->door.guests[i], &done, NULL, end_s)) {
            return fail_lost(host, i);
        }
    }
    return YK_OK;
}

static yk_status receive_all(struct host *host, const void *bytes)
{
    YK_TRY(yk_listener_open(&host->door));
    YK_TRY(open_place(host));
    YK_TRY(all_gather(host));
    yk_listener_stop(&host->door);
    return hand_out(host, bytes);
}

yk_status yk_rendezvous_serve(const struct yk_rendezvous *rendezvous, const void *bytes,
                              size_t size)
{
    struct host host = {
        .meeting = rendezvous,
        .door = {.size = rendezvous->size, .token = rendezvous->token, .length = (uint32_t)size},
    };
    const yk_status status = receive_all(&host, bytes);
    yk_listener_close(&host.door);
    return status;
}
