/* UTF-8: characters in bytes, strictly (RFC 3629), and where in a text a byte is. Any thread. */
#ifndef YK_BASE_UTF8_H
#define YK_BASE_UTF8_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    YK_UTF8_MAX_BYTES = 4,
    YK_UTF8_CHARACTERS = 0x110000 /* code points are below */
};

/* The character at the beginning of `bytes` and how many bytes it takes; 0 when they are no UTF-8:
 * cut off, longer than needed, a half of a surrogate pair or beyond U+10FFFF. */
size_t yk_utf8_decode(const char *bytes, size_t length, uint32_t *out);

/* Writes a character, without a terminating zero, and returns how many bytes it takes. */
size_t yk_utf8_encode(uint32_t character, char out[YK_UTF8_MAX_BYTES]);

/* The longest beginning of `bytes` that is UTF-8 without zeros: `length` when all of it is. */
size_t yk_utf8_valid_length(const char *bytes, size_t length);

struct yk_utf8_position {
    int64_t line;   /* from 1 */
    int64_t column; /* from 1, in characters */
};

/* Where byte `at` is; the bytes before it are UTF-8. */
struct yk_utf8_position yk_utf8_locate(const char *bytes, size_t at);

/* Refuses a text by the byte at `place` of `source`, which is 0 or no UTF-8. */
yk_status yk_utf8_fail(const char *source, struct yk_utf8_position place, char byte) YK_MUST_USE;

#endif
