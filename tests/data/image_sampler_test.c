/*
 * Samplers of images: which images are for what, in which order, and what becomes of those that
 * are faulty. Images are grey, 4 × 4; all pixels of an image are its number.
 */
#include "support/files/captured_log.h"
#include "support/files/scratch.h"
#include "support/support.h"

#include "data/dataset.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDE = 4,
    BYTES = SIDE * SIDE,
    MOST = 240 /* images */
};

static struct yk_image_processor processor;

static int set_up(void **state)
{
    processor = yk_image_processor_make(1, SIDE, SIDE);
    return support_scratch_make(state);
}

static void write_file(const char *name, const uint8_t *header, size_t header_bytes,
                       const uint8_t *items, size_t count, size_t repeats)
{
    uint8_t *bytes = malloc(header_bytes + count * repeats);
    assert_non_null(bytes);
    memcpy(bytes, header, header_bytes);
    for (size_t i = 0; i < count * repeats; i++) {
        bytes[header_bytes + i] = items[i / repeats];
    }
    support_scratch_write(name, bytes, header_bytes + count * repeats);
    free(bytes);
}

/* An IDX set of `count` images whose labels ascend: `each` of class 0, then of class 1 … */
static void write_set(const char *split, int count, int each)
{
    char name[64];
    uint8_t numbers[MOST];
    uint8_t labels[MOST];
    for (int i = 0; i < count; i++) {
        numbers[i] = (uint8_t)i;
        labels[i] = (uint8_t)(i / each);
    }
    const uint8_t head[] = {0, 0, 8, 3, 0, 0, 0, (uint8_t)count, 0, 0, 0, SIDE, 0, 0, 0, SIDE};
    const uint8_t label_head[] = {0, 0, 8, 1, 0, 0, 0, (uint8_t)count};
    snprintf(name, sizeof name, "%s-images-idx3-ubyte", split);
    write_file(name, head, sizeof head, numbers, (size_t)count, BYTES);
    snprintf(name, sizeof name, "%s-labels-idx1-ubyte", split);
    write_file(name, label_head, sizeof label_head, labels, (size_t)count, 1);
}

static struct yk_dataset *open_images(double part, double held_out, bool skip_faulty)
{
    const struct yk_dataset_request request = {
        .kind = YK_DATASET_IMAGES,
        .path = support_scratch_folder(),
        .part = part,
        .held_out = held_out,
        .skip_faulty = skip_faulty,
        .images = &processor,
    };
    struct yk_dataset *dataset = NULL;
    assert_ok(yk_dataset_open(&request, &dataset));
    return dataset;
}

struct slice {
    uint8_t pixels[MOST * BYTES];
    int32_t tokens[MOST];
    int32_t targets[MOST];
    int32_t lengths[MOST];
    struct yk_sample_slice samples;
};

static yk_status fetch(const struct yk_sampler *sampler, int64_t first, int64_t count,
                       struct slice *out)
{
    assert_true(count <= MOST);
    out->samples = (struct yk_sample_slice){.tokens = out->tokens,
                                            .targets = out->targets,
                                            .lengths = out->lengths,
                                            .pixels = out->pixels};
    return yk_sampler_fetch_slice(sampler, first, count, &out->samples);
}

/* Fetches all samples of an epoch and counts how often each image occurs in it. */
static void count_epoch(const struct yk_sampler *sampler, int64_t epoch, int *out)
{
    static struct slice slice;
    assert_ok(fetch(sampler, epoch * sampler->epoch_units, sampler->epoch_units, &slice));
    memset(out, 0, MOST * sizeof *out);
    for (int64_t i = 0; i < sampler->epoch_units; i++) {
        out[slice.pixels[i * BYTES]]++;
    }
}

static struct yk_sampler *training_sampler(const struct yk_dataset *dataset, uint64_t seed)
{
    const struct yk_sampler_options options = {.seed = seed};
    struct yk_sampler *sampler = NULL;
    assert_ok(yk_dataset_create_training_sampler(dataset, &options, &sampler));
    assert_non_null(sampler);
    return sampler;
}

static struct yk_sampler *evaluation_sampler(const struct yk_dataset *dataset, bool all)
{
    const struct yk_sampler_options options = {0};
    struct yk_sampler *sampler = NULL;
    assert_ok(yk_dataset_create_evaluation_sampler(dataset, &options, all, &sampler));
    return sampler;
}

static void a_sample_is_a_image_and_its_label(void **state)
{
    (void)state;
    static struct slice slice;
    write_set("train", 6, 2);
    struct yk_dataset *dataset = open_images(1, 0, false);
    struct yk_sampler *sampler = evaluation_sampler(dataset, true);
    assert_int_equal(yk_dataset_class_count(dataset), 3);
    assert_string_equal(yk_dataset_class_name(dataset, 2), "2");
    assert_int_equal(sampler->pixel_bytes, BYTES);
    assert_int_equal(sampler->sequence, 1);
    assert_int_equal(sampler->epoch_units, 6);
    assert_int_equal(yk_sampler_max_slice_tokens(sampler, 5), 5);
    assert_ok(fetch(sampler, 2, 3, &slice));
    assert_int_equal(slice.samples.samples, 3);
    assert_int_equal(slice.samples.sequence, 1);
    assert_int_equal(slice.samples.target_sequence, 0);
    assert_int_equal(slice.samples.first_sample, 2);
    assert_int_equal(slice.samples.token_count, 3);
    assert_int_equal(slice.samples.loss_targets, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(slice.tokens[i], 0);
        assert_int_equal(slice.lengths[i], 1);
        assert_int_equal(slice.targets[i], (i + 2) / 2);
        for (int p = 0; p < BYTES; p++) {
            assert_int_equal(slice.pixels[i * BYTES + p], i + 2);
        }
    }
    yk_sampler_destroy(sampler);
    yk_dataset_close(dataset);
}

static void every_epoch_has_every_image_once_in_its_own_order(void **state)
{
    (void)state;
    static struct slice first;
    static struct slice second;
    int counts[MOST];
    write_set("train", MOST, 24);
    struct yk_dataset *dataset = open_images(1, 0, false);
    struct yk_sampler *sampler = training_sampler(dataset, 7);
    for (int64_t epoch = 0; epoch < 3; epoch++) {
        count_epoch(sampler, epoch, counts);
        for (int i = 0; i < MOST; i++) {
            assert_int_equal(counts[i], 1);
        }
    }
    assert_ok(fetch(sampler, 0, MOST, &first));
    assert_ok(fetch(sampler, MOST, MOST, &second));
    assert_memory_not_equal(first.pixels, second.pixels, sizeof first.pixels);
    for (int i = 0; i < MOST; i++) { /* labels stay with their images */
        assert_int_equal(first.targets[i], first.pixels[(size_t)i * BYTES] / 24);
    }
    yk_sampler_destroy(sampler);
    yk_dataset_close(dataset);
}

static void a_fraction_of_every_class_is_held_out(void **state)
{
    (void)state;
    int trained[MOST];
    int held[MOST];
    write_set("train", MOST, 12); /* 20 classes of 12 */
    struct yk_dataset *dataset = open_images(0.5, 0.25, false);
    struct yk_sampler *training = training_sampler(dataset, 7);
    struct yk_sampler *evaluation = evaluation_sampler(dataset, false);
    assert_int_equal(training->epoch_units, 90);
    assert_int_equal(evaluation->epoch_units, 30);
    count_epoch(training, 0, trained);
    count_epoch(evaluation, 0, held);
    int at_front = 0;
    for (int c = 0; c < 20; c++) {
        int kept = 0;
        int out = 0;
        for (int i = 0; i < 12; i++) {
            assert_true(trained[c * 12 + i] + held[c * 12 + i] <= 1);
            kept += trained[c * 12 + i];
            out += held[c * 12 + i];
            at_front += held[c * 12 + i] && i < 6;
        }
        assert_int_equal(kept + out, 6);
        assert_true(out == 1 || out == 2);
    }
    assert_true(at_front > 5 && at_front < 25); /* from anywhere in a class, not from its end */
    yk_sampler_destroy(training);
    yk_sampler_destroy(evaluation);
    yk_dataset_close(dataset);
}

static void classes_too_small_for_a_fraction_alternate(void **state)
{
    (void)state;
    write_set("train", 60, 2); /* 30 classes of 2, of which a tenth is held out */
    struct yk_dataset *dataset = open_images(1, 0.1, false);
    struct yk_sampler *evaluation = evaluation_sampler(dataset, false);
    assert_non_null(evaluation);
    assert_int_equal(evaluation->epoch_units, 6);
    yk_sampler_destroy(evaluation);
    yk_dataset_close(dataset);
}

static void a_test_split_is_for_the_final_evaluation_alone(void **state)
{
    (void)state;
    write_set("train", 20, 10);
    write_set("t10k", 4, 2);
    struct yk_dataset *dataset = open_images(1, 0.2, false);
    struct yk_sampler *training = training_sampler(dataset, 1);
    struct yk_sampler *held_out = evaluation_sampler(dataset, false);
    struct yk_sampler *final = evaluation_sampler(dataset, true);
    assert_int_equal(training->epoch_units, 16);
    assert_int_equal(held_out->epoch_units, 4);
    assert_int_equal(final->epoch_units, 4);
    struct yk_text text = {0};
    yk_dataset_describe(dataset, &text);
    assert_string_equal(yk_text_chars(&text), "20 images of 2 classes (IDX), 4 to test");
    yk_text_free(&text);
    yk_sampler_destroy(training);
    yk_sampler_destroy(held_out);
    yk_sampler_destroy(final);
    yk_dataset_close(dataset);
    dataset = open_images(1, 0, false);
    assert_null(evaluation_sampler(dataset, false));
    yk_dataset_close(dataset);
}

static void a_validation_split_replaces_what_is_held_out(void **state)
{
    (void)state;
    write_set("train", 20, 10);
    write_set("val", 6, 3);
    struct yk_dataset *dataset = open_images(1, 0.2, false);
    struct yk_sampler *training = training_sampler(dataset, 1);
    struct yk_sampler *held_out = evaluation_sampler(dataset, false);
    assert_int_equal(training->epoch_units, 20);
    assert_int_equal(held_out->epoch_units, 6);
    yk_sampler_destroy(training);
    yk_sampler_destroy(held_out);
    yk_dataset_close(dataset);
}

/* A PNG image of 4 × 4 grey pixels is too long to write here: an image folder of copies of one
 * fixture serves, whose number is in its label. */
static void write_png(const char *name, bool cut)
{
    static uint8_t bytes[4096];
    FILE *file = fopen(TESTS_FOLDER "/data/fixtures/images/rgb8.png", "rb");
    assert_non_null(file);
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    support_scratch_write(name, bytes, cut ? length - 20 : length);
}

/* Ten classes of ten images, of which number 3 of each class is cut off in its pixels. */
static void write_folder(void)
{
    char name[64];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "class%d/%d.png", i / 10, i % 10);
        write_png(name, i % 10 == 3);
    }
}

static void a_faulty_image_is_an_error_with_its_path(void **state)
{
    (void)state;
    static struct slice slice;
    write_folder();
    struct yk_dataset *dataset = open_images(1, 0, false);
    struct yk_sampler *sampler = evaluation_sampler(dataset, true);
    assert_true(sampler->all_tokens_have_targets);
    assert_ok(fetch(sampler, 0, 3, &slice));
    /* The first of several, however many threads decode. */
    for (int i = 0; i < 20; i++) {
        assert_int_equal(fetch(sampler, 0, 100, &slice), YK_ERROR_INPUT);
        assert_non_null(strstr(yk_status_message(), "class0/3.png: a broken PNG file"));
    }
    yk_sampler_destroy(sampler);
    yk_dataset_close(dataset);
}

/* What the first bytes of a file show is found before any is decoded. The third is a PNG file of
 * 20,000 × 20,000 pixels, with the checksum that Python's zlib gives; the last begins a JPEG file.
 */
static void a_broken_header_is_an_error_when_the_sampler_is_created(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *message;
    } cases[] = {
        {"", 0, "class0/4.png: the file is empty"},
        {"GIF89a", 6, "class0/4.png: a GIF image; only PNG and JPEG are read"},
        {"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x4e\x20\0\0\x4e\x20\x08\0\0\0\0"
         "\xc6\x1b\x19\xe5"
         "\0\0\0\0IDAT",
         41, "class0/4.png: an image of 20000 × 20000 pixels; at most"},
        {"\x89PNG\r\n\x1a\nbroken", 14, "class0/4.png: a broken PNG file"},
        {"\xff\xd8\xff\xe0\0\x10JFIF", 10, "class0/4.png: a broken JPEG file"},
    };
    write_folder();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct yk_sampler_options options = {0};
        struct yk_sampler *sampler = NULL;
        support_scratch_write("class0/4.png", cases[i].bytes, cases[i].length);
        struct yk_dataset *dataset = open_images(1, 0, false);
        assert_int_equal(yk_dataset_create_training_sampler(dataset, &options, &sampler),
                         YK_ERROR_INPUT);
        assert_non_null(strstr(yk_status_message(), cases[i].message));
        yk_dataset_close(dataset);
    }
    struct yk_dataset *dataset = open_images(1, 0, true);
    logged_start();
    struct yk_sampler *sampler = training_sampler(dataset, 5);
    assert_non_null(strstr(logged, "class0/4.png: a broken JPEG file"));
    logged_stop();
    assert_int_equal(yk_dataset_skipped_images(dataset), 1);
    yk_sampler_destroy(sampler);
    yk_dataset_close(dataset);
}

static void skipped_images_have_no_target_in_evaluation(void **state)
{
    (void)state;
    static struct slice slice;
    write_folder();
    struct yk_dataset *dataset = open_images(1, 0, true);
    struct yk_sampler *sampler = evaluation_sampler(dataset, true);
    assert_false(sampler->all_tokens_have_targets);
    for (int round = 0; round < 2; round++) {
        assert_ok(fetch(sampler, 0, 100, &slice));
        assert_int_equal(slice.samples.loss_targets, 90);
        for (int i = 0; i < 100; i++) {
            assert_int_equal(slice.targets[i], i % 10 == 3 ? YK_SAMPLER_NO_TARGET : i / 10);
        }
        assert_int_equal(yk_dataset_skipped_images(dataset), 10); /* each counts once */
    }
    yk_sampler_destroy(sampler);
    yk_dataset_close(dataset);
}

static void a_skipped_image_is_named_once(void **state)
{
    (void)state;
    static struct slice slice;
    write_folder();
    struct yk_dataset *dataset = open_images(1, 0, true);
    struct yk_sampler *sampler = evaluation_sampler(dataset, true);
    logged_start();
    assert_ok(fetch(sampler, 3, 1, &slice));
    assert_non_null(strstr(logged, "class0/3.png: a broken PNG file"));
    assert_non_null(strstr(logged, "; it is left out"));
    logged[0] = '\0';
    assert_ok(fetch(sampler, 3, 1, &slice));
    assert_string_equal(logged, "");
    logged_stop();
    yk_sampler_destroy(sampler);
    yk_dataset_close(dataset);
}

static void training_replaces_the_images_it_skips(void **state)
{
    (void)state;
    static struct slice slice;
    static struct slice again;
    write_folder();
    struct yk_dataset *dataset = open_images(1, 0, true);
    struct yk_sampler *sampler = training_sampler(dataset, 5);
    assert_true(sampler->all_tokens_have_targets);
    assert_ok(fetch(sampler, 0, 100, &slice));
    for (int i = 0; i < 100; i++) {
        assert_true(slice.targets[i] >= 0 && slice.targets[i] < 10);
    }
    assert_int_equal(yk_dataset_skipped_images(dataset), 10);
    /* What is known to be faulty then does not change what others become. */
    assert_ok(fetch(sampler, 0, 100, &again));
    assert_memory_equal(slice.targets, again.targets, 100 * sizeof *slice.targets);
    assert_memory_equal(slice.pixels, again.pixels, (size_t)100 * BYTES);
    yk_sampler_destroy(sampler);
    yk_dataset_close(dataset);
}

static void augmentation_depends_on_seed_and_number_alone(void **state)
{
    (void)state;
    static struct slice all;
    static struct slice some;
    write_folder();
    assert_ok(yk_image_processor_parse_augmentation("flip,pad-crop=1,resized-crop",
                                                    &processor.augmentation));
    struct yk_dataset *dataset = open_images(1, 0, true);
    struct yk_sampler *sampler = training_sampler(dataset, 5);
    struct yk_sampler *other = training_sampler(dataset, 6);
    assert_ok(fetch(sampler, 0, 200, &all));
    for (int64_t first = 150; first >= 0; first -= 50) { /* in another order, from the middle on */
        assert_ok(fetch(sampler, first, 50, &some));
        assert_memory_equal(some.pixels, all.pixels + first * BYTES, (size_t)50 * BYTES);
        assert_memory_equal(some.targets, all.targets + first, 50 * sizeof *some.targets);
    }
    assert_ok(fetch(other, 0, 200, &some));
    assert_memory_not_equal(some.pixels, all.pixels, (size_t)200 * BYTES);
    /* All are copies of one image: augmentation makes them different. */
    int different = 0;
    for (int i = 1; i < 200; i++) {
        different += memcmp(all.pixels, all.pixels + (size_t)i * BYTES, BYTES) != 0;
    }
    assert_true(different > 150);
    yk_sampler_destroy(sampler);
    yk_sampler_destroy(other);
    yk_dataset_close(dataset);
}

/* Fetches with one core; its thread alone is bound to it. */
static void *fetch_with_one_core(void *argument)
{
    static struct slice slice;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET((size_t)sched_getcpu(), &cores);
    assert_int_equal(sched_setaffinity(0, sizeof cores, &cores), 0);
    assert_ok(fetch(argument, 0, 100, &slice));
    return &slice;
}

static void the_number_of_threads_changes_nothing(void **state)
{
    (void)state;
    static struct slice slice;
    pthread_t thread;
    void *other = NULL;
    write_folder();
    assert_ok(yk_image_processor_parse_augmentation("resized-crop", &processor.augmentation));
    struct yk_dataset *dataset = open_images(1, 0, true);
    struct yk_sampler *sampler = training_sampler(dataset, 5);
    assert_ok(fetch(sampler, 0, 100, &slice));
    assert_int_equal(pthread_create(&thread, NULL, fetch_with_one_core, sampler), 0);
    assert_int_equal(pthread_join(thread, &other), 0);
    assert_memory_equal(slice.pixels, ((struct slice *)other)->pixels, (size_t)100 * BYTES);
    yk_sampler_destroy(sampler);
    yk_dataset_close(dataset);
}

#define scratch_test(test) cmocka_unit_test_setup_teardown(test, set_up, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(a_sample_is_a_image_and_its_label),
        scratch_test(every_epoch_has_every_image_once_in_its_own_order),
        scratch_test(a_fraction_of_every_class_is_held_out),
        scratch_test(classes_too_small_for_a_fraction_alternate),
        scratch_test(a_test_split_is_for_the_final_evaluation_alone),
        scratch_test(a_validation_split_replaces_what_is_held_out),
        scratch_test(a_faulty_image_is_an_error_with_its_path),
        scratch_test(a_broken_header_is_an_error_when_the_sampler_is_created),
        scratch_test(skipped_images_have_no_target_in_evaluation),
        scratch_test(a_skipped_image_is_named_once),
        scratch_test(training_replaces_the_images_it_skips),
        scratch_test(augmentation_depends_on_seed_and_number_alone),
        scratch_test(the_number_of_threads_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
