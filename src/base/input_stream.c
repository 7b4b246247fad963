#include "base/input_stream.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    BUFFER_BYTES = 1 << 16,
    GZIP_WINDOW_BITS = 15 + 16, /* the largest window, in gzip's format */
    HEADER_BYTES = 3            /* that show gzip data: two of its mark, and the method "deflate" */
};

struct yk_input_stream {
    int descriptor;
    const char *source;
    z_stream inflater;
    bool started;    /* the beginning has been looked at */
    bool compressed; /* and is gzip data */
    bool in_member;  /* a member of it has begun and not ended */
    bool is_full;    /* the last read returned as much as it could: more may be decompressed */
    bool ended;      /* nothing is left to read from the descriptor */
    size_t begin;    /* of the bytes in the buffer that are not used yet */
    size_t end;
    unsigned char buffer[BUFFER_BYTES]; /* what was read */
};

yk_status yk_input_stream_open(int descriptor, const char *source, struct yk_input_stream **out)
{
    struct yk_input_stream *stream = calloc(1, sizeof *stream);
    YK_TRY_ALLOCATED(stream);
    stream->descriptor = descriptor;
    stream->source = source;
    *out = stream;
    return YK_OK;
}

void yk_input_stream_close(struct yk_input_stream *stream)
{
    if (stream && stream->compressed) {
        (void)inflateEnd(&stream->inflater);
    }
    free(stream);
}

bool yk_input_stream_has_buffered_bytes(const struct yk_input_stream *stream)
{
    return stream->begin < stream->end || stream->is_full;
}

/* Reads once; the buffer must not be full. */
static yk_status read_more(struct yk_input_stream *stream)
{
    if (stream->begin == stream->end) {
        stream->begin = 0;
        stream->end = 0;
    }
    ssize_t length = -1;
    do {
        length = read(stream->descriptor, stream->buffer + stream->end, BUFFER_BYTES - stream->end);
    } while (length < 0 && errno == EINTR);
    if (length < 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot read %s: %s", stream->source, strerror(errno));
    }
    stream->end += (size_t)length;
    stream->ended = length == 0;
    return YK_OK;
}

static bool begins_as_gzip(const struct yk_input_stream *stream)
{
    static const unsigned char header[HEADER_BYTES] = {0x1f, 0x8b, Z_DEFLATED};
    return stream->end - stream->begin >= HEADER_BYTES &&
           memcmp(stream->buffer + stream->begin, header, HEADER_BYTES) == 0;
}

static yk_status start(struct yk_input_stream *stream)
{
    while (!stream->ended && stream->end < HEADER_BYTES) {
        YK_TRY(read_more(stream));
    }
    stream->started = true;
    if (begins_as_gzip(stream)) {
        if (inflateInit2(&stream->inflater, GZIP_WINDOW_BITS) != Z_OK) {
            return yk_fail_out_of_memory();
        }
        stream->compressed = true;
        stream->in_member = true;
    }
    return YK_OK;
}

/* Copies bytes that are not compressed. */
static yk_status copy(struct yk_input_stream *stream, char *to, size_t capacity, size_t *length)
{
    if (stream->begin == stream->end && !stream->ended) {
        YK_TRY(read_more(stream));
    }
    const size_t held = stream->end - stream->begin;
    *length = held < capacity ? held : capacity;
    memcpy(to, stream->buffer + stream->begin, *length);
    stream->begin += *length;
    return YK_OK;
}

static yk_status fail_broken(const struct yk_input_stream *stream, const char *why)
{
    return yk_fail(YK_ERROR_INPUT, "%s: its gzip data is broken: %s", stream->source, why);
}

/* Begins the next member, or finds that there is none: only zeros may follow the last one. */
static yk_status begin_member(struct yk_input_stream *stream)
{
    for (;;) {
        while (stream->begin < stream->end && stream->buffer[stream->begin] == 0) {
            stream->begin++;
        }
        if (stream->end - stream->begin >= HEADER_BYTES || stream->ended) {
            break;
        }
        memmove(stream->buffer, stream->buffer + stream->begin, stream->end - stream->begin);
        stream->end -= stream->begin;
        stream->begin = 0;
        YK_TRY(read_more(stream));
    }
    if (stream->begin == stream->end) {
        return YK_OK;
    }
    if (!begins_as_gzip(stream) || inflateReset(&stream->inflater) != Z_OK) {
        return fail_broken(stream, "other bytes follow it");
    }
    stream->in_member = true;
    return YK_OK;
}

/* Decompresses the bytes in the buffer once. Sets `*length` to the number of bytes that it made. */
static yk_status inflate_once(struct yk_input_stream *stream, char *to, size_t capacity,
                              size_t *length)
{
    z_stream *inflater = &stream->inflater;
    const uInt room = capacity < UINT_MAX ? (uInt)capacity : UINT_MAX;
    inflater->next_in = stream->buffer + stream->begin;
    inflater->avail_in = (uInt)(stream->end - stream->begin);
    inflater->next_out = (unsigned char *)to;
    inflater->avail_out = room;
    const int result = inflate(inflater, Z_NO_FLUSH);
    stream->begin = stream->end - inflater->avail_in;
    *length = room - inflater->avail_out;
    if (result == Z_MEM_ERROR) {
        return yk_fail_out_of_memory();
    }
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
        return fail_broken(stream, inflater->msg ? inflater->msg : "it makes no sense");
    }
    stream->in_member = result != Z_STREAM_END;
    stream->is_full = stream->in_member && inflater->avail_out == 0;
    return YK_OK;
}

yk_status yk_input_stream_read(struct yk_input_stream *stream, char *to, size_t capacity,
                               size_t *length)
{
    *length = 0;
    if (!stream->started) {
        YK_TRY(start(stream));
    }
    if (!stream->compressed) {
        return copy(stream, to, capacity, length);
    }
    while (*length == 0) {
        if (!stream->in_member) {
            YK_TRY(begin_member(stream));
            if (!stream->in_member) {
                return YK_OK;
            }
        }
        YK_TRY(inflate_once(stream, to, capacity, length));
        if (*length == 0 && stream->in_member && stream->begin == stream->end) {
            if (stream->ended) {
                return fail_broken(stream, "it ends too early");
            }
            YK_TRY(read_more(stream));
        }
    }
    return YK_OK;
}
