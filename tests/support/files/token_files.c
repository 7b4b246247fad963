#include "support/files/token_files.h"

#include "support/files/scratch.h"
#include "support/support.h"

#include <stdlib.h>

enum {
    HEADER_BYTES = 1024
};

static void write_number(unsigned char *bytes, uint32_t number)
{
    for (int i = 0; i < 4; i++) {
        bytes[i] = (unsigned char)(number >> (8 * i));
    }
}

const char *support_write_shard(const char *name, const uint16_t *tokens, int count, int32_t said)
{
    const size_t length = HEADER_BYTES + 2 * (size_t)count;
    unsigned char *bytes = calloc(length, 1);
    assert_non_null(bytes);
    write_number(bytes, 20240520);
    write_number(bytes + 4, 1);
    write_number(bytes + 8, (uint32_t)said);
    for (int i = 0; i < count; i++) {
        bytes[HEADER_BYTES + 2 * i] = (unsigned char)(tokens[i] & 0xff);
        bytes[HEADER_BYTES + 2 * i + 1] = (unsigned char)(tokens[i] >> 8);
    }
    const char *path = support_scratch_write(name, bytes, length);
    free(bytes);
    return path;
}
