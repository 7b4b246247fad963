#include "base/option_sources.h"

#include "base/json.h"
#include "base/json_write.h"
#include "base/option.h"

#include <inttypes.h>
#include <math.h>

enum {
    MAX_KEYS = 128
};

/* Integers beyond this are not exact as JSON numbers of other readers. */
#define EXACT_INTEGER (INT64_C(1) << 53)

bool yk_option_source_value(const struct yk_json *value, struct yk_text *out)
{
    double number = 0;
    bool flag = false;
    if (yk_json_string(value)) {
        yk_text_add(out, yk_json_string(value));
    } else if (yk_json_number(value, &number)) {
        yk_text_add_number(out, number);
    } else if (yk_json_boolean(value, &flag)) {
        yk_text_add(out, flag ? "true" : "false");
    } else {
        return false;
    }
    return true;
}

static yk_status apply_flag(const struct yk_option *option, const struct yk_json *value,
                            struct yk_arena *arena, void *arguments)
{
    bool on = false;
    if (!yk_json_boolean(value, &on)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is true or false, not %s", option->name,
                       yk_json_kind(value));
    }
    return on ? yk_option_store(option, NULL, arena, arguments) : YK_OK;
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
    if (option->kind == YK_OPTION_FLAG) {
        return apply_flag(option, value, arena, arguments);
    }
    if (yk_json_boolean(value, &flag) || !yk_option_source_value(value, &word)) {
        yk_text_free(&word);
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is a number or a string, not %s", option->name,
                       yk_json_kind(value));
    }
    const char *kept = yk_arena_copy_text(arena, yk_text_chars(&word), word.length);
    yk_text_free(&word);
    YK_TRY_MEMORY(kept);
    /* A wrong value in a file is a fault of the file. */
    return yk_option_store(option, kept, arena, arguments) == YK_OK ? YK_OK : YK_ERROR_INPUT;
}

static yk_status check_keys(const struct yk_option_table *table, const struct yk_json *root)
{
    const char *known[MAX_KEYS] = {"yoke", "kind", "name", "comment"};
    size_t count = 4;
    for (size_t i = 0; i < table->count && count < MAX_KEYS; i++) {
        known[count++] = table->rows[i].name;
    }
    if (yk_json_get(root, "yoke")) {
        return yk_json_check_document(root, "run", known, count);
    }
    return yk_json_check_object(root, known, count);
}

/* What an earlier source says by the option's rival no longer holds. */
static void clear_rival(const struct yk_option_table *table, const struct yk_option *option,
                        void *arguments)
{
    const struct yk_option *rival = option->rival ? yk_option_find(table, option->rival) : NULL;
    if (rival) {
        yk_option_clear(rival, arguments);
    }
}

static yk_status check_rival(const struct yk_option *option, const struct yk_json *root)
{
    if (option->rival && yk_json_get(root, option->name) && yk_json_get(root, option->rival)) {
        return yk_fail(YK_ERROR_INPUT, "there can be one of \"%s\" and \"%s\"; leave the other out",
                       option->name, option->rival);
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
        if (yk_json_get(root, option->name)) {
            clear_rival(table, option, arguments);
        }
        YK_TRY(apply_value(option, yk_json_get(root, option->name), arena, arguments));
    }
    return YK_OK;
}

yk_status yk_option_source_apply(const struct yk_option_table *table,
                                 const struct yk_option_source *source, struct yk_arena *arena,
                                 void *arguments)
{
    struct yk_text text = {0};
    struct yk_json *root = NULL;
    yk_text_add(&text, source->json);
    yk_status status = yk_json_parse(yk_text_chars(&text), text.length, &root);
    YK_THEN(apply(table, root, arena, arguments));
    yk_json_destroy(root);
    yk_text_free(&text);
    return yk_status_prefix(status, source->name);
}

yk_status yk_option_sources_apply(const struct yk_option_table *table,
                                  const struct yk_option_sources *sources, struct yk_arena *arena,
                                  void *arguments)
{
    YK_TRY(yk_option_store_presets(table, arena, arguments));
    for (size_t i = 0; i < sources->count; i++) {
        YK_TRY(yk_option_source_apply(table, &sources->items[i], arena, arguments));
    }
    return YK_OK;
}

yk_status yk_option_sources_store(const struct yk_option_table *table,
                                  const struct yk_option *option, const char *word,
                                  struct yk_arena *arena, void *arguments)
{
    clear_rival(table, option, arguments);
    return yk_option_store(option, word, arena, arguments);
}

/* Begins a member on a line of its own; its value is added next. */
static void add_key(const struct yk_option *option, struct yk_json_writer *out)
{
    yk_json_write_line(out, 1);
    yk_json_write_key(out, option->name);
}

static void add_number(const struct yk_option *option, double value, const char *unit,
                       struct yk_json_writer *out)
{
    add_key(option, out);
    if (option->kind == YK_OPTION_PERCENT) {
        yk_text_addf(out->text, "\"%.12g%%\"", 100 * value);
    } else if (unit) {
        yk_text_add(out->text, "\"");
        yk_text_add_number(out->text, value);
        yk_text_addf(out->text, "%s\"", unit);
    } else {
        yk_text_add_number(out->text, value);
    }
}

static void add_integer(const struct yk_option *option, int64_t value, struct yk_json_writer *out)
{
    const bool exact = value <= EXACT_INTEGER && value >= -EXACT_INTEGER;
    add_key(option, out);
    yk_text_addf(out->text, exact ? "%" PRId64 : "\"%" PRId64 "\"", value);
}

/* What each kind is written in, so that the number reads back. */
static const char *unit_of(const struct yk_option *option)
{
    static const char *const units[] = {
        [YK_UNIT_BYTES] = "B",
        [YK_UNIT_BYTES_PER_S] = "B/s",
        [YK_UNIT_SECONDS] = "s",
        [YK_UNIT_FLOPS] = "FLOPS",
    };
    return option->kind == YK_OPTION_UNIT ? units[option->unit] : NULL;
}

static void add_option(const struct yk_option *option, const void *arguments,
                       struct yk_json_writer *out)
{
    const void *field = (const char *)arguments + option->offset;
    switch (option->kind) {
    case YK_OPTION_FLAG:
        if (*(const bool *)field) {
            add_key(option, out);
            yk_text_add(out->text, "true");
        }
        return;
    case YK_OPTION_TEXT:
    case YK_OPTION_FILE:
    case YK_OPTION_INPUT:
    case YK_OPTION_CHOICE:
        if (*(const char *const *)field) {
            add_key(option, out);
            yk_text_add_json(out->text, *(const char *const *)field);
        }
        return;
    case YK_OPTION_INTEGER:
        if (option->preset || *(const int64_t *)field != option->missing) {
            add_integer(option, *(const int64_t *)field, out);
        }
        return;
    case YK_OPTION_UNIT:
    case YK_OPTION_SECONDS:
    case YK_OPTION_FACTOR:
        if (*(const double *)field > 0) {
            add_number(option, *(const double *)field, unit_of(option), out);
        }
        return;
    case YK_OPTION_NUMBER:
    case YK_OPTION_PERCENT:
        if (!isnan(*(const double *)field)) {
            add_number(option, *(const double *)field, unit_of(option), out);
        }
        return;
    case YK_OPTION_LIST: /* no command with sources has one */
        return;
    }
}

yk_status yk_option_source_write(const struct yk_option_table *table, const void *arguments,
                                 struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_string(&json, "kind", "run");
    for (size_t i = 0; i < table->count; i++) {
        if (!table->rows[i].momentary) {
            add_option(&table->rows[i], arguments, &json);
        }
    }
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}
