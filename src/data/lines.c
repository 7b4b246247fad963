#include "data/lines.h"

#include "base/file.h"
#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void yk_lines_destroy(struct yk_lines *lines)
{
    if (lines) {
        free(lines->bytes);
        free(lines->items);
        free(lines->lengths);
        free(lines);
    }
}

static yk_status check_text(const char *bytes, size_t length, const char *source)
{
    const size_t valid = yk_utf8_valid_prefix_length(bytes, length);
    return valid == length ? YK_OK
                           : yk_text_fail_invalid_utf8(
                                 source, yk_utf8_position_of_byte(bytes, valid), bytes[valid]);
}

static int64_t count_lines(const char *bytes, size_t length)
{
    int64_t count = 0;
    for (size_t i = 0; i < length; i++) {
        count += bytes[i] == '\n';
    }
    return count + (length > 0 && bytes[length - 1] != '\n');
}

/* Terminates every line of `lines->bytes` with a zero and stores where it begins. */
static void terminate_lines(struct yk_lines *lines, size_t length)
{
    char *at = lines->bytes;
    char *const end = lines->bytes + length;
    for (int64_t i = 0; i < lines->count; i++) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        char *const next = stop ? stop + 1 : end;
        stop = stop ? stop : end;
        if (stop < end && stop > at && stop[-1] == '\r') {
            stop--;
        }
        *stop = '\0';
        lines->items[i] = at;
        lines->lengths[i] = (size_t)(stop - at);
        at = next;
    }
}

yk_status yk_lines_create_unsplit(const char *bytes, size_t length, int64_t count,
                                  struct yk_lines **out)
{
    struct yk_lines *lines = calloc(1, sizeof *lines);
    YK_TRY_ALLOCATED(lines);
    lines->count = count;
    lines->bytes = malloc(length + 1);
    lines->items = calloc((size_t)count + 1, sizeof *lines->items);
    lines->lengths = calloc((size_t)count + 1, sizeof *lines->lengths);
    if (!lines->bytes || !lines->items || !lines->lengths) {
        yk_lines_destroy(lines);
        return yk_fail_out_of_memory();
    }
    if (length > 0) {
        memcpy(lines->bytes, bytes, length);
    }
    lines->bytes[length] = '\0';
    *out = lines;
    return YK_OK;
}

yk_status yk_lines_split(const char *bytes, size_t length, const char *source,
                         struct yk_lines **out)
{
    YK_TRY(check_text(bytes, length, source));
    YK_TRY(yk_lines_create_unsplit(bytes, length, count_lines(bytes, length), out));
    terminate_lines(*out, length);
    return YK_OK;
}

/* Reads standard input if the path is "-". */
static yk_status read_lines(const char *path, const char *source, struct yk_lines **out)
{
    struct yk_text text = {0};
    yk_status status = yk_file_read_training_data(path, &text);
    YK_IF_OK(yk_lines_split(yk_text_chars(&text), text.length, source, out));
    yk_text_free(&text);
    return status;
}

yk_status yk_lines_read_file(const char *path, struct yk_lines **out)
{
    return read_lines(strcmp(path, "-") == 0 ? "./-" : path, path, out);
}

/* Rounds up, except for rounding errors of the product. */
int64_t yk_lines_index_at_fraction(int64_t count, double part)
{
    const int64_t line = (int64_t)ceil((double)count * part - 1e-9 * (double)count);
    return line < count ? line : count;
}

yk_status yk_lines_read_file_or_stdin(const char *path, const char **source, struct yk_lines **out)
{
    if (path && strcmp(path, "-") != 0) {
        *source = path;
        return yk_lines_read_file(path, out);
    }
    *source = "standard input";
    return read_lines("-", *source, out);
}
