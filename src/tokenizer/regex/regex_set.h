/*
 * Regex sets: sets of characters in brackets. Oniguruma has sets inside sets and intersections (&&)
 * of sets, which PCRE2 has not: they become groups that match one character.
 */
#ifndef YK_TOKENIZER_REGEX_REGEX_SET_H
#define YK_TOKENIZER_REGEX_REGEX_SET_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/regex/regex_class.h"

/* Reads a set, whose opening bracket comes next, and adds it in PCRE2's syntax. */
yk_status yk_regex_set_translate(struct yk_regex_reader *reader, struct yk_text *out) YK_MUST_USE;

#endif
