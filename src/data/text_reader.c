#include "data/text_reader.h"

#include "base/file.h"
#include "base/input_stream.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 1 << 16, /* bytes per read */
    WAIT_MS = 100,         /* interval of checks of the stop flag */
};

struct yk_text_reader {
    struct yk_chunk_boundary_rules cut;
    struct yk_text path;
    struct yk_text held; /* bytes that were read; the chunk that was returned is at the beginning */
    size_t returned;     /* bytes of the chunk that was returned, and of the space behind it */
    int64_t passed;      /* bytes of the file before `held` */
    size_t checked;      /* bytes of `held` that are known to be UTF-8 */
    size_t chunk;
    const atomic_bool *stop;       /* or NULL */
    struct yk_utf8_position place; /* position in the file of the first byte of `held` */
    int descriptor;
    struct yk_input_stream *stream; /* over `descriptor` */
    bool ended;
};

yk_status yk_text_reader_open(const char *path, const struct yk_chunk_boundary_rules *cut,
                              size_t chunk, struct yk_text_reader **out)
{
    struct yk_text_reader *reader = calloc(1, sizeof *reader);
    YK_TRY_ALLOCATED(reader);
    const bool standard = strcmp(path, "-") == 0;
    reader->cut = *cut;
    reader->chunk = chunk;
    reader->place = (struct yk_utf8_position){.line = 1, .column = 1};
    yk_text_add(&reader->path, standard ? "standard input" : path);
    reader->descriptor = STDIN_FILENO;
    yk_status status = yk_text_status(&reader->path);
    if (status == YK_OK && !standard) {
        status = yk_file_open_for_reading(path, true, &reader->descriptor);
    }
    YK_IF_OK(yk_input_stream_open(reader->descriptor, reader->path.bytes, &reader->stream));
    YK_TRY_OR_CLEAN_UP(status, yk_text_reader_close(reader));
    *out = reader;
    return YK_OK;
}

void yk_text_reader_close(struct yk_text_reader *reader)
{
    if (!reader) {
        return;
    }
    yk_input_stream_close(reader->stream);
    if (reader->descriptor > STDIN_FILENO) {
        close(reader->descriptor);
    }
    yk_text_free(&reader->path);
    yk_text_free(&reader->held);
    free(reader);
}

void yk_text_reader_set_stop_flag(struct yk_text_reader *reader, const atomic_bool *stop)
{
    reader->stop = stop;
}

/* Waits until data is available or the stop flag is set. */
static yk_status wait_for_bytes(const struct yk_text_reader *reader)
{
    struct pollfd ready = {.fd = reader->descriptor, .events = POLLIN};
    int count = yk_input_stream_has_buffered_bytes(reader->stream) ? 1 : 0;
    do {
        if (reader->stop && atomic_load(reader->stop)) {
            return yk_fail(YK_ERROR_STOPPED, "stopped while %s was read",
                           yk_text_chars(&reader->path));
        }
        count = count > 0 ? count : poll(&ready, 1, WAIT_MS);
    } while (count == 0 || (count < 0 && errno == EINTR));
    return YK_OK;
}

/* Reads until `wanted` bytes are held or the file ends. */
static yk_status fill(struct yk_text_reader *reader, size_t wanted)
{
    struct yk_text *held = &reader->held;
    while (!reader->ended && held->length < wanted) {
        YK_TRY(wait_for_bytes(reader));
        YK_TRY_ALLOCATED(yk_text_reserve(held, BLOCK_BYTES));
        size_t used = 0;
        YK_TRY(
            yk_input_stream_read(reader->stream, held->bytes + held->length, BLOCK_BYTES, &used));
        held->length += used;
        reader->ended = used == 0;
    }
    return YK_OK;
}

/* The position in the file of byte `at` of `held`. */
static struct yk_utf8_position place_of(const struct yk_text_reader *reader, size_t at)
{
    struct yk_utf8_position place = yk_utf8_position_of_byte(yk_text_chars(&reader->held), at);
    if (place.line == 1) {
        place.column += reader->place.column - 1;
    }
    place.line += reader->place.line - 1;
    return place;
}

static yk_status fail_at(const struct yk_text_reader *reader, size_t at)
{
    return yk_text_fail_invalid_utf8(yk_text_chars(&reader->path), place_of(reader, at),
                                     reader->held.bytes[at]);
}

/* Removes the chunk that was returned. */
static void drop_returned(struct yk_text_reader *reader)
{
    struct yk_text *held = &reader->held;
    if (reader->returned > 0) {
        reader->place = place_of(reader, reader->returned);
        reader->passed += (int64_t)reader->returned;
        memmove(held->bytes, held->bytes + reader->returned, held->length - reader->returned);
        held->length -= reader->returned;
        reader->checked -= reader->returned;
        reader->returned = 0;
    }
}

/* The bytes at the end that may be the beginning of an incomplete character. */
static size_t unfinished(const char *bytes, size_t length)
{
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        const unsigned char byte = (unsigned char)bytes[length - back];
        if ((byte & 0xc0) != 0x80) {
            return byte >= 0xc0 ? back : 0;
        }
    }
    return 0;
}

/* Reports text that is not UTF-8 as soon as it is read. */
static yk_status check_held(struct yk_text_reader *reader)
{
    const char *bytes = yk_text_chars(&reader->held);
    const size_t held = reader->held.length;
    const size_t whole = held - (reader->ended ? 0 : unfinished(bytes, held));
    if (whole <= reader->checked) {
        return YK_OK;
    }
    reader->checked +=
        yk_utf8_valid_prefix_length(bytes + reader->checked, whole - reader->checked);
    return reader->checked < whole ? fail_at(reader, reader->checked) : YK_OK;
}

static size_t max_chunk_bytes(const struct yk_text_reader *reader)
{
    return reader->chunk * YK_TEXT_READER_MAX_CHUNK_FACTOR;
}

static yk_status fail_too_long(const struct yk_text_reader *reader)
{
    const char *path = yk_text_chars(&reader->path);
    const char *limit = YK_UNITS_FORMAT_TEMPORARY((double)max_chunk_bytes(reader), YK_UNIT_BYTES);
    if (!reader->cut.possible) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s is longer than %s, and it is not known where text can be cut for this "
                       "tokenizer; split the file",
                       path, limit);
    }
    return yk_fail(YK_ERROR_INPUT,
                   "%s:%" PRId64 ":%" PRId64 ": from here on, %s of text have no place to be cut "
                   "at, such as a space between two words; split the file",
                   path, reader->place.line, reader->place.column, limit);
}

yk_status yk_text_reader_read_next_chunk(struct yk_text_reader *reader, const char **text,
                                         size_t *length)
{
    drop_returned(reader);
    const size_t max = max_chunk_bytes(reader);
    size_t wanted = reader->chunk;
    size_t end = 0;
    for (;; wanted *= 2) {
        wanted = wanted < max ? wanted : max;
        YK_TRY(fill(reader, wanted + 1)); /* one more byte shows whether the file ends */
        YK_TRY(check_held(reader));
        const size_t held = reader->held.length;
        if (held <= wanted && reader->ended) {
            end = held;
            break;
        }
        end = yk_chunk_boundary_find_last(&reader->cut, yk_text_chars(&reader->held),
                                          held < wanted ? held : wanted);
        if (end > 0) {
            break;
        }
        if (wanted == max) {
            return fail_too_long(reader);
        }
    }
    *text = yk_text_chars(&reader->held);
    *length = end;
    reader->returned = end + (end < reader->held.length && reader->cut.omits_space);
    return YK_OK;
}

int64_t yk_text_reader_get_position(const struct yk_text_reader *reader)
{
    return reader->passed + (int64_t)reader->returned;
}

/* Reads the whole file. Sets `*any` to whether it is not empty, and `*valid` to whether it is
 * UTF-8. */
static yk_status check(struct yk_text_reader *reader, bool *any, bool *valid)
{
    struct yk_text *held = &reader->held;
    *any = false;
    *valid = true;
    while (*valid && !reader->ended) {
        YK_TRY(fill(reader, BLOCK_BYTES));
        const size_t left = reader->ended ? 0 : unfinished(yk_text_chars(held), held->length);
        const size_t whole = held->length - left;
        *valid = yk_utf8_valid_prefix_length(yk_text_chars(held), whole) == whole;
        *any = *any || whole > 0;
        if (whole > 0) {
            memmove(held->bytes, held->bytes + whole, left);
            held->length = left;
        }
    }
    return YK_OK;
}

static yk_status check_file(const char *path, bool *any, bool *valid)
{
    const struct yk_chunk_boundary_rules anywhere = {0};
    struct yk_text_reader *reader = NULL;
    YK_TRY(yk_text_reader_open(path, &anywhere, BLOCK_BYTES, &reader));
    const yk_status status = check(reader, any, valid);
    yk_text_reader_close(reader);
    return status;
}

yk_status yk_text_reader_is_text_file(const char *path, bool *out)
{
    bool any = false;
    bool valid = false;
    YK_TRY(check_file(path, &any, &valid));
    *out = any && valid;
    return YK_OK;
}

static void warn_of_skipped(const char *folder, int32_t count, const char *first)
{
    if (count == 1) {
        yk_log(YK_LOG_WARNING, "%s is left out: it is not UTF-8 text", first);
    } else if (count > 1) {
        yk_log(YK_LOG_WARNING,
               "%" PRId32 " files in %s are left out: they are not UTF-8 text; the first one is %s",
               count, folder, first);
    }
}

yk_status yk_text_reader_select_text_files(const char *folder, struct yk_arena *arena,
                                           struct yk_file_list *files)
{
    const char **texts = NULL;
    const char *first_skipped = NULL;
    int32_t count = 0;
    int32_t skipped = 0;
    YK_TRY_NEW(arena, texts, (size_t)files->count + 1);
    for (int32_t i = 0; i < files->count; i++) {
        bool any = false;
        bool valid = false;
        YK_TRY(check_file(files->paths[i], &any, &valid));
        if (any && valid) {
            texts[count++] = files->paths[i];
        } else if (any) {
            first_skipped = skipped++ == 0 ? files->paths[i] : first_skipped;
        }
    }
    warn_of_skipped(folder, skipped, first_skipped);
    *files = (struct yk_file_list){.paths = texts, .count = count};
    return YK_OK;
}
