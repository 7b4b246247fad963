/*
 * Byte level: the 256 printable characters by which byte-level tokenizers write bytes, as GPT-2's
 * encoder does (Radford et al. 2019). Printable characters of Latin-1 stand for themselves, the
 * others follow from U+0100 on in their order: the space is U+0120, "Ġ". Any thread.
 */
#ifndef YK_TOKENIZER_BYTE_LEVEL_H
#define YK_TOKENIZER_BYTE_LEVEL_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character of a byte, and the byte of a character or −1. */
uint32_t yk_byte_level_character(unsigned char byte);
int yk_byte_level_byte(uint32_t character);

/* Adds the bytes that `token` writes; false, and nothing, where a character of it stands for none.
 */
bool yk_byte_level_decode(const char *token, size_t length, struct yk_text *out);

#endif
