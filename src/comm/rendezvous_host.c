#include "comm/rendezvous_host.h"

#include "base/clock.h"
#include "base/text.h"
#include "comm/rendezvous_place.h"
#include "comm/rendezvous_record.h"
#include "comm/rendezvous_visit.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MOST_VISITORS = 16,
    MOST_NAMED = 8, /* ranks in a sentence */
};

static const double visit_s = 3;     /* in which a caller must have proven itself */
static const double crowded_s = 0.1; /* after which it makes room where there is none */
static const double tell_s = 2;      /* for a few bytes to go out */
static const double round_s = 0.1;   /* until visits are looked at again */

struct host {
    const struct yk_rendezvous *meeting;
    size_t bytes; /* to be shared */
    struct yk_place place;
    int listeners[YK_PLACE_MOST];
    int32_t listener_count;
    struct yk_visit visitors[MOST_VISITORS]; /* those without a link are free */
    struct yk_meet_talk *guests;             /* (size); those without a link have not come */
    struct pollfd *polls;                    /* (YK_PLACE_MOST + MOST_VISITORS + size) */
    int32_t missing;
    int32_t strangers; /* who did not know the token */
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
    int problem = 0;
    YK_TRY(yk_place_choose(host->meeting, &host->place));
    for (int32_t i = 0; i < host->place.count; i++) {
        if (yk_place_listen(&host->place, i, &host->listeners[host->listener_count])) {
            host->listener_count++;
        } else if (problem != EADDRINUSE) {
            problem = errno;
        }
    }
    return host->listener_count > 0 ? YK_OK : fail_to_listen(host, problem);
}

static void close_place(struct host *host)
{
    for (int32_t i = 0; i < host->listener_count; i++) {
        (void)close(host->listeners[i]);
    }
    host->listener_count = 0;
    for (int32_t i = 0; i < MOST_VISITORS; i++) {
        yk_meet_hang_up(&host->visitors[i].talk);
    }
}

/* ---- those who call ---- */

/* Whether a guest that has come has left again: nobody speaks before the bytes are there. */
static bool has_left(int link)
{
    char byte;
    const ssize_t got = recv(link, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

static void let_leave(struct host *host, int32_t rank)
{
    if (host->guests[rank].link >= 0 && has_left(host->guests[rank].link)) {
        yk_meet_hang_up(&host->guests[rank]);
        host->missing++;
    }
}

/* A failure that all are told, `last` as well; it stays this thread's last. */
static yk_status tell_all(struct host *host, const struct yk_meet_talk *last, yk_status status)
{
    const double end_s = yk_clock_now_s() + tell_s;
    if (last) {
        yk_meet_refuse(last, status, yk_status_message(), end_s);
    }
    for (int32_t i = 1; i < host->meeting->size; i++) {
        if (host->guests[i].link >= 0) {
            yk_meet_refuse(&host->guests[i], status, yk_status_message(), end_s);
        }
    }
    return status;
}

static yk_status check_claim(struct host *host, const struct yk_meet_record *claim)
{
    const int32_t size = host->meeting->size;
    if (claim->size != size) {
        return yk_fail(YK_ERROR_INPUT,
                       "rank %" PRId32 " says that there are %" PRId32
                       " ranks and rank 0 that there are %" PRId32 "; tell all ranks the same",
                       claim->rank, claim->size, size);
    }
    if (claim->rank < 1 || claim->rank >= size) {
        return yk_fail(YK_ERROR_INPUT,
                       "a second process says that it is rank %" PRId32 "; the others of %" PRId32
                       " are ranks 1 to %" PRId32,
                       claim->rank, size, size - 1);
    }
    if (claim->length != host->bytes) {
        return yk_fail(YK_ERROR_INPUT,
                       "rank %" PRId32 " is another version of yoke than rank 0; install the same "
                       "on all machines",
                       claim->rank);
    }
    let_leave(host, claim->rank);
    if (host->guests[claim->rank].link >= 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "two processes say that they are rank %" PRId32 " of %" PRId32
                       "; give each a number of its own",
                       claim->rank, size);
    }
    return YK_OK;
}

/* Who knows the token is a rank; where it cannot be one of these, nothing will come of it. */
static yk_status hear_claim(struct host *host, struct yk_visit *visitor,
                            const struct yk_meet_record *claim)
{
    const double end_s = yk_clock_now_s() + tell_s;
    const struct yk_meet_record welcome = {.kind = YK_MEET_WELCOME, .size = host->meeting->size};
    if (!yk_meet_is_proven(&visitor->talk, claim, NULL)) {
        yk_meet_refuse(&visitor->talk, YK_ERROR_INPUT, "", end_s);
        yk_meet_hang_up(&visitor->talk);
        host->strangers++;
        return YK_OK;
    }
    const yk_status status = check_claim(host, claim);
    if (status != YK_OK) {
        return tell_all(host, &visitor->talk, status);
    }
    if (!yk_meet_say(&visitor->talk, &welcome, NULL, end_s)) {
        yk_meet_hang_up(&visitor->talk);
        return YK_OK;
    }
    host->guests[claim->rank] = visitor->talk;
    visitor->talk.link = -1;
    host->missing--;
    return YK_OK;
}

static yk_status hear_visitor(struct host *host, struct yk_visit *visitor)
{
    struct yk_meet_record claim;
    enum yk_visit_end end;
    YK_TRY(yk_visit_hear(visitor, &end, &claim));
    return end == YK_VISIT_CLAIMS ? hear_claim(host, visitor, &claim) : YK_OK;
}

/* A free place, if need be that of who has been there longest and could have been done. */
static struct yk_visit *find_room(struct host *host)
{
    const double now_s = yk_clock_now_s();
    struct yk_visit *oldest = &host->visitors[0];
    for (int32_t i = 0; i < MOST_VISITORS; i++) {
        struct yk_visit *visitor = &host->visitors[i];
        if (visitor->talk.link < 0) {
            return visitor;
        }
        oldest = visitor->since_s < oldest->since_s ? visitor : oldest;
    }
    return now_s - oldest->since_s > crowded_s ? oldest : NULL;
}

static void let_in(struct host *host, int listener)
{
    struct yk_visit *visitor = find_room(host);
    const int link = visitor ? accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
    if (link < 0) {
        /* They stay in the system's queue. */
        (void)usleep(1000);
        return;
    }
    yk_meet_hang_up(&visitor->talk);
    yk_visit_begin(visitor, link, host->meeting->token);
}

static void send_away_the_slow(struct host *host)
{
    const double now_s = yk_clock_now_s();
    for (int32_t i = 0; i < MOST_VISITORS; i++) {
        if (host->visitors[i].talk.link >= 0 && now_s - host->visitors[i].since_s > visit_s) {
            yk_meet_hang_up(&host->visitors[i].talk);
        }
    }
}

/* ---- until all have come ---- */

/* One look at all connections. Those without a link are -1, which poll() passes over. */
static yk_status look(struct host *host, double end_s)
{
    struct pollfd *polls = host->polls;
    struct pollfd *visits = polls + host->listener_count;
    struct pollfd *guests = visits + MOST_VISITORS;
    const int32_t size = host->meeting->size;
    const nfds_t count = (nfds_t)host->listener_count + MOST_VISITORS + (nfds_t)size;
    const double left_s = end_s - yk_clock_now_s();
    for (int32_t i = 0; i < host->listener_count; i++) {
        polls[i] = (struct pollfd){.fd = host->listeners[i], .events = POLLIN};
    }
    for (int32_t i = 0; i < MOST_VISITORS; i++) {
        visits[i] = (struct pollfd){.fd = host->visitors[i].talk.link, .events = POLLIN};
    }
    for (int32_t i = 0; i < size; i++) {
        guests[i] = (struct pollfd){.fd = host->guests[i].link, .events = POLLIN};
    }
    /* Less than nothing would be for ever. */
    const int wait_ms = left_s > 0 ? (int)(1e3 * (left_s < round_s ? left_s : round_s)) + 1 : 0;
    if (poll(polls, count, wait_ms) <= 0) {
        return YK_OK;
    }
    for (int32_t i = 0; i < size; i++) {
        if (guests[i].revents) {
            let_leave(host, i);
        }
    }
    for (int32_t i = 0; i < MOST_VISITORS; i++) {
        if (visits[i].revents && host->visitors[i].talk.link >= 0) {
            YK_TRY(hear_visitor(host, &host->visitors[i]));
        }
    }
    for (int32_t i = 0; i < host->listener_count; i++) {
        if (polls[i].revents) {
            let_in(host, host->listeners[i]);
        }
    }
    return YK_OK;
}

static void name_missing(const struct host *host, struct yk_text *out)
{
    int32_t named = 0;
    const int32_t most = host->missing < MOST_NAMED ? host->missing : MOST_NAMED;
    yk_text_add(out, host->missing > 1 ? "ranks " : "rank ");
    for (int32_t i = 1; i < host->meeting->size && named < most; i++) {
        if (host->guests[i].link < 0) {
            const bool last = named + 1 == host->missing;
            yk_text_addf(out, "%s%" PRId32, named == 0 ? "" : last ? " and " : ", ", i);
            named++;
        }
    }
    if (named < host->missing) {
        yk_text_addf(out, " and %" PRId32 " more", host->missing - named);
    }
}

static yk_status fail_missing(struct host *host)
{
    const struct yk_rendezvous *meeting = host->meeting;
    struct yk_text text = {0};
    name_missing(host, &text);
    yk_text_addf(&text,
                 " of %" PRId32 " did not come to rank 0 at %s, port %" PRId32 ", within %.3g s",
                 meeting->size, meeting->interface ? meeting->interface : meeting->address,
                 meeting->port, meeting->limit_s);
    if (host->strangers > 0) {
        yk_text_addf(&text,
                     "; %" PRId32 " called with another token: YOKE_TOKEN must be the same "
                     "for all",
                     host->strangers);
    }
    if (yk_place_is_local(&host->place)) {
        yk_text_add(&text, "; that is ");
        yk_place_describe(&host->place, &text);
        yk_text_add(&text, " here, which no other machine reaches: for several machines give its "
                           "address as a number, or set YOKE_INTERFACE");
    }
    const yk_status status = yk_fail(YK_ERROR_LOST, "%s", yk_text_chars(&text));
    yk_text_free(&text);
    return tell_all(host, NULL, status);
}

static yk_status gather(struct host *host)
{
    const double end_s = yk_clock_now_s() + host->meeting->limit_s;
    while (host->missing > 0) {
        if (yk_clock_now_s() >= end_s) {
            return fail_missing(host);
        }
        YK_TRY(look(host, end_s));
        send_away_the_slow(host);
    }
    return YK_OK;
}

/* ---- the bytes ---- */

static yk_status fail_lost(struct host *host, int32_t rank)
{
    yk_meet_hang_up(&host->guests[rank]);
    return tell_all(host, NULL,
                    yk_fail(YK_ERROR_LOST, "rank %" PRId32 " was lost while the ranks met", rank));
}

static bool has_them(const struct yk_meet_talk *guest, double end_s)
{
    unsigned char wire[YK_MEET_WIRE];
    struct yk_meet_record heard;
    return yk_meet_hear(guest->link, wire, sizeof wire, end_s) && yk_meet_unpack(wire, &heard) &&
           heard.kind == YK_MEET_HAVE && yk_meet_is_proven(guest, &heard, NULL);
}

static yk_status hand_out(struct host *host, const void *bytes)
{
    const struct yk_meet_record record = {.kind = YK_MEET_BYTES, .length = (uint32_t)host->bytes};
    const struct yk_meet_record done = {.kind = YK_MEET_DONE};
    const int32_t size = host->meeting->size;
    const double end_s = yk_clock_now_s() + host->meeting->limit_s;
    for (int32_t i = 1; i < size; i++) {
        if (!yk_meet_say(&host->guests[i], &record, bytes, end_s)) {
            return fail_lost(host, i);
        }
    }
    for (int32_t i = 1; i < size; i++) {
        if (!has_them(&host->guests[i], end_s)) {
            return fail_lost(host, i);
        }
    }
    for (int32_t i = 1; i < size; i++) {
        if (!yk_meet_say(&host->guests[i], &done, NULL, end_s)) {
            return fail_lost(host, i);
        }
    }
    return YK_OK;
}

static yk_status receive_all(struct host *host, const void *bytes)
{
    yk_status status = open_place(host);
    if (status == YK_OK) {
        status = gather(host);
    }
    close_place(host);
    return status == YK_OK ? hand_out(host, bytes) : status;
}

yk_status yk_rendezvous_host(const struct yk_rendezvous *rendezvous, const void *bytes, size_t size)
{
    const size_t ranks = (size_t)rendezvous->size;
    struct host host = {
        .meeting = rendezvous,
        .bytes = size,
        .guests = calloc(ranks, sizeof *host.guests),
        .polls = calloc(YK_PLACE_MOST + MOST_VISITORS + ranks, sizeof *host.polls),
        .missing = rendezvous->size - 1,
    };
    for (int32_t i = 0; i < MOST_VISITORS; i++) {
        host.visitors[i].talk.link = -1;
    }
    for (size_t i = 0; host.guests && i < ranks; i++) {
        host.guests[i].link = -1;
    }
    const yk_status status =
        host.guests && host.polls ? receive_all(&host, bytes) : yk_fail_out_of_memory();
    for (size_t i = 0; host.guests && i < ranks; i++) {
        yk_meet_hang_up(&host.guests[i]);
    }
    free(host.guests);
    free(host.polls);
    return status;
}
