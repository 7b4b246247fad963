/*
 * Watch look: the thread of the watch that asks what lanes are in, where they cannot tell
 * themselves. It may be stuck in an answer without the watch being so.
 */
#ifndef YK_COMM_WATCH_INSPECTOR_H
#define YK_COMM_WATCH_INSPECTOR_H

#include "comm/watch/watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct yk_watch_inspector {
    const struct yk_watch_options *options;
    struct yk_watch *watch;
    pthread_t thread;
    bool runs;
    int wake; /* an eventfd */
    atomic_bool closing;
    _Atomic double since_s; /* the clock when a look began that has not ended; 0: none */
};

/* Starts a thread that no signal is for; false where the system refuses it. */
bool yk_watch_start_thread(pthread_t *thread, const char *name, void *(*run)(void *),
                           void *argument);

/* Nothing to do where the options have no look(). They must stay where they are. */
bool yk_watch_inspector_start(struct yk_watch_inspector *look,
                              const struct yk_watch_options *options, struct yk_watch *watch);
/* What was never started may end. */
void yk_watch_inspector_stop(struct yk_watch_inspector *look);

/* Whether what was noted last is too old to tell anything. */
bool yk_watch_inspector_is_stuck(const struct yk_watch_inspector *look, double now_s);

#endif
