/*
 * Pair mnemonics: the marks in labels that say which key chooses them, which are no part of the
 * sentence: "_File" and "E_xit" of GTK, "&File" of Qt and Windows, "파일(_F)" where the language
 * has no such letter. Any thread.
 */
#ifndef YK_DATA_PAIR_MNEMONICS_H
#define YK_DATA_PAIR_MNEMONICS_H

#include "base/text.h"

/*
 * Takes the marks out of both sides of a pair. A mark is one _ or & alone in its text, at the
 * beginning of a word, or inside of one that the other side has not: file_name and AT&T, which a
 * translation keeps, stay.
 */
void yk_pair_strip_mnemonics(struct yk_text *source, struct yk_text *translation);

#endif
