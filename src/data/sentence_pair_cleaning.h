/*
 * Sentence pair cleaning: decides which messages of a program can train a translation model, and
 * cleans their text. White space becomes single spaces. Marks of keyboard shortcuts are removed
 * ("_File", "E&xit", "파일(_F)"). enum yk_sentence_pair_reject_reason lists the reasons to reject a
 * pair. Any thread may call these functions.
 */
#ifndef YK_DATA_SENTENCE_PAIR_CLEANING_H
#define YK_DATA_SENTENCE_PAIR_CLEANING_H

#include "base/status.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

enum yk_sentence_pair_reject_reason {
    YK_SENTENCE_PAIR_ACCEPTED,
    YK_SENTENCE_PAIR_UNTRANSLATED,    /* the translation is empty */
    YK_SENTENCE_PAIR_NOT_TEXT,        /* a side is not UTF-8 or contains control characters */
    YK_SENTENCE_PAIR_TABLE_LAYOUT,    /* a side has columns or lists: tabs, three or more spaces in
                                         a row, indented lines */
    YK_SENTENCE_PAIR_NO_LETTERS,      /* the source has no letter A to Z, or the translation has no
                                         letter */
    YK_SENTENCE_PAIR_IDENTICAL_SIDES, /* both sides are equal */
    YK_SENTENCE_PAIR_DIFFERENT_PLACEHOLDERS, /* different placeholders, such as %s or {name} */
    YK_SENTENCE_PAIR_TOO_LONG,               /* a side has more characters than the limit */
    YK_SENTENCE_PAIR_LENGTH_RATIO,           /* one side is several times as long as the other */
    YK_SENTENCE_PAIR_UNMATCHED_PLURALS,      /* the translation has more than two plural forms */
    YK_SENTENCE_PAIR_DUPLICATE,              /* a duplicate of another pair */
    YK_SENTENCE_PAIR_REJECT_REASON_COUNT
};

/* Returns the name of a reason for summaries: "untranslated", "no letters" … */
const char *yk_sentence_pair_cleaning_reason_name(enum yk_sentence_pair_reject_reason fault);

/* The two sides of a pair. `source` and `translation` are the input. `source_out` and
 * `translation_out` are the cleaned texts, which are valid only if the pair is accepted. */
struct yk_sentence_pair_cleaning_sides {
    const char *source;
    size_t source_length;
    const char *translation;
    size_t translation_length;
    struct yk_text source_out;
    struct yk_text translation_out;
};

/* Cleans a pair. `longest` is the maximum number of characters of a side. Sets `*out` to
 * YK_SENTENCE_PAIR_ACCEPTED or to the reason to reject the pair. */
yk_status yk_sentence_pair_clean(struct yk_sentence_pair_cleaning_sides *sides, int64_t longest,
                                 enum yk_sentence_pair_reject_reason *out) YK_MUST_USE;

#endif
