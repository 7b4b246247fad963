/*
 * Byte level: the 256 printable characters that represent the 256 bytes in byte-level tokenizers
 * such as GPT-2's (Radford et al. 2019). A byte that is a printable Latin-1 character is
 * represented by this character. The other bytes are represented by the characters from U+0100 on,
 * in order; for example, the space is U+0120, "Ġ". Any thread may call these functions.
 */
#ifndef YK_TOKENIZER_BYTE_LEVEL_H
#define YK_TOKENIZER_BYTE_LEVEL_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the character that represents a byte. */
uint32_t yk_byte_level_character_of_byte(unsigned char byte);
/* Returns the byte that a character represents, or -1 if it represents none. */
int yk_byte_level_byte_of_character(uint32_t character);

/* Appends to `out` the characters that represent bytes. */
void yk_byte_level_encode_bytes(const char *bytes, size_t length, struct yk_text *out);

/* Appends to `out` the bytes that a token represents. Returns false, and appends nothing, if a
 * character of the token does not represent a byte. */
bool yk_byte_level_decode_token(const char *token, size_t length, struct yk_text *out);

#endif
