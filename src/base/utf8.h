/* UTF-8: strict encoding and decoding (RFC 3629), and positions in a text. Any thread may call
 * these functions. */
#ifndef YK_BASE_UTF8_H
#define YK_BASE_UTF8_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    YK_UTF8_MAX_BYTES = 4,
    YK_UTF8_CODE_POINT_COUNT = 0x110000 /* all code points are less than this */
};

/* Decodes the first character of `bytes` and returns its length in bytes. Returns 0 if the bytes
 * are not valid UTF-8, that is, if they are truncated, overlong, a surrogate, or greater than
 * U+10FFFF. */
size_t yk_utf8_decode(const char *bytes, size_t length, uint32_t *out);

/* Encodes a character, without a terminating zero, and returns its length in bytes. */
size_t yk_utf8_encode(uint32_t character, char out[YK_UTF8_MAX_BYTES]);

/* Returns the length of the longest prefix of `bytes` that is valid UTF-8 without zero bytes. */
size_t yk_utf8_valid_length(const char *bytes, size_t length);

/* Returns the index of the first byte of the character that ends before byte `at`. `at` must be
 * greater than 0. */
size_t yk_utf8_previous_start(const char *bytes, size_t at);

struct yk_utf8_line_column {
    int64_t line;   /* counted from 1 */
    int64_t column; /* in characters, counted from 1 */
};

/* Returns the position of byte `at`. The bytes before `at` must be valid UTF-8. */
struct yk_utf8_line_column yk_utf8_line_and_column(const char *bytes, size_t at);

/* Fails. The error message says that `byte`, at the position `place` of `source`, is a zero byte or
 * is not UTF-8. */
yk_status yk_utf8_fail_invalid(const char *source, struct yk_utf8_line_column place,
                               char byte) YK_MUST_USE;

#endif
