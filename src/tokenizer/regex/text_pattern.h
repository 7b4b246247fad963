/*
 * Text pattern: what a text is searched for, a regular expression or a class of characters. A
 * pattern is a plain struct that is immutable once it is made: any number of threads may share it.
 */
#ifndef YK_TOKENIZER_REGEX_TEXT_PATTERN_H
#define YK_TOKENIZER_REGEX_TEXT_PATTERN_H

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "tokenizer/regex/regex.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Either a regular expression or a class. */
struct yk_text_pattern {
    const struct yk_regex *regex;
    /* Whether a character is in the class; each is a match of its own. */
    bool (*matches)(uint32_t character, uint32_t argument);
    uint32_t argument;
    uint64_t ascii[2]; /* the ASCII characters of the class as bits */
};

/* Makes a class. */
struct yk_text_pattern
yk_text_pattern_of_class(bool (*matches)(uint32_t character, uint32_t argument), uint32_t argument);

/* Reads the "pattern" of a component: {"Regex": …} or {"String": …}. `type` is the type of the
 * component, for messages. */
yk_status yk_text_pattern_read_regex(const struct yk_json *node, const char *type,
                                     struct yk_regex **out) YK_MUST_USE;

/* The state of a search for all matches in a text, which is UTF-8. */
struct yk_text_pattern_search {
    struct yk_text_pattern pattern;
    struct yk_regex_workspace *workspace;
    const char *text;
    size_t length;

    /* The last result. A match may be empty. */
    bool found;
    size_t begin;
    size_t end;

    size_t from; /* internal: the search continues here */
};

/* Begins a search. `buffer` keeps what the search needs and must stay as it is until the end. */
yk_status yk_text_pattern_begin(const struct yk_text_pattern *pattern,
                                struct yk_regex_workspace *workspace, const char *text,
                                size_t length, struct yk_text *buffer,
                                struct yk_text_pattern_search *out) YK_MUST_USE;

/* Finds the next match. An empty match directly behind another match is none. */
yk_status yk_text_pattern_find_next(struct yk_text_pattern_search *search) YK_MUST_USE;

#endif
