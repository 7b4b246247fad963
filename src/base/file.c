#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static yk_status read_stream(FILE *stream, const char *path, struct yk_text *out)
{
    char piece[1 << 16];
    size_t length = 0;
    while ((length = fread(piece, 1, sizeof piece, stream)) > 0) {
        yk_text_add_bytes(out, piece, length);
    }
    if (ferror(stream)) {
        return yk_fail(YK_ERROR_INPUT, "cannot read %s: %s", path, strerror(errno));
    }
    return yk_text_status(out);
}

yk_status yk_file_read(const char *path, struct yk_text *out)
{
    if (strcmp(path, "-") == 0) {
        return read_stream(stdin, "standard input", out);
    }
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    }
    const yk_status status = read_stream(stream, path, out);
    fclose(stream);
    return status;
}

static yk_status write_stream(FILE *stream, const char *path, const struct yk_text *text)
{
    const bool written = fwrite(yk_text_chars(text), 1, text->length, stream) == text->length;
    const int write_error = errno;
    if (fclose(stream) != 0 || !written) {
        return yk_fail(YK_ERROR_SYSTEM, "cannot write %s: %s", path,
                       strerror(written ? errno : write_error));
    }
    return YK_OK;
}

static yk_status fail_to_open(const char *path)
{
    return yk_fail(YK_ERROR_SYSTEM, "cannot write %s: %s", path, strerror(errno));
}

static yk_status write_in_place(const char *path, const struct yk_text *text)
{
    FILE *stream = fopen(path, "wb");
    return stream ? write_stream(stream, path, text) : fail_to_open(path);
}

/* mkstemp makes private files; the result gets the mode an ordinary new or existing file has. */
static void give_mode(int descriptor, const struct stat *existing)
{
    const mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(descriptor, existing ? existing->st_mode & 0777 : 0666 & ~mask);
}

static yk_status write_aside(const char *path, const struct stat *existing,
                             const struct yk_text *text)
{
    struct yk_text aside = {0};
    yk_text_addf(&aside, "%s.XXXXXX", path);
    yk_status status = yk_text_status(&aside);
    if (status != YK_OK) {
        return status;
    }
    const int descriptor = mkstemp(aside.bytes);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (!stream) {
        status = fail_to_open(path);
        if (descriptor >= 0) {
            close(descriptor);
            unlink(aside.bytes);
        }
        yk_text_free(&aside);
        return status;
    }
    give_mode(descriptor, existing);
    status = write_stream(stream, path, text);
    if (status == YK_OK && rename(aside.bytes, path) != 0) {
        status = fail_to_open(path);
    }
    if (status != YK_OK) {
        unlink(aside.bytes);
    }
    yk_text_free(&aside);
    return status;
}

yk_status yk_file_write(const char *path, const struct yk_text *text)
{
    YK_TRY(yk_text_status(text));
    struct stat existing;
    const bool exists = lstat(path, &existing) == 0;
    if (exists && !S_ISREG(existing.st_mode)) {
        return write_in_place(path, text);
    }
    return write_aside(path, exists ? &existing : NULL, text);
}
