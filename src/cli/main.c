#include "base/arena.h"
#include "base/log.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/options/command.h"
#include "cli/options/help_page.h"
#include "cli/terminal.h"
#include "job/rank.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* --quiet means the same to all commands that have it. */
static bool is_quiet(const struct yk_command *command, const void *arguments)
{
    const struct yk_option *quiet = yk_option_find(command->options, "quiet");
    return quiet && *(const bool *)((const char *)arguments + quiet->offset);
}

static yk_status run_command(const struct yk_command *command, char *const *words, int count,
                             struct yk_text *out)
{
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    bool help = false;
    void *arguments = yk_arena_allocate(arena, 1, command->arguments_size);
    yk_status status = arguments ? YK_OK : yk_fail_out_of_memory();
    YK_IF_OK(yk_options_parse(command, words, count, arena, arguments, &help));
    if (status == YK_OK && is_quiet(command, arguments)) {
        yk_terminal_set_quiet();
    }
    YK_IF_OK(help ? yk_help_page_write(command, yk_terminal_output_columns(), out)
                  : command->run(arguments, out));
    yk_arena_destroy(arena);
    return status;
}

static yk_status fail_unknown_command(const char *word)
{
    const char *meant = yk_option_suggest_choice(word, yk_command_get_verb_choice);
    return yk_fail(YK_ERROR_USAGE,
                   meant ? "there is no command \"%s\"; did you mean \"%s\"?"
                         : "there is no command \"%s\"; yoke --help lists them",
                   word, meant);
}

static yk_status run(int count, char *const *words, struct yk_text *out)
{
    if (words[0][0] == '-') {
        return run_command(yk_command_get_table()->root, words, count, out);
    }
    const struct yk_command *command = yk_command_find_by_name(words[0]);
    if (!command) {
        return fail_unknown_command(words[0]);
    }
    if (command->by_ranks) {
        struct yk_launcher launcher;
        /* What is wrong with the environment the command says, if its words do not mend it. */
        const struct yk_rank_options none = {.rank = -1};
        if (yk_rank_detect(&none, &launcher) == YK_OK && launcher.size > 1) {
            yk_terminal_set_rank(launcher.rank);
        }
    }
    return run_command(command, words + 1, count - 1, out);
}

static yk_status show_short_help(void)
{
    struct yk_text help = {0};
    if (yk_help_page_write_overview(yk_terminal_output_columns(), &help) == YK_OK) {
        (void)fputs(yk_text_chars(&help), stderr);
    }
    yk_text_free(&help);
    return YK_ERROR_USAGE;
}

static bool has_limited_space(void)
{
    struct rlimit space;
    return getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
}

/* glibc reserves 64 MiB of address space for each thread that allocates: where that is limited, all
 * share what the first has. */
static void prepare_memory(void)
{
#ifdef M_ARENA_MAX
    if (has_limited_space()) {
        (void)mallopt(M_ARENA_MAX, 1);
    }
#endif
}

/* OpenBLAS waits for threads of its own when the program ends, and one that asks for memory in vain
 * asks for ever: where the address space is limited, nothing of that kind is waited for. */
static int leave(yk_status status)
{
    if (has_limited_space()) {
        (void)fflush(NULL);
        _exit((int)status);
    }
    return (int)status;
}

int main(int argc, char **argv)
{
    prepare_memory();
    yk_terminal_protect_standard_streams();
    yk_command_register_table(&yk_all_commands);
    yk_log_set_sink(yk_terminal_print_log_line, NULL);
    if (argc < 2) {
        return (int)show_short_help();
    }
    struct yk_text out = {0};
    yk_status status = run(argc - 1, argv + 1, &out);
    struct yk_text sentence = {0};
    yk_text_add(&sentence, status == YK_OK ? "" : yk_status_message());
    /* YK_ERROR_NO_FIT has a result, too: print it before the message. */
    if (status == YK_OK || (status == YK_ERROR_NO_FIT && out.length > 0)) {
        const yk_status printed = yk_terminal_print_result(&out);
        if (printed != YK_OK) {
            status = printed;
            sentence.length = 0;
            yk_text_add(&sentence, yk_status_message());
        }
    }
    /* Ranks stop together, so one of them says it. */
    if (sentence.length > 0 && (status != YK_ERROR_STOPPED || yk_terminal_is_main_rank())) {
        yk_terminal_print_error(sentence.bytes);
    }
    yk_text_free(&sentence);
    yk_text_free(&out);
    return leave(status);
}
