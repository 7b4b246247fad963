#include "base/option.h"

#include "base/json_write.h"
#include "base/nearest_name.h"
#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_CHOICES = 128,
    MAX_KEYS = 128 /* members of an option source */
};

const char *yk_option_suggest_from_names(const char *word, const char *const *names, size_t count)
{
    const char *found = NULL;
    size_t matches = 0;
    for (size_t i = 0; i < count; i++) {
        if (*word && strncmp(names[i], word, strlen(word)) == 0) {
            found = names[i];
            matches++;
        }
    }
    return matches == 1 ? found : yk_nearest_name(word, names, count);
}

bool yk_option_choice_from_array(const struct yk_option_choice *choices, size_t count,
                                 size_t number, struct yk_option_choice *out)
{
    if (number >= count) {
        return false;
    }
    *out = choices[number];
    return true;
}

const char *yk_option_suggest_choice(const char *word, yk_option_choice_getter choices)
{
    const char *names[MAX_CHOICES];
    struct yk_option_choice choice = {0};
    size_t count = 0;
    while (count < MAX_CHOICES && choices(count, &choice)) {
        names[count++] = choice.name;
    }
    return yk_option_suggest_from_names(word, names, count);
}

static yk_status fail_choice(const char *label, const char *word, yk_option_choice_getter choices)
{
    struct yk_text names = {0};
    struct yk_option_choice choice = {0};
    for (size_t i = 0; choices(i, &choice); i++) {
        yk_text_addf(&names, "%s%s", i > 0 ? ", " : "", choice.name);
    }
    const char *meant = yk_option_suggest_choice(word, choices);
    const yk_status status =
        meant ? yk_fail(YK_ERROR_USAGE, "%s: \"%s\" is none of %s; did you mean %s?", label, word,
                        yk_text_chars(&names), meant)
              : yk_fail(YK_ERROR_USAGE, "%s: \"%s\" is none of %s", label, word,
                        yk_text_chars(&names));
    yk_text_free(&names);
    return status;
}

yk_status yk_option_check_choice(const char *label, const char *word,
                                 yk_option_choice_getter choices)
{
    struct yk_option_choice choice = {0};
    for (size_t i = 0; choices(i, &choice); i++) {
        if (strcmp(choice.name, word) == 0) {
            return YK_OK;
        }
    }
    return fail_choice(label, word, choices);
}

static yk_status read_integer(const struct yk_option *option, const char *word, int64_t *out)
{
    if (!yk_number_parse_integer(word, strlen(word), out)) {
        return yk_fail(YK_ERROR_USAGE,
                       "--%s: \"%s\" is not a whole number from %" PRId64 " to %" PRId64,
                       option->name, word, option->min, option->max);
    }
    if (*out < option->min) {
        return yk_fail(YK_ERROR_USAGE, "--%s must be at least %" PRId64 ", not %s", option->name,
                       option->min, word);
    }
    if (*out > option->max) {
        return yk_fail(YK_ERROR_USAGE, "--%s must be at most %" PRId64 ", not %s", option->name,
                       option->max, word);
    }
    return YK_OK;
}

static yk_status read_amount(const struct yk_option *option, const char *word, double *out)
{
    const bool seconds = option->kind == YK_OPTION_SECONDS;
    const bool bare = seconds && yk_number_parse(word, strlen(word), out);
    if (!bare && yk_units_parse(word, seconds ? YK_UNIT_SECONDS : option->unit, out) != YK_OK) {
        return seconds ? yk_fail(YK_ERROR_USAGE,
                                 "--%s: \"%s\" is not a time; write seconds such as 2, or 500ms, "
                                 "2min",
                                 option->name, word)
                       : yk_fail(YK_ERROR_USAGE, "--%s: %s", option->name, yk_status_message());
    }
    if (*out < 0 || (*out == 0 && !option->allows_zero)) {
        return yk_fail(YK_ERROR_USAGE, "--%s must be %s, not %s", option->name,
                       option->allows_zero ? "0 or more" : "more than 0", word);
    }
    return YK_OK;
}

static yk_status read_factor(const struct yk_option *option, const char *word, double *out)
{
    if (!yk_number_parse(word, strlen(word), out) || !(*out >= 1)) {
        return yk_fail(YK_ERROR_USAGE, "--%s must be a number of 1 or more, not \"%s\"",
                       option->name, word);
    }
    return YK_OK;
}

/* Describes the range of a NUMBER or PERCENT, times `scale`: "more than 0 and at most 1". */
static void describe_range(const struct yk_option *option, double scale, const char *unit,
                           char *out, size_t size)
{
    const int length = snprintf(out, size, "%s", option->allows_zero ? "0 or more" : "more than 0");
    if (option->max_value > 0 && length > 0 && (size_t)length < size) {
        (void)snprintf(out + length, size - (size_t)length, " and %s %g%s",
                       option->max_is_exclusive ? "less than" : "at most",
                       scale * option->max_value, unit);
    }
}

static bool is_in_range(const struct yk_option *option, double value)
{
    const double ceiling = option->max_value > 0 ? option->max_value : INFINITY;
    return (option->allows_zero ? value >= 0 : value > 0) &&
           (option->max_is_exclusive ? value < ceiling : value <= ceiling);
}

static yk_status read_number(const struct yk_option *option, const char *word, double *out)
{
    char range[80];
    describe_range(option, 1, "", range, sizeof range);
    if (!yk_number_parse(word, strlen(word), out) || !is_in_range(option, *out)) {
        return yk_fail(YK_ERROR_USAGE, "--%s: \"%s\" is not a number that is %s", option->name,
                       word, range);
    }
    return YK_OK;
}

static yk_status read_percent(const struct yk_option *option, const char *word, double *out)
{
    const size_t length = strlen(word);
    char range[80];
    double percent = NAN;
    describe_range(option, 100, "%", range, sizeof range);
    if (length < 2 || word[length - 1] != '%' || !yk_number_parse(word, length - 1, &percent)) {
        return yk_fail(YK_ERROR_USAGE, "--%s: \"%s\" is no part; write it such as 40%%",
                       option->name, word);
    }
    *out = percent / 100;
    if (!is_in_range(option, *out)) {
        return yk_fail(YK_ERROR_USAGE, "--%s must be %s, not %s", option->name, range, word);
    }
    return YK_OK;
}

static yk_status read_list(const struct yk_option *option, const char *word, struct yk_arena *arena,
                           struct yk_option_number_list *out)
{
    struct yk_option_number_list list = {NULL, 1};
    for (const char *c = word; *c; c++) {
        list.count += *c == ',';
    }
    YK_TRY_NEW(arena, list.values, list.count);
    const char *part = word;
    for (int32_t i = 0; i < list.count; i++) {
        const size_t length = strcspn(part, ",");
        if (!yk_number_parse(part, length, &list.values[i]) || list.values[i] <= 0) {
            return yk_fail(YK_ERROR_USAGE, "--%s: \"%.*s\" is not a positive number", option->name,
                           (int)length, part);
        }
        part += length + 1;
    }
    *out = list;
    return YK_OK;
}

static yk_status read_text(const struct yk_option *option, const char *word, const char **out)
{
    if (!*word) {
        return yk_fail(YK_ERROR_USAGE, "--%s needs a value that is not empty", option->name);
    }
    if (option->kind == YK_OPTION_OUTPUT_FILE && strcmp(word, "-") == 0) {
        return yk_fail(YK_ERROR_USAGE, "--%s needs the name of a file to write, not -",
                       option->name);
    }
    *out = word;
    return YK_OK;
}

void yk_option_set_not_given(const struct yk_option *option, void *arguments)
{
    void *field = (char *)arguments + option->offset;
    switch (option->kind) {
    case YK_OPTION_FLAG:
        *(bool *)field = false;
        return;
    case YK_OPTION_TEXT:
    case YK_OPTION_OUTPUT_FILE:
    case YK_OPTION_INPUT_FILE:
    case YK_OPTION_CHOICE:
        *(const char **)field = NULL;
        return;
    case YK_OPTION_INTEGER:
        *(int64_t *)field = option->missing_value;
        return;
    case YK_OPTION_QUANTITY:
    case YK_OPTION_SECONDS:
    case YK_OPTION_FACTOR:
        *(double *)field = 0;
        return;
    case YK_OPTION_NUMBER:
    case YK_OPTION_PERCENT:
        *(double *)field = NAN;
        return;
    case YK_OPTION_NUMBERS:
        *(struct yk_option_number_list *)field = (struct yk_option_number_list){0};
        return;
    }
}

yk_status yk_option_parse_and_store(const struct yk_option *option, const char *word,
                                    struct yk_arena *arena, void *arguments)
{
    void *field = (char *)arguments + option->offset;
    switch (option->kind) {
    case YK_OPTION_FLAG:
        *(bool *)field = true;
        return YK_OK;
    case YK_OPTION_TEXT:
    case YK_OPTION_OUTPUT_FILE:
    case YK_OPTION_INPUT_FILE:
        return read_text(option, word, field);
    case YK_OPTION_CHOICE: {
        char label[64] = "--";
        strncat(label, option->name, sizeof label - 3);
        *(const char **)field = word;
        return yk_option_check_choice(label, word, option->choices);
    }
    case YK_OPTION_INTEGER:
        return read_integer(option, word, field);
    case YK_OPTION_QUANTITY:
    case YK_OPTION_SECONDS:
        return read_amount(option, word, field);
    case YK_OPTION_FACTOR:
        return read_factor(option, word, field);
    case YK_OPTION_NUMBER:
        return read_number(option, word, field);
    case YK_OPTION_PERCENT:
        return read_percent(option, word, field);
    case YK_OPTION_NUMBERS:
        return read_list(option, word, arena, field);
    }
    return yk_fail(YK_ERROR_USAGE, "--%s has no kind", option->name);
}

const struct yk_option *yk_option_find(const struct yk_option_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].name, name) == 0) {
            return &table->rows[i];
        }
    }
    return NULL;
}

yk_status yk_option_store_defaults(const struct yk_option_table *table, struct yk_arena *arena,
                                   void *arguments)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct yk_option *option = &table->rows[i];
        yk_option_set_not_given(option, arguments);
        if (option->default_value) {
            YK_TRY(yk_option_parse_and_store(option, option->default_value, arena, arguments));
        }
    }
    return YK_OK;
}

/* The largest integer that all JSON readers represent exactly. */
#define EXACT_INTEGER (INT64_C(1) << 53)

bool yk_option_json_value_to_text(const struct yk_json *value, struct yk_text *out)
{
    double number = 0;
    bool flag = false;
    if (yk_json_string_value(value)) {
        yk_text_add(out, yk_json_string_value(value));
    } else if (yk_json_number_value(value, &number)) {
        yk_text_add_number(out, number);
    } else if (yk_json_boolean_value(value, &flag)) {
        yk_text_add(out, flag ? "true" : "false");
    } else {
        return false;
    }
    return true;
}

static yk_status apply_value(const struct yk_option *option, const struct yk_json *value,
                             struct yk_arena *arena, void *arguments)
{
    struct yk_text word = {0};
    bool flag = false;
    if (!value) {
        return YK_OK;
    }
    if (yk_json_is_null(value)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is null; give it a value, or leave it out",
                       option->name);
    }
    const bool is_boolean = yk_json_boolean_value(value, &flag);
    if (option->kind == YK_OPTION_FLAG && !is_boolean) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is true or false, not %s", option->name,
                       yk_json_type_name(value));
    }
    if (option->kind == YK_OPTION_FLAG) {
        return flag ? yk_option_parse_and_store(option, NULL, arena, arguments) : YK_OK;
    }
    if (is_boolean || !yk_option_json_value_to_text(value, &word)) {
        yk_text_free(&word);
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is a number or a string, not %s", option->name,
                       yk_json_type_name(value));
    }
    const char *kept = yk_arena_copy_text(arena, yk_text_chars(&word), word.length);
    yk_text_free(&word);
    YK_TRY_ALLOCATED(kept);
    /* An invalid value in a file is an input error. */
    return yk_option_parse_and_store(option, kept, arena, arguments) == YK_OK ? YK_OK
                                                                              : YK_ERROR_INPUT;
}

static yk_status check_keys(const struct yk_option_table *table, const struct yk_json *root)
{
    const char *known[MAX_KEYS] = {"yoke", "kind", "name", "comment"};
    size_t count = 4;
    for (size_t i = 0; i < table->count && count < MAX_KEYS; i++) {
        known[count++] = table->rows[i].name;
    }
    if (yk_json_get_member(root, "yoke")) {
        return yk_json_check_yoke_document(root, "run", known, count);
    }
    return yk_json_check_object_keys(root, known, count);
}

/* Resets the option that this one excludes. */
static void clear_rival(const struct yk_option_table *table, const struct yk_option *option,
                        void *arguments)
{
    const struct yk_option *rival =
        option->excludes ? yk_option_find(table, option->excludes) : NULL;
    if (rival) {
        yk_option_set_not_given(rival, arguments);
    }
}

static yk_status check_rival(const struct yk_option *option, const struct yk_json *root)
{
    if (option->excludes && yk_json_get_member(root, option->name) &&
        yk_json_get_member(root, option->excludes)) {
        return yk_fail(YK_ERROR_INPUT, "there can be one of \"%s\" and \"%s\"; leave the other out",
                       option->name, option->excludes);
    }
    return YK_OK;
}

static yk_status apply(const struct yk_option_table *table, const struct yk_json *root,
                       struct yk_arena *arena, void *arguments)
{
    YK_TRY(check_keys(table, root));
    for (size_t i = 0; i < table->count; i++) {
        const struct yk_option *option = &table->rows[i];
        YK_TRY(check_rival(option, root));
        if (yk_json_get_member(root, option->name)) {
            clear_rival(table, option, arguments);
        }
        YK_TRY(apply_value(option, yk_json_get_member(root, option->name), arena, arguments));
    }
    return YK_OK;
}

yk_status yk_option_apply_file(const struct yk_option_table *table,
                               const struct yk_option_file *source, struct yk_arena *arena,
                               void *arguments)
{
    YK_TRY_WITH_PARSED_JSON(root, source->json, strlen(source->json), source->name,
                            apply(table, root, arena, arguments));
    return YK_OK;
}

yk_status yk_option_apply_defaults_and_files(const struct yk_option_table *table,
                                             const struct yk_option_files *sources,
                                             struct yk_arena *arena, void *arguments)
{
    YK_TRY(yk_option_store_defaults(table, arena, arguments));
    for (size_t i = 0; i < sources->count; i++) {
        YK_TRY(yk_option_apply_file(table, &sources->items[i], arena, arguments));
    }
    return YK_OK;
}

yk_status yk_option_override_value(const struct yk_option_table *table,
                                   const struct yk_option *option, const char *word,
                                   struct yk_arena *arena, void *arguments)
{
    clear_rival(table, option, arguments);
    return yk_option_parse_and_store(option, word, arena, arguments);
}

static void write_number(const struct yk_option *option, double value, struct yk_json_writer *json)
{
    static const char *const units[] = {
        [YK_UNIT_BYTES] = "B",
        [YK_UNIT_BYTES_PER_S] = "B/s",
        [YK_UNIT_SECONDS] = "s",
        [YK_UNIT_FLOPS] = "FLOPS",
    };
    char digits[YK_NUMBER_BUFFER_SIZE];
    char word[YK_NUMBER_BUFFER_SIZE + 8];
    if (option->kind == YK_OPTION_PERCENT) {
        snprintf(word, sizeof word, "%.12g%%", 100 * value);
        yk_json_write_string(json, option->name, word);
    } else if (option->kind == YK_OPTION_QUANTITY) {
        yk_number_format(value, digits);
        snprintf(word, sizeof word, "%s%s", digits, units[option->unit]);
        yk_json_write_string(json, option->name, word);
    } else {
        yk_json_write_number(json, option->name, value);
    }
}

static void write_integer(const struct yk_option *option, int64_t value,
                          struct yk_json_writer *json)
{
    char word[YK_NUMBER_BUFFER_SIZE];
    if (value <= EXACT_INTEGER && value >= -EXACT_INTEGER) {
        yk_json_write_integer(json, option->name, value);
    } else {
        snprintf(word, sizeof word, "%" PRId64, value);
        yk_json_write_string(json, option->name, word);
    }
}

static void write_option(const struct yk_option *option, const void *arguments,
                         struct yk_json_writer *json)
{
    const void *field = (const char *)arguments + option->offset;
    switch (option->kind) {
    case YK_OPTION_FLAG:
        if (*(const bool *)field) {
            yk_json_write_bool(json, option->name, true);
        }
        return;
    case YK_OPTION_TEXT:
    case YK_OPTION_OUTPUT_FILE:
    case YK_OPTION_INPUT_FILE:
    case YK_OPTION_CHOICE:
        if (*(const char *const *)field) {
            yk_json_write_string(json, option->name, *(const char *const *)field);
        }
        return;
    case YK_OPTION_INTEGER:
        if (option->default_value || *(const int64_t *)field != option->missing_value) {
            write_integer(option, *(const int64_t *)field, json);
        }
        return;
    case YK_OPTION_QUANTITY:
    case YK_OPTION_SECONDS:
    case YK_OPTION_FACTOR:
        if (*(const double *)field > 0) {
            write_number(option, *(const double *)field, json);
        }
        return;
    case YK_OPTION_NUMBER:
    case YK_OPTION_PERCENT:
        if (!isnan(*(const double *)field)) {
            write_number(option, *(const double *)field, json);
        }
        return;
    case YK_OPTION_NUMBERS: /* no command with option sources has one */
        return;
    }
}

yk_status yk_option_write_values_as_json(const struct yk_option_table *table, const void *arguments,
                                         struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_yoke_document(&json, "run");
    json.line_indent = 1;
    for (size_t i = 0; i < table->count; i++) {
        if (!table->rows[i].not_saved) {
            write_option(&table->rows[i], arguments, &json);
        }
    }
    return yk_json_write_end_yoke_document(&json);
}
