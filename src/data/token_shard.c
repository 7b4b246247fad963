#include "data/token_shard.h"

#include "base/array.h"
#include "base/file.h"
#include "base/number.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct yk_token_shard_format yk_token_shard_format_uint16 = {
    .magic = 20240520,
    .version = 1,
    .token_bytes = 2,
};
const struct yk_token_shard_format yk_token_shard_format_uint32 = {
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

/* The format of a file that begins with `bytes`. */
static yk_status read_form(const unsigned char *bytes, const char *source,
                           const struct yk_token_shard_format **out)
{
    const int32_t magic = number_at(bytes, 0);
    const struct yk_token_shard_format *format = magic == yk_token_shard_format_uint32.magic
                                                     ? &yk_token_shard_format_uint32
                                                     : &yk_token_shard_format_uint16;
    if (magic != format->magic) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: it begins with %" PRId32 " instead of %" PRId32 " or %" PRId32
                       "; this is no shard of tokens",
                       source, magic, yk_token_shard_format_uint16.magic,
                       yk_token_shard_format_uint32.magic);
    }
    if (number_at(bytes, 1) != format->version) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: a shard of tokens of version %" PRId32 "; only version %" PRId32
                       " is known",
                       source, number_at(bytes, 1), format->version);
    }
    *out = format;
    return YK_OK;
}

yk_status yk_token_shard_parse_header(const unsigned char *bytes, size_t length, uint64_t file_size,
                                      const char *source, struct yk_token_shard_header *out)
{
    const struct yk_token_shard_format *format = NULL;
    if (length < YK_TOKEN_SHARD_HEADER_BYTES || file_size < YK_TOKEN_SHARD_HEADER_BYTES) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: %" PRIu64 " bytes are too few for a shard of tokens, whose header has "
                       "%d",
                       source, file_size, YK_TOKEN_SHARD_HEADER_BYTES);
    }
    YK_TRY(read_form(bytes, source, &format));
    const int64_t count = number_at(bytes, 2);
    if (count < 1) {
        return yk_fail(YK_ERROR_INPUT, "%s: its header says that it holds %" PRId64 " tokens",
                       source, count);
    }
    const uint64_t needed =
        YK_TOKEN_SHARD_HEADER_BYTES + (uint64_t)count * (uint64_t)format->token_bytes;
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
    *out = (struct yk_token_shard_header){.format = format, .count = count};
    return YK_OK;
}

static yk_status read_bytes(const struct yk_token_shard *shard, int64_t offset, size_t bytes,
                            unsigned char *to)
{
    const int64_t used = yk_file_read_at(shard->descriptor, (uint64_t)offset, to, bytes);
    if (used < 0) {
        return yk_fail(YK_ERROR_SYSTEM, "cannot read %s: %s", shard->path, strerror(errno));
    }
    return (size_t)used == bytes
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT,
                         "%s: the file ends too early; it was cut off while it was read",
                         shard->path);
}

static yk_status open_file(struct yk_token_shard *shard, const char *path)
{
    struct stat info;
    unsigned char header[YK_TOKEN_SHARD_HEADER_BYTES] = {0};
    shard->path = strdup(path);
    YK_TRY_ALLOCATED(shard->path);
    YK_TRY(yk_file_open_for_reading(path, false, &shard->descriptor));
    if (fstat(shard->descriptor, &info) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    }
    const uint64_t size = (uint64_t)info.st_size;
    const size_t there = size < sizeof header ? (size_t)size : sizeof header;
    YK_TRY(read_bytes(shard, 0, there, header));
    return yk_token_shard_parse_header(header, there, size, path, &shard->header);
}

yk_status yk_token_shard_open(const char *path, struct yk_token_shard **out)
{
    struct yk_token_shard *shard = calloc(1, sizeof *shard);
    YK_TRY_ALLOCATED(shard);
    shard->descriptor = -1;
    YK_TRY_OR_CLEAN_UP(open_file(shard, path), yk_token_shard_close(shard));
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

int64_t yk_token_shard_token_count(const struct yk_token_shard *shard)
{
    return shard->header.count;
}

/* Converts two-byte tokens to int32 in place. They are in the second half of `out`, so that writing
 * token i does not overwrite a token that is still to be read. */
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

yk_status yk_token_shard_read_tokens(const struct yk_token_shard *shard, int64_t first,
                                     int64_t count, int32_t *out)
{
    assert(first >= 0 && count >= 0 && count <= shard->header.count - first);
    const int64_t width = shard->header.format->token_bytes;
    const int64_t unused = ((int64_t)sizeof *out - width) * count;
    YK_TRY(read_bytes(shard, YK_TOKEN_SHARD_HEADER_BYTES + first * width, (size_t)(count * width),
                      (unsigned char *)out + unused));
    if (width == 2) {
        widen(out, count);
        return YK_OK;
    }
    return check_wide(shard, first, out, count);
}

enum {
    BUFFER_BYTES = 1 << 16,
    MAX_FILES = 1000000 /* six digits */
};

struct yk_token_shard_writer {
    const struct yk_token_shard_format *format;
    struct yk_text path; /* of the file, or the prefix of a series */
    struct yk_text name; /* buffer for the name of a file */
    bool series;
    int32_t vocabulary;
    int64_t max;   /* the most tokens of a file */
    int64_t count; /* tokens of the current file */
    int64_t total;
    int64_t bytes;
    int32_t files;  /* files that were begun */
    bool *in_place; /* (files) the destination exists and is not a regular file: it is written to,
                       not replaced */
    int32_t in_place_capacity;
    int descriptor;
    size_t buffered;
    unsigned char buffer[BUFFER_BYTES];
};

yk_status yk_token_shard_writer_create(const struct yk_token_shard_writer_request *request,
                                       struct yk_token_shard_writer **out)
{
    struct yk_token_shard_writer *writer = calloc(1, sizeof *writer);
    YK_TRY_ALLOCATED(writer);
    writer->format = request->vocabulary <= UINT16_MAX + 1 ? &yk_token_shard_format_uint16
                                                           : &yk_token_shard_format_uint32;
    writer->vocabulary = request->vocabulary;
    writer->series = request->shard_tokens > 0;
    writer->max =
        writer->series && request->shard_tokens < INT32_MAX ? request->shard_tokens : INT32_MAX;
    writer->descriptor = -1;
    size_t length = strlen(request->path);
    if (writer->series && yk_text_ends_with(request->path, ".bin")) {
        length -= strlen(".bin");
    }
    yk_text_add_bytes(&writer->path, request->path, length);
    YK_TRY_OR_CLEAN_UP(yk_text_status(&writer->path), yk_token_shard_writer_destroy(writer));
    *out = writer;
    return YK_OK;
}

/* The name of file `number`, final or temporary. */
static const char *file_name(struct yk_token_shard_writer *writer, int32_t number, bool partial)
{
    writer->name.length = 0;
    yk_text_add_bytes(&writer->name, yk_text_chars(&writer->path), writer->path.length);
    if (writer->series) {
        yk_text_addf(&writer->name, "_%06" PRId32 ".bin", number);
    }
    yk_text_add(&writer->name, partial ? ".partial" : "");
    return yk_text_chars(&writer->name);
}

/* Closes the current file and removes the temporary files from number `from` on. A file that is
 * written in place has no temporary name. */
static void remove_partial(struct yk_token_shard_writer *writer, int32_t from)
{
    if (writer->descriptor >= 0) {
        close(writer->descriptor);
        writer->descriptor = -1;
    }
    for (int32_t i = from; i < writer->files; i++) {
        if (writer->in_place[i]) {
            continue;
        }
        const char *name = file_name(writer, i, true);
        if (!writer->name.failed) {
            unlink(name);
        }
    }
    writer->files = 0;
}

void yk_token_shard_writer_destroy(struct yk_token_shard_writer *writer)
{
    if (writer) {
        remove_partial(writer, 0);
        yk_text_free(&writer->name);
        yk_text_free(&writer->path);
        free(writer->in_place);
        free(writer);
    }
}

static yk_status fail_to_write(struct yk_token_shard_writer *writer, int32_t number, int error)
{
    return yk_fail(YK_ERROR_SYSTEM, "cannot write %s: %s", file_name(writer, number, false),
                   strerror(error));
}

static yk_status fail_temporary(struct yk_token_shard_writer *writer, int32_t number, int error)
{
    return yk_fail(YK_ERROR_SYSTEM, "cannot keep what goes to %s in a temporary file: %s",
                   file_name(writer, number, false), strerror(error));
}

/* Reports an error of writing temporary file `number`. */
static yk_status fail_partial(struct yk_token_shard_writer *writer, int32_t number, int error)
{
    return writer->in_place[number] ? fail_temporary(writer, number, error)
                                    : fail_to_write(writer, number, error);
}

static yk_status write_bytes(struct yk_token_shard_writer *writer, const unsigned char *bytes,
                             size_t length)
{
    writer->bytes += (int64_t)length;
    const int error = yk_file_write_to_descriptor(writer->descriptor, bytes, length);
    return error == 0 ? YK_OK : fail_partial(writer, writer->files - 1, error);
}

/* Writes the buffer to the current file. */
static yk_status flush(struct yk_token_shard_writer *writer)
{
    const size_t length = writer->buffered;
    writer->buffered = 0;
    return write_bytes(writer, writer->buffer, length);
}

static inline void write_number(unsigned char *to, uint32_t number, int32_t bytes)
{
    for (int32_t i = 0; i < bytes; i++) {
        to[i] = (unsigned char)(number >> (8 * i));
    }
}

/* Opens an anonymous temporary file. Returns -1 with errno on failure. */
static int open_temporary(void)
{
    FILE *stream = tmpfile();
    if (!stream) {
        return -1;
    }
    const int descriptor = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 0);
    const int error = errno;
    fclose(stream);
    errno = error;
    return descriptor;
}

/* Checks whether the destination of file `number` is a device, a pipe or a link, which must not be
 * replaced. */
static yk_status check_destination(struct yk_token_shard_writer *writer, int32_t number)
{
    struct stat found;
    const char *name = file_name(writer, number, false);
    YK_TRY(yk_text_status(&writer->name));
    YK_TRY_GROW_ARRAY(writer->in_place, writer->in_place_capacity, number);
    writer->in_place[number] = lstat(name, &found) == 0 && !S_ISREG(found.st_mode);
    return YK_OK;
}

static yk_status begin_file(struct yk_token_shard_writer *writer)
{
    static const unsigned char header[YK_TOKEN_SHARD_HEADER_BYTES] = {0};
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
    if (writer->files == MAX_FILES || (writer->files > 0 && !writer->series)) {
        return yk_fail(
            YK_ERROR_INPUT, "more tokens than %s hold; put %s in each of a series of files",
            writer->series ? "a million files" : "one file can", writer->series ? "more" : "some");
    }
    YK_TRY(check_destination(writer, writer->files));
    const char *name = file_name(writer, writer->files, true);
    YK_TRY(yk_text_status(&writer->name));
    YK_TRY(yk_file_check_not_symlink(name));
    writer->descriptor =
        writer->in_place[writer->files] ? open_temporary() : open(name, flags, 0666);
    if (writer->descriptor < 0) {
        return fail_partial(writer, writer->files, errno);
    }
    writer->files++;
    writer->count = 0;
    return write_bytes(writer, header, sizeof header);
}

/* Copies the anonymous file to the destination of file `number`. */
static yk_status copy_in_place(struct yk_token_shard_writer *writer, int32_t number, int from)
{
    if (lseek(from, 0, SEEK_SET) != 0) {
        return fail_temporary(writer, number, errno);
    }
    const char *name = file_name(writer, number, false);
    const int to = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (to < 0) {
        return fail_to_write(writer, number, errno);
    }
    int error = 0;
    ssize_t length = 0;
    while (error == 0 && (length = read(from, writer->buffer, sizeof writer->buffer)) != 0) {
        if (length > 0) {
            error = yk_file_write_to_descriptor(to, writer->buffer, (size_t)length);
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    if (close(to) != 0 && error == 0) {
        error = errno;
    }
    return error == 0 ? YK_OK : fail_to_write(writer, number, error);
}

/* Writes the rest of the buffer and the header, which contains the number of tokens. */
static yk_status end_file(struct yk_token_shard_writer *writer)
{
    const int32_t number = writer->files - 1;
    const bool in_place = writer->in_place[number];
    unsigned char header[12];
    YK_TRY(flush(writer));
    write_number(header, (uint32_t)writer->format->magic, 4);
    write_number(header + 4, (uint32_t)writer->format->version, 4);
    write_number(header + 8, (uint32_t)writer->count, 4);
    const int descriptor = writer->descriptor;
    const bool written = pwrite(descriptor, header, sizeof header, 0) == (ssize_t)sizeof header &&
                         (in_place || fsync(descriptor) == 0);
    const int error = errno;
    writer->descriptor = -1;
    const yk_status copied =
        in_place && written ? copy_in_place(writer, number, descriptor) : YK_OK;
    if (close(descriptor) != 0 || !written) {
        return fail_partial(writer, number, written ? errno : error);
    }
    return copied;
}

/* Adds tokens to the buffer until the buffer or the file is full. Returns how many were added. */
static int64_t write_tokens(struct yk_token_shard_writer *writer, const int32_t *tokens,
                            int64_t count)
{
    const int32_t width = writer->format->token_bytes;
    const int64_t space = (int64_t)(BUFFER_BYTES - writer->buffered) / width;
    const int64_t used = yk_number_min(yk_number_min(count, space), writer->max - writer->count);
    unsigned char *to = writer->buffer + writer->buffered;
    /* A constant width lets the compiler write each token at once. */
    if (width == 2) {
        for (int64_t i = 0; i < used; i++) {
            write_number(to + i * 2, (uint32_t)tokens[i], 2);
        }
    } else {
        for (int64_t i = 0; i < used; i++) {
            write_number(to + i * 4, (uint32_t)tokens[i], 4);
        }
    }
    writer->buffered += (size_t)(used * width);
    writer->count += used;
    writer->total += used;
    return used;
}

yk_status yk_token_shard_writer_add_tokens(struct yk_token_shard_writer *writer,
                                           const int32_t *tokens, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (tokens[i] < 0 || tokens[i] >= writer->vocabulary) {
            return yk_fail(YK_ERROR_INPUT, "token %" PRId32 "; there are 0 to %" PRId32, tokens[i],
                           writer->vocabulary - 1);
        }
    }
    while (count > 0) {
        if (writer->descriptor >= 0 && writer->count == writer->max) {
            YK_TRY(end_file(writer));
        }
        if (writer->descriptor < 0) {
            YK_TRY(begin_file(writer));
        }
        const int64_t used = write_tokens(writer, tokens, count);
        if (used == 0) {
            YK_TRY(flush(writer));
        }
        tokens += used;
        count -= used;
    }
    return YK_OK;
}

yk_status yk_token_shard_writer_finish(struct yk_token_shard_writer *writer,
                                       struct yk_token_shard_write_summary *out)
{
    struct yk_text final = {0};
    if (writer->total == 0) {
        return yk_fail(YK_ERROR_INPUT, "there are no tokens to write");
    }
    yk_status status = end_file(writer);
    const int32_t files = writer->files;
    for (int32_t i = 0; status == YK_OK && i < files; i++) {
        final.length = 0;
        yk_text_add(&final, file_name(writer, i, false));
        const char *partial = file_name(writer, i, true);
        if (final.failed || writer->name.failed) {
            status = yk_fail_out_of_memory();
        } else if (!writer->in_place[i] && rename(partial, final.bytes) != 0) {
            status = fail_to_write(writer, i, errno);
        }
        if (status != YK_OK) {
            remove_partial(writer, i);
        }
    }
    yk_text_free(&final);
    YK_TRY(status);
    writer->files = 0;
    *out = (struct yk_token_shard_write_summary){
        .tokens = writer->total,
        .bytes = writer->bytes,
        .files = files,
    };
    return YK_OK;
}
