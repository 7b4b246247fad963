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
#ifndef YK_BASE_OPTION_SOURCES_H
#define YK_BASE_OPTION_SOURCES_H

#include "base/arena.h"
#include "base/json.h"
#include "base/option.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

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
