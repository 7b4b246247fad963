/*
 * Option: a named parameter of a request. A row of a table describes it: its name, its type, and
 * the member of the request (the field) that stores its value.
 *
 * The same table is used by the command line, its help, files of options (option sources, below),
 * and programs that set options by name. Messages write an option as users type it: --name. Any
 * thread may call these functions.
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
    YK_OPTION_NUMBER,      /* double, greater than 0; NAN means: not given and no default */
    YK_OPTION_PERCENT,     /* double, "40%" is stored as 0.4; NAN means: not given and no default */
    YK_OPTION_NUMBERS,     /* struct yk_option_number_list, positive numbers separated by commas */
};

struct yk_option_number_list {
    double *values;
    int32_t count;
};

struct yk_option_choice {
    const char *name;
    const char *summary; /* NULL means: the name is sufficient */
};

/* Writes the choice with the index `number` to `out`. Returns false if there is no such choice. */
typedef bool (*yk_option_choice_getter)(size_t number, struct yk_option_choice *out);

/* Implements a yk_option_choice_getter for an array of choices. Write: return
 * YK_OPTION_CHOICE_FROM_ARRAY(array). */
bool yk_option_choice_from_array(const struct yk_option_choice *choices, size_t count,
                                 size_t number, struct yk_option_choice *out);
#define YK_OPTION_CHOICE_FROM_ARRAY(choices_)                                                      \
    yk_option_choice_from_array((choices_), sizeof(choices_) / sizeof((choices_)[0]), number, out)

struct yk_option {
    const char *name;        /* without dashes */
    const char *placeholder; /* name of the value in the help; NULL for a flag */
    const char *help;        /* one sentence without a full stop */
    const char *group;       /* heading in the help; NULL means: the heading of the previous row */
    /* Name of an option that cannot be combined with this option; may be NULL. That option is reset
     * when yk_option_apply_file() or yk_option_override_value() sets this option. */
    const char *excludes;
    const char *default_value; /* default value as a user would type it; may be NULL */
    enum yk_option_kind kind;
    enum yk_unit unit;     /* kind QUANTITY */
    char letter;           /* short form, written after a single dash; 0 means: none */
    bool allows_zero;      /* kinds QUANTITY, SECONDS, NUMBER, PERCENT: the value may be 0 */
    bool max_is_exclusive; /* kinds NUMBER, PERCENT: the value must be less than `max_value` */
    bool not_saved;        /* applies to one execution only: not saved with the options of a run */
    /* Kinds NUMBER, PERCENT: the maximum (0.4 for 40%). 0 means: no maximum. */
    double max_value;
    int64_t min; /* kind INTEGER */
    int64_t max; /* kind INTEGER */
    /* Kind INTEGER: the value of the field if the option is not given and has no default. */
    int64_t missing_value;
    yk_option_choice_getter choices; /* kind CHOICE */
    size_t offset;                   /* offset of the field in the struct of the request */
};

/* Strings in the order in which they were given. */
struct yk_option_string_list {
    const char **items;
    int32_t count;
};

/* All options of a request. */
struct yk_option_table {
    const struct yk_option *rows;
    size_t count;
};

/*
 * The macros from here to YK_OPTION_OFFSET_OF are the parts of a row. With them a row takes one or
 * two lines:
 *
 *   #define TO(member) YK_OPTION_OFFSET_OF(struct request, member)
 *
 *   {YK_OPTION_ROW("batch", "N", GROUP, "Samples in a batch"),
 *    YK_OPTION_INIT_INTEGER(1, MOST, "1"), TO(batch)},
 *
 * `preset_` is the default value; NULL means: no default. A flag has the placeholder NULL. If the
 * group is NULL, the row belongs to the group of the previous row.
 */
#define YK_OPTION_ROW(name_, placeholder_, group_, help_)                                          \
    .name = (name_), .placeholder = (placeholder_), .group = (group_), .help = (help_)
#define YK_OPTION_INIT_FLAG .kind = YK_OPTION_FLAG
#define YK_OPTION_INIT_TEXT(preset_) .kind = YK_OPTION_TEXT, .default_value = (preset_)
#define YK_OPTION_INIT_INPUT_FILE .kind = YK_OPTION_INPUT_FILE
#define YK_OPTION_INIT_OUTPUT_FILE .kind = YK_OPTION_OUTPUT_FILE
#define YK_OPTION_INIT_CHOICE(choices_, preset_)                                                   \
    .kind = YK_OPTION_CHOICE, .choices = (choices_), .default_value = (preset_)
#define YK_OPTION_INIT_INTEGER(min_, max_, preset_)                                                \
    .kind = YK_OPTION_INTEGER, .min = (min_), .max = (max_), .default_value = (preset_)
#define YK_OPTION_INIT_NUMBER(preset_) .kind = YK_OPTION_NUMBER, .default_value = (preset_)
#define YK_OPTION_INIT_SECONDS(preset_) .kind = YK_OPTION_SECONDS, .default_value = (preset_)
#define YK_OPTION_INIT_PERCENT(ceiling_, preset_)                                                  \
    .kind = YK_OPTION_PERCENT, .max_value = (ceiling_), .default_value = (preset_)
#define YK_OPTION_INIT_BYTES .kind = YK_OPTION_QUANTITY, .unit = YK_UNIT_BYTES
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type and a member cannot stand in parentheses */
#define YK_OPTION_OFFSET_OF(type_, member_) .offset = offsetof(type_, member_)

/* Returns the name of the choice that begins with `word`, if there is exactly one. Otherwise
 * returns the nearest name, or NULL if no name is similar enough. */
const char *yk_option_suggest_choice(const char *word, yk_option_choice_getter choices);

/* Does the same as yk_option_suggest_choice() for any list of names. */
const char *yk_option_suggest_from_names(const char *word, const char *const *names, size_t count);

/* Resets the field: sets it to the value that means "not given and no default". */
void yk_option_set_not_given(const struct yk_option *option, void *arguments);

/* Parses and checks `word`, and stores the value in the field of `arguments`. `word` may be NULL
 * for a flag. Strings are not copied. Lists of numbers are allocated in the arena. */
yk_status yk_option_parse_and_store(const struct yk_option *option, const char *word,
                                    struct yk_arena *arena, void *arguments) YK_MUST_USE;

/* Fails if `word` is not one of the choices. The message begins with `label` and suggests the
 * nearest choice. */
yk_status yk_option_check_choice(const char *label, const char *word,
                                 yk_option_choice_getter choices) YK_MUST_USE;

/* Returns the row with this name, or NULL if no row has it. */
const struct yk_option *yk_option_find(const struct yk_option_table *table, const char *name);

/* Stores the default of every row, or resets the field if the row has no default. */
yk_status yk_option_store_defaults(const struct yk_option_table *table, struct yk_arena *arena,
                                   void *arguments) YK_MUST_USE;

/*
 * Option sources: values of options from files.
 *
 * A source (struct yk_option_file) is a JSON object. Its members have the names of options, without
 * dashes: {"batch": 16, "data-part": "40%", "nf4": true}. A value is a number, or a string as a
 * user would type it; the value of a flag is true or false. The members "yoke", "kind", "name" and
 * "comment" are also allowed. A later source overrides an earlier one, and the command line
 * overrides all sources. But false does not override true: a flag stays set. If two options exclude
 * each other, and a later source or the command line sets one of them, the other one is reset. A
 * single source must not contain both.
 */
enum {
    YK_OPTION_FILES_MAX = 3
};

struct yk_option_file {
    const char *name; /* name of the file, for messages */
    const char *json;
};

struct yk_option_files {
    struct yk_option_file items[YK_OPTION_FILES_MAX];
    size_t count;
};

/* Stores the values of one source. Fails if a name is unknown; the error message suggests the
 * nearest name. */
yk_status yk_option_apply_file(const struct yk_option_table *table,
                               const struct yk_option_file *source, struct yk_arena *arena,
                               void *arguments) YK_MUST_USE;

/* Stores the default of every row, then the values of the sources. */
yk_status yk_option_apply_defaults_and_files(const struct yk_option_table *table,
                                             const struct yk_option_files *sources,
                                             struct yk_arena *arena, void *arguments) YK_MUST_USE;

/* Stores a value that overrides the sources, for example from the command line: resets the option
 * that `option` excludes, then calls yk_option_parse_and_store(). */
yk_status yk_option_override_value(const struct yk_option_table *table,
                                   const struct yk_option *option, const char *word,
                                   struct yk_arena *arena, void *arguments) YK_MUST_USE;

/* Writes the options as a source, one member per line, beginning with "yoke" and "kind": "run".
 * Reading this source restores the same values. Skips options without a value, options with
 * `not_saved`, and lists of numbers. */
yk_status yk_option_write_values_as_json(const struct yk_option_table *table, const void *arguments,
                                         struct yk_text *out) YK_MUST_USE;

/* Appends a JSON value as a user would type it. Returns false if no option can have a value of this
 * type. */
bool yk_option_json_value_to_text(const struct yk_json *value, struct yk_text *out);

#endif
