#include "data/token_shard.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAGIC = 20240520,
    VERSION = 1,
    TOKEN_BYTES = 2
};

struct yk_token_shard {
    char *path;
    int64_t count;
    int descriptor;
};

static int32_t number_at(const unsigned char *bytes, size_t index)
{
    const unsigned char *b = bytes + index * 4;
    return (int32_t)((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
                     (uint32_t)b[3] << 24);
}

yk_status yk_token_shard_parse(const unsigned char *bytes, size_t length, uint64_t file_size,
                               const char *source, int64_t *out)
{
    if (length < YK_TOKEN_SHARD_HEADER_BYTES || file_size < YK_TOKEN_SHARD_HEADER_BYTES) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: %" PRIu64 " bytes are too few for a shard of tokens, whose header has "
                       "%d",
                       source, file_size, YK_TOKEN_SHARD_HEADER_BYTES);
    }
    if (number_at(bytes, 0) != MAGIC) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: it begins with %" PRId32 " instead of %d; this is no shard of tokens",
                       source, number_at(bytes, 0), MAGIC);
    }
    if (number_at(bytes, 1) != VERSION) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: a shard of tokens of version %" PRId32 "; only version %d is known",
                       source, number_at(bytes, 1), VERSION);
    }
    const int64_t count = number_at(bytes, 2);
    if (count < 1) {
        return yk_fail(YK_ERROR_INPUT, "%s: its header says that it holds %" PRId64 " tokens",
                       source, count);
    }
    const uint64_t needed = YK_TOKEN_SHARD_HEADER_BYTES + (uint64_t)count * TOKEN_BYTES;
    if (file_size < needed) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: the file is cut off: %" PRIu64 " of %" PRIu64 " bytes are missing",
                       source, needed - file_size, needed);
    }
    if (file_size > needed) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: %" PRIu64 " bytes more than its header's %" PRId64 " tokens take",
                       source, file_size - needed, count);
    }
    *out = count;
    return YK_OK;
}

static yk_status read_bytes(const struct yk_token_shard *shard, int64_t offset, size_t bytes,
                            unsigned char *to)
{
    while (bytes > 0) {
        const ssize_t taken = pread(shard->descriptor, to, bytes, (off_t)offset);
        if (taken < 0 && errno == EINTR) {
            continue;
        }
        if (taken < 0) {
            return yk_fail(YK_ERROR_SYSTEM, "cannot read %s: %s", shard->path, strerror(errno));
        }
        if (taken == 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: the file ends too early; it was cut off while it was read",
                           shard->path);
        }
        to += taken;
        offset += taken;
        bytes -= (size_t)taken;
    }
    return YK_OK;
}

static yk_status open_file(struct yk_token_shard *shard, const char *path)
{
    struct stat info;
    unsigned char header[YK_TOKEN_SHARD_HEADER_BYTES] = {0};
    shard->path = strdup(path);
    if (!shard->path) {
        return yk_fail_out_of_memory();
    }
    shard->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (shard->descriptor < 0 || fstat(shard->descriptor, &info) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return yk_fail(YK_ERROR_INPUT, "%s is not a plain file", path);
    }
    const uint64_t size = (uint64_t)info.st_size;
    const size_t there = size < sizeof header ? (size_t)size : sizeof header;
    YK_TRY(read_bytes(shard, 0, there, header));
    return yk_token_shard_parse(header, there, size, path, &shard->count);
}

yk_status yk_token_shard_open(const char *path, struct yk_token_shard **out)
{
    struct yk_token_shard *shard = calloc(1, sizeof *shard);
    if (!shard) {
        return yk_fail_out_of_memory();
    }
    shard->descriptor = -1;
    const yk_status status = open_file(shard, path);
    if (status != YK_OK) {
        yk_token_shard_close(shard);
        return status;
    }
    *out = shard;
    return YK_OK;
}

void yk_token_shard_close(struct yk_token_shard *shard)
{
    if (!shard) {
        return;
    }
    if (shard->descriptor >= 0) {
        close(shard->descriptor);
    }
    free(shard->path);
    free(shard);
}

int64_t yk_token_shard_count(const struct yk_token_shard *shard)
{
    return shard->count;
}

yk_status yk_token_shard_read(const struct yk_token_shard *shard, int64_t first, int64_t count,
                              int32_t *out)
{
    assert(first >= 0 && count >= 0 && count <= shard->count - first);
    /* Two bytes become four in place: the file's bytes go into the second half of `out`, and
     * token i is written where no token behind it still waits. */
    const unsigned char *tokens = (const unsigned char *)out + count * TOKEN_BYTES;
    YK_TRY(read_bytes(shard, YK_TOKEN_SHARD_HEADER_BYTES + first * TOKEN_BYTES,
                      (size_t)count * TOKEN_BYTES, (unsigned char *)out + count * TOKEN_BYTES));
    for (int64_t i = 0; i < count; i++) {
        out[i] = tokens[TOKEN_BYTES * i] | tokens[TOKEN_BYTES * i + 1] << 8;
    }
    return YK_OK;
}
