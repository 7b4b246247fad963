#include "job/rank.h"

#include "base/arena.h"
#include "base/system.h"
#include "cluster/mpirun_output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    OWN_WORDS = 8, /* at most, besides variables and what the ranks get */
    RANKS_SIZE = 24,
};

/* mpirun while it runs. */
struct session {
    const struct yk_rank_launch_request *request;
    pid_t process;
    int errors;        /* its standard error, for reading */
    int signals;       /* a signalfd */
    int stop_requests; /* signals received so far */
    int last_signal;
    struct yk_mpirun_output_parser output; /* what mpirun itself prints, condensed */
};

static size_t count_strings(const char *const *words)
{
    size_t count = 0;
    while (words && words[count]) {
        count++;
    }
    return count;
}

/* mpirun's arguments and then those of the ranks. */
static yk_status make_arguments(const struct yk_rank_launch_request *request,
                                struct yk_arena *arena, const char ***out)
{
    const size_t count = count_strings((const char *const *)request->arguments);
    const size_t variables = count_strings(request->variables);
    const char **words = NULL;
    char *ranks = NULL;
    YK_TRY_NEW(arena, words, OWN_WORDS + 2 * variables + count + 1);
    YK_TRY_NEW(arena, ranks, RANKS_SIZE);
    snprintf(ranks, RANKS_SIZE, "%" PRId64, request->ranks);
    size_t used = 0;
    words[used++] = "mpirun";
    if (geteuid() == 0) {
        words[used++] = "--allow-run-as-root";
    }
    words[used++] = "--oversubscribe";
    words[used++] = "--bind-to"; /* ranks choose their cores themselves */
    words[used++] = "none";
    for (size_t i = 0; i < variables; i++) {
        words[used++] = "-x";
        words[used++] = request->variables[i];
    }
    words[used++] = "-n";
    words[used++] = ranks;
    words[used++] = request->program;
    memcpy(&words[used], request->arguments, count * sizeof *words);
    *out = words;
    return YK_OK;
}

/* In the new process; `failure` takes errno when mpirun cannot be started. It then ends by a
 * signal, so that nothing which this process registered to be done at its end is done twice. */
static void exec_mpirun(const char **words, int errors, int failure, const sigset_t *mask)
{
    /* Signals of the terminal go to a group; mpirun would end the ranks for them. */
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)dup2(errors, STDERR_FILENO);
    /* A process of the background that reads a terminal is stopped. */
    if (isatty(STDIN_FILENO)) {
        const int nothing = open("/dev/null", O_RDONLY);
        (void)dup2(nothing, STDIN_FILENO);
    }
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    (void)execvp(words[0], (char *const *)words);
    const int problem = errno;
    (void)!write(failure, &problem, sizeof problem);
    for (;;) {
        (void)kill(getpid(), SIGKILL);
    }
}

static yk_status fail_to_start(int problem)
{
    if (problem == ENOENT) {
        return yk_fail(YK_ERROR_SYSTEM,
                       "several ranks need mpirun, which is not installed; the package "
                       "openmpi-bin brings it");
    }
    return yk_fail(YK_ERROR_SYSTEM, "mpirun cannot be started: %s", strerror(problem));
}

static yk_status start_mpirun(struct session *session, const char **words, const sigset_t *mask)
{
    int errors[2];
    int failure[2];
    YK_TRY(yk_system_check_room_to_fork());
    if (pipe2(errors, O_CLOEXEC) != 0) {
        return fail_to_start(errno);
    }
    if (pipe2(failure, O_CLOEXEC) != 0) {
        (void)close(errors[0]);
        (void)close(errors[1]);
        return fail_to_start(errno);
    }
    const pid_t process = fork();
    if (process == 0) {
        exec_mpirun(words, errors[1], failure[1], mask);
    }
    int problem = process < 0 ? errno : 0;
    (void)close(errors[1]);
    (void)close(failure[1]);
    if (process > 0) {
        (void)setpgid(process, process);
        ssize_t got;
        do {
            got = read(failure[0], &problem, sizeof problem);
        } while (got < 0 && errno == EINTR);
    }
    (void)close(failure[0]);
    if (problem != 0) {
        (void)close(errors[0]);
        if (process > 0) {
            (void)waitpid(process, NULL, 0);
        }
        return fail_to_start(problem);
    }
    session->process = process;
    session->errors = errors[0];
    return YK_OK;
}

static void handle_signal(struct session *session)
{
    struct signalfd_siginfo info;
    if (read(session->signals, &info, sizeof info) != (ssize_t)sizeof info) {
        return;
    }
    session->stop_requests++;
    session->last_signal = (int)info.ssi_signo;
    /* A third signal kills mpirun, should it hang; its ranks then end as well. */
    (void)kill(session->process, session->stop_requests == 1   ? SIGUSR1
                                 : session->stop_requests == 2 ? SIGTERM
                                                               : SIGKILL);
}

static void forward_errors(const struct yk_rank_launch_request *request, struct yk_text *text)
{
    if (text->length > 0 && request->errors) {
        request->errors(request->user, text->bytes, text->length);
    }
    text->length = 0;
}

/* Forwards output until mpirun and all its children have closed standard error. */
static void forward_output(struct session *session)
{
    char bytes[4096];
    struct yk_text heard = {0};
    bool open = true;
    while (open) {
        struct pollfd files[] = {
            {.fd = session->errors, .events = POLLIN},
            {.fd = session->signals, .events = POLLIN},
        };
        if (poll(files, 2, -1) < 0 && errno != EINTR) {
            break;
        }
        if (files[1].revents) {
            handle_signal(session);
        }
        if (files[0].revents) {
            const ssize_t got = read(session->errors, bytes, sizeof bytes);
            open = got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
            yk_mpirun_output_parse(&session->output, bytes, got > 0 ? (size_t)got : 0, &heard);
            forward_errors(session->request, &heard);
        }
    }
    yk_mpirun_output_finish(&session->output, &heard);
    forward_errors(session->request, &heard);
    yk_text_free(&heard);
}

static struct yk_mpirun_exit_state wait_for_mpirun(const struct session *session)
{
    int ended = 0;
    while (waitpid(session->process, &ended, 0) < 0 && errno == EINTR) {
    }
    return (struct yk_mpirun_exit_state){
        .code = WIFEXITED(ended) ? WEXITSTATUS(ended) : 0,
        .signal = WIFSIGNALED(ended) ? WTERMSIG(ended) : 0,
        .stopped = session->stop_requests > 0,
    };
}

/* Runs mpirun to its end, while signals are blocked. */
static yk_status run_mpirun(struct session *session, const char **words, const sigset_t *before)
{
    YK_TRY(start_mpirun(session, words, before));
    forward_output(session);
    const struct yk_mpirun_exit_state end = wait_for_mpirun(session);
    (void)close(session->errors);
    return yk_mpirun_output_status_of_run(&session->output, &end);
}

static yk_status launch(const struct yk_rank_launch_request *request, struct yk_arena *arena,
                        struct yk_rank_launch_result *out)
{
    const char **words = NULL;
    YK_TRY(make_arguments(request, arena, &words));
    sigset_t set;
    sigset_t before;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &set, &before);
    struct session session = {.request = request, .signals = signalfd(-1, &set, SFD_CLOEXEC)};
    yk_status status =
        session.signals < 0 ? fail_to_start(errno) : run_mpirun(&session, words, &before);
    if (session.signals >= 0) {
        (void)close(session.signals);
    }
    out->signal = session.stop_requests > 1 ? session.last_signal : 0;
    yk_mpirun_output_free(&session.output);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

yk_status yk_rank_launch_run(const struct yk_rank_launch_request *request,
                             struct yk_rank_launch_result *out)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, launch(request, arena, out));
    return YK_OK;
}
