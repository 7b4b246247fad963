/*
 * Control characters, which move a terminal's cursor or change its state: C0, DEL, and C1 (U+0080
 * to U+009F, two bytes of UTF-8). Whatever comes from other people's files and is printed passes
 * through here. Any thread.
 */
#ifndef YK_BASE_CONTROL_H
#define YK_BASE_CONTROL_H

#include <stddef.h>

/* The bytes of the control character that `bytes` begins with; 0 when it begins with none. */
size_t yk_control_length(const char *bytes, size_t length);

/* Replaces every byte of a control character by '?'. */
void yk_control_mask(char *bytes, size_t length);

#endif
