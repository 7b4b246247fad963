#include "comm/watch/inspector.h"

#include "base/clock.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const double blind_beats = 4; /* after which a look that has not ended tells nothing */

bool yk_watch_start_thread(pthread_t *thread, const char *name, void *(*run)(void *),
                           void *argument)
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

static void *run_looks(void *argument)
{
    struct yk_watch_inspector *look = argument;
    struct pollfd poller = {.fd = look->wake, .events = POLLIN};
    while (!atomic_load(&look->closing)) {
        atomic_store(&look->since_s, yk_clock_now_s());
        look->options->look(look->options->user, look->watch);
        atomic_store(&look->since_s, 0);
        (void)poll(&poller, 1, (int)(look->options->beat_s * 1e3) + 1);
    }
    return NULL;
}

bool yk_watch_inspector_start(struct yk_watch_inspector *look,
                              const struct yk_watch_options *options, struct yk_watch *watch)
{
    *look = (struct yk_watch_inspector){.options = options, .watch = watch, .wake = -1};
    if (!options->look) {
        return true;
    }
    look->wake = eventfd(0, EFD_CLOEXEC);
    look->runs = look->wake >= 0 && yk_watch_start_thread(&look->thread, "look", run_looks, look);
    if (!look->runs && look->wake >= 0) {
        (void)close(look->wake);
    }
    return look->runs;
}

void yk_watch_inspector_stop(struct yk_watch_inspector *look)
{
    const uint64_t one = 1;
    if (look->runs) {
        atomic_store(&look->closing, true);
        (void)!write(look->wake, &one, sizeof one);
        (void)pthread_join(look->thread, NULL);
        (void)close(look->wake);
        look->runs = false;
    }
}

bool yk_watch_inspector_is_stuck(const struct yk_watch_inspector *look, double now_s)
{
    const double since_s = atomic_load(&look->since_s);
    return since_s > 0 && now_s - since_s > blind_beats * look->options->beat_s;
}
