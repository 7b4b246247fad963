/* Image processors: which settings are read and refused, and what augmentation does. */
#include "support/files/scratch.h"
#include "support/support.h"

#include "base/random.h"
#include "data/images/image_processor.h"
#include "data/images/image_transform.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static yk_status parse(const char *text, struct yk_image_processor *processor)
{
    return yk_image_processor_parse(text, strlen(text), "p.json", processor);
}

/* The settings for a model of 10 × 10 pixels. */
static struct yk_image_processor parse_good(const char *text)
{
    struct yk_image_processor processor = yk_image_processor_make(3, 10, 10);
    assert_ok(parse(text, &processor));
    return processor;
}

static void expect_refused(const char *text, const char *message)
{
    struct yk_image_processor processor = yk_image_processor_make(3, 10, 10);
    const struct yk_image_processor before = processor;
    assert_fails(parse(text, &processor), YK_ERROR_INPUT, message);
    assert_memory_equal(&processor, &before, sizeof before);
}

static void what_a_file_leaves_out_is_the_size_of_the_model(void **state)
{
    (void)state;
    struct yk_image_processor processor = parse_good("{}");
    assert_int_equal(processor.resize, YK_IMAGE_RESIZE_EXACT);
    assert_int_equal(processor.resize_width, 10);
    assert_int_equal(processor.filter, YK_IMAGE_FILTER_BILINEAR);
    assert_false(processor.center_crop);
    processor =
        parse_good("{\"image_processor_type\": \"CLIPImageProcessorFast\", \"size\": null}");
    assert_int_equal(processor.resize, YK_IMAGE_RESIZE_SHORTEST_EDGE);
    assert_int_equal(processor.resize_height, 10);
    assert_int_equal(processor.filter, YK_IMAGE_FILTER_BICUBIC);
    assert_true(processor.center_crop);
    assert_true(processor.mean[2] == 0.40821073);
    processor =
        parse_good("{\"do_resize\": false, \"do_normalize\": false, \"do_rescale\": false}");
    assert_int_equal(processor.resize, YK_IMAGE_RESIZE_NONE);
    assert_true(processor.mean[0] == 0 && processor.std[0] == 1 && processor.rescale == 1);
}

static void the_image_processor_of_a_combined_file_is_found(void **state)
{
    (void)state;
    struct yk_image_processor processor = yk_image_processor_make(3, 10, 10);
    support_scratch_write_text("processor_config.json",
                               "{\"image_processor\": {\"image_mean\": [0.1, 0.2, 0.3]}}");
    assert_ok(yk_image_processor_read_folder(support_scratch_folder(), &processor));
    assert_true(processor.mean[1] == 0.2);
    support_scratch_write_text("preprocessor_config.json", "{\"image_mean\": 0.4}");
    assert_ok(yk_image_processor_read_folder(support_scratch_folder(), &processor));
    assert_true(processor.mean[0] == 0.4 && processor.mean[2] == 0.4);
    assert_ok(yk_image_processor_read_folder(support_scratch_path("none"), &processor));
}

static void a_model_of_one_channel_has_one_mean(void **state)
{
    (void)state;
    struct yk_image_processor processor = yk_image_processor_make(1, 10, 10);
    assert_ok(parse("{\"image_mean\": [0.25], \"image_std\": [0.5, 0.5, 0.5]}", &processor));
    assert_true(processor.mean[0] == 0.25 && processor.std[0] == 0.5);
    assert_fails(parse("{\"image_mean\": [0.1, 0.2, 0.3]}", &processor), YK_ERROR_INPUT,
                 "p.json: \"image_mean\" has 3 numbers, but the model takes 1 channel");
}

static void senseless_options_are_refused(void **state)
{
    (void)state;
    expect_refused("[]", "p.json: it is a list instead of an object");
    expect_refused("{\"size\": {\"height\": 12, \"width\": 10}}",
                   "p.json: it makes images of 10 × 12 pixels, but the model takes 10 × 10: make "
                   "\"size\" and the model's image_size equal");
    expect_refused("{\"do_center_crop\": true, \"crop_size\": 8}",
                   "p.json: it makes images of 8 × 8 pixels, but the model takes 10 × 10: make "
                   "\"crop_size\" and the model's image_size equal");
    expect_refused("{\"size\": {\"longest_edge\": 10}}",
                   "p.json: \"size\" needs \"height\" and \"width\", or \"shortest_edge\"");
    expect_refused("{\"size\": 1e9}",
                   "p.json: \"size\" must be a whole number of pixels, from 1 to 8192");
    expect_refused("{\"size\": {\"height\": 0.5, \"width\": 10}}",
                   "p.json: \"size\" must be a whole number of pixels, from 1 to 8192");
    expect_refused("{\"resample\": 6}",
                   "p.json: \"resample\" must be the number of one of Pillow's filters, 0 to 5");
    expect_refused("{\"image_std\": [1, 0, 1]}", "p.json: \"image_std\" must be above 0");
    expect_refused("{\"image_mean\": [1, 2]}",
                   "p.json: \"image_mean\" must be a list of 3 numbers, one for each channel");
    expect_refused("{\"rescale_factor\": 0}", "p.json: \"rescale_factor\" must be above 0");
    expect_refused("{\"image_processor_type\": \"ConvNextImageProcessor\", \"crop_pct\": 1e-9}",
                   "p.json: \"crop_pct\" makes images of more than 8192 pixels");
}

static void augmentation_is_read_from_a_list(void **state)
{
    (void)state;
    struct yk_image_augmentation out = {0};
    assert_ok(yk_image_processor_parse_augmentation("flip,pad-crop=4", &out));
    assert_true(out.flip_probability == 0.5 && out.padding == 4 && out.max_area == 0);
    assert_ok(yk_image_processor_parse_augmentation("flip=0.25,resized-crop=0.5:0.9", &out));
    assert_true(out.flip_probability == 0.25 && out.padding == 0);
    assert_true(out.min_area == 0.5 && out.max_area == 0.9);
    assert_true(out.min_ratio == 3.0 / 4 && out.max_ratio == 4.0 / 3);
    assert_ok(yk_image_processor_parse_augmentation("none", &out));
    assert_true(out.flip_probability == 0 && out.max_area == 0);
    static const char *const wrong[] = {"",
                                        "flop",
                                        "flip=2",
                                        "pad-crop",
                                        "pad-crop=0",
                                        "resized-crop=1",
                                        "resized-crop=0:1",
                                        "flip,",
                                        "resized-crop=0.5:0.1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(yk_image_processor_parse_augmentation(wrong[i], &out), YK_ERROR_USAGE);
    }
    assert_string_equal(
        yk_status_message(),
        "resized-crop=0.5:0.1: say which fractions of the area are cropped, such as "
        "resized-crop=0.08:1");
}

enum {
    SIDE = 10,
    PIXELS = SIDE * SIDE,
    TRIALS = 2000
};

/* A grey image whose pixels are 100 + their number. */
static struct yk_image numbered(void)
{
    struct yk_image image = {0};
    assert_ok(yk_image_allocate(SIDE, SIDE, 1, &image));
    for (int i = 0; i < PIXELS; i++) {
        image.pixels[i] = (uint8_t)(100 + i);
    }
    return image;
}

static void flipped_images_are_mirrored_half_of_the_time(void **state)
{
    (void)state;
    struct yk_image image = numbered();
    struct yk_image_processor processor = yk_image_processor_make(1, SIDE, SIDE);
    struct yk_random random = yk_random_from_seed(1);
    uint8_t out[PIXELS];
    int flips = 0;
    processor.augmentation.flip_probability = 0.5;
    for (int t = 0; t < TRIALS; t++) {
        assert_ok(yk_image_transform_apply(&processor, &image, &random, out));
        const bool flipped = out[0] == 109;
        for (int i = 0; i < PIXELS; i++) {
            assert_int_equal(out[i], 100 + (flipped ? i / SIDE * SIDE + SIDE - 1 - i % SIDE : i));
        }
        flips += flipped;
    }
    assert_true(abs(flips - TRIALS / 2) < 150); /* more than six standard deviations */
    assert_ok(yk_image_transform_apply(&processor, &image, NULL, out));
    assert_memory_equal(out, image.pixels, PIXELS);
    yk_image_free(&image);
}

static void padded_images_move_by_every_distance(void **state)
{
    (void)state;
    struct yk_image image = numbered();
    struct yk_image_processor processor = yk_image_processor_make(1, SIDE, SIDE);
    struct yk_random random = yk_random_from_seed(1);
    uint8_t out[PIXELS];
    int moves[5][5] = {{0}};
    processor.augmentation.padding = 2;
    for (int t = 0; t < TRIALS; t++) {
        assert_ok(yk_image_transform_apply(&processor, &image, &random, out));
        const int middle = out[5 * SIDE + 5] - 100;
        const int down = 5 - middle / SIDE;
        const int right = 5 - middle % SIDE;
        assert_true(down >= -2 && down <= 2 && right >= -2 && right <= 2);
        moves[down + 2][right + 2]++;
        for (int y = 0; y < SIDE; y++) {
            for (int x = 0; x < SIDE; x++) {
                const bool inside =
                    y - down >= 0 && y - down < SIDE && x - right >= 0 && x - right < SIDE;
                assert_int_equal(out[y * SIDE + x],
                                 inside ? 100 + (y - down) * SIDE + x - right : 0);
            }
        }
    }
    for (int i = 0; i < 25; i++) {
        assert_true(moves[i / 5][i % 5] > 30); /* 80 on average */
    }
    yk_image_free(&image);
}

/* An image whose pixels are their column, or their row: the corners of a crop tell its place. */
static struct yk_image coordinates(int64_t height, int64_t width, bool rows)
{
    struct yk_image image = {0};
    assert_ok(yk_image_allocate(height, width, 1, &image));
    for (int64_t i = 0; i < height * width; i++) {
        image.pixels[i] = (uint8_t)(rows ? i / width : i % width);
    }
    return image;
}

static void resized_crops_have_areas_and_ratios_in_their_ranges(void **state)
{
    (void)state;
    enum {
        HEIGHT = 200,
        WIDTH = 240,
        LARGE = 250 /* nearest neighbours then show every edge of a crop */
    };
    static uint8_t columns[LARGE * LARGE];
    static uint8_t rows[LARGE * LARGE];
    struct yk_image across = coordinates(HEIGHT, WIDTH, false);
    struct yk_image down = coordinates(HEIGHT, WIDTH, true);
    struct yk_image_processor processor = yk_image_processor_make(1, LARGE, LARGE);
    double area_sum = 0;
    double log_sum = 0;
    const int trials = 300;
    processor.filter = YK_IMAGE_FILTER_NEAREST;
    assert_ok(
        yk_image_processor_parse_augmentation("resized-crop=0.2:0.6", &processor.augmentation));
    for (int t = 0; t < trials; t++) {
        struct yk_random random = yk_random_from_seed((uint64_t)t);
        assert_ok(yk_image_transform_apply(&processor, &across, &random, columns));
        random = yk_random_from_seed((uint64_t)t);
        assert_ok(yk_image_transform_apply(&processor, &down, &random, rows));
        const double width = columns[LARGE - 1] - columns[0] + 1;
        const double height = rows[(size_t)(LARGE - 1) * LARGE] - rows[0] + 1;
        const double area = width * height / (HEIGHT * WIDTH);
        assert_true(area > 0.19 && area < 0.61);
        assert_true(width / height > 0.74 && width / height < 1.35);
        area_sum += area;
        log_sum += log(width / height);
    }
    assert_true(fabs(area_sum / trials - 0.4) < 0.04); /* six standard deviations */
    assert_true(fabs(log_sum / trials) < 0.06);
    yk_image_free(&across);
    yk_image_free(&down);
}

static void crops_of_very_flat_images_come_from_the_middle(void **state)
{
    (void)state;
    struct yk_image image = coordinates(2, 201, false);
    struct yk_image_processor processor = yk_image_processor_make(1, 3, 3);
    struct yk_random random = yk_random_from_seed(1);
    uint8_t out[9];
    processor.filter = YK_IMAGE_FILTER_NEAREST;
    assert_ok(yk_image_processor_parse_augmentation("resized-crop=0.9:1", &processor.augmentation));
    assert_ok(yk_image_transform_apply(&processor, &image, &random, out));
    const uint8_t expected[] = {99, 100, 101}; /* 2 × 4/3 = 3 columns from (201 − 3) / 2 on */
    assert_memory_equal(out, expected, sizeof expected);
    yk_image_free(&image);
}

static void images_of_another_size_need_a_resize(void **state)
{
    (void)state;
    struct yk_image image = coordinates(5, 7, false);
    struct yk_image_processor processor = yk_image_processor_make(1, 5, 5);
    uint8_t out[25];
    processor.resize = YK_IMAGE_RESIZE_NONE;
    assert_fails(yk_image_transform_apply(&processor, &image, NULL, out), YK_ERROR_INPUT,
                 "an image of 7 × 5 pixels becomes one of 7 × 5, but the model takes 5 × 5: let "
                 "preprocessor_config.json resize or crop it");
    processor.center_crop = true;
    assert_ok(yk_image_transform_apply(&processor, &image, NULL, out));
    assert_int_equal(out[0], 1);
    yk_image_free(&image);
    image = coordinates(1, 200000, false);
    processor.resize = YK_IMAGE_RESIZE_SHORTEST_EDGE;
    processor.resize_height = processor.resize_width = 200;
    assert_int_equal(yk_image_transform_apply(&processor, &image, NULL, out), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "which is too large"));
    yk_image_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_file_leaves_out_is_the_size_of_the_model),
        cmocka_unit_test_setup_teardown(the_image_processor_of_a_combined_file_is_found,
                                        support_scratch_make, support_scratch_drop),
        cmocka_unit_test(a_model_of_one_channel_has_one_mean),
        cmocka_unit_test(senseless_options_are_refused),
        cmocka_unit_test(augmentation_is_read_from_a_list),
        cmocka_unit_test(flipped_images_are_mirrored_half_of_the_time),
        cmocka_unit_test(padded_images_move_by_every_distance),
        cmocka_unit_test(resized_crops_have_areas_and_ratios_in_their_ranges),
        cmocka_unit_test(crops_of_very_flat_images_come_from_the_middle),
        cmocka_unit_test(images_of_another_size_need_a_resize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
