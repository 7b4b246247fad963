/* UTF-8: strict encoding and decoding (RFC 3629), and positions in a text. Any thread may call
 * this. */
#ifndef YK_BASE_UTF8_H
#define YK_BASE_UTF8_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    YK_UTF8_MAX_BYTES = 4,
    YK_UTF8_CODE_POINT_COUNT = 0x110000 /* code points are below this */
};

/* Decodes the first character of `bytes` and returns its length in bytes. Returns 0 if the bytes
 * are not valid UTF-8: truncated, overlong, a surrogate, or above U+10FFFF. */
size_t yk_utf8_decode(const char *bytes, size_t length, uint32_t *out);

/* Encodes a character, without a terminating zero, and returns its length in bytes. */
size_t yk_utf8_encode(uint32_t character, char out[YK_UTF8_MAX_BYTES]);

/* The length of the longest prefix of `bytes` that is valid UTF-8 without zero bytes. */
size_t yk_utf8_valid_length(const char *bytes, size_t length);

/* The first byte of the character that ends before byte `at`, which is above 0. */
size_t yk_utf8_previous(const char *bytes, size_t at);

struct yk_utf8_position {
    int64_t line;   /* from 1 */
    int64_t column; /* from 1, in characters */
};

/* The position of byte `at`. The bytes before it must be valid UTF-8. */
struct yk_utf8_position yk_utf8_locate(const char *bytes, size_t at);

/* Fails with a message about the invalid byte at `place`: it is 0 or not UTF-8. */
yk_status yk_utf8_fail_invalid(const char *source, struct yk_utf8_position place,
                               char byte) YK_MUST_USE;

#endif
