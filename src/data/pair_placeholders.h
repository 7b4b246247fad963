/*
 * Pair placeholders: what of a message is not language but filled in by the program: directives of
 * printf (%s, %1$d, %(name)s, %1), names in braces ({name}), and the sign @ of addresses.
 *
 * A translation must have the same ones as its source, in any order. Any thread.
 */
#ifndef YK_DATA_PAIR_PLACEHOLDERS_H
#define YK_DATA_PAIR_PLACEHOLDERS_H

#include <stddef.h>
#include <stdint.h>

/* A number that is the same for texts of the same placeholders, whatever their order, positions,
 * flags and widths. */
uint64_t yk_pair_placeholders(const char *text, size_t length);

#endif
