#include "cli/commands/launch.h"

#include "base/arena.h"
#include "base/file.h"
#include "cli/terminal.h"
#include "job/rank.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PATH_SIZE = 4096
};

yk_status yk_command_launch_detect_rank(const struct yk_rank_options *place, int64_t ranks,
                                        struct yk_launcher *out, bool *launches)
{
    YK_TRY(yk_rank_detect(place, out));
    if (out->size > 1) {
        yk_terminal_set_rank(out->rank);
    }
    return yk_rank_must_start_ranks(out, ranks, launches);
}

/* Ranks cannot detect the terminal themselves, because mpirun gives them pseudo-terminals. */
static void export_terminal(void)
{
    char words[32];
    snprintf(words, sizeof words, "%d,%d", yk_terminal_descriptor_columns(STDOUT_FILENO),
             yk_terminal_descriptor_columns(STDERR_FILENO));
    (void)setenv(YK_TERMINAL_COLUMNS_ENVIRONMENT_VARIABLE, words, 1);
}

static void print_errors(void *user, const char *bytes, size_t length)
{
    (void)user;
    (void)fwrite(bytes, 1, length, stderr);
    (void)fflush(stderr);
}

/* As any program would end by a second signal. */
static void end_by_signal(int number)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    (void)signal(number, SIG_DFL);
    (void)sigprocmask(SIG_UNBLOCK, &one, NULL);
    (void)raise(number);
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

static yk_status launch(int64_t ranks, struct yk_arena *arena, struct yk_text *line)
{
    char program[PATH_SIZE];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) {
        return yk_fail(YK_ERROR_SYSTEM, "this program cannot find itself in /proc: %s",
                       strerror(errno));
    }
    program[length] = '\0';
    char **words = NULL;
    YK_TRY(yk_file_read_document("/proc/self/cmdline", line));
    YK_TRY(split_words(line, arena, &words));
    const struct yk_rank_launch_request request = {
        .ranks = ranks,
        .program = program,
        .arguments = words,
        .variables = (const char *[]){YK_TERMINAL_COLUMNS_ENVIRONMENT_VARIABLE, NULL},
        .errors = print_errors,
    };
    struct yk_rank_launch_result result = {0};
    export_terminal();
    const yk_status status = yk_rank_launch_run(&request, &result);
    if (result.signal != 0) {
        end_by_signal(result.signal);
    }
    return status;
}

yk_status yk_command_launch_ranks_and_wait(int64_t ranks)
{
    struct yk_arena *arena = NULL;
    struct yk_text line = {0};
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = launch(ranks, arena, &line);
    yk_text_free(&line);
    yk_arena_destroy(arena);
    return status;
}
