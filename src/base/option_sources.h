/*
 * Option sources: values of options from files, which lie between the presets and what was typed.
 *
 * A source is a JSON object whose members are called like the options, without dashes in front:
 * {"batch": 16, "data-part": "40%", "nf4": true}. Values are what one would type, as strings or
 * numbers; flags are true or false. Of two sources with the same option the later wins, and what
 * was typed wins over all. So it is for two options that are rivals: each replaces the other.
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

/* Stores what the source says. A name that is no option is refused with the nearest. */
yk_status yk_option_source_apply(const struct yk_option_table *table,
                                 const struct yk_option_source *source, struct yk_arena *arena,
                                 void *arguments) YK_MUST_USE;

/* Every row's preset, and over them what the sources say. */
yk_status yk_option_sources_apply(const struct yk_option_table *table,
                                  const struct yk_option_sources *sources, struct yk_arena *arena,
                                  void *arguments) YK_MUST_USE;

/* yk_option_store() over what sources say: the rival's value no longer holds. */
yk_status yk_option_sources_store(const struct yk_option_table *table,
                                  const struct yk_option *option, const char *word,
                                  struct yk_arena *arena, void *arguments) YK_MUST_USE;

/* The options as a source that reads back the same: {"yoke":1,"kind":"run",…}, a member a line,
 * without those that were not given and those that are momentary. */
yk_status yk_option_source_write(const struct yk_option_table *table, const void *arguments,
                                 struct yk_text *out) YK_MUST_USE;

/* Adds a member's value as the word one would write; false: it is of no type that a source has. */
bool yk_option_source_value(const struct yk_json *value, struct yk_text *out);

#endif
