/*
 * Fuzz target of shards of tokens: the bytes are a file in memory that is opened, and read whole,
 * as a corpus would.
 */
#include "fuzz/fuzz.h"

#include "data/token_shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void check(const struct yk_token_shard *shard, const uint8_t *data, size_t size)
{
    const int64_t count = yk_token_shard_token_count(shard);
    const size_t width = data[0] == 0xa1 ? 4 : 2; /* the first byte of the magic number */
    fuzz_expect(count > 0 && size == YK_TOKEN_SHARD_HEADER_BYTES + width * (size_t)count,
                "the tokens fill the file");
    int32_t *tokens = malloc((size_t)count * sizeof *tokens);
    fuzz_expect(tokens != NULL, "there is memory");
    const yk_status status = yk_token_shard_read_tokens(shard, 0, count, tokens);
    bool possible = true;
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *bytes = data + YK_TOKEN_SHARD_HEADER_BYTES + width * (size_t)i;
        int64_t token = 0;
        for (size_t k = 0; k < width; k++) {
            token |= (int64_t)bytes[k] << (8 * k);
        }
        possible = possible && token <= INT32_MAX;
        fuzz_expect(status != YK_OK || tokens[i] == token, "tokens are those of the file");
    }
    fuzz_expect((status == YK_OK) == possible, "all tokens can be read that can be tokens");
    free(tokens);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct yk_token_shard *shard = NULL;
    const int file = memfd_create("shard", MFD_CLOEXEC);
    fuzz_expect(file >= 0 && write(file, data, size) == (ssize_t)size, "there is memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (yk_token_shard_open(path, &shard) == YK_OK) {
        fuzz_accept();
        check(shard, data, size);
    }
    yk_token_shard_close(shard);
    close(file);
    return 0;
}
