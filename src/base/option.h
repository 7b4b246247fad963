/*
 * Option: one named member of a request, as a row of a table: its name, what it may be, and where
 * in the request's record its value goes.
 *
 * One table serves the command line with its help, files of options (base/option.h), and
 * programs that set members by name. Sentences name an option as people type it: --name. Any
 * thread.
 */
#ifndef YK_BASE_OPTION_H
#define YK_BASE_OPTION_H

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "base/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kind of an option is also the type of its field. */
enum yk_option_kind {
    YK_OPTION_FLAG,    /* bool; takes no value */
    YK_OPTION_TEXT,    /* const char * */
    YK_OPTION_FILE,    /* const char *, a file to write */
    YK_OPTION_INPUT,   /* const char *, a file to read */
    YK_OPTION_CHOICE,  /* const char *, one of the row's choices */
    YK_OPTION_INTEGER, /* int64_t, from `min` to `max` */
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

/* The same from a list. In a function of that type whose list is an array, YK_CHOICE_AT(array). */
bool yk_option_choice_at(const struct yk_choice *choices, size_t count, size_t number,
                         struct yk_choice *out);
#define YK_CHOICE_AT(choices_)                                                                     \
    yk_option_choice_at((choices_), sizeof(choices_) / sizeof((choices_)[0]), number, out)

struct yk_option {
    const char *name;        /* without the dashes */
    const char *placeholder; /* what the help calls the value; NULL for a flag */
    const char *help;        /* a sentence without its full stop */
    const char *group;       /* the heading it stands under; NULL: the one before */
    const char *rival;       /* says the same in another way: the later source wins; or NULL */
    const char *preset;      /* the value when it is not given, as a user would write it, or NULL */
    enum yk_option_kind kind;
    enum yk_unit unit; /* of kind UNIT */
    char letter;       /* after one dash, for the few that everybody abbreviates; or 0 */
    bool zero;         /* of kinds UNIT, SECONDS, NUMBER and PERCENT: 0 is allowed, not only more */
    bool below;        /* of kinds NUMBER and PERCENT: `ceiling` itself is not allowed */
    bool momentary;    /* says how to run once: not among the options that are kept */
    double ceiling;    /* of kinds NUMBER and PERCENT, of 1: the most there may be; 0: no end */
    int64_t min;       /* of kind INTEGER */
    int64_t max;       /* of kind INTEGER */
    int64_t missing;   /* of kind INTEGER: the field where it is neither given nor preset */
    yk_choices choices; /* of kind CHOICE */
    size_t offset;      /* of the field in the command's arguments */
};

/* Words in the order they were given. */
struct yk_option_strings {
    const char **items;
    int32_t count;
};

/* The options of a request. */
struct yk_option_table {
    const struct yk_option *rows;
    size_t count;
};

/*
 * Parts of a row, which is one or two lines with them:
 *
 *   {YK_ROW("batch", "N", GROUP, "Samples in a batch"), YK_INTEGER(1, MOST, "1"), TO(batch)},
 *
 * where the file has #define TO(member) YK_TO(struct request, member). A placeholder of NULL goes
 * with a flag, a group of NULL with the one before. NULL as a preset: none.
 */
#define YK_ROW(name_, placeholder_, group_, help_)                                                 \
    .name = (name_), .placeholder = (placeholder_), .group = (group_), .help = (help_)
#define YK_FLAG .kind = YK_OPTION_FLAG
#define YK_TEXT(preset_) .kind = YK_OPTION_TEXT, .preset = (preset_)
#define YK_INPUT .kind = YK_OPTION_INPUT
#define YK_FILE .kind = YK_OPTION_FILE
#define YK_CHOICE(choices_, preset_)                                                               \
    .kind = YK_OPTION_CHOICE, .choices = (choices_), .preset = (preset_)
#define YK_INTEGER(min_, max_, preset_)                                                            \
    .kind = YK_OPTION_INTEGER, .min = (min_), .max = (max_), .preset = (preset_)
#define YK_NUMBER(preset_) .kind = YK_OPTION_NUMBER, .preset = (preset_)
#define YK_SECONDS(preset_) .kind = YK_OPTION_SECONDS, .preset = (preset_)
#define YK_PERCENT(ceiling_, preset_)                                                              \
    .kind = YK_OPTION_PERCENT, .ceiling = (ceiling_), .preset = (preset_)
#define YK_BYTES .kind = YK_OPTION_UNIT, .unit = YK_UNIT_BYTES
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type and a member cannot stand in them */
#define YK_TO(type_, member_) .offset = offsetof(type_, member_)
/* What a table of rows is to a record with members `options` and `option_count`. */
#define YK_OPTIONS(rows_) .options = (rows_), .option_count = sizeof(rows_) / sizeof((rows_)[0])

/* The choice whose name is nearest to `word`, or the only one that begins with it; NULL: none. */
const char *yk_option_nearest_choice(const char *word, yk_choices choices);

/* The same of any names. */
const char *yk_option_nearest(const char *word, const char *const *names, size_t count);

/* The field as it is where the option is neither given nor preset. */
void yk_option_clear(const struct yk_option *option, void *arguments);

/* Checks `word` and stores what it means; of a flag, it may be NULL. Texts are kept as they are. */
yk_status yk_option_store(const struct yk_option *option, const char *word, struct yk_arena *arena,
                          void *arguments) YK_MUST_USE;

/* Refuses a word that is none of the choices, offering the nearest; `label` is what it is for. */
yk_status yk_option_check_choice(const char *label, const char *word,
                                 yk_choices choices) YK_MUST_USE;

/* The row of that name, or NULL. */
const struct yk_option *yk_option_find(const struct yk_option_table *table, const char *name);

/* Stores what every row says where nothing is given: its preset, or the field's empty value. */
yk_status yk_option_store_presets(const struct yk_option_table *table, struct yk_arena *arena,
                                  void *arguments) YK_MUST_USE;

/*
 * Option sources: values of options from files. They override the presets, and options on the
 * command line override them.
 *
 * A source is a JSON object whose members are called like the options, without dashes in front:
 * {"batch": 16, "data-part": "40%", "nf4": true}. Values are what one would type, as strings or
 * numbers; flags are true or false. Of two sources with the same option the later wins, and the
 * command line wins over all. The same holds for two options that exclude each other (rivals): the
 * later one replaces the earlier.
 */
enum {
    YK_OPTION_SOURCES_MAX = 3
};

struct yk_option_source {
    const char *name; /* begins every message */
    const char *json;
};

struct yk_option_sources {
    struct yk_option_source items[YK_OPTION_SOURCES_MAX];
    size_t count;
};

/* Stores what the source says. A name that is no option is an error that suggests the nearest one.
 */
yk_status yk_option_source_apply(const struct yk_option_table *table,
                                 const struct yk_option_source *source, struct yk_arena *arena,
                                 void *arguments) YK_MUST_USE;

/* Stores the preset of every row, then what the sources say. */
yk_status yk_option_sources_apply(const struct yk_option_table *table,
                                  const struct yk_option_sources *sources, struct yk_arena *arena,
                                  void *arguments) YK_MUST_USE;

/* yk_option_store() after the sources have been applied; a rival option's value is cleared. */
yk_status yk_option_sources_store(const struct yk_option_table *table,
                                  const struct yk_option *option, const char *word,
                                  struct yk_arena *arena, void *arguments) YK_MUST_USE;

/* The options as a source that reads back the same: {"yoke":1,"kind":"run",…}, one member a
 * line, without options that were not given and those that are for this call only (momentary). */
yk_status yk_option_source_write(const struct yk_option_table *table, const void *arguments,
                                 struct yk_text *out) YK_MUST_USE;

/* Adds a member's value as one would type it; false: no option can have a value of this type. */
bool yk_option_source_value(const struct yk_json *value, struct yk_text *out);

#endif
