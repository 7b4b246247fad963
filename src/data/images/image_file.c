#include "data/images/image_file.h"

#include "base/file.h"
#include "base/text.h"
#include "data/images/jpeg_decoder.h"
#include "data/images/png_decoder.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum {
    HEADER_BYTES = 4096 /* one page; longer headers have colour profiles and the like */
};

#define MAX_FILE_BYTES (UINT64_C(256) << 20)

static const struct format {
    bool (*recognize)(const uint8_t *bytes, size_t length);
    yk_status (*check_header)(const uint8_t *bytes, size_t length, bool whole);
    yk_status (*decode)(const uint8_t *bytes, size_t length, struct yk_image *out);
} formats[] = {
    {yk_png_decoder_recognize, yk_png_decoder_check_header, yk_png_decoder_decode},
    {yk_jpeg_decoder_recognize, yk_jpeg_decoder_check_header, yk_jpeg_decoder_decode},
};

/* How files of other formats begin, to say what is wrong. */
static const struct other_format {
    const char *name;
    size_t offset;
    const char *magic;
} other_formats[] = {
    {"GIF", 0, "GIF8"},      {"WebP", 8, "WEBP"}, {"BMP", 0, "BM"},
    {"TIFF", 0, "II*"},      {"TIFF", 0, "MM"},   {"AVIF", 4, "ftypavif"},
    {"HEIC", 4, "ftypheic"}, {"Netpbm", 0, "P6"}, {"Netpbm", 0, "P5"},
};

static yk_status fail_for_format(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < sizeof other_formats / sizeof *other_formats; i++) {
        const struct other_format *other = &other_formats[i];
        const size_t magic = strlen(other->magic);
        if (length >= other->offset + magic &&
            memcmp(bytes + other->offset, other->magic, magic) == 0) {
            return yk_fail(YK_ERROR_INPUT, "a %s image; only PNG and JPEG are read: convert it",
                           other->name);
        }
    }
    return yk_fail(YK_ERROR_INPUT,
                   length == 0 ? "the file is empty" : "neither a PNG nor a JPEG image");
}

static yk_status decode(const uint8_t *bytes, size_t length, int64_t channels, struct yk_image *out)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].recognize(bytes, length)) {
            YK_TRY(formats[i].decode(bytes, length, out));
            YK_TRY_OR_CLEAN_UP(yk_image_convert(out, channels), yk_image_free(out));
            return YK_OK;
        }
    }
    return fail_for_format(bytes, length);
}

yk_status yk_image_file_decode(const uint8_t *bytes, size_t length, int64_t channels,
                               const char *source, struct yk_image *out)
{
    struct yk_image image = {0};
    YK_TRY(yk_status_prefix_message(decode(bytes, length, channels, &image), source));
    *out = image;
    return YK_OK;
}

static yk_status check_header(const uint8_t *bytes, size_t length, bool whole)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].recognize(bytes, length)) {
            return formats[i].check_header(bytes, length, whole);
        }
    }
    return fail_for_format(bytes, length);
}

yk_status yk_image_file_check_header(const char *path)
{
    uint8_t bytes[HEADER_BYTES];
    int file = -1;
    YK_TRY(yk_file_open_for_reading(path, false, &file));
    const int64_t length = yk_file_read_at(file, 0, bytes, sizeof bytes);
    const int error = errno;
    (void)close(file);
    if (length < 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot read %s: %s", path, strerror(error));
    }
    return yk_status_prefix_message(
        check_header(bytes, (size_t)length, (size_t)length < sizeof bytes), path);
}

yk_status yk_image_file_read(const char *path, int64_t channels, struct yk_image *out)
{
    struct yk_text bytes = {0};
    yk_status status = yk_file_read_with_limit(path, MAX_FILE_BYTES, &bytes);
    YK_IF_OK(yk_image_file_decode((const uint8_t *)yk_text_chars(&bytes), bytes.length, channels,
                                  path, out));
    yk_text_free(&bytes);
    return status;
}
