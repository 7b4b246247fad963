#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

/* The smallest character for each length in bytes: a longer encoding than necessary is invalid. */
static const uint32_t min_character[YK_UTF8_MAX_BYTES + 1] = {0, 0, 0x80, 0x800, 0x10000};

size_t yk_utf8_decode(const char *bytes, size_t length, uint32_t *out)
{
    const unsigned char *b = (const unsigned char *)bytes;
    if (length == 0) {
        return 0;
    }
    if (b[0] < 0x80) {
        *out = b[0];
        return 1;
    }
    const size_t count = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
    if (b[0] < 0xc0 || b[0] >= 0xf8 || count > length) {
        return 0;
    }
    uint32_t character = b[0] & (0xffu >> (count + 1));
    for (size_t i = 1; i < count; i++) {
        if ((b[i] & 0xc0) != 0x80) {
            return 0;
        }
        character = character << 6 | (b[i] & 0x3f);
    }
    const bool surrogate = character >= 0xd800 && character < 0xe000;
    if (character < min_character[count] || character >= YK_UTF8_CODE_POINT_COUNT || surrogate) {
        return 0;
    }
    *out = character;
    return count;
}

size_t yk_utf8_encode(uint32_t character, char out[YK_UTF8_MAX_BYTES])
{
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    const size_t count = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = count - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (character & 0x3f));
        character >>= 6;
    }
    out[0] = (char)((0xf00u >> count & 0xf0) | character);
    return count;
}

/* Whether the next eight bytes are ASCII without zeros. */
static bool are_eight_ascii(const char *bytes)
{
    static const uint64_t ones = UINT64_C(0x0101010101010101);
    static const uint64_t tops = UINT64_C(0x8080808080808080);
    uint64_t eight = 0;
    memcpy(&eight, bytes, sizeof eight);
    /* Subtracting 1 from each byte gives a 0 the top bit, and no ASCII byte above 0. */
    return ((eight | (eight - ones)) & tops) == 0;
}

size_t yk_utf8_valid_prefix_length(const char *bytes, size_t length)
{
    size_t at = 0;
    while (at < length) {
        if (length - at >= sizeof(uint64_t) && are_eight_ascii(bytes + at)) {
            at += sizeof(uint64_t);
            continue;
        }
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(bytes + at, length - at, &character);
        if (used == 0 || character == 0) {
            break;
        }
        at += used;
    }
    return at;
}

size_t yk_utf8_previous_character_start(const char *bytes, size_t at)
{
    do {
        at--;
    } while (at > 0 && ((unsigned char)bytes[at] & 0xc0) == 0x80);
    return at;
}

struct yk_utf8_position yk_utf8_position_of_byte(const char *bytes, size_t at)
{
    struct yk_utf8_position place = {.line = 1, .column = 1};
    const char *newline = bytes;
    while ((newline = memchr(newline, '\n', at - (size_t)(newline - bytes)))) {
        place.line++;
        newline++;
    }
    for (size_t i = at; i > 0 && bytes[i - 1] != '\n'; i--) {
        place.column += ((unsigned char)bytes[i - 1] & 0xc0) != 0x80;
    }
    return place;
}

size_t yk_utf8_control_character_length(const char *bytes, size_t length)
{
    if (length == 0) {
        return 0;
    }
    const unsigned char first = (unsigned char)bytes[0];
    if (first < 0x20 || first == 0x7f) {
        return 1;
    }
    /* 0xc2 is always the first byte of a character. */
    return first == 0xc2 && length > 1 && ((unsigned char)bytes[1] & 0xe0) == 0x80 ? 2 : 0;
}

void yk_utf8_replace_control_characters(char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const size_t control = yk_utf8_control_character_length(bytes + i, length - i);
        memset(bytes + i, '?', control);
    }
}
