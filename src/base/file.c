#include "base/file.h"

#include "base/input_stream.h"
#include "base/system.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    MEMORY_PER_DATA = 8, /* bytes of memory for each byte of data: a token takes four bytes during
                            encoding, and two or four afterwards */
    MAX_CHUNK_BYTES = 1 << 30 /* of one system call */
};

/* Whether this is an anonymous pipe, which the process inherited. Opening a named pipe would block
 * until another process writes to it. */
static bool is_inherited_pipe(int descriptor, const struct stat *info)
{
    struct statfs system;
    return S_ISFIFO(info->st_mode) && fstatfs(descriptor, &system) == 0 &&
           system.f_type == PIPEFS_MAGIC;
}

static yk_status fail_to_read(const char *path, int error)
{
    return yk_fail(YK_ERROR_INPUT, "cannot read %s: %s", path, strerror(error));
}

static yk_status fail_irregular(const char *path)
{
    return yk_fail(YK_ERROR_INPUT, "%s is not a regular file", path);
}

/* Called before the file is opened, because opening a device may have side effects. */
static yk_status check_kind(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) {
        return fail_to_read(path, EISDIR);
    }
    return S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode) ? YK_OK : fail_irregular(path);
}

yk_status yk_file_check_regular(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode)) {
        return YK_OK;
    }
    return S_ISDIR(info.st_mode) ? fail_to_read(path, EISDIR) : fail_irregular(path);
}

yk_status yk_file_open_for_reading(const char *path, bool pipes, int *out)
{
    struct stat info;
    YK_TRY(check_kind(path));
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &info) != 0) {
        const int error = errno;
        if (descriptor >= 0) {
            close(descriptor);
        }
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(error));
    }
    if (!S_ISREG(info.st_mode) && !(pipes && is_inherited_pipe(descriptor, &info))) {
        close(descriptor);
        return fail_irregular(path);
    }
    const int flags = fcntl(descriptor, F_GETFL);
    (void)fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK);
    *out = descriptor;
    return YK_OK;
}

int64_t yk_file_read_at(int descriptor, uint64_t offset, void *to, uint64_t length)
{
    uint64_t done = 0;
    while (done < length) {
        const uint64_t left = length - done;
        const size_t chunk = left < MAX_CHUNK_BYTES ? (size_t)left : MAX_CHUNK_BYTES;
        const ssize_t used = pread(descriptor, (char *)to + done, chunk, (off_t)(offset + done));
        if (used < 0 && errno != EINTR) {
            return -1;
        }
        if (used == 0) {
            break;
        }
        done += used > 0 ? (uint64_t)used : 0;
    }
    return (int64_t)done;
}

int yk_file_write_to_descriptor(int descriptor, const void *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        const size_t chunk = length - done < MAX_CHUNK_BYTES ? length - done : MAX_CHUNK_BYTES;
        const ssize_t written = write(descriptor, (const char *)bytes + done, chunk);
        if (written == 0 || (written < 0 && errno != EINTR)) {
            return written < 0 ? errno : ENOSPC;
        }
        done += written > 0 ? (size_t)written : 0;
    }
    return 0;
}

/* The most bytes to read, and the parts of the error message: what has this limit, and why. */
struct limit {
    uint64_t most;
    bool decompresses; /* gzip data is read as what it decompresses to */
    const char *who;
    const char *why;
};

static yk_status fail_too_long(const char *path, const struct limit *limit)
{
    return yk_fail(YK_ERROR_INPUT, "%s is longer than the %s that %s may have%s", path,
                   YK_UNITS_FORMAT_TEMPORARY((double)limit->most, YK_UNIT_BYTES), limit->who,
                   limit->why);
}

/* Fails early if the size of the file exceeds the limit. */
static yk_status check_length(int descriptor, const char *path, const struct limit *limit)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0 || (uint64_t)info.st_size <= limit->most) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT, "%s has %s; %s may have at most %s%s", path,
                   YK_UNITS_FORMAT_TEMPORARY((double)info.st_size, YK_UNIT_BYTES), limit->who,
                   YK_UNITS_FORMAT_TEMPORARY((double)limit->most, YK_UNIT_BYTES), limit->why);
}

static yk_status read_descriptor(int descriptor, const char *path, const struct limit *limit,
                                 struct yk_text *out)
{
    char chunk[1 << 16];
    uint64_t left = limit->most;
    for (;;) {
        const ssize_t length = read(descriptor, chunk, sizeof chunk);
        if (length < 0 && errno == EINTR) {
            continue;
        }
        if (length <= 0) {
            return length == 0 ? YK_OK : fail_to_read(path, errno);
        }
        if ((uint64_t)length > left) {
            return fail_too_long(path, limit);
        }
        left -= (uint64_t)length;
        yk_text_add_bytes(out, chunk, (size_t)length);
        YK_TRY(yk_text_status(out));
    }
}

/* Reads a stream to its end. The limit is for the bytes that it is decompressed to. */
static yk_status read_stream(struct yk_input_stream *stream, const char *path,
                             const struct limit *limit, struct yk_text *out)
{
    char chunk[1 << 16];
    uint64_t left = limit->most;
    size_t length = 0;
    do {
        YK_TRY(yk_input_stream_read(stream, chunk, sizeof chunk, &length));
        if (length > left) {
            return fail_too_long(path, limit);
        }
        left -= length;
        yk_text_add_bytes(out, chunk, length);
        YK_TRY(yk_text_status(out));
    } while (length > 0);
    return YK_OK;
}

static yk_status read_all(int descriptor, const char *path, const struct limit *limit,
                          struct yk_text *out)
{
    struct yk_input_stream *stream = NULL;
    if (!limit->decompresses) {
        return read_descriptor(descriptor, path, limit, out);
    }
    YK_TRY(yk_input_stream_open(descriptor, path, &stream));
    const yk_status status = read_stream(stream, path, limit, out);
    yk_input_stream_close(stream);
    return status;
}

yk_status yk_file_check_not_lfs_pointer(const char *path, const char *bytes, size_t length)
{
    static const char start[] = "version https://git-lfs.github.com/spec/";
    return length >= sizeof start - 1 && memcmp(bytes, start, sizeof start - 1) == 0
               ? yk_fail(YK_ERROR_INPUT,
                         "%s: this is a pointer of Git LFS and not the file itself; fetch it with "
                         "git lfs pull",
                         path)
               : YK_OK;
}

static yk_status read_limited(const char *path, const struct limit *limit, struct yk_text *out)
{
    int descriptor = -1;
    const size_t start = out->length;
    if (strcmp(path, "-") == 0) {
        return read_all(STDIN_FILENO, "standard input", limit, out);
    }
    YK_TRY(yk_file_open_for_reading(path, true, &descriptor));
    yk_status status = check_length(descriptor, path, limit);
    YK_IF_OK(read_all(descriptor, path, limit, out));
    YK_IF_OK(yk_file_check_not_lfs_pointer(path, yk_text_chars(out) + start, out->length - start));
    close(descriptor);
    return status;
}

yk_status yk_file_read_with_limit(const char *path, uint64_t most, struct yk_text *out)
{
    const struct limit limit = {.most = most, .who = "a file of its kind", .why = ""};
    return read_limited(path, &limit, out);
}

yk_status yk_file_read_document(const char *path, struct yk_text *out)
{
    return yk_file_read_with_limit(path, YK_FILE_MAX_DOCUMENT_BYTES, out);
}

yk_status yk_file_read_document_to_arena(const char *path, struct yk_arena *arena, const char **out,
                                         size_t *out_length)
{
    struct yk_text text = {0};
    YK_TRY_OR_CLEAN_UP(yk_file_read_document(path, &text), yk_text_free(&text));
    *out_length = text.length;
    return yk_text_move_to_arena(&text, arena, out);
}

yk_status yk_file_read_training_data(const char *path, struct yk_text *out)
{
    const double free = yk_system_free_memory_bytes();
    const double most = fmax(free / MEMORY_PER_DATA, YK_FILE_MAX_DOCUMENT_BYTES);
    const double left = fmax(most - (double)out->length, 0);
    const struct limit limit = {
        .most = free > 0 ? (uint64_t)left : UINT64_MAX,
        .decompresses = true,
        .who = "data that is read whole",
        .why = ", an eighth of the memory that is free; use less of it (text for training may be "
               "turned into tokens: yoke tokenize -o)",
    };
    return read_limited(path, &limit, out);
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

/* mkstemp() creates private files: sets the mode of the existing file, or that of a new one. */
static void set_mode(int descriptor, const char *path)
{
    struct stat existing;
    const mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(descriptor, lstat(path, &existing) == 0 ? existing.st_mode & 0777 : 0666 & ~mask);
}

/* Whether the path exists and is not a regular file. */
static bool is_special(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

/* Writes a temporary file in the folder of `path` and stores its name in `aside`. */
static yk_status stage(const char *path, const struct yk_text *text, struct yk_text *aside)
{
    yk_text_addf(aside, "%s.XXXXXX", path);
    YK_TRY(yk_text_status(aside));
    const int descriptor = mkstemp(aside->bytes);
    if (descriptor < 0) {
        aside->length = 0; /* there is no file to remove */
        return fail_to_open(path);
    }
    FILE *stream = fdopen(descriptor, "wb");
    if (!stream) {
        const yk_status status = fail_to_open(path);
        close(descriptor);
        return status;
    }
    set_mode(descriptor, path);
    return write_stream(stream, path, text);
}

/* Renames the temporary file to `path`. */
static yk_status publish(const char *path, struct yk_text *aside)
{
    if (rename(aside->bytes, path) != 0) {
        return fail_to_open(path);
    }
    aside->length = 0;
    return YK_OK;
}

/* Removes the temporary file if it was not renamed. */
static void discard(struct yk_text *aside)
{
    if (aside->length > 0) {
        unlink(aside->bytes);
    }
    yk_text_free(aside);
}

/* Writes all temporary files and all special files before it renames the first one. */
static yk_status write_all(const char *const *paths, const struct yk_text *const *texts,
                           size_t count, struct yk_text *asides)
{
    for (size_t i = 0; i < count; i++) {
        YK_TRY(yk_text_status(texts[i]));
        if (!is_special(paths[i])) {
            YK_TRY(stage(paths[i], texts[i], &asides[i]));
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (asides[i].length == 0) {
            YK_TRY(write_in_place(paths[i], texts[i]));
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (asides[i].length > 0) {
            YK_TRY(publish(paths[i], &asides[i]));
        }
    }
    return YK_OK;
}

yk_status yk_file_write_several(const char *const *paths, const struct yk_text *const *texts,
                                size_t count)
{
    struct yk_text *asides = calloc(count, sizeof *asides);
    YK_TRY_ALLOCATED(asides);
    const yk_status status = write_all(paths, texts, count, asides);
    for (size_t i = 0; i < count; i++) {
        discard(&asides[i]);
    }
    free(asides);
    return status;
}

yk_status yk_file_write(const char *path, const struct yk_text *text)
{
    return yk_file_write_several(&path, &text, 1);
}

static yk_status fail_linked(const char *path)
{
    return yk_fail(YK_ERROR_SYSTEM,
                   "%s is a symbolic link, which would be written through; remove it", path);
}

yk_status yk_file_check_not_symlink(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode) ? fail_linked(path) : YK_OK;
}

yk_status yk_file_open_nofollow_for_writing(const char *path, int flags, int *out)
{
    struct stat info;
    const int descriptor =
        open(path, flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        return errno == ELOOP ? fail_linked(path) : fail_to_open(path);
    }
    if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(descriptor);
        return yk_fail(YK_ERROR_SYSTEM, "%s is not a regular file", path);
    }
    *out = descriptor;
    return YK_OK;
}

yk_status yk_file_write_nofollow(const char *path, const struct yk_text *text)
{
    YK_TRY(yk_text_status(text));
    YK_TRY(yk_file_check_not_symlink(path));
    if (is_special(path)) {
        return yk_fail(YK_ERROR_SYSTEM, "%s is not a regular file", path);
    }
    /* Renames in any case, so that a link made since the check is replaced, not followed. */
    struct yk_text aside = {0};
    yk_status status = stage(path, text, &aside);
    YK_IF_OK(publish(path, &aside));
    discard(&aside);
    return status;
}
