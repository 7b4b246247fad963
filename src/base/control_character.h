/*
 * Control characters: C0, DEL, and C1 (U+0080 to U+009F, two bytes in UTF-8). They can move the
 * cursor of a terminal or change its state. Text from files passes through these functions before
 * it is printed. Any thread may call them.
 */
#ifndef YK_BASE_CONTROL_CHARACTER_H
#define YK_BASE_CONTROL_CHARACTER_H

#include <stddef.h>

/* The length in bytes of the control character at the beginning of `bytes`, or 0 if there is none.
 */
size_t yk_control_character_length(const char *bytes, size_t length);

/* Replaces every byte of a control character with '?'. */
void yk_control_character_mask(char *bytes, size_t length);

#endif
