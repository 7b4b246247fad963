/*
 * Aligned text: a text that was made from another one, the source, together with the origin of each
 * of its bytes: the span of the source that the byte stands for. All bytes of a character have the
 * same origin. Normalizers and pre-tokenizers make a new aligned text from another, step by step.
 *
 * Origins take sixteen times the memory of the text. Who needs only the text does not track them:
 * then `tracked` is false and `origins` stays empty. The bytes are the same in both cases.
 *
 * An aligned text is a plain struct, initialized with {0}. Only one thread at a time may use it.
 */
#ifndef YK_TOKENIZER_ALIGNED_TEXT_H
#define YK_TOKENIZER_ALIGNED_TEXT_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/token_spans.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_aligned_text {
    struct yk_text text;
    bool tracked;
    struct yk_token_spans origins; /* one for each byte of `text`, if tracked */
};

/* A part of an aligned text. */
struct yk_aligned_segment {
    const char *bytes;
    size_t length;
    const struct yk_token_span *origins; /* (length); NULL if not tracked */
    /* If not tracked: how many of the first bytes have an origin that begins at byte 0 of the
     * source. Part of what a segment becomes depends on whether it is at the start of the source.
     */
    size_t start_bytes;
};

void yk_aligned_text_free(struct yk_aligned_text *text);

/* Empties the text, but keeps its memory. */
void yk_aligned_text_clear(struct yk_aligned_text *text, bool tracked);
yk_status yk_aligned_text_status(const struct yk_aligned_text *text) YK_MUST_USE;

/* Sets `text` to a part of the source, which begins at byte `begin` of it. */
yk_status yk_aligned_text_set_source(struct yk_aligned_text *text, const char *bytes, size_t length,
                                     size_t begin, bool tracked) YK_MUST_USE;

/* The whole text as a segment. `start_bytes` is the caller's to set. */
struct yk_aligned_segment yk_aligned_text_get_segment(const struct yk_aligned_text *text);

/* A part of a segment. */
struct yk_aligned_segment yk_aligned_text_slice_segment(const struct yk_aligned_segment *segment,
                                                        size_t begin, size_t end);

/* Whether the segment begins where the source begins. */
bool yk_aligned_text_segment_is_at_start(const struct yk_aligned_segment *segment);

/* Appends bytes that all have the same origin. */
void yk_aligned_text_add(struct yk_aligned_text *text, const char *bytes, size_t length,
                         struct yk_token_span origin);
/* Appends a part of another segment. If `text` is tracked, the segment must be, too. */
void yk_aligned_text_add_segment(struct yk_aligned_text *text,
                                 const struct yk_aligned_segment *segment, size_t begin,
                                 size_t end);

/*
 * Aligned transform: a transformation of a text into another one, character by character, as in
 * Hugging Face's tokenizers. Each new character comes with a change: 0   it replaces the next
 * character of the old text 1   it is inserted: its origin is that of the old character before −n
 * it replaces the next character, and the n characters after it are removed The changes determine
 * the origins and nothing else. Initialize it with {.from, .to}.
 */
struct yk_aligned_transform {
    const struct yk_aligned_segment *from;
    struct yk_aligned_text *to;
    size_t at; /* of the old text: everything before was replaced or removed */
};

void yk_aligned_text_add_transformed(struct yk_aligned_transform *transform, uint32_t character,
                                     int32_t change);

#endif
