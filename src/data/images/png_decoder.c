#include "data/images/png_decoder.h"

#include <inttypes.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SIDE = 1 << 20,          /* a row of this length is still small */
    MAX_SURPLUS_BYTES = 1 << 16, /* of compressed data that are read after the last row */
    PALETTE_COLOURS = 256,
    MESSAGE_BYTES = 200
};

/* libpng reports a failure by longjmp(): what must be freed then lies here, not in local variables,
 * whose values may be lost. */
struct decoder {
    png_structp png;
    png_infop info;
    const uint8_t *bytes;
    size_t length;
    size_t used;
    size_t surplus; /* bytes that were read after the last row */
    bool exhausted; /* more bytes were needed than there are */
    struct yk_image image;
    uint8_t *samples; /* (height, width) what libpng decodes, if it is not yet the pixels */
    png_bytep *rows;  /* (height) */
    int depth;        /* bits of a sample in the file */
    void (*finish)(const struct decoder *decoder); /* makes the pixels; NULL means: they are made */
    jmp_buf on_error;
    char message[MESSAGE_BYTES];
};

bool yk_png_decoder_recognize(const uint8_t *bytes, size_t length)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    return length >= sizeof signature && memcmp(bytes, signature, sizeof signature) == 0;
}

static void fail(png_structp png, png_const_charp message)
{
    struct decoder *decoder = png_get_error_ptr(png);
    snprintf(decoder->message, sizeof decoder->message, "%s", message);
    longjmp(decoder->on_error, 1);
}

static void ignore_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

/* Whether all rows are decoded. Interlaced images have seven passes. */
static bool has_rows(const struct decoder *decoder)
{
    return decoder->rows && (png_get_current_pass_number(decoder->png) >= 7 ||
                             png_get_current_row_number(decoder->png) >=
                                 png_get_image_height(decoder->png, decoder->info));
}

/* libpng decompresses what follows the last row to its end, which could be a thousand times the
 * file. */
static void read_bytes(png_structp png, png_bytep out, size_t count)
{
    struct decoder *decoder = png_get_io_ptr(png);
    decoder->surplus += has_rows(decoder) ? count : 0;
    if (decoder->surplus > MAX_SURPLUS_BYTES) {
        png_error(png, "more data follow its last row");
    }
    if (count > decoder->length - decoder->used) {
        decoder->exhausted = true;
        png_error(png, "the file is cut off");
    }
    memcpy(out, decoder->bytes + decoder->used, count);
    decoder->used += count;
}

/* Grey of fewer than 8 bits is spread. */
static void spread_grey(const struct decoder *decoder)
{
    static const uint8_t factors[] = {[1] = 255, [2] = 85, [4] = 17};
    const struct yk_image *image = &decoder->image;
    const uint8_t factor = factors[decoder->depth];
    for (int64_t i = 0; i < image->height * image->width; i++) {
        image->pixels[i] = (uint8_t)(image->pixels[i] * factor);
    }
}

/* Grey of 16 bits is cut off at 255. */
static void cut_grey(const struct decoder *decoder)
{
    const struct yk_image *image = &decoder->image;
    for (int64_t i = 0; i < image->height * image->width; i++) {
        image->pixels[i] = decoder->samples[2 * i] != 0 ? 255 : decoder->samples[2 * i + 1];
    }
}

static void look_up_palette(const struct decoder *decoder)
{
    png_colorp colours = NULL;
    int count = 0;
    uint8_t palette[PALETTE_COLOURS][3] = {{0}}; /* what the file does not define is black */
    png_get_PLTE(decoder->png, decoder->info, &colours, &count);
    for (int i = 0; i < count && i < PALETTE_COLOURS; i++) {
        palette[i][0] = colours[i].red;
        palette[i][1] = colours[i].green;
        palette[i][2] = colours[i].blue;
    }
    const struct yk_image *image = &decoder->image;
    for (int64_t i = 0; i < image->height * image->width; i++) {
        memcpy(image->pixels + 3 * i, palette[decoder->samples[i]], 3);
    }
}

/* Most images are decoded to where they belong; others become samples first, which `finish` makes
 * pixels of. */
static yk_status allocate(struct decoder *decoder, int colour)
{
    const int64_t height = png_get_image_height(decoder->png, decoder->info);
    const int64_t width = png_get_image_width(decoder->png, decoder->info);
    const bool coloured = (colour & PNG_COLOR_MASK_COLOR) != 0;
    const size_t row_bytes = png_get_rowbytes(decoder->png, decoder->info);
    YK_TRY(yk_image_allocate(height, width, coloured ? 3 : 1, &decoder->image));
    uint8_t *to = decoder->image.pixels;
    if (decoder->finish == cut_grey || decoder->finish == look_up_palette) {
        decoder->samples = malloc(row_bytes * (size_t)height);
        YK_TRY_ALLOCATED(decoder->samples);
        to = decoder->samples;
    }
    decoder->rows = calloc((size_t)height, sizeof *decoder->rows);
    YK_TRY_ALLOCATED(decoder->rows);
    for (int64_t y = 0; y < height; y++) {
        decoder->rows[y] = to + (size_t)y * row_bytes;
    }
    return YK_OK;
}

static void read_header(struct decoder *decoder)
{
    png_set_user_limits(decoder->png, MAX_SIDE, MAX_SIDE);
    /* Texts, profiles and the like are passed over: libpng would allocate the length that each says
     * it has. */
    png_set_keep_unknown_chunks(decoder->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_read_fn(decoder->png, decoder, read_bytes);
    png_read_info(decoder->png, decoder->info);
}

/* Reads the header and prepares for the rows. */
static yk_status begin(struct decoder *decoder)
{
    read_header(decoder);
    const int colour = png_get_color_type(decoder->png, decoder->info);
    decoder->depth = png_get_bit_depth(decoder->png, decoder->info);
    if (colour == PNG_COLOR_TYPE_PALETTE) {
        decoder->finish = look_up_palette;
    } else if (colour == PNG_COLOR_TYPE_GRAY && decoder->depth == 16) {
        decoder->finish = cut_grey;
    } else if (colour == PNG_COLOR_TYPE_GRAY && decoder->depth < 8) {
        decoder->finish = spread_grey;
    }
    if (decoder->finish != cut_grey) {
        png_set_strip_16(decoder->png);
    }
    png_set_strip_alpha(decoder->png);
    png_set_packing(decoder->png); /* samples of fewer than 8 bits become bytes */
    png_set_interlace_handling(decoder->png);
    png_read_update_info(decoder->png, decoder->info);
    return allocate(decoder, colour);
}

static yk_status decode(struct decoder *decoder)
{
    if (setjmp(decoder->on_error)) { /* NOLINT(cert-err52-cpp): libpng knows no other way */
        return yk_fail(YK_ERROR_INPUT, "a broken PNG file: %s", decoder->message);
    }
    YK_TRY(begin(decoder));
    png_read_image(decoder->png, decoder->rows);
    return YK_OK;
}

/* The size comes first in a file, and is known even if the rest of the header is missing. */
static yk_status check_header(struct decoder *decoder, bool whole)
{
    if (setjmp(decoder->on_error)) { /* NOLINT(cert-err52-cpp): libpng knows no other way */
        if (whole || !decoder->exhausted) {
            return yk_fail(YK_ERROR_INPUT, "a broken PNG file: %s", decoder->message);
        }
    } else {
        read_header(decoder);
    }
    return yk_image_check_size(png_get_image_height(decoder->png, decoder->info),
                               png_get_image_width(decoder->png, decoder->info));
}

static yk_status create(const uint8_t *bytes, size_t length, struct decoder **out)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    YK_TRY_ALLOCATED(decoder);
    decoder->bytes = bytes;
    decoder->length = length;
    decoder->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, decoder, fail, ignore_warning);
    decoder->info = decoder->png ? png_create_info_struct(decoder->png) : NULL;
    *out = decoder;
    return YK_OK;
}

static void destroy(struct decoder *decoder)
{
    png_destroy_read_struct(&decoder->png, &decoder->info, NULL);
    free(decoder->samples);
    free(decoder->rows);
    free(decoder);
}

yk_status yk_png_decoder_check_header(const uint8_t *bytes, size_t length, bool whole)
{
    struct decoder *decoder = NULL;
    YK_TRY(create(bytes, length, &decoder));
    const yk_status status = decoder->info ? check_header(decoder, whole) : yk_fail_out_of_memory();
    destroy(decoder);
    return status;
}

yk_status yk_png_decoder_decode(const uint8_t *bytes, size_t length, struct yk_image *out)
{
    struct decoder *decoder = NULL;
    YK_TRY(create(bytes, length, &decoder));
    const yk_status status = decoder->info ? decode(decoder) : yk_fail_out_of_memory();
    if (status == YK_OK) {
        if (decoder->finish) {
            decoder->finish(decoder);
        }
        *out = decoder->image;
    } else {
        yk_image_free(&decoder->image);
    }
    destroy(decoder);
    return status;
}
