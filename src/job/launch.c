#include "job/launch.h"

#include "base/arena.h"
#include "base/file.h"
#include "cli/terminal.h"
#include "cluster/mpirun.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    OWN_WORDS = 10, /* at most, before those of the ranks */
    RANKS_SIZE = 24,
    PATH_SIZE = 4096
};

/* mpirun while it runs. */
struct session {
    pid_t process;
    int errors;    /* its standard error, for reading */
    int signals;   /* a signalfd */
    int asked;     /* how often the ranks were asked to stop */
    int last_sign; /* the signal that asked last */
    struct yk_mpirun_talk talk;
};

yk_status yk_launch_find(const struct yk_launch_words *words, struct yk_launcher *out)
{
    const bool some = words->rank >= 0 || words->world > 0 || words->master;
    if (!some) {
        return yk_launcher_find(out);
    }
    if (words->rank < 0 || words->world == 0 || !words->master) {
        return yk_fail(YK_ERROR_USAGE,
                       "--rank, --world and --master go together, as in --rank 1 --world 3 "
                       "--master node1:29500; --%s is missing",
                       words->rank < 0     ? "rank"
                       : words->world == 0 ? "world"
                                           : "master");
    }
    struct yk_launcher started;
    if (yk_launcher_find(&started) == YK_OK && started.size > 1 && !started.meets) {
        return yk_fail(YK_ERROR_USAGE,
                       "--rank is for processes that were started by hand, but %s started these; "
                       "leave --rank, --world and --master out",
                       started.name);
    }
    YK_TRY(yk_launcher_by_hand(words->rank, words->world, words->master, out));
    if (out->size > 1) {
        yk_terminal_speak_as(out->rank);
    }
    return YK_OK;
}

yk_status yk_launch_decide(const struct yk_launcher *launcher, int64_t ranks, bool *out)
{
    if (launcher->name && strcmp(launcher->name, "hand") == 0 && ranks > 0) {
        return yk_fail(YK_ERROR_USAGE, "--ranks starts processes here, and --rank is one that was "
                                       "started by hand; leave one of them out");
    }
    if (launcher->name && ranks > 0 && launcher->size != ranks) {
        return yk_fail(
            YK_ERROR_USAGE, "--ranks %" PRId64 ", but %s started %" PRId32 "; leave --ranks out",
            ranks, strcmp(launcher->name, "env") == 0 ? "whoever set WORLD_SIZE" : launcher->name,
            launcher->size);
    }
    *out = !launcher->name && ranks > 1;
    return YK_OK;
}

/* mpirun must not tell terminals from files for the ranks: it has pseudo-terminals of its own. */
static void tell_terminals(void)
{
    char words[32];
    snprintf(words, sizeof words, "%d,%d", yk_terminal_columns(STDOUT_FILENO),
             yk_terminal_columns(STDERR_FILENO));
    (void)setenv(YK_TERMINAL_VARIABLE, words, 1);
}

/* mpirun's words and then those of the ranks. */
static yk_status make_words(const struct yk_launch_request *request, struct yk_arena *arena,
                            const char ***out)
{
    size_t count = 0;
    while (request->words[count]) {
        count++;
    }
    const char **words = NULL;
    char *ranks = NULL;
    YK_TRY_NEW(arena, words, OWN_WORDS + count + 1);
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
    words[used++] = "-x";
    words[used++] = YK_TERMINAL_VARIABLE;
    words[used++] = "-n";
    words[used++] = ranks;
    words[used++] = request->program;
    memcpy(&words[used], request->words, count * sizeof *words);
    *out = words;
    return YK_OK;
}

/* In the new process; `failure` takes errno when mpirun cannot be started. */
static void become_mpirun(const char **words, int errors, int failure, const sigset_t *mask)
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
    ssize_t written = write(failure, &problem, sizeof problem);
    (void)written;
    _exit(127);
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

static yk_status start(struct session *session, const char **words, const sigset_t *mask)
{
    int errors[2];
    int failure[2];
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
        become_mpirun(words, errors[1], failure[1], mask);
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

static void take_signal(struct session *session)
{
    struct signalfd_siginfo info;
    if (read(session->signals, &info, sizeof info) != (ssize_t)sizeof info) {
        return;
    }
    session->asked++;
    session->last_sign = (int)info.ssi_signo;
    /* Should mpirun itself hang, a third one ends it, and ranks that lose it end, too. */
    (void)kill(session->process, session->asked == 1   ? SIGUSR1
                                 : session->asked == 2 ? SIGTERM
                                                       : SIGKILL);
}

static void pass_on(struct yk_text *text)
{
    if (text->length > 0) {
        (void)fwrite(text->bytes, 1, text->length, stderr);
        (void)fflush(stderr);
    }
    text->length = 0;
}

/* Until mpirun and all that it started have closed its standard error. */
static void listen_to(struct session *session)
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
            take_signal(session);
        }
        if (files[0].revents) {
            const ssize_t got = read(session->errors, bytes, sizeof bytes);
            open = got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
            yk_mpirun_hear(&session->talk, bytes, got > 0 ? (size_t)got : 0, &heard);
            pass_on(&heard);
        }
    }
    yk_mpirun_hear_end(&session->talk, &heard);
    pass_on(&heard);
    yk_text_free(&heard);
}

static struct yk_mpirun_end wait_for(const struct session *session)
{
    int ended = 0;
    while (waitpid(session->process, &ended, 0) < 0 && errno == EINTR) {
    }
    return (struct yk_mpirun_end){
        .code = WIFEXITED(ended) ? WEXITSTATUS(ended) : 0,
        .signal = WIFSIGNALED(ended) ? WTERMSIG(ended) : 0,
        .stopped = session->asked > 0,
    };
}

/* Ended by a second signal, as any program would be. */
static void end_by_signal(const struct session *session)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, session->last_sign);
    (void)signal(session->last_sign, SIG_DFL);
    (void)sigprocmask(SIG_UNBLOCK, &one, NULL);
    (void)raise(session->last_sign);
}

/* From the moment that signals are held back until mpirun has ended. */
static yk_status attend(struct session *session, const char **words, const sigset_t *before)
{
    YK_TRY(start(session, words, before));
    listen_to(session);
    const struct yk_mpirun_end end = wait_for(session);
    (void)close(session->errors);
    if (session->asked > 1) {
        end_by_signal(session);
    }
    return yk_mpirun_judge(&session->talk, &end);
}

static yk_status launch(const struct yk_launch_request *request, struct yk_arena *arena)
{
    const char **words = NULL;
    YK_TRY(make_words(request, arena, &words));
    tell_terminals();
    sigset_t set;
    sigset_t before;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &set, &before);
    struct session session = {.signals = signalfd(-1, &set, SFD_CLOEXEC)};
    yk_status status =
        session.signals < 0 ? fail_to_start(errno) : attend(&session, words, &before);
    if (session.signals >= 0) {
        (void)close(session.signals);
    }
    yk_mpirun_talk_free(&session.talk);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

yk_status yk_launch_ranks(const struct yk_launch_request *request)
{
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = launch(request, arena);
    yk_arena_destroy(arena);
    return status;
}

/* The words of this process after its name, each ended by a zero byte in `line`. */
static yk_status split_words(const struct yk_text *line, struct yk_arena *arena, char ***out)
{
    size_t count = 0;
    for (size_t i = 0; i < line->length; i++) {
        count += line->bytes[i] == '\0' ? 1 : 0;
    }
    YK_TRY_NEW(arena, *out, count + 1);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            (*out)[i - 1] = line->bytes + at;
        }
        at += strlen(line->bytes + at) + 1;
    }
    return YK_OK;
}

static yk_status launch_again(int64_t ranks, struct yk_arena *arena, struct yk_text *line)
{
    char program[PATH_SIZE];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) {
        return yk_fail(YK_ERROR_SYSTEM, "this program cannot find itself in /proc: %s",
                       strerror(errno));
    }
    program[length] = '\0';
    char **words = NULL;
    YK_TRY(yk_file_read("/proc/self/cmdline", line));
    YK_TRY(split_words(line, arena, &words));
    const struct yk_launch_request request = {.ranks = ranks, .program = program, .words = words};
    return yk_launch_ranks(&request);
}

yk_status yk_launch_again(int64_t ranks)
{
    struct yk_arena *arena = NULL;
    struct yk_text line = {0};
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = launch_again(ranks, arena, &line);
    yk_text_free(&line);
    yk_arena_destroy(arena);
    return status;
}
