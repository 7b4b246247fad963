#include "milp/subprocess.h"

#include "base/clock.h"
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    POLL_MS = 10, /* between checks of the clock and the stop flag */
    PIPE_END = STDERR_FILENO + 1,
};

void *yk_subprocess_allocate_shared(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void yk_subprocess_free_shared(void *memory, size_t bytes)
{
    if (memory) {
        (void)munmap(memory, bytes);
    }
}

/* Closes inherited sockets and locked files, which would otherwise stay open with the child. */
static void close_all_but(int descriptor)
{
    if (descriptor != PIPE_END) {
        (void)dup2(descriptor, PIPE_END);
    }
#ifdef SYS_close_range
    (void)syscall(SYS_close_range, PIPE_END + 1U, ~0U, 0U);
#endif
}

/* Signals stay blocked in the child. Those that cannot be blocked get their default action instead
 * of the parent's handlers. */
static void reset_handlers(void)
{
    static const int unmaskable[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    for (size_t i = 0; i < sizeof unmaskable / sizeof unmaskable[0]; i++) {
        (void)sigaction(unmaskable[i], &usual, NULL);
    }
}

/*
 * The child: prints nothing, ignores signals and dies with its parent. It writes one byte into the
 * pipe when the function has returned. It kills itself, so that exit handlers of the parent do not
 * run twice.
 */
static void run_child(void (*function)(void *data), void *data, int pipe_end)
{
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    reset_handlers();
    for (int i = STDIN_FILENO; nowhere >= 0 && i <= STDERR_FILENO; i++) {
        (void)dup2(nowhere, i);
    }
    close_all_but(pipe_end);
    function(data);
    (void)!write(PIPE_END, "", 1);
    for (;;) {
        (void)kill(getpid(), SIGKILL);
    }
}

/* Waits for the byte, or for the end of the child, which closes the pipe. */
static bool wait_for(pid_t child, int pipe_end, const struct yk_subprocess_limits *limits)
{
    struct pollfd watched = {.fd = pipe_end, .events = POLLIN};
    double end_s = limits->end_s;
    char byte = 0;
    while (poll(&watched, 1, POLL_MS) <= 0) {
        const double now_s = yk_clock_now_s();
        const bool stopped = limits->stop && atomic_load(limits->stop);
        if ((stopped || now_s >= end_s) && !atomic_load(limits->stop_requested)) {
            atomic_store(limits->stop_requested, true);
            end_s = now_s;
        }
        if (atomic_load(limits->stop_requested) && now_s >= end_s + limits->grace_s) {
            (void)kill(child, SIGKILL);
            return false;
        }
    }
    return read(pipe_end, &byte, 1) == 1;
}

static pid_t fork_with_signals_blocked(void)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t child = fork();
    if (child != 0) {
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    return child;
}

yk_status yk_subprocess_run_function(void (*function)(void *data), void *data,
                                     const struct yk_subprocess_limits *limits, bool *out_returned)
{
    int ends[2];
    YK_TRY(yk_system_check_room_to_fork());
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return yk_fail(YK_ERROR_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    }
    const pid_t child = fork_with_signals_blocked();
    if (child == 0) {
        run_child(function, data, ends[1]);
    }
    (void)close(ends[1]);
    if (child < 0) {
        (void)close(ends[0]);
        return yk_fail(YK_ERROR_SYSTEM, "cannot start a process: %s", strerror(errno));
    }
    const bool returned = wait_for(child, ends[0], limits);
    (void)close(ends[0]);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    *out_returned = returned;
    return YK_OK;
}
