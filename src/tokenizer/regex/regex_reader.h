/*
 * Regex reader: a place in a pattern that is being translated. The parts of the translator read on
 * from it in turn.
 */
#ifndef YK_TOKENIZER_REGEX_REGEX_READER_H
#define YK_TOKENIZER_REGEX_REGEX_READER_H

#include "base/status.h"
#include "tokenizer/regex/regex_syntax.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pattern, of which `at` bytes are read. */
struct yk_regex_reader {
    const char *pattern;
    size_t length;
    size_t at;
    bool ignore_case; /* (?i) applies at this place */
    yk_regex_is_script *is_script;
};

/* Fails. `reason` says why the pattern cannot be used. */
yk_status yk_regex_reader_refuse(const struct yk_regex_reader *reader,
                                 const char *reason) YK_MUST_USE;

/* Returns whether the rest of the pattern begins with `words`. */
bool yk_regex_reader_is_at(const struct yk_regex_reader *reader, const char *words);

/* If the rest of the pattern begins with `words`, skips them and returns true. */
bool yk_regex_reader_skip(struct yk_regex_reader *reader, const char *words);

/* Reads a character that is not the end of the pattern. */
yk_status yk_regex_reader_character(struct yk_regex_reader *reader, uint32_t *out) YK_MUST_USE;

#endif
