#include "data/images/jpeg_decoder.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h> /* jpeglib.h needs it first */
#include <stdlib.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

enum {
    MAX_SCANS = 100 /* of a progressive file; usual ones have about 10 */
};

/* Each scan takes the time of a whole image, however few bytes it has: so many pixels in all. */
#define MAX_SCANNED_PIXELS (24 * YK_IMAGE_MAX_PIXELS)

/* libjpeg reports a failure by a callback that must not return: what must be freed then lies here,
 * not in local variables, whose values may be lost. */
struct decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    struct yk_image image;
    uint8_t *inks;  /* a row of CMYK */
    bool exhausted; /* more bytes were needed than there are */
    jmp_buf on_error;
    char message[JMSG_LENGTH_MAX];
};

bool yk_jpeg_decoder_recognize(const uint8_t *bytes, size_t length)
{
    return length >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

static void fail_with(struct decoder *decoder, const char *message)
{
    snprintf(decoder->message, sizeof decoder->message, "%s", message);
    longjmp(decoder->on_error, 1);
}

static void fail(j_common_ptr jpeg)
{
    struct decoder *decoder = jpeg->client_data;
    char message[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, message);
    fail_with(decoder, message);
}

/* Warnings, such as of bytes that do not belong to the image, are no failures. */
static void ignore_message(j_common_ptr jpeg, int level)
{
    (void)jpeg;
    (void)level;
}

static void ignore_text(j_common_ptr jpeg)
{
    (void)jpeg;
}

static void do_nothing(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

/* All bytes are there from the beginning; who needs more has a file that is cut off. */
static boolean fail_at_end(j_decompress_ptr jpeg)
{
    struct decoder *decoder = jpeg->client_data;
    decoder->exhausted = true;
    fail_with(decoder, "the file is cut off");
    return FALSE;
}

static void skip(j_decompress_ptr jpeg, long count)
{
    struct jpeg_source_mgr *source = jpeg->src;
    if (count > 0 && (size_t)count > source->bytes_in_buffer) {
        fail_at_end(jpeg);
    } else if (count > 0) {
        source->next_input_byte += count;
        source->bytes_in_buffer -= (size_t)count;
    }
}

static void check_scans(j_common_ptr jpeg)
{
    struct decoder *decoder = jpeg->client_data;
    const int64_t scans = decoder->jpeg.input_scan_number;
    const int64_t pixels = decoder->image.height * decoder->image.width;
    if (scans > MAX_SCANS || (pixels > 0 && scans > MAX_SCANNED_PIXELS / pixels)) {
        fail_with(decoder, "too many scans");
    }
}

static void set_up(struct decoder *decoder, const uint8_t *bytes, size_t length)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    jpeg->err = jpeg_std_error(&decoder->errors);
    decoder->errors.error_exit = fail;
    decoder->errors.emit_message = ignore_message;
    decoder->errors.output_message = ignore_text;
    jpeg->client_data = decoder;
    decoder->source = (struct jpeg_source_mgr){
        .next_input_byte = bytes,
        .bytes_in_buffer = length,
        .init_source = do_nothing,
        .fill_input_buffer = fail_at_end,
        .skip_input_data = skip,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = do_nothing,
    };
    decoder->progress.progress_monitor = check_scans;
}

/* As Pillow: inks are stored inverted, and black takes away from what the others leave. */
static void convert_inks(const uint8_t *inks, int64_t count, uint8_t *out)
{
    for (int64_t x = 0; x < count; x++) {
        const int32_t light = inks[4 * x + 3];
        for (int64_t c = 0; c < 3; c++) {
            const int32_t product = (255 - inks[4 * x + c]) * light + 128;
            out[3 * x + c] = (uint8_t)(light - ((product + (product >> 8)) >> 8));
        }
    }
}

static yk_status read_header(struct decoder *decoder)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    jpeg_create_decompress(jpeg);
    jpeg->src = &decoder->source;
    jpeg->progress = &decoder->progress;
    jpeg_read_header(jpeg, TRUE);
    const int components = jpeg->num_components;
    if (components != 1 && components != 3 && components != 4) {
        return yk_fail(YK_ERROR_INPUT, "a JPEG file with %d colours; 1, 3 or 4 are read",
                       components);
    }
    return yk_image_check_size(jpeg->image_height, jpeg->image_width);
}

static yk_status begin(struct decoder *decoder)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    YK_TRY(read_header(decoder));
    const int components = jpeg->num_components;
    jpeg->out_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
    YK_TRY(yk_image_allocate(jpeg->image_height, jpeg->image_width, components == 1 ? 1 : 3,
                             &decoder->image));
    if (components == 4) {
        decoder->inks = malloc((size_t)jpeg->image_width * 4);
        YK_TRY_ALLOCATED(decoder->inks);
    }
    return YK_OK;
}

static yk_status decode(struct decoder *decoder)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    const struct yk_image *image = &decoder->image;
    if (setjmp(decoder->on_error)) { /* NOLINT(cert-err52-cpp): libjpeg knows no other way */
        return yk_fail(YK_ERROR_INPUT, "a broken JPEG file: %s", decoder->message);
    }
    YK_TRY(begin(decoder));
    jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        uint8_t *out =
            image->pixels + (int64_t)jpeg->output_scanline * image->width * image->channels;
        JSAMPROW row = decoder->inks ? decoder->inks : out;
        jpeg_read_scanlines(jpeg, &row, 1);
        if (decoder->inks) {
            convert_inks(decoder->inks, image->width, out);
        }
    }
    return YK_OK;
}

static yk_status check_header(struct decoder *decoder, bool whole)
{
    if (setjmp(decoder->on_error)) { /* NOLINT(cert-err52-cpp): libjpeg knows no other way */
        return !whole && decoder->exhausted
                   ? YK_OK
                   : yk_fail(YK_ERROR_INPUT, "a broken JPEG file: %s", decoder->message);
    }
    return read_header(decoder);
}

yk_status yk_jpeg_decoder_check_header(const uint8_t *bytes, size_t length, bool whole)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    YK_TRY_ALLOCATED(decoder);
    set_up(decoder, bytes, length);
    const yk_status status = check_header(decoder, whole);
    jpeg_destroy_decompress(&decoder->jpeg);
    free(decoder);
    return status;
}

yk_status yk_jpeg_decoder_decode(const uint8_t *bytes, size_t length, struct yk_image *out)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    YK_TRY_ALLOCATED(decoder);
    set_up(decoder, bytes, length);
    const yk_status status = decode(decoder);
    if (status == YK_OK) {
        *out = decoder->image;
    } else {
        yk_image_free(&decoder->image);
    }
    jpeg_destroy_decompress(&decoder->jpeg);
    free(decoder->inks);
    free(decoder);
    return status;
}
