#include "data/token_shard.h"

#include "base/file.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct yk_token_shard_form yk_token_shard_narrow = {
    .magic = 20240520,
    .version = 1,
    .token_bytes = 2,
};
const struct yk_token_shard_form yk_token_shard_wide = {
    .magic = 20240801,
    .version = 7,
    .token_bytes = 4,
};

struct yk_token_shard {
    char *path;
    struct yk_token_shard_header header;
    int descriptor;
};

static int32_t number_at(const unsigned char *bytes, size_t index)
{
    const unsigned char *b = bytes + index * 4;
    return (int32_t)((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
                     (uint32_t)b[3] << 24);
}

/* The form of a file that begins with `bytes`. */
static yk_status read_form(const unsigned char *bytes, const char *source,
                           const struct yk_token_shard_form **out)
{
    const int32_t magic = number_at(bytes, 0);
    const struct yk_token_shard_form *form =
        magic == yk_token_shard_wide.magic ? &yk_token_shard_wide : &yk_token_shard_narrow;
    if (magic != form->magic) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: it begins with %" PRId32 " instead of %" PRId32 " or %" PRId32
                       "; this is no shard of tokens",
                       source, magic, yk_token_shard_narrow.magic, yk_token_shard_wide.magic);
    }
    if (number_at(bytes, 1) != form->version) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: a shard of tokens of version %" PRId32 "; only version %" PRId32
                       " is known",
                       source, number_at(bytes, 1), form->version);
    }
    *out = form;
    return YK_OK;
}

yk_status yk_token_shard_parse(const unsigned char *bytes, size_t length, uint64_t file_size,
                               const char *source, struct yk_token_shard_header *out)
{
    const struct yk_token_shard_form *form = NULL;
    if (length < YK_TOKEN_SHARD_HEADER_BYTES || file_size < YK_TOKEN_SHARD_HEADER_BYTES) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: %" PRIu64 " bytes are too few for a shard of tokens, whose header has "
                       "%d",
                       source, file_size, YK_TOKEN_SHARD_HEADER_BYTES);
    }
    YK_TRY(read_form(bytes, source, &form));
    const int64_t count = number_at(bytes, 2);
    if (count < 1) {
        return yk_fail(YK_ERROR_INPUT, "%s: its header says that it holds %" PRId64 " tokens",
                       source, count);
    }
    const uint64_t needed =
        YK_TOKEN_SHARD_HEADER_BYTES + (uint64_t)count * (uint64_t)form->token_bytes;
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
    *out = (struct yk_token_shard_header){.form = form, .count = count};
    return YK_OK;
}

static yk_status read_bytes(const struct yk_token_shard *shard, int64_t offset, size_t bytes,
                            unsigned char *to)
{
    while (bytes > 0) {
        const ssize_t used = pread(shard->descriptor, to, bytes, (off_t)offset);
        if (used < 0 && errno == EINTR) {
            continue;
        }
        if (used < 0) {
            return yk_fail(YK_ERROR_SYSTEM, "cannot read %s: %s", shard->path, strerror(errno));
        }
        if (used == 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: the file ends too early; it was cut off while it was read",
                           shard->path);
        }
        to += used;
        offset += used;
        bytes -= (size_t)used;
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
    YK_TRY(yk_file_open(path, false, &shard->descriptor));
    if (fstat(shard->descriptor, &info) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    }
    const uint64_t size = (uint64_t)info.st_size;
    const size_t there = size < sizeof header ? (size_t)size : sizeof header;
    YK_TRY(read_bytes(shard, 0, there, header));
    return yk_token_shard_parse(header, there, size, path, &shard->header);
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
    return shard->header.count;
}

/* Two bytes become four in place: they stand in the second half of `out`, and token i is written
 * where no token behind it still waits. */
static void widen(int32_t *out, int64_t count)
{
    const unsigned char *bytes = (const unsigned char *)out + 2 * count;
    for (int64_t i = 0; i < count; i++) {
        out[i] = bytes[2 * i] | bytes[2 * i + 1] << 8;
    }
}

static yk_status check_wide(const struct yk_token_shard *shard, int64_t first, int32_t *out,
                            int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        out[i] = number_at((const unsigned char *)out, (size_t)i);
        if (out[i] < 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: token %" PRId64 " is %" PRIu32 ", which none can be", shard->path,
                           first + i, (uint32_t)out[i]);
        }
    }
    return YK_OK;
}

yk_status yk_token_shard_read(const struct yk_token_shard *shard, int64_t first, int64_t count,
                              int32_t *out)
{
    assert(first >= 0 && count >= 0 && count <= shard->header.count - first);
    const int64_t width = shard->header.form->token_bytes;
    const int64_t unused = ((int64_t)sizeof *out - width) * count;
    YK_TRY(read_bytes(shard, YK_TOKEN_SHARD_HEADER_BYTES + first * width, (size_t)(count * width),
                      (unsigned char *)out + unused));
    if (width == 2) {
        widen(out, count);
        return YK_OK;
    }
    return check_wide(shard, first, out, count);
}
