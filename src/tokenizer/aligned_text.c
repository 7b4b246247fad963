#include "tokenizer/aligned_text.h"

#include "base/utf8.h"

void yk_aligned_text_free(struct yk_aligned_text *text)
{
    yk_text_free(&text->text);
    yk_token_spans_free(&text->origins);
    *text = (struct yk_aligned_text){0};
}

void yk_aligned_text_clear(struct yk_aligned_text *text, bool tracked)
{
    text->text.length = 0;
    text->origins.count = 0;
    text->tracked = tracked;
}

yk_status yk_aligned_text_status(const struct yk_aligned_text *text)
{
    YK_TRY(yk_text_status(&text->text));
    return yk_token_spans_status(&text->origins);
}

/* The length of the character at the beginning of UTF-8 text; 1 for a byte that begins none. */
static size_t character_length(const char *bytes, size_t length)
{
    uint32_t ignored = 0;
    const size_t used = yk_utf8_decode(bytes, length, &ignored);
    return used ? used : 1;
}

yk_status yk_aligned_text_set_source(struct yk_aligned_text *text, const char *bytes, size_t length,
                                     size_t begin, bool tracked)
{
    yk_aligned_text_clear(text, tracked);
    yk_text_add_bytes(&text->text, bytes, length);
    for (size_t at = 0; tracked && at < length;) {
        const size_t used = character_length(bytes + at, length - at);
        const struct yk_token_span origin = {.begin = begin + at, .end = begin + at + used};
        yk_token_spans_add_repeated(&text->origins, origin, used);
        at += used;
    }
    return yk_aligned_text_status(text);
}

struct yk_aligned_segment yk_aligned_text_get_segment(const struct yk_aligned_text *text)
{
    return (struct yk_aligned_segment){
        .bytes = yk_text_chars(&text->text),
        .length = text->text.length,
        .origins = text->tracked ? text->origins.items : NULL,
    };
}

struct yk_aligned_segment yk_aligned_text_slice_segment(const struct yk_aligned_segment *segment,
                                                        size_t begin, size_t end)
{
    return (struct yk_aligned_segment){
        .bytes = segment->bytes + begin,
        .length = end - begin,
        .origins = segment->origins ? segment->origins + begin : NULL,
        .start_bytes = segment->start_bytes > begin ? segment->start_bytes - begin : 0,
    };
}

bool yk_aligned_text_segment_is_at_start(const struct yk_aligned_segment *segment)
{
    return segment->origins ? segment->origins[0].begin == 0 : segment->start_bytes > 0;
}

void yk_aligned_text_add(struct yk_aligned_text *text, const char *bytes, size_t length,
                         struct yk_token_span origin)
{
    yk_text_add_bytes(&text->text, bytes, length);
    if (text->tracked) {
        yk_token_spans_add_repeated(&text->origins, origin, length);
    }
}

void yk_aligned_text_add_segment(struct yk_aligned_text *text,
                                 const struct yk_aligned_segment *segment, size_t begin, size_t end)
{
    yk_text_add_bytes(&text->text, segment->bytes + begin, end - begin);
    if (text->tracked) {
        yk_token_spans_add_all(&text->origins, segment->origins + begin, end - begin);
    }
}

/* Skips characters of the old text. */
static void skip(struct yk_aligned_transform *transform, size_t characters)
{
    const struct yk_aligned_segment *from = transform->from;
    for (; characters > 0 && transform->at < from->length; characters--) {
        transform->at +=
            character_length(from->bytes + transform->at, from->length - transform->at);
    }
}

/* The origin of the byte at `at`. Behind the end it is that of the last byte. */
static struct yk_token_span origin_at(const struct yk_aligned_segment *from, size_t at)
{
    if (from->length == 0) {
        return (struct yk_token_span){0};
    }
    return from->origins[at < from->length ? at : from->length - 1];
}

void yk_aligned_text_add_transformed(struct yk_aligned_transform *transform, uint32_t character,
                                     int32_t change)
{
    struct yk_aligned_text *to = transform->to;
    char bytes[YK_UTF8_MAX_BYTES];
    const size_t length = yk_utf8_encode(character, bytes);
    if (!to->tracked) {
        yk_text_add_bytes(&to->text, bytes, length);
        return;
    }
    struct yk_token_span origin = {0};
    if (change <= 0) {
        origin = origin_at(transform->from, transform->at);
        skip(transform, 1 + (size_t)-change);
    } else if (transform->at > 0) {
        origin = origin_at(transform->from, transform->at - 1);
    } else {
        origin.begin = origin_at(transform->from, 0).begin;
        origin.end = origin.begin;
    }
    yk_aligned_text_add(to, bytes, length, origin);
}
