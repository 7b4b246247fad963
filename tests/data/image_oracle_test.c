/*
 * Images against Pillow and transformers, as tests/oracle/make_image_fixtures.py recorded them:
 * all must agree to the bit.
 */
#include "support/files/recorded.h"
#include "support/support.h"

#include "base/file.h"
#include "base/text.h"
#include "data/images/image_file.h"
#include "data/images/image_resize.h"
#include "data/images/image_transform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXTURES TESTS_FOLDER "/data/fixtures/images/"

struct oracle {
    struct yk_json *root;
    struct yk_text expected;
};

static int open_oracle(void **state)
{
    static struct oracle oracle;
    oracle = (struct oracle){.root = recorded_read("data/fixtures/images/cases.json")};
    assert_ok(yk_file_read_document(FIXTURES "expected.bin", &oracle.expected));
    *state = &oracle;
    return 0;
}

static int close_oracle(void **state)
{
    struct oracle *oracle = *state;
    yk_json_destroy(oracle->root);
    yk_text_free(&oracle->expected);
    return 0;
}

static int64_t number_of(const struct yk_json *one, const char *key)
{
    return (int64_t)recorded_number(one, key);
}

static const char *file_of(const struct yk_json *one)
{
    return yk_json_string_value(recorded_get(one, "file"));
}

static yk_status read_image(const struct yk_json *one, int64_t channels, struct yk_image *out)
{
    struct yk_text path = {0};
    yk_text_addf(&path, FIXTURES "%s", file_of(one));
    const yk_status status = yk_image_file_read(yk_text_chars(&path), channels, out);
    yk_text_free(&path);
    return status;
}

static const uint8_t *expected_of(const struct oracle *oracle, const struct yk_json *one,
                                  int64_t offset, int64_t length)
{
    offset += number_of(one, "offset");
    assert_true(offset >= 0 && offset + length <= (int64_t)oracle->expected.length);
    return (const uint8_t *)oracle->expected.bytes + offset;
}

static void expect_same(const char *what, const uint8_t *pixels, const uint8_t *expected,
                        int64_t length)
{
    for (int64_t i = 0; i < length; i++) {
        if (pixels[i] != expected[i]) {
            fail_msg("%s: byte %lld is %d instead of %d", what, (long long)i, pixels[i],
                     expected[i]);
        }
    }
}

static void images_decode_to_the_pixels_of_pillow(void **state)
{
    const struct oracle *oracle = *state;
    const struct yk_json *cases = recorded_get(oracle->root, "decode");
    assert_true(yk_json_array_count(cases) > 30);
    for (size_t i = 0; i < yk_json_array_count(cases); i++) {
        const struct yk_json *one = yk_json_array_at(cases, i);
        const int64_t pixels = number_of(one, "height") * number_of(one, "width");
        for (int64_t channels = 3; channels > 0; channels -= 2) {
            struct yk_image image = {0};
            assert_ok(read_image(one, channels, &image));
            assert_int_equal(image.height, number_of(one, "height"));
            assert_int_equal(image.width, number_of(one, "width"));
            assert_int_equal(image.channels, channels);
            const int64_t offset = channels == 3 ? 0 : 3 * pixels;
            expect_same(file_of(one), image.pixels,
                        expected_of(oracle, one, offset, channels * pixels), channels * pixels);
            yk_image_free(&image);
        }
    }
}

static struct yk_image_resize_request resize_request(const struct yk_json *one)
{
    const struct yk_json *box = recorded_get(one, "box");
    double edges[4];
    for (size_t i = 0; i < 4; i++) {
        assert_true(yk_json_number_value(yk_json_array_at(box, i), &edges[i]));
    }
    return (struct yk_image_resize_request){
        .source = {(int64_t)edges[1], (int64_t)edges[0], (int64_t)(edges[3] - edges[1]),
                   (int64_t)(edges[2] - edges[0])},
        .height = number_of(one, "height"),
        .width = number_of(one, "width"),
        .filter = (enum yk_image_filter)number_of(one, "filter"),
    };
}

static void resized_images_have_the_pixels_of_pillow(void **state)
{
    const struct oracle *oracle = *state;
    const struct yk_json *cases = recorded_get(oracle->root, "resize");
    assert_true(yk_json_array_count(cases) > 30);
    for (size_t i = 0; i < yk_json_array_count(cases); i++) {
        const struct yk_json *one = yk_json_array_at(cases, i);
        struct yk_image_resize_request request = resize_request(one);
        const int64_t channels = number_of(one, "channels");
        const int64_t length = request.height * request.width * channels;
        const uint8_t *expected = expected_of(oracle, one, 0, length);
        struct yk_image image = {0};
        uint8_t *out = malloc((size_t)length);
        assert_non_null(out);
        assert_ok(read_image(one, channels, &image));
        request.window = (struct yk_image_rectangle){0, 0, request.height, request.width};
        assert_ok(yk_image_resize_to(&image, &request, out));
        char what[32];
        snprintf(what, sizeof what, "resize %zu", i);
        expect_same(what, out, expected, length);
        /* Any window of it is the same part of it. */
        request.window = (struct yk_image_rectangle){request.height / 3, request.width / 2,
                                                     request.height - request.height / 3,
                                                     request.width - request.width / 2};
        assert_ok(yk_image_resize_to(&image, &request, out));
        for (int64_t y = 0; y < request.window.height; y++) {
            expect_same(what, out + y * request.window.width * channels,
                        expected +
                            ((request.window.top + y) * request.width + request.window.left) *
                                channels,
                        request.window.width * channels);
        }
        free(out);
        yk_image_free(&image);
    }
}

static void expect_numbers(const struct yk_json *one, const char *key, const double *values)
{
    for (size_t i = 0; i < 3; i++) {
        double expected = 0;
        assert_true(yk_json_number_value(yk_json_array_at(recorded_get(one, key), i), &expected));
        assert_true(values[i] == expected);
    }
}

static void processors_do_what_those_of_transformers_do(void **state)
{
    const struct oracle *oracle = *state;
    const struct yk_json *cases = recorded_get(oracle->root, "processor");
    assert_true(yk_json_array_count(cases) >= 20);
    for (size_t i = 0; i < yk_json_array_count(cases); i++) {
        const struct yk_json *one = yk_json_array_at(cases, i);
        const int64_t height = number_of(one, "height");
        const int64_t width = number_of(one, "width");
        struct yk_image_processor processor = yk_image_processor_make(3, height, width);
        struct yk_image image = {0};
        uint8_t *planes = malloc((size_t)(3 * height * width));
        const char *config = yk_json_string_value(recorded_get(one, "config"));
        assert_true(planes && config);
        assert_ok(yk_image_processor_parse(config, strlen(config), "config", &processor));
        assert_true(processor.rescale == recorded_number(one, "rescale"));
        expect_numbers(one, "mean", processor.mean);
        expect_numbers(one, "std", processor.std);
        assert_ok(read_image(one, 3, &image));
        assert_ok(yk_image_transform_apply(&processor, &image, NULL, planes));
        const uint8_t *expected = expected_of(oracle, one, 0, 3 * height * width);
        for (int64_t c = 0; c < 3; c++) {
            for (int64_t p = 0; p < height * width; p++) {
                if (planes[c * height * width + p] != expected[p * 3 + c]) {
                    fail_msg("case %zu (%s): pixel %lld of channel %lld is %d instead of %d", i,
                             config, (long long)p, (long long)c, planes[c * height * width + p],
                             expected[p * 3 + c]);
                }
            }
        }
        free(planes);
        yk_image_free(&image);
    }
}

static void images_that_pillow_refuses_are_refused_with_their_paths(void **state)
{
    const struct oracle *oracle = *state;
    const struct yk_json *cases = recorded_get(oracle->root, "broken");
    assert_true(yk_json_array_count(cases) >= 5);
    for (size_t i = 0; i < yk_json_array_count(cases); i++) {
        const struct yk_json *one = yk_json_array_at(cases, i);
        struct yk_image image = {0};
        assert_int_equal(read_image(one, 3, &image), YK_ERROR_INPUT);
        assert_non_null(strstr(yk_status_message(), file_of(one)));
        assert_null(image.pixels);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_decode_to_the_pixels_of_pillow),
        cmocka_unit_test(resized_images_have_the_pixels_of_pillow),
        cmocka_unit_test(processors_do_what_those_of_transformers_do),
        cmocka_unit_test(images_that_pillow_refuses_are_refused_with_their_paths),
    };
    return cmocka_run_group_tests(tests, open_oracle, close_oracle);
}
