#include "tokenizer/byte_level.h"

#include "base/utf8.h"

enum {
    FIRST_OTHER = 0x100,
    OTHERS = 68, /* 0x00 to 0x20, 0x7f to 0xa0 and 0xad */
    SOFT_HYPHEN = 0xad,
    MAX_CHARACTER_BYTES = 2,
    CHUNK = 64 /* bytes that are added at once */
};

uint32_t yk_byte_level_character_of_byte(unsigned char byte)
{
    if (byte <= 0x20) {
        return FIRST_OTHER + (uint32_t)byte;
    }
    if (byte >= 0x7f && byte <= 0xa0) {
        return FIRST_OTHER + 0x21 + (uint32_t)byte - 0x7f;
    }
    return byte == SOFT_HYPHEN ? FIRST_OTHER + OTHERS - 1 : byte;
}

int yk_byte_level_byte_of_character(uint32_t character)
{
    if (character < FIRST_OTHER) {
        return yk_byte_level_character_of_byte((unsigned char)character) == character
                   ? (int)character
                   : -1;
    }
    const uint32_t other = character - FIRST_OTHER;
    if (other >= OTHERS) {
        return -1;
    }
    if (other <= 0x20) {
        return (int)other;
    }
    return other == OTHERS - 1 ? SOFT_HYPHEN : (int)(other - 0x21 + 0x7f);
}

void yk_byte_level_encode_bytes(const char *bytes, size_t length, struct yk_text *out)
{
    if (length > SIZE_MAX / MAX_CHARACTER_BYTES) {
        out->failed = true;
    }
    if (!yk_text_reserve(out, length * MAX_CHARACTER_BYTES)) {
        return;
    }
    for (size_t i = 0; i < length; i++) {
        const uint32_t character = yk_byte_level_character_of_byte((unsigned char)bytes[i]);
        out->length += yk_utf8_encode(character, out->bytes + out->length);
    }
    out->bytes[out->length] = '\0';
}

bool yk_byte_level_decode_token(const char *token, size_t length, struct yk_text *out)
{
    char bytes[CHUNK];
    size_t count = 0;
    const size_t start = out->length;
    for (size_t at = 0; at < length;) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(token + at, length - at, &character);
        const int byte = used ? yk_byte_level_byte_of_character(character) : -1;
        if (byte < 0) {
            out->length = start;
            return false;
        }
        bytes[count++] = (char)byte;
        if (count == CHUNK) {
            yk_text_add_bytes(out, bytes, count);
            count = 0;
        }
        at += used;
    }
    yk_text_add_bytes(out, bytes, count);
    return true;
}
