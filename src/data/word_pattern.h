/*
 * Word pattern: a regular expression that says where a text is cut, matched by PCRE2 as Oniguruma,
 * which Hugging Face's tokenizers use, matches it: \s is what Unicode calls white space and \w a
 * letter, mark, digit or connector, ^ and $ are the ends of lines.
 *
 * A pattern does not change once it is made: any number of threads may share one. Matching needs
 * room of its own, which may serve several patterns: one for each thread.
 */
#ifndef YK_DATA_WORD_PATTERN_H
#define YK_DATA_WORD_PATTERN_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_word_pattern;
struct yk_word_room;

/* With `literal`, the text itself is what is looked for. */
yk_status yk_word_pattern_create(const char *pattern, size_t length, bool literal,
                                 struct yk_word_pattern **out) YK_MUST_USE;
void yk_word_pattern_destroy(struct yk_word_pattern *pattern);

yk_status yk_word_room_create(struct yk_word_room **out) YK_MUST_USE;
void yk_word_room_destroy(struct yk_word_room *room);

/*
 * The leftmost match in `text`, which must be UTF-8, from byte `from` on, the beginning of a
 * character. A pattern that tries too many ways is given up with an error.
 */
yk_status yk_word_pattern_find(const struct yk_word_pattern *pattern, struct yk_word_room *room,
                               const char *text, size_t length, size_t from, bool *found,
                               size_t *begin, size_t *end) YK_MUST_USE;

#endif
