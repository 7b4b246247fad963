/*
 * Pair cleaning: which messages of a program make a pair of sentences to train translation on, and
 * in what form. White space becomes single spaces; marks of mnemonics go ("_File", "E&xit",
 * "파일(_F)"). The rules for leaving a pair out are the rows of enum yk_pair_fault. Any thread.
 */
#ifndef YK_DATA_PAIR_CLEANING_H
#define YK_DATA_PAIR_CLEANING_H

#include "base/status.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

enum yk_pair_fault {
    YK_PAIR_GOOD,
    YK_PAIR_UNTRANSLATED, /* the translation is empty */
    YK_PAIR_NOT_TEXT,     /* not UTF-8, or with control characters */
    YK_PAIR_LAYOUT,     /* columns and lists: tabs, runs of spaces, lines that begin with either */
    YK_PAIR_NO_LETTERS, /* on one of the sides */
    YK_PAIR_SAME,       /* both sides */
    YK_PAIR_PLACEHOLDERS, /* %s, {name} or @ on one side that the other has not */
    YK_PAIR_LONG,         /* a side of more characters than asked for */
    YK_PAIR_UNEQUAL,      /* a side several times as long as the other */
    YK_PAIR_PLURAL,       /* forms of plurals that cannot be assigned */
    YK_PAIR_REPEATED,     /* the pair was there before */
    YK_PAIR_FAULTS
};

/* "untranslated", "no letters" …: what a summary calls it. */
const char *yk_pair_cleaning_fault_name(enum yk_pair_fault fault);

/* Both sides of a pair as they are found, in bytes; and as they are cleaned, in `*_out`, which are
 * emptied first and matter only when the pair is good. */
struct yk_pair_sides {
    const char *source;
    size_t source_length;
    const char *translation;
    size_t translation_length;
    struct yk_text source_out;
    struct yk_text translation_out;
};

/* `longest`: the most characters a side may have. */
yk_status yk_pair_clean(struct yk_pair_sides *sides, int64_t longest,
                        enum yk_pair_fault *out) YK_MUST_USE;

#endif
