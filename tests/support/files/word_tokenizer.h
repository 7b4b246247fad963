/* Word tokenizer: a tokenizer of whole words whose ids a test knows, for tests of what uses one. */
#ifndef YK_TESTS_SUPPORT_FILES_WORD_TOKENIZER_H
#define YK_TESTS_SUPPORT_FILES_WORD_TOKENIZER_H

#include "tokenizer/tokenizer.h"

enum {
    SUPPORT_UNKNOWN_WORD = 0 /* the id of [UNK], which is always there */
};

/*
 * Special tokens `names`, ended by NULL, with the ids 1, 2 …, and behind them words "w0", "w1" …
 * with the next ids. A text is framed with `begin`, one of the names, in front; NULL: with nothing.
 */
struct yk_tokenizer *support_word_tokenizer(const char *const *names, int words, const char *begin);

#endif
