/*
 * Option: a named parameter of a request, as a row of a table: its name, its type, and the member
 * of the request that stores it.
 *
 * The same table serves the command line, its help, files of options (option sources, below), and
 * programs that set options by name. Messages write an option as users type it: --name. Any thread
 * may call these functions.
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

/* The kind of an option determines the type of its field. */
enum yk_option_kind {
    YK_OPTION_FLAG,        /* bool; the option takes no value */
    YK_OPTION_TEXT,        /* const char * */
    YK_OPTION_OUTPUT_FILE, /* const char *, a file to write */
    YK_OPTION_INPUT_FILE,  /* const char *, a file to read */
    YK_OPTION_CHOICE,      /* const char *, one of `choices` */
    YK_OPTION_INTEGER,     /* int64_t, from `min` to `max` */
    YK_OPTION_QUANTITY,    /* double, a quantity with the unit `unit` */
    YK_OPTION_SECONDS,     /* double, a duration: "2" (seconds), "500ms" */
    YK_OPTION_FACTOR,      /* double, 1 or more */
    YK_OPTION_NUMBER,      /* double, above 0; NAN if it is neither given nor has a default */
    YK_OPTION_PERCENT,     /* double, "40%" is stored as 0.4; NAN as for NUMBER */
    YK_OPTION_NUMBERS,     /* struct yk_option_numbers, positive numbers separated by commas */
};

struct yk_option_numbers {
    double *values;
    int32_t count;
};

struct yk_option_choice {
    const char *name;
    const char *summary; /* NULL if the name is sufficient */
};

/* Writes choice `number` to `out`. Returns false after the last choice. */
typedef bool (*yk_option_choice_function)(size_t number, struct yk_option_choice *out);

/* Implements a yk_option_choice_function function for an array of choices: return
 * YK_OPTION_CHOICE_AT(array). */
bool yk_option_choice_at(const struct yk_option_choice *choices, size_t count, size_t number,
                         struct yk_option_choice *out);
#define YK_OPTION_CHOICE_AT(choices_)                                                              \
    yk_option_choice_at((choices_), sizeof(choices_) / sizeof((choices_)[0]), number, out)

struct yk_option {
    const char *name;        /* without dashes */
    const char *placeholder; /* the name of the value in the help; NULL for a flag */
    const char *help;        /* one sentence without a full stop */
    const char *group;       /* the heading in the help; NULL means: that of the row before */
    const char *excludes; /* the name of an option that excludes this one: the one that is set later
                          replaces the other; or NULL */
    const char *default_value; /* the default value as a user would type it, or NULL */
    enum yk_option_kind kind;
    enum yk_unit unit;     /* of kind UNIT */
    char letter;           /* the short form, after a single dash; 0 means: none */
    bool allows_zero;      /* kinds UNIT, SECONDS, NUMBER, PERCENT: 0 is allowed */
    bool max_is_exclusive; /* kinds NUMBER, PERCENT: the value must be less than `ceiling`, not
                              equal */
    bool not_saved;        /* applies to one execution only: not saved with the options of a run */
    double max_value; /* kinds NUMBER, PERCENT: the maximum, as a fraction for PERCENT; 0 means: no
                       maximum */
    int64_t min;      /* kind INTEGER */
    int64_t max;      /* kind INTEGER */
    int64_t missing_value; /* kind INTEGER: the field's value if the option is neither given nor has
                        a default */
    yk_option_choice_function choices; /* kind CHOICE */
    size_t offset;                     /* of the field in the struct of the request */
};

/* Strings in the order in which they were given. */
struct yk_option_strings {
    const char **items;
    int32_t count;
};

/* All options of a request. */
struct yk_option_table {
    const struct yk_option *rows;
    size_t count;
};

/*
 * The parts of a row. With them a row takes one or two lines:
 *
 *   {YK_OPTION_ROW("batch", "N", GROUP, "Samples in a batch"), YK_INTEGER_OPTION(1, MOST, "1"),
 * TO(batch)},
 *
 * where the file defines: #define TO(member) YK_OPTION_FIELD(struct request, member).
 * A placeholder of NULL means a flag, a group of NULL means that of the row before, a preset of
 * NULL means no default.
 */
#define YK_OPTION_ROW(name_, placeholder_, group_, help_)                                          \
    .name = (name_), .placeholder = (placeholder_), .group = (group_), .help = (help_)
#define YK_FLAG .kind = YK_OPTION_FLAG
#define YK_TEXT_OPTION(preset_) .kind = YK_OPTION_TEXT, .default_value = (preset_)
#define YK_INPUT_FILE_OPTION .kind = YK_OPTION_INPUT_FILE
#define YK_OUTPUT_FILE_OPTION .kind = YK_OPTION_OUTPUT_FILE
#define YK_CHOICE_OPTION(choices_, preset_)                                                        \
    .kind = YK_OPTION_CHOICE, .choices = (choices_), .default_value = (preset_)
#define YK_INTEGER_OPTION(min_, max_, preset_)                                                     \
    .kind = YK_OPTION_INTEGER, .min = (min_), .max = (max_), .default_value = (preset_)
#define YK_NUMBER_OPTION(preset_) .kind = YK_OPTION_NUMBER, .default_value = (preset_)
#define YK_SECONDS_OPTION(preset_) .kind = YK_OPTION_SECONDS, .default_value = (preset_)
#define YK_PERCENT_OPTION(ceiling_, preset_)                                                       \
    .kind = YK_OPTION_PERCENT, .max_value = (ceiling_), .default_value = (preset_)
#define YK_BYTES_OPTION .kind = YK_OPTION_QUANTITY, .unit = YK_UNIT_BYTES
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type and a member cannot stand in them */
#define YK_OPTION_FIELD(type_, member_) .offset = offsetof(type_, member_)
/* The members `options` and `option_count` of a struct, from an array of rows. */
#define YK_OPTION_ROWS(rows_) .options = (rows_), .option_count = sizeof(rows_) / sizeof((rows_)[0])

/* The choice that begins with `word`, if there is exactly one, else the one with the nearest name;
 * NULL if none is similar. */
const char *yk_option_nearest_choice(const char *word, yk_option_choice_function choices);

/* The same for any list of names. */
const char *yk_option_nearest(const char *word, const char *const *names, size_t count);

/* Resets the field to its value for an option that is neither given nor has a default. */
void yk_option_reset(const struct yk_option *option, void *arguments);

/* Parses and checks `word` and stores the value. `word` may be NULL for a flag. Strings are not
 * copied. */
yk_status yk_option_store(const struct yk_option *option, const char *word, struct yk_arena *arena,
                          void *arguments) YK_MUST_USE;

/* Fails if `word` is not one of the choices. The message begins with `label` and suggests the
 * nearest choice. */
yk_status yk_option_check_choice(const char *label, const char *word,
                                 yk_option_choice_function choices) YK_MUST_USE;

/* The row with that name, or NULL. */
const struct yk_option *yk_option_find(const struct yk_option_table *table, const char *name);

/* Stores the default of every row, or resets its field if it has none. */
yk_status yk_option_store_presets(const struct yk_option_table *table, struct yk_arena *arena,
                                  void *arguments) YK_MUST_USE;

/*
 * Option sources: values of options from files.
 *
 * A source is a JSON object. Its members have the names of options, without dashes:
 * {"batch": 16, "data-part": "40%", "nf4": true}. A value is a string as a user would type it, or a
 * number; flags are true or false. A later source overrides an earlier one, and the command line
 * overrides all sources. That also holds for two options that exclude each other: the later one
 * replaces the earlier.
 */
enum {
    YK_OPTION_SOURCES_MAX = 3
};

struct yk_option_source {
    const char *name; /* of the file, for messages */
    const char *json;
};

struct yk_option_sources {
    struct yk_option_source items[YK_OPTION_SOURCES_MAX];
    size_t count;
};

/* Stores the values of one source. An unknown name is an error; the message suggests the nearest
 * one. */
yk_status yk_option_source_apply(const struct yk_option_table *table,
                                 const struct yk_option_source *source, struct yk_arena *arena,
                                 void *arguments) YK_MUST_USE;

/* Stores the default of every row, then the values of the sources. */
yk_status yk_option_sources_apply(const struct yk_option_table *table,
                                  const struct yk_option_sources *sources, struct yk_arena *arena,
                                  void *arguments) YK_MUST_USE;

/* Like yk_option_store(), after the sources. Also resets the option that this one excludes. */
yk_status yk_option_sources_store(const struct yk_option_table *table,
                                  const struct yk_option *option, const char *word,
                                  struct yk_arena *arena, void *arguments) YK_MUST_USE;

/* Writes the options as a source, one member per line, beginning with "yoke" and "kind": "run".
 * Reading it restores the same values. Skips options that are not set and options that are not
 * saved (momentary). */
yk_status yk_option_source_write(const struct yk_option_table *table, const void *arguments,
                                 struct yk_text *out) YK_MUST_USE;

/* Appends a JSON value as a user would type it. Returns false if no option can have a value of this
 * type. */
bool yk_option_add_json_value(const struct yk_json *value, struct yk_text *out);

#endif
