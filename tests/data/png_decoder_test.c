/* PNG decoder: files that contain, or pretend to contain, far more than their pixels. */
#include "support/support.h"

#include "base/system.h"
#include "base/text.h"
#include "data/images/png_decoder.h"

#include <stdlib.h>
#include <zlib.h>

enum {
    GREY = 100,
    LONGEST_CHUNK = 0x7fffffff
};

#define MEBIBYTE (1 << 20)

static void add_number(struct yk_text *file, uint32_t number)
{
    const char bytes[] = {(char)(number >> 24), (char)(number >> 16), (char)(number >> 8),
                          (char)number};
    yk_text_add_bytes(file, bytes, sizeof bytes);
}

static void add_chunk(struct yk_text *file, const char *name, const void *body, size_t length)
{
    add_number(file, (uint32_t)length);
    const size_t begin = file->length;
    yk_text_add(file, name);
    yk_text_add_bytes(file, body, length);
    const uLong check = crc32(0, (const Bytef *)file->bytes + begin, (uInt)(file->length - begin));
    add_number(file, (uint32_t)check);
}

static void begin_file(struct yk_text *file)
{
    static const char header[13] = {0, 0, 0, 1, 0, 0, 0, 1, 8}; /* one grey pixel of 8 bits */
    yk_text_add(file, "\x89PNG\r\n\x1a\n");
    add_chunk(file, "IHDR", header, sizeof header);
}

/* Appends the compressed pixel, followed by `more` zeros that no row needs. */
static void add_pixel(struct yk_text *file, size_t more, int level)
{
    uLongf length = compressBound(2 + more);
    Bytef *row = calloc(2 + more, 1); /* a filter and the pixel */
    Bytef *compressed = malloc(length);
    assert_non_null(row);
    assert_non_null(compressed);
    row[1] = GREY;
    assert_int_equal(compress2(compressed, &length, row, 2 + more, level), Z_OK);
    add_chunk(file, "IDAT", compressed, length);
    free(row);
    free(compressed);
}

static yk_status decode(const struct yk_text *file, struct yk_image *out)
{
    *out = (struct yk_image){0};
    return yk_png_decoder_decode((const uint8_t *)file->bytes, file->length, out);
}

static void assert_decodes(struct yk_text *file)
{
    struct yk_image image;
    add_chunk(file, "IEND", "", 0);
    assert_ok(decode(file, &image));
    assert_int_equal(image.height * image.width * image.channels, 1);
    assert_int_equal(image.pixels[0], GREY);
    yk_image_free(&image);
    yk_text_free(file);
}

static void data_behind_the_last_row_are_bounded(void **state)
{
    struct yk_image image;
    struct yk_text few = {0};
    struct yk_text many = {0};
    (void)state;
    begin_file(&few);
    add_pixel(&few, 100, Z_NO_COMPRESSION);
    assert_decodes(&few);
    begin_file(&many);
    add_pixel(&many, MEBIBYTE, Z_NO_COMPRESSION);
    add_chunk(&many, "IEND", "", 0);
    assert_fails(decode(&many, &image), YK_ERROR_INPUT,
                 "a broken PNG file: more data follow its last row");
    yk_text_free(&many);
}

static void texts_and_profiles_are_passed_over(void **state)
{
    struct yk_text file = {0};
    char *note = calloc(MEBIBYTE, 1);
    (void)state;
    assert_non_null(note);
    begin_file(&file);
    add_chunk(&file, "iCCP", "no profile", 10);
    for (int i = 0; i < 16; i++) {
        add_chunk(&file, "tEXt", note, MEBIBYTE);
    }
    add_pixel(&file, 0, Z_BEST_SPEED);
    add_chunk(&file, "zTXt", "no text", 7);
    free(note);
    assert_decodes(&file);
}

/* A text may say that 2 GiB follow; no memory is taken for them. */
static void no_memory_is_allocated_for_the_length_of_a_chunk(void **state)
{
    struct yk_image image;
    struct yk_text file = {0};
    (void)state;
    begin_file(&file);
    add_number(&file, LONGEST_CHUNK);
    yk_text_add(&file, "tEXt");
    yk_text_add_repeated(&file, "x", 100);
    if (!yk_system_reset_peak_memory()) {
        skip();
    }
    const struct yk_system_process_memory before = yk_system_process_memory();
    assert_fails(decode(&file, &image), YK_ERROR_INPUT, "a broken PNG file: the file is cut off");
    assert_true(yk_system_process_memory().peak_bytes - before.peak_bytes < 64.0 * MEBIBYTE);
    yk_text_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_behind_the_last_row_are_bounded),
        cmocka_unit_test(texts_and_profiles_are_passed_over),
        cmocka_unit_test(no_memory_is_allocated_for_the_length_of_a_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
