/*
 * Unicode: categories of characters, lower case, and the four normal forms.
 *
 * The categories are those of Hugging Face's tokenizers, which use several versions of Unicode,
 * older and newer than that of the libraries here. With another version, text in recently added
 * scripts would be split in another way than when the model was trained.
 * tests/oracle/unicode_ranges.py generates the file unicode_ranges.c, which contains the
 * categories. Lower case and normal forms come from utf8proc; only unicode.c includes its header.
 * Any thread may call these functions.
 */
#ifndef YK_TOKENIZER_UNICODE_H
#define YK_TOKENIZER_UNICODE_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yk_unicode_category {
    YK_UNICODE_DROPPED,         /* U+0000, U+FFFD, control, format and private-use characters */
    YK_UNICODE_PUNCTUATION,     /* the categories P (punctuation), and the ASCII symbols */
    YK_UNICODE_NONSPACING_MARK, /* category Mn */
    YK_UNICODE_MARK,            /* the categories M (all marks) */
    YK_UNICODE_IDEOGRAPH,       /* the blocks of CJK ideographs that BERT recognizes */
    YK_UNICODE_NUMERIC,         /* the categories N (all numbers) */
    YK_UNICODE_INERT,           /* younger than the normal forms: these do not change them */
    YK_UNICODE_EXTENDING,       /* continue a grapheme cluster */
    YK_UNICODE_CATEGORY_COUNT
};

struct yk_unicode_range {
    uint32_t first;
    uint32_t last;
};

struct yk_unicode_range_list {
    const struct yk_unicode_range *ranges; /* ascending; adjacent ranges are joined */
    size_t count;
};

extern const struct yk_unicode_range_list yk_unicode_category_ranges[YK_UNICODE_CATEGORY_COUNT];

/* Ranges with a number. */
struct yk_unicode_numbered_range {
    uint32_t first;
    uint32_t last;
    int32_t number;
};

struct yk_unicode_numbered_range_list {
    const struct yk_unicode_numbered_range *ranges; /* ascending */
    size_t count;
};

extern const struct yk_unicode_numbered_range_list yk_unicode_script_ranges; /* scripts */
/* Characters whose category changed after Unicode 14, with an older character in its stead. */
extern const struct yk_unicode_numbered_range_list yk_unicode_newer_ranges;
/* Characters that got a lower case after Unicode 14, with the distance to it. */
extern const struct yk_unicode_numbered_range_list yk_unicode_lowercase_ranges;

/* Scripts, by the numbers that this project gives them. Han, Hiragana and Katakana are one. */
enum {
    YK_UNICODE_ANY_SCRIPT = 0 /* the space, and characters that have no script */
};

/* Returns the script of a character. */
int32_t yk_unicode_script(uint32_t character);

/* Returns a character that has the category that Hugging Face's tokenizers give to `character`, and
 * as many bytes in UTF-8. This is `character` itself unless it is younger than the libraries. */
uint32_t yk_unicode_older_equivalent(uint32_t character);

/* Replaces all characters that have an older equivalent. `*out` is the text itself if there are
 * none, as in most texts, otherwise the text in `buffer`, which is as long. */
yk_status yk_unicode_replace_newer(const char *text, size_t length, struct yk_text *buffer,
                                   const char **out) YK_MUST_USE;

/* Returns whether the character has the Unicode property White_Space. */
bool yk_unicode_is_space(uint32_t character);

/* Returns whether Python's str.isspace() is true of the character: it is also true of the four
 * separators of ASCII. */
bool yk_unicode_is_python_space(uint32_t character);

/* Return whether Python's str.isprintable(), isdecimal() … are true of the character. */
bool yk_unicode_is_python_printable(uint32_t character);
bool yk_unicode_is_python_decimal(uint32_t character);
bool yk_unicode_is_python_digit(uint32_t character);
bool yk_unicode_is_python_numeric(uint32_t character);

/* Returns whether one of the ranges contains the character. */
bool yk_unicode_is_in_ranges(const struct yk_unicode_range_list *list, uint32_t character);

bool yk_unicode_is_in_category(uint32_t character, enum yk_unicode_category kind);

enum {
    YK_UNICODE_MAX_LOWERCASE = 2
};

/* Writes the lower case of a character, or the character itself if it has no lower case. Returns
 * the number of characters that were written: two for U+0130 (the capital I with a dot), otherwise
 * one. */
int32_t yk_unicode_lowercase_character(uint32_t character, uint32_t out[YK_UNICODE_MAX_LOWERCASE]);

enum {
    YK_UNICODE_MAX_CASEFOLD = 3
};

/* Writes the full case folding of a character, as Python's str.casefold() has it. Returns the
 * number of characters that were written. */
int32_t yk_unicode_casefold_character(uint32_t character, uint32_t out[YK_UNICODE_MAX_CASEFOLD]);

/* Return the upper case and the title case of a character as one character. A character that has
 * none, or only one of several characters, is returned as it is. */
uint32_t yk_unicode_uppercase_character(uint32_t character);
uint32_t yk_unicode_titlecase_character(uint32_t character);

/* Returns the general category of a character in the current version of Unicode: "Lu", "Nd" … */
const char *yk_unicode_general_category(uint32_t character);

enum yk_unicode_normal_form {
    YK_UNICODE_NFC,
    YK_UNICODE_NFD,
    YK_UNICODE_NFKC,
    YK_UNICODE_NFKD
};

/* Returns whether a text has a character of YK_UNICODE_INERT, or another one that
 * yk_unicode_normalize() composes by mistake. */
bool yk_unicode_has_inert(const char *text, size_t length);

/* Appends a normal form of UTF-8 text to `out` (Unicode Standard Annex #15). Does not know of
 * YK_UNICODE_INERT, unlike the functions for single characters below. */
yk_status yk_unicode_normalize(const char *text, size_t length, enum yk_unicode_normal_form form,
                               struct yk_text *out) YK_MUST_USE;

enum {
    YK_UNICODE_MAX_DECOMPOSED = 18 /* U+FDFA in NFKD */
};

/* Writes the full decomposition of a character, canonical or compatible, and returns the number of
 * characters. */
int32_t yk_unicode_decompose_character(uint32_t character, bool compatible,
                                       uint32_t out[YK_UNICODE_MAX_DECOMPOSED]);
/* Returns the Canonical_Combining_Class: 0 for a starter. */
int32_t yk_unicode_combining_class(uint32_t character);
/* Returns the character that two characters compose to, or 0 if there is none. */
uint32_t yk_unicode_compose_pair(uint32_t first, uint32_t second);

/* Returns whether a grapheme cluster ends between two characters (Unicode Standard Annex #29).
 * `*state` is 0 at the beginning of a cluster; the calls for one cluster share it. */
bool yk_unicode_is_grapheme_boundary(uint32_t before, uint32_t after, int32_t *state);

/* Appends the lower case of `text`, as Python's str.lower() does: a capital sigma at the end of a
 * word becomes a final sigma. Bytes that are not UTF-8 are copied. */
void yk_unicode_lowercase_text(const char *text, size_t length, struct yk_text *out);

#endif
