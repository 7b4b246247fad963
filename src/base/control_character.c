#include "base/control_character.h"

#include <string.h>

size_t yk_control_character_length(const char *bytes, size_t length)
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

void yk_control_character_mask(char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const size_t control = yk_control_character_length(bytes + i, length - i);
        memset(bytes + i, '?', control);
    }
}
