/*
 * Watchdog: finds the rank that failed when communication hangs.
 *
 * A thread on every rank sends a heartbeat to rank 0 twice a second. It says which op each lane is
 * in. A closed connection means that the rank's process has exited. A missing heartbeat means that
 * the rank is stopped or disconnected. An op that takes too long means that a rank hangs. Rank 0
 * reports the failed rank to all others. Each of them also monitors rank 0.
 *
 * Only the first failure is reported: the callback on_failure() is called once, on the watchdog's
 * thread, which then ends. The callback should end the process. yk_watch_note() may be called from
 * any thread, but from one thread at a time for each lane. The other functions are not thread-safe.
 */
#ifndef YK_COMM_WATCH_WATCH_H
#define YK_COMM_WATCH_WATCH_H

#include "comm/ranks.h"
#include "comm/watch/link.h"

/* The failure of one rank. */
struct yk_watch_verdict {
    int32_t rank;
    enum yk_watch_reason reason;
    double since_s;              /* seconds without heartbeat, or in the op; 0 if it has exited */
    int32_t lane;                /* the lane whose op hangs; -1 if there is none */
    struct yk_watch_state state; /* from the last heartbeat of the rank */
};

struct yk_watch;

/* A time of 0 means: the default. */
struct yk_watch_options {
    double beat_s;    /* period of heartbeats; default 0.5 */
    double silence_s; /* timeout for heartbeats; default 30 */
    double op_s;      /* timeout for one op; default 30 */
    void (*on_failure)(void *user, const struct yk_watch_verdict *verdict);
    /* For lanes that cannot call yk_watch_note() themselves: called once per heartbeat period to
     * call it for them. It runs on a separate thread, so that it cannot delay heartbeats. May be
     * NULL. */
    void (*inspect)(void *user, struct yk_watch *watch);
    void *user;
    const char *address; /* address of rank 0, if the launcher states it; otherwise NULL */
};

/* Starts the watchdog. All ranks call it, and all return the same status. */
yk_status yk_watch_open(const struct yk_ranks *ranks, const struct yk_watch_options *options,
                        struct yk_watch **out) YK_MUST_USE;

/* yk_watch_open() in two steps, for ranks that already have the endpoint. yk_watch_join() connects
 * this rank, and rank 0 to all ranks. yk_watch_begin() starts the threads; call it when all ranks
 * have connected. */
yk_status yk_watch_join(int32_t rank, int32_t size, struct yk_watch_endpoint *endpoint,
                        const struct yk_watch_options *options, struct yk_watch **out) YK_MUST_USE;
yk_status yk_watch_begin(struct yk_watch *watch) YK_MUST_USE;

/* Stops the watchdog of this rank. On rank 0 it waits until all other ranks have stopped theirs.
 * Accepts NULL, and a watchdog whose threads were not started. */
void yk_watch_close(struct yk_watch *watch);

/* Records that the lane has begun op `op`, or YK_WATCH_NO_OP. Each call restarts the time of the
 * op. It costs one store to memory. Does nothing if `watch` is NULL. */
void yk_watch_note(struct yk_watch *watch, enum yk_watch_lane lane, int32_t op);

/* Examples: "rank 2 has ended", "rank 2 has not been heard of for 31 s", "rank 2 has been in one op
 * for 34 s". */
void yk_watch_describe(const struct yk_watch_verdict *verdict, struct yk_text *out);

/*
 * Finds the rank that hangs, from the states (size) of all ranks. Ranks with left[i] are ignored.
 * Returns false if no rank hangs.
 *   - If a compute or copy op takes longer than `op_s`, the rank with the longest such op hangs.
 *   - A communication op that takes longer than `op_s` waits for another rank, which may still be
 *     computing. So a rank is reported only if no lane of any rank has begun an op for `op_s`: a
 *     rank that is in no communication op, otherwise the rank that entered its op last.
 */
bool yk_watch_culprit_find(const struct yk_watch_state *states, const bool *left, int32_t size,
                           double op_s, struct yk_watch_verdict *out);

#endif
