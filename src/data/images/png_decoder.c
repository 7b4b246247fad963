#include "data/images/png_decoder.h"

#include <inttypes.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SIDE = 1 << 20,        /* a row of this length is still small */
    MAX_CHUNKS = 1000,         /* of text and the like */
    MAX_CHUNK_BYTES = 8 << 20, /* of any chunk but the pixels */
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
    struct yk_image image;
    uint8_t *samples; /* (height, row_bytes) as libpng gives them */
    png_bytep *rows;  /* (height) */
    int depth;        /* bits of a sample in the file */
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

static void read_bytes(png_structp png, png_bytep out, size_t count)
{
    struct decoder *decoder = png_get_io_ptr(png);
    if (count > decoder->length - decoder->used) {
        png_error(png, "the file is cut off");
    }
    memcpy(out, decoder->bytes + decoder->used, count);
    decoder->used += count;
}

/* The grey of a sample: 16 bits are cut off at 255, fewer than 8 are spread. */
static uint8_t grey_of(const uint8_t *sample, int depth)
{
    static const uint8_t spread[9] = {[1] = 255, [2] = 85, [4] = 17, [8] = 1};
    if (depth == 16) {
        return sample[0] != 0 ? 255 : sample[1];
    }
    return (uint8_t)(sample[0] * spread[depth]);
}

static void convert_palette(struct decoder *decoder, size_t row_bytes)
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
    for (int64_t y = 0; y < image->height; y++) {
        const uint8_t *row = decoder->samples + (size_t)y * row_bytes;
        uint8_t *out = image->pixels + y * image->width * 3;
        for (int64_t x = 0; x < image->width; x++) {
            memcpy(out + 3 * x, palette[row[x]], 3);
        }
    }
}

/* Keeps the first one or three of a pixel's samples. */
static void convert_samples(const struct decoder *decoder, size_t row_bytes)
{
    const int depth = decoder->depth;
    const int samples = png_get_channels(decoder->png, decoder->info);
    const struct yk_image *image = &decoder->image;
    const int64_t sample_bytes = depth == 16 ? 2 : 1;
    const bool grey = samples == 1;
    for (int64_t y = 0; y < image->height; y++) {
        const uint8_t *row = decoder->samples + (size_t)y * row_bytes;
        uint8_t *out = image->pixels + y * image->width * image->channels;
        for (int64_t x = 0; x < image->width; x++) {
            for (int64_t c = 0; c < image->channels; c++) {
                const uint8_t *sample = row + (x * samples + c) * sample_bytes;
                *out++ = grey ? grey_of(sample, depth) : sample[0];
            }
        }
    }
}

/* Reads the header and allocates. What it returns is not a failure of libpng. */
static yk_status begin(struct decoder *decoder)
{
    png_set_user_limits(decoder->png, MAX_SIDE, MAX_SIDE);
    png_set_chunk_cache_max(decoder->png, MAX_CHUNKS);
    png_set_chunk_malloc_max(decoder->png, MAX_CHUNK_BYTES);
    png_set_read_fn(decoder->png, decoder, read_bytes);
    png_read_info(decoder->png, decoder->info);
    const int64_t height = png_get_image_height(decoder->png, decoder->info);
    const int64_t width = png_get_image_width(decoder->png, decoder->info);
    const int colour = png_get_color_type(decoder->png, decoder->info);
    decoder->depth = png_get_bit_depth(decoder->png, decoder->info);
    const bool coloured = (colour & PNG_COLOR_MASK_COLOR) != 0;
    YK_TRY(yk_image_allocate(height, width, coloured ? 3 : 1, &decoder->image));
    png_set_packing(decoder->png); /* samples of fewer than 8 bits become bytes */
    png_set_interlace_handling(decoder->png);
    png_read_update_info(decoder->png, decoder->info);
    const size_t row_bytes = png_get_rowbytes(decoder->png, decoder->info);
    decoder->samples = malloc(row_bytes * (size_t)height);
    decoder->rows = calloc((size_t)height, sizeof *decoder->rows);
    YK_TRY_ALLOCATED(decoder->samples && decoder->rows);
    for (int64_t y = 0; y < height; y++) {
        decoder->rows[y] = decoder->samples + (size_t)y * row_bytes;
    }
    return YK_OK;
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

yk_status yk_png_decoder_decode(const uint8_t *bytes, size_t length, struct yk_image *out)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    YK_TRY_ALLOCATED(decoder);
    decoder->bytes = bytes;
    decoder->length = length;
    decoder->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, decoder, fail, ignore_warning);
    decoder->info = decoder->png ? png_create_info_struct(decoder->png) : NULL;
    yk_status status = decoder->info ? decode(decoder) : yk_fail_out_of_memory();
    if (status == YK_OK) {
        const size_t row_bytes = png_get_rowbytes(decoder->png, decoder->info);
        if (png_get_color_type(decoder->png, decoder->info) == PNG_COLOR_TYPE_PALETTE) {
            convert_palette(decoder, row_bytes);
        } else {
            convert_samples(decoder, row_bytes);
        }
        *out = decoder->image;
    } else {
        yk_image_free(&decoder->image);
    }
    png_destroy_read_struct(&decoder->png, &decoder->info, NULL);
    free(decoder->samples);
    free(decoder->rows);
    free(decoder);
    return status;
}
