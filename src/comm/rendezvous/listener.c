#include "comm/rendezvous/listener.h"

#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MOST_NAMED = 8, /* ranks in a sentence */
};

static const double visit_s = 3;     /* in which a caller must have proven itself */
static const double crowded_s = 0.1; /* after which it makes room where there is none */
static const double tell_s = 2;      /* for a few bytes to go out */
static const double round_s = 0.1;   /* until visits are looked at again */
static const double full_s = 0.01;   /* the same while there is no room */

yk_status yk_listener_open(struct yk_listener *door)
{
    const size_t ranks = (size_t)door->size;
    for (int32_t i = 0; i < YK_LISTENER_MAX_PENDING; i++) {
        door->visitors[i].talk.link = -1;
    }
    door->missing = door->size - 1;
    door->guests = calloc(ranks, sizeof *door->guests);
    door->polls = calloc(YK_ADDRESS_MAX + YK_LISTENER_MAX_PENDING + ranks, sizeof *door->polls);
    for (size_t i = 0; door->guests && i < ranks; i++) {
        door->guests[i].link = -1;
    }
    return door->guests && door->polls ? YK_OK : yk_fail_out_of_memory();
}

void yk_listener_stop(struct yk_listener *door)
{
    for (int32_t i = 0; i < door->listener_count; i++) {
        (void)close(door->listeners[i]);
    }
    door->listener_count = 0;
    for (int32_t i = 0; i < YK_LISTENER_MAX_PENDING; i++) {
        yk_connection_close(&door->visitors[i].talk);
    }
}

void yk_listener_close(struct yk_listener *door)
{
    yk_listener_stop(door);
    for (int32_t i = 0; door->guests && i < door->size; i++) {
        yk_connection_close(&door->guests[i]);
    }
    free(door->guests);
    free(door->polls);
    door->guests = NULL;
    door->polls = NULL;
}

/* ---- those who have come ---- */

/* Whether a guest that has come has left again: nobody speaks before all have come. */
static bool has_left(int link)
{
    char byte;
    const ssize_t got = recv(link, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

static void let_leave(struct yk_listener *door, int32_t rank)
{
    if (door->guests[rank].link >= 0 && has_left(door->guests[rank].link)) {
        yk_connection_close(&door->guests[rank]);
        door->missing++;
    }
}

yk_status yk_listener_refuse(const struct yk_listener *door, yk_status status)
{
    const double end_s = yk_clock_now_s() + tell_s;
    for (int32_t i = 1; i < door->size; i++) {
        if (door->guests[i].link >= 0) {
            yk_connection_refuse(&door->guests[i], status, yk_status_message(), end_s);
        }
    }
    return status;
}

void yk_listener_name_missing(const struct yk_listener *door, struct yk_text *out)
{
    int32_t named = 0;
    const int32_t most = door->missing < MOST_NAMED ? door->missing : MOST_NAMED;
    yk_text_add(out, door->missing > 1 ? "ranks " : "rank ");
    for (int32_t i = 1; i < door->size && named < most; i++) {
        if (door->guests[i].link < 0) {
            const bool last = named + 1 == door->missing;
            yk_text_addf(out, "%s%" PRId32, named == 0 ? "" : last ? " and " : ", ", i);
            named++;
        }
    }
    if (named < door->missing) {
        yk_text_addf(out, " and %" PRId32 " more", door->missing - named);
    }
}

/* ---- those who call ---- */

static yk_status check_claim(struct yk_listener *door, const struct yk_connection_record *claim)
{
    const int32_t size = door->size;
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
    if (claim->length != door->length) {
        return yk_fail(YK_ERROR_INPUT,
                       "rank %" PRId32 " is another version of yoke than rank 0; install the same "
                       "on all machines",
                       claim->rank);
    }
    let_leave(door, claim->rank);
    if (door->guests[claim->rank].link >= 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "two processes say that they are rank %" PRId32 " of %" PRId32
                       "; give each a number of its own",
                       claim->rank, size);
    }
    return YK_OK;
}

/* Who knows the token is a rank; where it cannot be one of these, nothing will come of it. */
static yk_status hear_claim(struct yk_listener *door, struct yk_visit *visitor,
                            const struct yk_connection_record *claim)
{
    const double end_s = yk_clock_now_s() + tell_s;
    const struct yk_connection_record welcome = {.kind = YK_CONNECTION_WELCOME, .size = door->size};
    if (!yk_connection_is_proven(&visitor->talk, claim, NULL)) {
        /* At once or not at all. */
        yk_connection_refuse(&visitor->talk, YK_ERROR_INPUT, "", 0);
        yk_connection_close(&visitor->talk);
        door->strangers++;
        return YK_OK;
    }
    const yk_status status = check_claim(door, claim);
    if (status != YK_OK) {
        yk_connection_refuse(&visitor->talk, status, yk_status_message(), end_s);
        return yk_listener_refuse(door, status);
    }
    if (!yk_connection_send(&visitor->talk, &welcome, NULL, end_s)) {
        yk_connection_close(&visitor->talk);
        return YK_OK;
    }
    door->guests[claim->rank] = visitor->talk;
    visitor->talk.link = -1;
    door->missing--;
    return YK_OK;
}

static yk_status hear_visitor(struct yk_listener *door, struct yk_visit *visitor)
{
    struct yk_connection_record claim;
    enum yk_listener_pending_result end;
    YK_TRY(yk_listener_pending_receive(visitor, &end, &claim));
    return end == YK_LISTENER_PENDING_CLAIMS ? hear_claim(door, visitor, &claim) : YK_OK;
}

/* A free place, if need be that of who has been there longest and could have been done. */
static struct yk_visit *find_room(struct yk_listener *door)
{
    const double now_s = yk_clock_now_s();
    struct yk_visit *oldest = &door->visitors[0];
    for (int32_t i = 0; i < YK_LISTENER_MAX_PENDING; i++) {
        struct yk_visit *visitor = &door->visitors[i];
        if (visitor->talk.link < 0) {
            return visitor;
        }
        oldest = visitor->since_s < oldest->since_s ? visitor : oldest;
    }
    return now_s - oldest->since_s > crowded_s ? oldest : NULL;
}

/* All that call there, as far as there is room; the others stay in the system's queue. */
static void let_in(struct yk_listener *door, int listener)
{
    for (struct yk_visit *visitor = find_room(door); visitor; visitor = find_room(door)) {
        const int link = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (link >= 0) {
            yk_connection_close(&visitor->talk);
            yk_listener_pending_begin(visitor, link, door->token);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            /* poll() would return at once, again and again: let callers without a proof go. */
            yk_connection_close(&visitor->talk);
            (void)usleep((useconds_t)(1e6 * full_s));
        }
        return;
    }
}

static void send_away_the_slow(struct yk_listener *door)
{
    const double now_s = yk_clock_now_s();
    for (int32_t i = 0; i < YK_LISTENER_MAX_PENDING; i++) {
        if (door->visitors[i].talk.link >= 0 && now_s - door->visitors[i].since_s > visit_s) {
            yk_connection_close(&door->visitors[i].talk);
        }
    }
}

/* Those without a link are -1, which poll() passes over; while there is no room nobody is let in.
 */
static int wait_for_any(struct yk_listener *door, struct pollfd *visits, struct pollfd *guests,
                        double end_s)
{
    const bool has_room = find_room(door) != NULL;
    const double most_s = has_room ? round_s : full_s;
    const double left_s = end_s - yk_clock_now_s();
    const nfds_t count =
        (nfds_t)door->listener_count + YK_LISTENER_MAX_PENDING + (nfds_t)door->size;
    for (int32_t i = 0; i < door->listener_count; i++) {
        door->polls[i] =
            (struct pollfd){.fd = has_room ? door->listeners[i] : -1, .events = POLLIN};
    }
    for (int32_t i = 0; i < YK_LISTENER_MAX_PENDING; i++) {
        visits[i] = (struct pollfd){.fd = door->visitors[i].talk.link, .events = POLLIN};
    }
    for (int32_t i = 0; i < door->size; i++) {
        guests[i] = (struct pollfd){.fd = door->guests[i].link, .events = POLLIN};
    }
    /* Less than nothing would be for ever. */
    return poll(door->polls, count,
                left_s > 0 ? (int)(1e3 * (left_s < most_s ? left_s : most_s)) + 1 : 0);
}

/* One look at all connections. */
static yk_status look(struct yk_listener *door, double end_s)
{
    struct pollfd *visits = door->polls + door->listener_count;
    struct pollfd *guests = visits + YK_LISTENER_MAX_PENDING;
    if (wait_for_any(door, visits, guests, end_s) <= 0) {
        return YK_OK;
    }
    for (int32_t i = 0; i < door->size; i++) {
        if (guests[i].revents) {
            let_leave(door, i);
        }
    }
    for (int32_t i = 0; i < YK_LISTENER_MAX_PENDING; i++) {
        if (visits[i].revents && door->visitors[i].talk.link >= 0) {
            YK_TRY(hear_visitor(door, &door->visitors[i]));
        }
    }
    for (int32_t i = 0; i < door->listener_count; i++) {
        if (door->polls[i].revents) {
            let_in(door, door->listeners[i]);
        }
    }
    return YK_OK;
}

yk_status yk_listener_accept_all(struct yk_listener *door, double end_s)
{
    while (door->missing > 0 && yk_clock_now_s() < end_s) {
        YK_TRY(look(door, end_s));
        send_away_the_slow(door);
    }
    return YK_OK;
}
