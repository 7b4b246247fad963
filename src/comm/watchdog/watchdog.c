#include "comm/watchdog/watchdog.h"

#include "base/clock.h"
#include "comm/host_collective.h"
#include "comm/watchdog/host_addresses.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static const double usual_beat_s = 0.5;
static const double usual_limit_s = 30;
static const double goodbye_s = 2;   /* how long a goodbye is waited for */
static const double sending_s = 0.1; /* how long a verdict may take to reach the others */
static const double stuck_beats =
    4; /* after which an inspection that has not ended tells nothing */

/* Another rank, as this one sees it. */
struct member {
    struct yk_watchdog_channel_receive_buffer buffer;
    double received_s; /* the clock when it last was */
};

struct yk_watchdog {
    struct yk_arena *arena; /* owns the watchdog and its arrays */
    int32_t rank;
    int32_t size;
    struct yk_watchdog_options options;
    /* What a lane is in: how many ops it was in before, and 1 more than the op. */
    atomic_uint_fast64_t notes[YK_WATCHDOG_LANE_COUNT];
    atomic_bool closing;
    int wake; /* an eventfd, which can be read from when `closing` is set */
    /* The thread that asks what lanes are in, where they cannot note it themselves. It may be stuck
     * in an answer while the watch goes on. */
    pthread_t inspector;
    bool inspects;                     /* that thread runs */
    _Atomic double inspecting_since_s; /* when an inspection began that has not ended; 0: none */
    pthread_t thread;
    bool runs; /* the thread */
    /* The thread's alone. */
    uint64_t last_notes[YK_WATCHDOG_LANE_COUNT]; /* notes as last looked at */
    double changed_s[YK_WATCHDOG_LANE_COUNT];    /* and the clock when they changed */
    struct yk_watchdog_current_ops *states;      /* (size) */
    bool *left;             /* (size): said goodbye, or was never heard by this rank */
    int *links;             /* (size): -1 where there is none */
    struct member *members; /* (size) */
    struct pollfd *pollers; /* (size + 1) */
};

/* ---- threads ---- */

/* Starts a thread that no signal is for; false where the system refuses it. */
static bool start_thread(pthread_t *thread, const char *name, void *(*run)(void *), void *argument)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(thread, NULL, run, argument) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) {
        (void)pthread_setname_np(*thread, name);
    }
    return started;
}

static void *run_inspector(void *argument)
{
    struct yk_watchdog *watchdog = argument;
    const struct yk_watchdog_options *options = &watchdog->options;
    struct pollfd poller = {.fd = watchdog->wake, .events = POLLIN};
    while (!atomic_load(&watchdog->closing)) {
        atomic_store(&watchdog->inspecting_since_s, yk_clock_now_s());
        options->poll_current_ops(options->user, watchdog);
        atomic_store(&watchdog->inspecting_since_s, 0);
        (void)poll(&poller, 1, (int)(options->heartbeat_period_s * 1e3) + 1);
    }
    return NULL;
}

/* Whether what the inspector noted last is too old to be of use. */
static bool is_inspector_stuck(const struct yk_watchdog *watchdog, double now_s)
{
    const double since_s = atomic_load(&watchdog->inspecting_since_s);
    return since_s > 0 && now_s - since_s > stuck_beats * watchdog->options.heartbeat_period_s;
}

/* Threads that were never started may stop. */
static void stop_threads(struct yk_watchdog *watchdog)
{
    const uint64_t one = 1;
    atomic_store(&watchdog->closing, true);
    (void)!write(watchdog->wake, &one, sizeof one);
    if (watchdog->inspects) {
        (void)pthread_join(watchdog->inspector, NULL);
    }
    if (watchdog->runs) {
        (void)pthread_join(watchdog->thread, NULL);
    }
}

/* ---- the watch ---- */

void yk_watchdog_set_current_op(struct yk_watchdog *watchdog, enum yk_watchdog_lane lane,
                                int32_t op)
{
    if (watchdog) {
        atomic_uint_fast64_t *word = &watchdog->notes[lane];
        const uint64_t before = atomic_load_explicit(word, memory_order_relaxed) >> 32;
        atomic_store_explicit(word, (before + 1) << 32 | (uint32_t)(op + 1), memory_order_relaxed);
    }
}

/* This rank's own state: an op has lasted since it was first noticed. Where the inspector is stuck,
 * nobody knows what a lane computes or copies, and it is not blamed; but the rank waits for the
 * exchange that it was last in. */
static void update_own_state(struct yk_watchdog *watchdog, double now_s)
{
    struct yk_watchdog_current_ops *own = &watchdog->states[watchdog->rank];
    const bool is_stuck = is_inspector_stuck(watchdog, now_s);
    for (int i = 0; i < YK_WATCHDOG_LANE_COUNT; i++) {
        const uint64_t word = atomic_load_explicit(&watchdog->notes[i], memory_order_relaxed);
        if (word != watchdog->last_notes[i]) {
            watchdog->last_notes[i] = word;
            watchdog->changed_s[i] = now_s;
        }
        own->ops[i] = is_stuck && i != YK_WATCHDOG_LANE_COMM ? YK_WATCHDOG_NO_OP
                                                             : (int32_t)(uint32_t)word - 1;
        own->op_s[i] = (float)(now_s - watchdog->changed_s[i]);
    }
}

static void send_to_all(const struct yk_watchdog *watchdog,
                        const struct yk_watchdog_message *message)
{
    for (int32_t i = 0; i < watchdog->size; i++) {
        if (watchdog->links[i] >= 0) {
            yk_watchdog_channel_send_message(watchdog->links[i], message);
        }
    }
}

static void send_goodbye(const struct yk_watchdog *watchdog)
{
    const struct yk_watchdog_message goodbye = {.kind = YK_WATCHDOG_MESSAGE_GOODBYE,
                                                .rank = watchdog->rank};
    send_to_all(watchdog, &goodbye);
}

static void drop_link(struct yk_watchdog *watchdog, int32_t rank)
{
    (void)close(watchdog->links[rank]);
    watchdog->links[rank] = -1;
}

/* Unread bytes in a connection that is closed would discard what was sent last: it is read until
 * the other side closes, for so long at most. */
static void drain_links(struct yk_watchdog *watchdog, double limit_s)
{
    const double end_s = yk_clock_now_s() + limit_s;
    for (int32_t i = 0; i < watchdog->size; i++) {
        if (watchdog->links[i] < 0) {
            continue;
        }
        (void)shutdown(watchdog->links[i], SHUT_WR);
        for (;;) {
            char rest[256];
            const double left_s = end_s - yk_clock_now_s();
            struct pollfd poller = {.fd = watchdog->links[i], .events = POLLIN};
            if (left_s <= 0 || poll(&poller, 1, (int)(left_s * 1e3) + 1) != 1 ||
                recv(watchdog->links[i], rest, sizeof rest, MSG_DONTWAIT) <= 0) {
                break;
            }
        }
        drop_link(watchdog, i);
    }
}

/* Rank 0 tells the others before anything else. */
static void report_verdict(struct yk_watchdog *watchdog, const struct yk_watchdog_failure *failure)
{
    if (watchdog->rank == 0) {
        const struct yk_watchdog_message message = {
            .kind = YK_WATCHDOG_MESSAGE_FAILURE,
            .rank = failure->rank,
            .reason = (int32_t)failure->reason,
            .lane = failure->lane,
            .since_s = failure->since_s,
            .state = failure->state,
        };
        send_to_all(watchdog, &message);
        drain_links(watchdog, sending_s);
    }
    watchdog->options.on_failure(watchdog->options.user, failure);
}

static struct yk_watchdog_failure verdict_about(const struct yk_watchdog *watchdog, int32_t rank,
                                                enum yk_watchdog_failure_reason reason,
                                                double since_s)
{
    return (struct yk_watchdog_failure){
        .rank = rank,
        .reason = reason,
        .since_s = since_s,
        .lane = -1,
        .state = watchdog->states[rank],
    };
}

/* True when that was a verdict. */
static bool handle_record(struct yk_watchdog *watchdog, int32_t from,
                          const struct yk_watchdog_message *message,
                          struct yk_watchdog_failure *out)
{
    switch (message->kind) {
    case YK_WATCHDOG_MESSAGE_HEARTBEAT:
        watchdog->states[from] = message->state;
        return false;
    case YK_WATCHDOG_MESSAGE_GOODBYE:
        watchdog->left[from] = true;
        return false;
    case YK_WATCHDOG_MESSAGE_FAILURE:
        *out = (struct yk_watchdog_failure){
            .rank = message->rank,
            .reason = (enum yk_watchdog_failure_reason)message->reason,
            .since_s = message->since_s,
            .lane = message->lane,
            .state = message->state,
        };
        return watchdog->rank != 0;
    default:
        return false;
    }
}

/* All that a rank has said; true when somebody is lost. */
static bool receive_from(struct yk_watchdog *watchdog, int32_t from, double now_s,
                         struct yk_watchdog_failure *out)
{
    struct yk_watchdog_message message;
    for (;;) {
        switch (yk_watchdog_channel_receive_message(
            watchdog->links[from], &watchdog->members[from].buffer, watchdog->size, &message)) {
        case YK_WATCHDOG_CHANNEL_EMPTY:
            return false;
        case YK_WATCHDOG_CHANNEL_CLOSED:
            drop_link(watchdog, from);
            *out = verdict_about(watchdog, from, YK_WATCHDOG_RANK_EXITED, 0);
            return !watchdog->left[from];
        case YK_WATCHDOG_CHANNEL_MESSAGE:
            watchdog->members[from].received_s = now_s;
            if (handle_record(watchdog, from, &message, out)) {
                return true;
            }
            break;
        }
    }
}

/* Waits for the next beat, or for somebody to speak; true when somebody is lost. */
static bool receive_from_all(struct yk_watchdog *watchdog, double until_s,
                             struct yk_watchdog_failure *out)
{
    const double left_s = until_s - yk_clock_now_s();
    for (int32_t i = 0; i < watchdog->size; i++) {
        watchdog->pollers[i] = (struct pollfd){.fd = watchdog->links[i], .events = POLLIN};
    }
    watchdog->pollers[watchdog->size] = (struct pollfd){
        .fd = atomic_load(&watchdog->closing) ? -1 : watchdog->wake, .events = POLLIN};
    if (poll(watchdog->pollers, (nfds_t)watchdog->size + 1,
             left_s > 0 ? (int)(left_s * 1e3) + 1 : 0) <= 0) {
        return false;
    }
    const double now_s = yk_clock_now_s();
    for (int32_t i = 0; i < watchdog->size; i++) {
        if (watchdog->pollers[i].revents != 0 && receive_from(watchdog, i, now_s, out)) {
            return true;
        }
    }
    return false;
}

static bool find_silent(const struct yk_watchdog *watchdog, double now_s,
                        struct yk_watchdog_failure *out)
{
    for (int32_t i = 0; i < watchdog->size; i++) {
        const double since_s = now_s - watchdog->members[i].received_s;
        if (watchdog->links[i] >= 0 && !watchdog->left[i] &&
            since_s > watchdog->options.heartbeat_timeout_s) {
            *out = verdict_about(watchdog, i, YK_WATCHDOG_RANK_UNRESPONSIVE, since_s);
            return true;
        }
    }
    return false;
}

/* One beat: this rank's state to those it is joined to, and what time says about them. */
static bool beat(struct yk_watchdog *watchdog, double now_s, struct yk_watchdog_failure *out)
{
    update_own_state(watchdog, now_s);
    const struct yk_watchdog_message message = {.kind = YK_WATCHDOG_MESSAGE_HEARTBEAT,
                                                .rank = watchdog->rank,
                                                .state = watchdog->states[watchdog->rank]};
    send_to_all(watchdog, &message);
    return find_silent(watchdog, now_s, out) ||
           (watchdog->rank == 0 &&
            yk_watchdog_find_hung_rank(watchdog->states, watchdog->left, watchdog->size,
                                       watchdog->options.op_timeout_s, out));
}

/* Rank 0 stays until the others are off. */
static bool may_leave(const struct yk_watchdog *watchdog)
{
    for (int32_t i = 1; i < watchdog->size && watchdog->rank == 0; i++) {
        if (!watchdog->left[i]) {
            return false;
        }
    }
    /* A rank whose inspector is stuck goes on with heartbeats, so that others learn of it. */
    return atomic_load(&watchdog->closing) && atomic_load(&watchdog->inspecting_since_s) == 0;
}

/* After this process was stopped itself, others' silence says nothing. */
static void forgive_silence(struct yk_watchdog *watchdog, double now_s)
{
    for (int32_t i = 0; i < watchdog->size; i++) {
        watchdog->members[i].received_s = now_s;
    }
}

static void *run_watch(void *argument)
{
    struct yk_watchdog *watchdog = argument;
    struct yk_watchdog_failure failure;
    double next_s = yk_clock_now_s();
    double last_s = next_s;
    while (!may_leave(watchdog)) {
        bool lost = receive_from_all(watchdog, next_s, &failure);
        const double now_s = yk_clock_now_s();
        if (now_s - last_s >
            watchdog->options.heartbeat_period_s + watchdog->options.heartbeat_timeout_s / 2) {
            forgive_silence(watchdog, now_s);
        }
        last_s = now_s;
        if (!lost && now_s >= next_s) {
            next_s = now_s + watchdog->options.heartbeat_period_s;
            lost = beat(watchdog, now_s, &failure);
        }
        if (lost) {
            report_verdict(watchdog, &failure);
            return NULL;
        }
    }
    send_goodbye(watchdog);
    drain_links(watchdog, goodbye_s);
    return NULL;
}

static void free_watch(struct yk_watchdog *watchdog)
{
    for (int32_t i = 0; watchdog->links && i < watchdog->size; i++) {
        if (watchdog->links[i] >= 0) {
            drop_link(watchdog, i);
        }
    }
    if (watchdog->wake >= 0) {
        (void)close(watchdog->wake);
    }
    yk_arena_destroy(watchdog->arena); /* also frees the watchdog */
}

static double or_default(double seconds, double usual_s)
{
    return seconds > 0 ? seconds : usual_s;
}

static yk_status allocate(struct yk_watchdog *watchdog, double now_s)
{
    YK_TRY_NEW(watchdog->arena, watchdog->states, watchdog->size);
    YK_TRY_NEW(watchdog->arena, watchdog->left, watchdog->size);
    YK_TRY_NEW(watchdog->arena, watchdog->members, watchdog->size);
    YK_TRY_NEW(watchdog->arena, watchdog->pollers, watchdog->size + 1);
    YK_TRY_NEW(watchdog->arena, watchdog->links,
               watchdog->size); /* last: a link of 0 would be closed */
    for (int32_t i = 0; i < watchdog->size; i++) {
        watchdog->links[i] = -1;
        for (int lane = 0; lane < YK_WATCHDOG_LANE_COUNT; lane++) {
            watchdog->states[i].ops[lane] = YK_WATCHDOG_NO_OP;
            watchdog->changed_s[lane] = now_s;
        }
    }
    forgive_silence(watchdog, now_s);
    watchdog->wake = eventfd(0, EFD_CLOEXEC);
    return watchdog->wake >= 0 ? YK_OK : yk_fail_out_of_memory();
}

static yk_status make_watch(int32_t rank, int32_t size, const struct yk_watchdog_options *options,
                            struct yk_watchdog **out)
{
    struct yk_watchdog *watchdog = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(watchdog);
    watchdog->rank = rank;
    watchdog->size = size;
    watchdog->wake = -1;
    watchdog->options = *options;
    watchdog->options.heartbeat_period_s = or_default(options->heartbeat_period_s, usual_beat_s);
    watchdog->options.heartbeat_timeout_s = or_default(options->heartbeat_timeout_s, usual_limit_s);
    watchdog->options.op_timeout_s = or_default(options->op_timeout_s, usual_limit_s);
    YK_TRY_OR_CLEAN_UP(allocate(watchdog, yk_clock_now_s()), free_watch(watchdog));
    *out = watchdog;
    return YK_OK;
}

yk_status yk_watchdog_start_threads(struct yk_watchdog *watchdog)
{
    const bool must_inspect = watchdog->options.poll_current_ops != NULL;
    forgive_silence(watchdog, yk_clock_now_s());
    watchdog->inspects =
        must_inspect && start_thread(&watchdog->inspector, "look", run_inspector, watchdog);
    watchdog->runs = watchdog->inspects == must_inspect &&
                     start_thread(&watchdog->thread, "watch", run_watch, watchdog);
    if (!watchdog->runs) {
        send_goodbye(watchdog);
        return yk_fail(YK_ERROR_SYSTEM,
                       "the system refuses a thread for the watch over ranks: raise the limit "
                       "(ulimit -u)");
    }
    return YK_OK;
}

yk_status yk_watchdog_connect(int32_t rank, int32_t size, struct yk_watchdog_endpoint *endpoint,
                              const struct yk_watchdog_options *options, struct yk_watchdog **out)
{
    struct yk_watchdog *watchdog = NULL;
    yk_status status = make_watch(rank, size, options, &watchdog);
    YK_IF_OK(rank == 0
                 ? yk_watchdog_channel_accept_all_ranks(endpoint, size, watchdog->links)
                 : yk_watchdog_channel_connect_to_rank0(endpoint, rank, size, &watchdog->links[0]));
    yk_watchdog_channel_stop_listening(endpoint);
    if (status != YK_OK && watchdog) {
        free_watch(watchdog);
        return status;
    }
    *out = watchdog;
    return status;
}

void yk_watchdog_close(struct yk_watchdog *watchdog)
{
    if (watchdog) {
        stop_threads(watchdog);
        free_watch(watchdog);
    }
}

/* ---- opening it ---- */

/* Where rank 0 is to listen; known to rank 0 alone. */
static yk_status choose_addresses(const struct yk_communicator *ranks, const char *address,
                                  struct yk_arena *arena, struct yk_network_address_list *out)
{
    struct yk_host_addresses own;
    struct yk_host_addresses *machines = NULL;
    struct yk_host_collective_gathered_bytes *gathered = NULL;
    yk_host_addresses_list_local(address, &own);
    YK_TRY(yk_host_collective_gather_on_rank0(ranks, &own, sizeof own, arena, &gathered));
    if (!gathered) {
        return YK_OK;
    }
    YK_TRY_NEW(arena, machines, ranks->size);
    for (int32_t i = 0; i < ranks->size; i++) {
        if (gathered[i].size == sizeof own) { /* another version of yoke fails at the listener */
            memcpy(&machines[i], gathered[i].bytes, sizeof own);
        }
    }
    return yk_host_addresses_choose_listening(machines, ranks->size, out);
}

static yk_status share_endpoint(const struct yk_communicator *ranks,
                                struct yk_watchdog_endpoint *endpoint)
{
    struct yk_watchdog_endpoint copy = *endpoint;
    copy.socket_count = 0;
    YK_TRY(yk_host_collective_broadcast_bytes(ranks, 0, &copy, sizeof copy));
    if (ranks->rank != 0) {
        *endpoint = copy;
    }
    return YK_OK;
}

/* Whatever one rank cannot do, all hear of before any of them is judged by its silence. */
yk_status yk_watchdog_open(const struct yk_communicator *ranks,
                           const struct yk_watchdog_options *options, struct yk_watchdog **out)
{
    struct yk_network_address_list addresses = {.count = 0};
    struct yk_watchdog_endpoint endpoint = {.socket_count = 0};
    struct yk_watchdog *watchdog = NULL;
    struct yk_arena *arena = NULL;
    yk_status status = yk_arena_create(&arena);
    YK_IF_OK(choose_addresses(ranks, options->address, arena, &addresses));
    yk_arena_destroy(arena);
    if (status == YK_OK && ranks->rank == 0) {
        status = yk_watchdog_channel_listen(&addresses, &endpoint);
    }
    YK_TRY(yk_host_collective_agree_on_status(ranks, status));
    status = share_endpoint(ranks, &endpoint);
    YK_TRY_OR_CLEAN_UP(status, yk_watchdog_channel_stop_listening(&endpoint));
    status = yk_watchdog_connect(ranks->rank, ranks->size, &endpoint, options, &watchdog);
    status = yk_host_collective_agree_on_status(ranks, status);
    if (status == YK_OK && watchdog) {
        status = yk_host_collective_agree_on_status(ranks, yk_watchdog_start_threads(watchdog));
    }
    YK_TRY_OR_CLEAN_UP(status, yk_watchdog_close(watchdog));
    *out = watchdog;
    return YK_OK;
}

void yk_watchdog_describe_failure(const struct yk_watchdog_failure *failure, struct yk_text *out)
{
    yk_text_addf(out, "rank %d ", (int)failure->rank);
    switch (failure->reason) {
    case YK_WATCHDOG_RANK_EXITED:
        yk_text_add(out, "has ended");
        break;
    case YK_WATCHDOG_RANK_UNRESPONSIVE:
        yk_text_addf(out, "has not been heard of for %.3g s", failure->since_s);
        break;
    case YK_WATCHDOG_RANK_HUNG:
        yk_text_addf(out, "has been %s for %.3g s", failure->lane >= 0 ? "in one op" : "in no op",
                     failure->since_s);
        break;
    }
}
