/*
 * Byte letters: the 256 printable characters by which byte-level tokenizers write bytes, as GPT-2's
 * encoder does (Radford et al. 2019). The printable ones of Latin-1 stand for themselves, the
 * others follow from U+0100 on in their order: the space is U+0120, "Ġ". Any thread.
 */
#ifndef YK_DATA_BYTE_LETTERS_H
#define YK_DATA_BYTE_LETTERS_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character of a byte, and the byte of a character or −1. */
uint32_t yk_byte_letter(unsigned char byte);
int yk_byte_letter_byte(uint32_t character);

/* Adds the bytes that `token` writes; false, and nothing, where a character of it stands for none.
 */
bool yk_byte_letters_read(const char *token, size_t length, struct yk_text *out);

#endif
