/* UTF-8: strict encoding and decoding (RFC 3629), positions in a text, and control characters. Any
 * thread may call these functions. */
#ifndef YK_BASE_UTF8_H
#define YK_BASE_UTF8_H

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
size_t yk_utf8_valid_prefix_length(const char *bytes, size_t length);

/* Returns the index of the first byte of the character directly before byte `at`. `at` must be
 * greater than 0. */
size_t yk_utf8_previous_character_start(const char *bytes, size_t at);

struct yk_utf8_position {
    int64_t line;   /* counted from 1 */
    int64_t column; /* in characters, counted from 1 */
};

/* Returns the position of byte `at`. The bytes before `at` must be valid UTF-8. */
struct yk_utf8_position yk_utf8_position_of_byte(const char *bytes, size_t at);

/*
 * Control characters: C0, DEL, and C1 (U+0080 to U+009F, two bytes). They can move the cursor of a
 * terminal or change its state. Text from files is therefore checked before it is printed.
 *
 * Returns the length in bytes of the control character at the beginning of `bytes`, or 0 if `bytes`
 * does not begin with a control character.
 */
size_t yk_utf8_control_character_length(const char *bytes, size_t length);

/* Replaces every byte of a control character with '?'. */
void yk_utf8_replace_control_characters(char *bytes, size_t length);

#endif
