/* Fuzz target of precompiled maps: the first two bytes say how many of the rest are a map, those
 * behind are texts to look up. */
#include "fuzz/fuzz.h"

#include "base/utf8.h"
#include "tokenizer/normalizers/precompiled_map.h"

#include <string.h>

static void check_found(const struct yk_precompiled_map *map, const char *text, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        const char *replacement = NULL;
        size_t replacement_length = 0;
        if (!yk_precompiled_map_find(map, text + at, length - at, &replacement,
                                     &replacement_length)) {
            continue;
        }
        fuzz_expect(strlen(replacement) == replacement_length, "a replacement ends with a zero");
        fuzz_expect(yk_utf8_valid_prefix_length(replacement, replacement_length) ==
                        replacement_length,
                    "a replacement is UTF-8");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yk_precompiled_map *map = NULL;
    if (size < 2) {
        return 0;
    }
    size_t length = (size_t)data[0] | (size_t)data[1] << 8;
    length = length < size - 2 ? length : size - 2;
    if (yk_precompiled_map_create(data + 2, length, &map) == YK_OK) {
        fuzz_accept();
        check_found(map, (const char *)data + 2 + length, size - 2 - length);
        for (int byte = 0; byte < 0x80; byte++) {
            (void)yk_precompiled_map_changes_ascii(map, (unsigned char)byte);
        }
        yk_precompiled_map_destroy(map);
    }
    return 0;
}
