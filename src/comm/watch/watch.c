#include "comm/watch/watch.h"

#include "base/clock.h"
#include "comm/watch/culprit.h"
#include "comm/watch/inspector.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static const double usual_beat_s = 0.5;
static const double usual_limit_s = 30;
static const double parting_s = 2;   /* how long a goodbye is waited for */
static const double telling_s = 0.1; /* how long a verdict may take to reach the others */

/* Another rank, as this one sees it. */
struct member {
    struct yk_watch_link_buffer ear;
    double heard_s; /* the clock when it last was */
};

struct yk_watch {
    int32_t rank;
    int32_t size;
    struct yk_watch_options options;
    /* What a lane is in: how many ops it was in before, and 1 more than the op. */
    atomic_uint_fast64_t notes[YK_WATCH_LANES];
    atomic_int_fast64_t round;
    atomic_bool closing;
    int wake; /* an eventfd */
    pthread_t thread;
    bool runs; /* the thread */
    struct yk_watch_inspector look;
    /* The thread's alone. */
    uint64_t seen[YK_WATCH_LANES]; /* notes as last looked at */
    double seen_s[YK_WATCH_LANES]; /* and the clock when they changed */
    struct yk_watch_state *states; /* (size) */
    bool *left;                    /* (size): said goodbye, or was never heard by this rank */
    int *links;                    /* (size): -1 where there is none */
    struct member *members;        /* (size) */
    struct pollfd *pollers;        /* (size + 1) */
};

void yk_watch_note(struct yk_watch *watch, enum yk_watch_lane lane, int32_t op)
{
    if (watch) {
        atomic_uint_fast64_t *word = &watch->notes[lane];
        const uint64_t before = atomic_load_explicit(word, memory_order_relaxed) >> 32;
        atomic_store_explicit(word, (before + 1) << 32 | (uint32_t)(op + 1), memory_order_relaxed);
    }
}

void yk_watch_note_round(struct yk_watch *watch, int64_t round)
{
    if (watch) {
        atomic_store_explicit(&watch->round, round, memory_order_relaxed);
    }
}

/* This rank's own state: an op has lasted since the look that first saw it. Where looking is stuck,
 * nobody knows what a lane computes or copies, and it cannot be blamed for it; but the exchange
 * that the rank was last seen in is one that it waits for. */
static void look(struct yk_watch *watch, double now_s)
{
    struct yk_watch_state *own = &watch->states[watch->rank];
    const bool is_blind = yk_watch_inspector_is_stuck(&watch->look, now_s);
    own->round = atomic_load_explicit(&watch->round, memory_order_relaxed);
    for (int i = 0; i < YK_WATCH_LANES; i++) {
        const uint64_t word = atomic_load_explicit(&watch->notes[i], memory_order_relaxed);
        if (word != watch->seen[i]) {
            watch->seen[i] = word;
            watch->seen_s[i] = now_s;
        }
        own->ops[i] = is_blind && i != YK_WATCH_COMM ? YK_WATCH_NO_OP : (int32_t)(uint32_t)word - 1;
        own->op_s[i] = (float)(now_s - watch->seen_s[i]);
    }
}

static void tell_all(const struct yk_watch *watch, const struct yk_watch_record *record)
{
    for (int32_t i = 0; i < watch->size; i++) {
        if (watch->links[i] >= 0) {
            yk_watch_link_send(watch->links[i], record);
        }
    }
}

static void drop_link(struct yk_watch *watch, int32_t rank)
{
    (void)close(watch->links[rank]);
    watch->links[rank] = -1;
}

/* What is still in a connection when it is closed would take with it what was said last: it is read
 * until the other side closes, for so long at most. */
static void part(struct yk_watch *watch, double limit_s)
{
    const double end_s = yk_clock_now_s() + limit_s;
    for (int32_t i = 0; i < watch->size; i++) {
        if (watch->links[i] < 0) {
            continue;
        }
        (void)shutdown(watch->links[i], SHUT_WR);
        for (;;) {
            char rest[256];
            const double left_s = end_s - yk_clock_now_s();
            struct pollfd poller = {.fd = watch->links[i], .events = POLLIN};
            if (left_s <= 0 || poll(&poller, 1, (int)(left_s * 1e3) + 1) != 1 ||
                recv(watch->links[i], rest, sizeof rest, MSG_DONTWAIT) <= 0) {
                break;
            }
        }
        drop_link(watch, i);
    }
}

/* Rank 0 tells the others before anything else. */
static void judge(struct yk_watch *watch, const struct yk_watch_verdict *verdict)
{
    if (watch->rank == 0) {
        const struct yk_watch_record record = {
            .word = YK_WATCH_VERDICT,
            .rank = verdict->rank,
            .reason = (int32_t)verdict->reason,
            .lane = verdict->lane,
            .since_s = verdict->since_s,
            .state = verdict->state,
        };
        tell_all(watch, &record);
        part(watch, telling_s);
    }
    watch->options.lost(watch->options.user, verdict);
}

static struct yk_watch_verdict verdict_on(const struct yk_watch *watch, int32_t rank,
                                          enum yk_watch_reason reason, double since_s)
{
    return (struct yk_watch_verdict){
        .rank = rank,
        .reason = reason,
        .since_s = since_s,
        .lane = -1,
        .state = watch->states[rank],
    };
}

/* True when that was a verdict. */
static bool take_record(struct yk_watch *watch, int32_t from, const struct yk_watch_record *record,
                        struct yk_watch_verdict *out)
{
    switch (record->word) {
    case YK_WATCH_BEAT:
        watch->states[from] = record->state;
        return false;
    case YK_WATCH_GOODBYE:
        watch->left[from] = true;
        return false;
    case YK_WATCH_VERDICT:
        *out = (struct yk_watch_verdict){
            .rank = record->rank,
            .reason = (enum yk_watch_reason)record->reason,
            .since_s = record->since_s,
            .lane = record->lane,
            .state = record->state,
        };
        return watch->rank != 0;
    default:
        return false;
    }
}

/* All that a rank has said; true when somebody is lost. */
static bool listen_to(struct yk_watch *watch, int32_t from, double now_s,
                      struct yk_watch_verdict *out)
{
    struct yk_watch_record record;
    for (;;) {
        switch (yk_watch_link_receive(watch->links[from], &watch->members[from].ear, watch->size,
                                      &record)) {
        case YK_WATCH_LINK_EMPTY:
            return false;
        case YK_WATCH_LINK_CLOSED:
            drop_link(watch, from);
            *out = verdict_on(watch, from, YK_WATCH_GONE, 0);
            return !watch->left[from];
        case YK_WATCH_LINK_RECORD:
            watch->members[from].heard_s = now_s;
            if (take_record(watch, from, &record, out)) {
                return true;
            }
            break;
        }
    }
}

/* Waits for the next beat, or for somebody to speak; true when somebody is lost. */
static bool listen_to_all(struct yk_watch *watch, double until_s, struct yk_watch_verdict *out)
{
    const double left_s = until_s - yk_clock_now_s();
    for (int32_t i = 0; i < watch->size; i++) {
        watch->pollers[i] = (struct pollfd){.fd = watch->links[i], .events = POLLIN};
    }
    watch->pollers[watch->size] = (struct pollfd){.fd = watch->wake, .events = POLLIN};
    if (poll(watch->pollers, (nfds_t)watch->size + 1, left_s > 0 ? (int)(left_s * 1e3) + 1 : 0) <=
        0) {
        return false;
    }
    uint64_t woken = 0;
    if (watch->pollers[watch->size].revents != 0) {
        (void)!read(watch->wake, &woken, sizeof woken);
    }
    const double now_s = yk_clock_now_s();
    for (int32_t i = 0; i < watch->size; i++) {
        if (watch->pollers[i].revents != 0 && listen_to(watch, i, now_s, out)) {
            return true;
        }
    }
    return false;
}

static bool find_silent(const struct yk_watch *watch, double now_s, struct yk_watch_verdict *out)
{
    for (int32_t i = 0; i < watch->size; i++) {
        const double since_s = now_s - watch->members[i].heard_s;
        if (watch->links[i] >= 0 && !watch->left[i] && since_s > watch->options.silence_s) {
            *out = verdict_on(watch, i, YK_WATCH_SILENT, since_s);
            return true;
        }
    }
    return false;
}

/* One beat: this rank's state to those it is joined to, and what time says about them. */
static bool beat(struct yk_watch *watch, double now_s, struct yk_watch_verdict *out)
{
    look(watch, now_s);
    const struct yk_watch_record record = {
        .word = YK_WATCH_BEAT, .rank = watch->rank, .state = watch->states[watch->rank]};
    tell_all(watch, &record);
    return find_silent(watch, now_s, out) ||
           (watch->rank == 0 && yk_watch_culprit_find(watch->states, watch->left, watch->size,
                                                      watch->options.op_s, out));
}

/* Rank 0 stays until the others are off. */
static bool may_leave(const struct yk_watch *watch)
{
    for (int32_t i = 1; i < watch->size && watch->rank == 0; i++) {
        if (!watch->left[i]) {
            return false;
        }
    }
    return atomic_load(&watch->closing);
}

/* After this process was stopped itself, others' silence says nothing. */
static void hear_anew(struct yk_watch *watch, double now_s)
{
    for (int32_t i = 0; i < watch->size; i++) {
        watch->members[i].heard_s = now_s;
    }
}

static void *run_watch(void *argument)
{
    struct yk_watch *watch = argument;
    struct yk_watch_verdict verdict;
    double next_s = yk_clock_now_s();
    double last_s = next_s;
    while (!may_leave(watch)) {
        bool lost = listen_to_all(watch, next_s, &verdict);
        const double now_s = yk_clock_now_s();
        if (now_s - last_s > watch->options.beat_s + watch->options.silence_s / 2) {
            hear_anew(watch, now_s);
        }
        last_s = now_s;
        if (!lost && now_s >= next_s) {
            next_s = now_s + watch->options.beat_s;
            lost = beat(watch, now_s, &verdict);
        }
        if (lost) {
            judge(watch, &verdict);
            return NULL;
        }
    }
    const struct yk_watch_record goodbye = {.word = YK_WATCH_GOODBYE, .rank = watch->rank};
    tell_all(watch, &goodbye);
    part(watch, parting_s);
    return NULL;
}

static void free_watch(struct yk_watch *watch)
{
    for (int32_t i = 0; watch->links && i < watch->size; i++) {
        if (watch->links[i] >= 0) {
            drop_link(watch, i);
        }
    }
    if (watch->wake >= 0) {
        (void)close(watch->wake);
    }
    free(watch->states);
    free(watch->left);
    free(watch->links);
    free(watch->members);
    free(watch->pollers);
    free(watch);
}

static yk_status make_watch(int32_t rank, int32_t size, const struct yk_watch_options *options,
                            struct yk_watch **out)
{
    struct yk_watch *watch = calloc(1, sizeof *watch);
    if (!watch) {
        return yk_fail_out_of_memory();
    }
    const size_t count = (size_t)size;
    watch->rank = rank;
    watch->size = size;
    watch->options = *options;
    watch->options.beat_s = options->beat_s > 0 ? options->beat_s : usual_beat_s;
    watch->options.silence_s = options->silence_s > 0 ? options->silence_s : usual_limit_s;
    watch->options.op_s = options->op_s > 0 ? options->op_s : usual_limit_s;
    watch->states = calloc(count, sizeof *watch->states);
    watch->left = calloc(count, sizeof *watch->left);
    watch->links = calloc(count, sizeof *watch->links);
    watch->members = calloc(count, sizeof *watch->members);
    watch->pollers = calloc(count + 1, sizeof *watch->pollers);
    watch->wake = eventfd(0, EFD_CLOEXEC);
    for (int32_t i = 0; watch->links && i < size; i++) {
        watch->links[i] = -1;
    }
    if (!watch->states || !watch->left || !watch->links || !watch->members || !watch->pollers ||
        watch->wake < 0) {
        free_watch(watch);
        return yk_fail_out_of_memory();
    }
    const double now_s = yk_clock_now_s();
    hear_anew(watch, now_s);
    for (int32_t i = 0; i < size; i++) {
        for (int lane = 0; lane < YK_WATCH_LANES; lane++) {
            watch->states[i].ops[lane] = YK_WATCH_NO_OP;
            watch->seen_s[lane] = now_s;
        }
    }
    *out = watch;
    return YK_OK;
}

static yk_status start_threads(struct yk_watch *watch)
{
    if (!yk_watch_inspector_start(&watch->look, &watch->options, watch) ||
        !yk_watch_start_thread(&watch->thread, "watch", run_watch, watch)) {
        const struct yk_watch_record goodbye = {.word = YK_WATCH_GOODBYE, .rank = watch->rank};
        yk_watch_inspector_stop(&watch->look);
        tell_all(watch, &goodbye);
        return yk_fail(YK_ERROR_SYSTEM,
                       "the system refuses a thread for the watch over ranks: raise the limit "
                       "(ulimit -u)");
    }
    return YK_OK;
}

yk_status yk_watch_join(int32_t rank, int32_t size, struct yk_watch_endpoint *invitation,
                        const struct yk_watch_options *options, struct yk_watch **out)
{
    struct yk_watch *watch = NULL;
    yk_status status = make_watch(rank, size, options, &watch);
    if (status == YK_OK) {
        status = rank == 0 ? yk_watch_link_accept_all(invitation, size, watch->links)
                           : yk_watch_link_connect(invitation, rank, size, &watch->links[0]);
    }
    yk_watch_link_stop_listening(invitation);
    if (status != YK_OK && watch) {
        free_watch(watch);
        return status;
    }
    *out = watch;
    return status;
}

yk_status yk_watch_begin(struct yk_watch *watch)
{
    hear_anew(watch, yk_clock_now_s());
    YK_TRY(start_threads(watch));
    watch->runs = true;
    return YK_OK;
}

void yk_watch_close(struct yk_watch *watch)
{
    const uint64_t one = 1;
    if (!watch) {
        return;
    }
    if (watch->runs) {
        yk_watch_inspector_stop(&watch->look);
        atomic_store(&watch->closing, true);
        (void)!write(watch->wake, &one, sizeof one);
        (void)pthread_join(watch->thread, NULL);
    }
    free_watch(watch);
}
