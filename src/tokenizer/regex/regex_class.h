/*
 * Regex classes: the classes of characters (\w, \p{L}, [:alpha:] …) and the escaped characters
 * (\n, \x41 …) of Oniguruma's patterns, read and written as PCRE2 understands them. They have the
 * same syntax inside and outside of brackets. What is not known is refused.
 */
#ifndef YK_TOKENIZER_REGEX_REGEX_CLASS_H
#define YK_TOKENIZER_REGEX_REGEX_CLASS_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/regex/regex_reader.h"
#include "tokenizer/regex/regex_syntax.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The members of \w outside of brackets. Inside, the superscripts and fractions of Latin-1 are
 * none.
 */
#define YK_REGEX_CLASS_WORD                                                                        \
    "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}"

/* What (?i) does to a class. */
enum yk_regex_class_case {
    YK_REGEX_CASE_CLOSED, /* nothing: the other cases of its characters belong to it */
    YK_REGEX_CASE_OPEN,   /* nothing outside of brackets */
    YK_REGEX_CASE_DIFFERS /* not the same in Oniguruma as in PCRE2 */
};

/* Either members or a property. */
struct yk_regex_class {
    const char *members; /* as they are written in brackets, or NULL */
    char property[YK_REGEX_SYNTAX_MAX_NAME_BYTES + sizeof "sc:"]; /* of \p{…} */
    bool negated;
    enum yk_regex_class_case other_cases;
};

/*
 * Reads a class that begins with a backslash. `found` is false, and nothing is read, if something
 * else comes. Oniguruma's \w has fewer members `inside` brackets than outside.
 */
yk_status yk_regex_class_read(struct yk_regex_reader *reader, bool inside, bool *found,
                              struct yk_regex_class *out) YK_MUST_USE;

/* Reads a class such as [:alpha:], which only stands inside brackets, in the same way. */
yk_status yk_regex_class_read_posix(struct yk_regex_reader *reader, bool *found,
                                    struct yk_regex_class *out) YK_MUST_USE;

/* Adds the class as something outside of brackets that matches one character. */
void yk_regex_class_add(const struct yk_regex_class *class, struct yk_text *out);

/* Adds the class as members of a set and returns true, or returns false: negated members can only
 * be a set of their own. */
bool yk_regex_class_add_members(const struct yk_regex_class *class, struct yk_text *out);

/* Reads an escaped character that is neither a class nor an assertion. The backslash is read. */
yk_status yk_regex_class_read_escaped(struct yk_regex_reader *reader, uint32_t *out) YK_MUST_USE;

/* Adds a character that stands for itself, inside or outside of brackets. */
void yk_regex_class_add_literal(uint32_t character, struct yk_text *out);

/* Fails if Oniguruma ignores the case of this character in another way than PCRE2, or may. */
yk_status yk_regex_class_check_case(const struct yk_regex_reader *reader,
                                    uint32_t character) YK_MUST_USE;

#endif
