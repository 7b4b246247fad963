#include "tokenizer/regex/regex_reader.h"

#include "base/utf8.h"

#include <string.h>

enum {
    SHOWN_BYTES = 100 /* of a pattern in messages */
};

yk_status yk_regex_reader_refuse(const struct yk_regex_reader *reader, const char *reason)
{
    return yk_fail(YK_ERROR_INPUT, "the pattern \"%.*s\" cannot be used: %s",
                   reader->length < SHOWN_BYTES ? (int)reader->length : SHOWN_BYTES,
                   reader->pattern, reason);
}

bool yk_regex_reader_is_at(const struct yk_regex_reader *reader, const char *words)
{
    const size_t length = strlen(words);
    return reader->length - reader->at >= length &&
           memcmp(reader->pattern + reader->at, words, length) == 0;
}

bool yk_regex_reader_skip(struct yk_regex_reader *reader, const char *words)
{
    const bool skipped = yk_regex_reader_is_at(reader, words);
    reader->at += skipped ? strlen(words) : 0;
    return skipped;
}

yk_status yk_regex_reader_character(struct yk_regex_reader *reader, uint32_t *out)
{
    const size_t used =
        yk_utf8_decode(reader->pattern + reader->at, reader->length - reader->at, out);
    if (used == 0) {
        return yk_regex_reader_refuse(
            reader, reader->at == reader->length ? "it ends after a backslash" : "it is not UTF-8");
    }
    reader->at += used;
    return YK_OK;
}
