/*
 * Unicode ranges: the classes of characters that tokenizers ask for, as Hugging Face's tokenizers
 * have them. Those are of older versions of Unicode than a library of today knows; with newer ones
 * a text of a young script would be cut otherwise than when the model was made. Any thread.
 */
#ifndef YK_TOKENIZER_UNICODE_RANGES_H
#define YK_TOKENIZER_UNICODE_RANGES_H

#include <stddef.h>
#include <stdint.h>

enum yk_unicode_kind {
    YK_UNICODE_DROPPED,         /* zero, U+FFFD, control, format and private characters */
    YK_UNICODE_PUNCTUATION,     /* categories P, and the symbols among ASCII */
    YK_UNICODE_NONSPACING_MARK, /* category Mn */
    YK_UNICODE_MARK,            /* categories M */
    YK_UNICODE_IDEOGRAPH,       /* the blocks of CJK ideographs that BERT knows */
    YK_UNICODE_CLASSES
};

struct yk_unicode_range {
    uint32_t first;
    uint32_t last;
};

struct yk_unicode_class {
    const struct yk_unicode_range *ranges; /* rising, with gaps between them */
    size_t count;
};

extern const struct yk_unicode_class yk_unicode_classes[YK_UNICODE_CLASSES];

#endif
