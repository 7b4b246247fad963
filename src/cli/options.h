/*
 * Options: the words a command understands, as rows of a table.
 *
 * One table serves the parser, the help, the man page and the shell completions, so they cannot
 * disagree. A row says where in the command's own struct of arguments its value goes; the kind says
 * what type is there. Tables are constant and may be read by any thread.
 */
#ifndef YK_CLI_OPTIONS_H
#define YK_CLI_OPTIONS_H

#include "base/arena.h"
#include "base/status.h"
#include "base/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_command;

/* The kind of an option is also the type of its field. */
enum yk_option_kind {
    YK_OPTION_FLAG,    /* bool; takes no value */
    YK_OPTION_TEXT,    /* const char * */
    YK_OPTION_FILE,    /* const char *, a file to write */
    YK_OPTION_INPUT,   /* const char *, a file to read */
    YK_OPTION_CHOICE,  /* const char *, one of the row's choices */
    YK_OPTION_INTEGER, /* int64_t, from `least` to `most` */
    YK_OPTION_UNIT,    /* double, an amount of the row's unit */
    YK_OPTION_SECONDS, /* double, a time: seconds, or a number with its unit */
    YK_OPTION_FACTOR,  /* double, a number of 1 or more */
    YK_OPTION_NUMBER,  /* double, a number above 0; NAN where it is neither given nor preset */
    YK_OPTION_PERCENT, /* double, the part of 1 that "40%" is; the same */
    YK_OPTION_LIST,    /* struct yk_option_list, positive numbers with commas between them */
};

struct yk_option_list {
    double *values;
    int32_t count;
};

struct yk_choice {
    const char *name;
    const char *summary; /* NULL when the name says it all */
};

/* Gives the choice of that number; false past the last one. */
typedef bool (*yk_choices)(size_t number, struct yk_choice *out);

struct yk_option {
    const char *name;        /* without the dashes */
    const char *placeholder; /* what the help calls the value; NULL for a flag */
    const char *help;        /* a sentence without its full stop */
    const char *group;       /* the heading it stands under; NULL: the one before */
    const char *rival;       /* says the same in another way: the later layer wins; or NULL */
    const char *preset;      /* the value when it is not given, as a user would write it, or NULL */
    enum yk_option_kind kind;
    enum yk_unit unit; /* of kind UNIT */
    char letter;       /* after one dash, for the few that everybody abbreviates; or 0 */
    bool zero;         /* of kinds UNIT, SECONDS, NUMBER and PERCENT: 0 is allowed, not only more */
    bool below;        /* of kinds NUMBER and PERCENT: `ceiling` itself is not allowed */
    bool momentary;    /* says how to run once: not among the settings that are kept */
    double ceiling;    /* of kinds NUMBER and PERCENT, of 1: the most there may be; 0: no end */
    int64_t least;     /* of kind INTEGER */
    int64_t most;      /* of kind INTEGER */
    int64_t missing;   /* of kind INTEGER: the field where it is neither given nor preset */
    yk_choices choices; /* of kind CHOICE */
    size_t offset;      /* of the field in the command's arguments */
};

/* Whether the value is a file, for completion. */
bool yk_option_is_file(const struct yk_option *option);

/* Words in the order they were given. */
struct yk_option_words {
    const char **items;
    int32_t count;
};

/* A word without dashes. Its field is a const char *, or of many a struct yk_option_words. */
struct yk_operand {
    const char *placeholder;
    const char *help;
    bool required;
    bool many;          /* any number of words; only the last operand */
    yk_choices choices; /* NULL: the operand is a file */
    size_t offset;
};

/* The options of a command, in order, and at last --help, which all have; NULL past the end. */
const struct yk_option *yk_options_at(const struct yk_command *command, size_t number);

/*
 * Reads `words` into `arguments`, the zeroed struct of the command; presets come first, then the
 * command's layers (cli/option_layers.h). With --help among the words, `*help` is set and nothing
 * else is checked. Lists live in `arena`, texts are the words themselves.
 */
yk_status yk_options_parse(const struct yk_command *command, char *const *words, int count,
                           struct yk_arena *arena, void *arguments, bool *help) YK_MUST_USE;

#endif
