/*
 * Watchdog: if a rank fails, the communication of the other ranks hangs. The watchdog finds the
 * failed rank.
 *
 * A thread on every rank sends a heartbeat to rank 0 twice a second. The heartbeat says which op
 * each lane of the rank is running (a lane is a queue of ops, backend/backend.h). A closed
 * connection means that the rank's process has exited. A missing heartbeat means that the rank is
 * stopped or disconnected. An op that takes too long means that a rank hangs. Rank 0 reports the
 * failed rank to all other ranks. Each other rank also monitors rank 0.
 *
 * Only the first failure is reported: the callback on_failure() is called once, on the watchdog's
 * thread, which then ends. The callback should end the process. yk_watchdog_set_current_op() may be
 * called from any thread, but for each lane only from one thread at a time. The other functions are
 * not thread-safe.
 */
#ifndef YK_COMM_WATCHDOG_WATCHDOG_H
#define YK_COMM_WATCHDOG_WATCHDOG_H

#include "comm/communicator.h"
#include "comm/watchdog/watchdog_channel.h"

/* The failure of one rank. */
struct yk_watchdog_failure {
    int32_t rank;
    enum yk_watchdog_failure_reason reason;
    double since_s; /* how long the rank has sent no heartbeat, or has been in one op, or has been
                       in no op; 0 if the process has exited */
    int32_t lane;   /* lane whose op hangs; -1 if no op hangs */
    struct yk_watchdog_current_ops state; /* state in the last heartbeat of the rank */
};

struct yk_watchdog;

/* A time of 0 means: the default. */
struct yk_watchdog_options {
    double heartbeat_period_s;  /* time between two heartbeats; default 0.5 */
    double heartbeat_timeout_s; /* a rank that sends no heartbeat for longer has failed; default
                                   30 */
    double op_timeout_s;        /* maximum time of one op; default 30 */
    void (*on_failure)(void *user, const struct yk_watchdog_failure *failure);
    /* Calls yk_watchdog_set_current_op() for lanes that cannot call it themselves. The watchdog
     * calls this function once per heartbeat period, on a separate thread, so that it cannot delay
     * heartbeats. May be NULL. */
    void (*poll_current_ops)(void *user, struct yk_watchdog *watchdog);
    void *user;
    const char *address; /* address of rank 0 from the launcher; NULL means: unknown */
};

/* Starts the watchdog. All ranks must call this function, and it returns the same status on all of
 * them. */
yk_status yk_watchdog_open(const struct yk_communicator *ranks,
                           const struct yk_watchdog_options *options,
                           struct yk_watchdog **out) YK_MUST_USE;

/* The next two functions together do the same as yk_watchdog_open(), for ranks that already have
 * the endpoint. On rank 0, yk_watchdog_connect() accepts the connections of all other ranks; on any
 * other rank, it connects to rank 0. Call yk_watchdog_start_threads() when all ranks are connected.
 */
yk_status yk_watchdog_connect(int32_t rank, int32_t size, struct yk_watchdog_endpoint *endpoint,
                              const struct yk_watchdog_options *options,
                              struct yk_watchdog **out) YK_MUST_USE;
yk_status yk_watchdog_start_threads(struct yk_watchdog *watchdog) YK_MUST_USE;

/* Stops the watchdog of this rank. On rank 0, the function waits until all other ranks have stopped
 * their watchdogs. Accepts NULL, and a watchdog whose threads were not started. */
void yk_watchdog_close(struct yk_watchdog *watchdog);

/* Records that the lane has begun op number `op`, or that it runs no op (YK_WATCHDOG_NO_OP). Each
 * call restarts the time of the op. A call costs one store to memory. Does nothing if `watchdog` is
 * NULL. */
void yk_watchdog_set_current_op(struct yk_watchdog *watchdog, enum yk_watchdog_lane lane,
                                int32_t op);

/* Appends a description. Examples: "rank 2 has ended", "rank 2 has not been heard of for 31 s",
 * "rank 2 has been in one op for 34 s", "rank 2 has been in no op for 34 s". */
void yk_watchdog_describe_failure(const struct yk_watchdog_failure *failure, struct yk_text *out);

/*
 * Finds the rank that hangs. states[i] is the state of rank i. Rank i is ignored if left[i] is
 * true. Returns false if no rank hangs.
 *   - If compute or copy ops take longer than `op_s`, the rank with the longest of these ops hangs.
 *   - A communication op that takes longer than `op_s` waits for another rank, which may still be
 *     computing. So a rank is reported only if no lane of any rank has begun or ended an op in the
 *     last `op_s` seconds. The reported rank is the lowest rank that is in no communication op. If
 *     every rank is in a communication op, it is the rank whose communication op began last.
 */
bool yk_watchdog_find_hung_rank(const struct yk_watchdog_current_ops *states, const bool *left,
                                int32_t size, double op_s, struct yk_watchdog_failure *out);

#endif
