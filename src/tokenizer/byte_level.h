/*
 * Byte level: the 256 printable characters that represent bytes in byte-level tokenizers, as in
 * GPT-2's encoder (Radford et al. 2019). Printable Latin-1 characters represent themselves. The
 * other bytes are represented by the characters from U+0100 on, in order: the space is U+0120, "Ġ".
 * Any thread may call this.
 */
#ifndef YK_TOKENIZER_BYTE_LEVEL_H
#define YK_TOKENIZER_BYTE_LEVEL_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Converts a byte to its character, and a character to its byte or -1. */
uint32_t yk_byte_level_character(unsigned char byte);
int yk_byte_level_byte(uint32_t character);

/* Appends the bytes that a token represents. Returns false, and appends nothing, if a character of
 * the token does not represent a byte. */
bool yk_byte_level_decode(const char *token, size_t length, struct yk_text *out);

#endif
