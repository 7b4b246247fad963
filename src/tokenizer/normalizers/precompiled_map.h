/*
 * Precompiled map: the character map of a SentencePiece model (Kudo and Richardson 2018), which
 * says what some strings are replaced with. The format, all numbers little-endian:
 *   4 bytes    the size of the trie in bytes
 *   trie       a double array (Darts-clone) of 4-byte units; its keys are the strings to replace,
 *              its values are offsets into the replacements
 *   the rest   replacements in UTF-8, each ended by a zero byte
 * A map is immutable: any number of threads may share it.
 */
#ifndef YK_TOKENIZER_NORMALIZERS_PRECOMPILED_MAP_H
#define YK_TOKENIZER_NORMALIZERS_PRECOMPILED_MAP_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_precompiled_map;

/* Reads a map. Fails if it is cut short or if an offset is out of range. */
yk_status yk_precompiled_map_create(const unsigned char *bytes, size_t length,
                                    struct yk_precompiled_map **out) YK_MUST_USE;
/* Does the same for a map in Base64. */
yk_status yk_precompiled_map_create_from_base64(const char *text,
                                                struct yk_precompiled_map **out) YK_MUST_USE;
void yk_precompiled_map_destroy(struct yk_precompiled_map *map);

/* Finds the shortest key that `bytes` begins with. If there is one, returns true and sets the
 * replacement, which belongs to the map and may be empty. */
bool yk_precompiled_map_find(const struct yk_precompiled_map *map, const char *bytes, size_t length,
                             const char **replacement, size_t *replacement_length);

/* Whether an ASCII character alone is replaced. */
bool yk_precompiled_map_changes_ascii(const struct yk_precompiled_map *map, unsigned char byte);

#endif
