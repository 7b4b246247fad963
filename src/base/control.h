/*
 * Control: characters that move a terminal's cursor or change its state instead of being shown.
 *
 * Names, metadata and generated text come from other people's files. Whatever of it is printed goes
 * through one of these functions: C0 controls, DEL, and the C1 controls U+0080 to U+009F, which
 * UTF-8 writes as two bytes. Any thread.
 */
#ifndef YK_BASE_CONTROL_H
#define YK_BASE_CONTROL_H

#include <stddef.h>

/* The bytes of the control character that `bytes` begins with; 0 when it begins with none. */
size_t yk_control_length(const char *bytes, size_t length);

/* Replaces every byte of a control character by '?'. */
void yk_control_mask(char *bytes, size_t length);

#endif
