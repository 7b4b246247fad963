/*
 * Search: the words of the command line that say how long to search. Commands that search have a
 * `struct yk_search_words` among their arguments and the rows YK_SEARCH_OPTIONS in their table.
 */
#ifndef YK_CLI_COMMANDS_SEARCH_H
#define YK_CLI_COMMANDS_SEARCH_H

#include "cli/options/options.h"
#include "sched/scheduler.h"

#include <stddef.h>
#include <stdint.h>

struct yk_search_words {
    double budget_s;
    int64_t moves;
    int64_t seed;
};

/* What the words mean, with the progress line and Ctrl-C of the terminal. */
struct yk_scheduler_options yk_search_options(const struct yk_search_words *words);

/* Notes that Ctrl-C ended the search, if it did. */
void yk_search_note_interruption(const struct yk_scheduler_options *options);

#define YK_SEARCH_GROUP "Search options"

/* Rows of an options table; `type` is the command's arguments, `field` the words among them: a type
 * and a member cannot stand in parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
/* clang-format off */
#define YK_SEARCH_OPTIONS(type, field, seconds, budget_help, moves_help)                           \
    {                                                                                              \
        .name = "budget",                                                                          \
        .placeholder = "SECONDS",                                                                  \
        .help = budget_help,                                                                       \
        .group = YK_SEARCH_GROUP,                                                                  \
        .preset = (seconds),                                                                       \
        .kind = YK_OPTION_SECONDS,                                                                 \
        .offset = offsetof(type, field.budget_s),                                                  \
    },                                                                                             \
    {                                                                                              \
        .name = "moves",                                                                           \
        .placeholder = "N",                                                                        \
        .help = moves_help,                                                                        \
        .group = YK_SEARCH_GROUP,                                                                  \
        .kind = YK_OPTION_INTEGER,                                                                 \
        .least = 1,                                                                                \
        .most = INT64_MAX,                                                                         \
        .offset = offsetof(type, field.moves),                                                     \
    },                                                                                             \
    {                                                                                              \
        .name = "seed",                                                                            \
        .placeholder = "N",                                                                        \
        .help = "Seed of the search's random numbers",                                             \
        .group = YK_SEARCH_GROUP,                                                                  \
        .preset = "1",                                                                             \
        .kind = YK_OPTION_INTEGER,                                                                 \
        .most = INT64_MAX,                                                                         \
        .offset = offsetof(type, field.seed),                                                      \
    }
/* clang-format on */
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
