#include "tokenizer/normalizers/precompiled_map.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNIT_BYTES = 4,
    ASCII = 128
};

/* The bits of a unit. A leaf has the highest bit set and a value in the others. Any other unit has
 * a label, the byte that leads to it, and the offset of its children. */
#define LEAF_BIT (UINT32_C(1) << 31)
#define LABEL_BITS (LEAF_BIT | UINT32_C(0xff))
#define HAS_LEAF_BIT (UINT32_C(1) << 8)
#define WIDE_OFFSET_BIT (UINT32_C(1) << 9)

struct yk_precompiled_map {
    uint32_t *units;
    size_t unit_count;
    char *replacements;
    size_t replacements_length;
    bool changes_ascii[ASCII];
};

void yk_precompiled_map_destroy(struct yk_precompiled_map *map)
{
    if (map) {
        free(map->units);
        free(map->replacements);
        free(map);
    }
}

static uint32_t read_number(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static size_t children_of(uint32_t unit)
{
    const uint32_t offset = unit >> 10;
    return (size_t)offset << (unit & WIDE_OFFSET_BIT ? 8 : 0);
}

/* Each replacement must begin with a character, and the last one must end. */
static yk_status check_replacements(const struct yk_precompiled_map *map)
{
    const char *text = map->replacements;
    const size_t length = map->replacements_length;
    for (size_t at = 0; at < length;) {
        uint32_t ignored = 0;
        const size_t used = yk_utf8_decode(text + at, length - at, &ignored);
        if (used == 0) {
            return yk_fail(YK_ERROR_INPUT, "byte %zu of the replacements is not UTF-8", at);
        }
        at += used;
    }
    if (length > 0 && text[length - 1] != '\0') {
        return yk_fail(YK_ERROR_INPUT, "the last replacement does not end with a zero byte");
    }
    for (size_t i = 0; i < map->unit_count; i++) {
        const uint32_t value = map->units[i] & ~LEAF_BIT;
        if (!(map->units[i] & LEAF_BIT)) {
            continue;
        }
        if (value >= length) {
            return yk_fail(YK_ERROR_INPUT,
                           "unit %zu of the trie points to byte %" PRIu32
                           " of the replacements, which have %zu",
                           i, value, length);
        }
        if (((unsigned char)text[value] & 0xc0) == 0x80) {
            return yk_fail(YK_ERROR_INPUT,
                           "unit %zu of the trie points into a character of the replacements", i);
        }
    }
    return YK_OK;
}

static yk_status fill(const unsigned char *bytes, size_t length, struct yk_precompiled_map *map)
{
    const size_t trie_bytes = length >= UNIT_BYTES ? read_number(bytes) : 0;
    if (length < UNIT_BYTES || trie_bytes > length - UNIT_BYTES) {
        return yk_fail(YK_ERROR_INPUT,
                       "it is cut short: %zu bytes, of which the trie should take %zu", length,
                       trie_bytes);
    }
    if (trie_bytes == 0 || trie_bytes % UNIT_BYTES != 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "the trie has %zu bytes; it must have a multiple of %d, and more than 0",
                       trie_bytes, UNIT_BYTES);
    }
    map->unit_count = trie_bytes / UNIT_BYTES;
    map->replacements_length = length - UNIT_BYTES - trie_bytes;
    map->units = malloc(map->unit_count * sizeof *map->units);
    map->replacements = malloc(map->replacements_length + 1);
    if (!map->units || !map->replacements) {
        return yk_fail_out_of_memory();
    }
    for (size_t i = 0; i < map->unit_count; i++) {
        map->units[i] = read_number(bytes + UNIT_BYTES + i * UNIT_BYTES);
    }
    memcpy(map->replacements, bytes + UNIT_BYTES + trie_bytes, map->replacements_length);
    map->replacements[map->replacements_length] = '\0';
    YK_TRY(check_replacements(map));
    for (int byte = 0; byte < ASCII; byte++) {
        const char text = (char)byte;
        const char *ignored = NULL;
        size_t ignored_length = 0;
        map->changes_ascii[byte] =
            yk_precompiled_map_find(map, &text, 1, &ignored, &ignored_length);
    }
    return YK_OK;
}

yk_status yk_precompiled_map_create(const unsigned char *bytes, size_t length,
                                    struct yk_precompiled_map **out)
{
    struct yk_precompiled_map *map = calloc(1, sizeof *map);
    YK_TRY_ALLOCATED(map);
    YK_TRY_OR_CLEAN_UP(fill(bytes, length, map), yk_precompiled_map_destroy(map));
    *out = map;
    return YK_OK;
}

static int value_of_digit(char digit)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = digit ? strchr(digits, digit) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* Decodes Base64 (RFC 4648), with padding. */
static yk_status decode_base64(const char *text, unsigned char *out, size_t *out_length)
{
    size_t length = strlen(text);
    if (length % 4 != 0) {
        return yk_fail(YK_ERROR_INPUT, "it is not Base64: %zu characters, not a multiple of 4",
                       length);
    }
    for (int i = 0; i < 2 && length > 0 && text[length - 1] == '='; i++) {
        length--;
    }
    size_t count = 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < length; i++) {
        const int value = value_of_digit(text[i]);
        if (value < 0) {
            return yk_fail(YK_ERROR_INPUT, "it is not Base64: character %zu is none of its digits",
                           i + 1);
        }
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 != 0) {
            out[count++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
        }
    }
    *out_length = count;
    return YK_OK;
}

yk_status yk_precompiled_map_create_from_base64(const char *text, struct yk_precompiled_map **out)
{
    size_t length = 0;
    unsigned char *bytes = malloc(strlen(text) / 4 * 3 + 1);
    YK_TRY_ALLOCATED(bytes);
    yk_status status = decode_base64(text, bytes, &length);
    YK_IF_OK(yk_precompiled_map_create(bytes, length, out));
    free(bytes);
    return status;
}

bool yk_precompiled_map_find(const struct yk_precompiled_map *map, const char *bytes, size_t length,
                             const char **replacement, size_t *replacement_length)
{
    size_t at = children_of(map->units[0]);
    for (size_t i = 0; i < length && bytes[i] != '\0'; i++) {
        const unsigned char byte = (unsigned char)bytes[i];
        at ^= byte;
        if (at >= map->unit_count || (map->units[at] & LABEL_BITS) != byte) {
            return false;
        }
        const uint32_t unit = map->units[at];
        at ^= children_of(unit);
        if (unit & HAS_LEAF_BIT) {
            /* A unit that should be a leaf and is none is no key. */
            if (at >= map->unit_count || !(map->units[at] & LEAF_BIT)) {
                return false;
            }
            *replacement = map->replacements + (map->units[at] & ~LEAF_BIT);
            *replacement_length = strlen(*replacement);
            return true;
        }
    }
    return false;
}

bool yk_precompiled_map_changes_ascii(const struct yk_precompiled_map *map, unsigned char byte)
{
    return map->changes_ascii[byte & (ASCII - 1)];
}
