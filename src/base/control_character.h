/*
 * Control characters: C0, DEL, and C1 (U+0080 to U+009F, two bytes in UTF-8). They can move the
 * cursor of a terminal or change the state of the terminal. Text from files is therefore checked
 * with these functions before it is printed. Any thread may call these functions.
 */
#ifndef YK_BASE_CONTROL_CHARACTER_H
#define YK_BASE_CONTROL_CHARACTER_H

#include <stddef.h>

/* Returns the length in bytes of the control character at the beginning of `bytes`, or 0 if `bytes`
 * does not begin with a control character. */
size_t yk_control_character_length(const char *bytes, size_t length);

/* Replaces every byte of a control character with '?'. */
void yk_control_character_mask(char *bytes, size_t length);

#endif
