/*
 * Watch: finds the rank that is to blame when exchanges hang.
 *
 * A thread on every rank, connected to rank 0's, reports twice a second which op each lane is in. A
 * connection that closes is a rank whose process has ended; one that is silent, a rank that is
 * stopped or cut off; an op that lasts longer than any may, a rank that hangs. Rank 0 reports it to
 * the others; when rank 0 is lost itself, they find out alike.
 *
 * The first verdict is the only one: lost() is called once, on the watch's thread, which then does
 * nothing more. Whoever sets lost() ends the process. Lanes note their ops from any thread, one for
 * each lane at a time; the rest is called by one thread.
 */
#ifndef YK_COMM_WATCH_WATCH_H
#define YK_COMM_WATCH_WATCH_H

#include "comm/ranks.h"
#include "comm/watch/link.h"

struct yk_watch_verdict {
    int32_t rank;
    enum yk_watch_reason reason;
    double since_s;              /* how long it has been silent, or in the op; 0: just gone */
    int32_t lane;                /* whose op hangs; -1 otherwise */
    struct yk_watch_state state; /* the last that it reported */
};

struct yk_watch;

/* Times of 0 are the usual ones. */
struct yk_watch_options {
    double beat_s;    /* 0.5 */
    double silence_s; /* 30 */
    double op_s;      /* how long an op may take: 30, or five times the longest foreseen */
    void (*lost)(void *user, const struct yk_watch_verdict *verdict);
    /* Or NULL: called at every beat where lanes cannot note their ops themselves, to note them. On
     * a thread of its own: it may take long, and beats go on. */
    void (*inspect)(void *user, struct yk_watch *watch);
    void *user;
    const char *address; /* of rank 0's machine, where a launcher names it; may be NULL */
};

/* All ranks call it; they fail alike. */
yk_status yk_watch_open(const struct yk_ranks *ranks, const struct yk_watch_options *options,
                        struct yk_watch **out) YK_MUST_USE;

/* The same in two steps, for a rank that has the endpoint from elsewhere. It joins once rank 0's
 * links to all are there, and begins when all have joined: until then nobody is judged. */
yk_status yk_watch_join(int32_t rank, int32_t size, struct yk_watch_endpoint *endpoint,
                        const struct yk_watch_options *options, struct yk_watch **out) YK_MUST_USE;
yk_status yk_watch_begin(struct yk_watch *watch) YK_MUST_USE;

/* Says goodbye. Rank 0 goes on watching until all others have said it. NULL is fine, and so is one
 * that has not begun. */
void yk_watch_close(struct yk_watch *watch);

/* The lane is now in op `op`, or in none, and was in another one before, be it of the same number.
 * A store to memory; no watch, NULL, is fine. */
void yk_watch_note(struct yk_watch *watch, enum yk_watch_lane lane, int32_t op);

/* "has ended", "has not been heard of for 31 s", "has been in one op for 34 s". */
void yk_watch_describe(const struct yk_watch_verdict *verdict, struct yk_text *out);

/*
 * Which rank hangs, from what all report: states (size), of which those of `left` ranks do not
 * count. True when one hangs:
 *   - one whose computation or copy takes longer than `op_s`: the longest;
 *   - where an exchange takes longer, that is the fault of whoever is not in it. Somebody may still
 *     compute; once nobody has begun anything new for `op_s`, it is one that is in no exchange, and
 *     otherwise the one that came last, for which all others have waited longest.
 */
bool yk_watch_culprit_find(const struct yk_watch_state *states, const bool *left, int32_t size,
                           double op_s, struct yk_watch_verdict *out);

#endif
