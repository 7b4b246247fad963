#include "cli/terminal_job.h"

#include "cli/interrupt.h"
#include "cli/terminal.h"

#include <unistd.h>

static void begin(void *user)
{
    (void)user;
    yk_terminal_progress_begin();
}

static void begin_search(void *user)
{
    (void)yk_terminal_job_watch_interrupt();
    begin(user);
}

static void begin_watched(void *user)
{
    (void)yk_terminal_job_watch_termination();
    begin(user);
}

static void end(void *user)
{
    (void)user;
    yk_terminal_progress_end();
}

static void line(void *user, const char *text, bool keep)
{
    (void)user;
    yk_terminal_line(text, keep);
}

static void failed(void *user, const char *sentence)
{
    (void)user;
    yk_terminal_progress_end();
    yk_terminal_print_error(sentence);
}

static void lost(void *user, const char *sentence)
{
    (void)user;
    yk_terminal_print_fatal(sentence);
}

/* Runs nothing that could wait for a lock of the thread that hangs. */
static void leave(void *user, yk_status status)
{
    (void)user;
    _exit((int)status);
}

static struct yk_job terminal = {
    .begin = begin,
    .progress = yk_terminal_progress,
    .end = end,
    .line = line,
    .failed = failed,
    .lost = lost,
    .leave = leave,
};

const struct yk_job *yk_terminal_job(void)
{
    terminal.stop = yk_terminal_job_watch_interrupt();
    return &terminal;
}

const struct yk_job *yk_terminal_job_termination(void)
{
    terminal.stop = yk_terminal_job_watch_termination();
    return &terminal;
}

const struct yk_job *yk_terminal_job_search(void)
{
    terminal.begin = begin_search;
    terminal.stop = yk_terminal_job_stop_flag();
    return &terminal;
}

const struct yk_job *yk_terminal_job_ranks(void)
{
    terminal.begin = begin_watched;
    terminal.stop = yk_terminal_job_stop_flag();
    return &terminal;
}

const struct yk_job *yk_terminal_job_unwatched(void)
{
    return &terminal;
}
