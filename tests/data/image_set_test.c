/* Image sets: what is recognized as one, which images and classes it has, and what is refused. */
#include "support/files/scratch.h"
#include "support/support.h"

#include "data/images/image_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CIFAR_PIXELS = 3 * 32 * 32,
    MOST = 64 /* bytes of a small file */
};

/* A PNG image of one grey pixel of value 100, which Pillow wrote. */
static const uint8_t grey_png[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
    0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00,
    0x00, 0x3a, 0x7e, 0x9b, 0x55, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78,
    0x9c, 0x63, 0x48, 0x01, 0x00, 0x00, 0x66, 0x00, 0x65, 0x7a, 0xa0, 0xc6, 0x92, 0x00,
    0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};

static void write_png(const char *name)
{
    support_scratch_write(name, grey_png, sizeof grey_png);
}

static struct yk_image_set *open_set(const char *path)
{
    struct yk_image_set *set = NULL;
    assert_true(yk_image_set_detect(path));
    assert_ok(yk_image_set_open(path, &set));
    return set;
}

/* Fails unless the sentence contains `part`. */
static void expect_refused(const char *path, const char *part)
{
    struct yk_image_set *set = NULL;
    assert_int_equal(yk_image_set_open(path, &set), YK_ERROR_INPUT);
    if (!strstr(yk_status_message(), part)) {
        fail_msg("\"%s\" does not say \"%s\"", yk_status_message(), part);
    }
}

static void expect_path(const struct yk_image_split *split, int64_t index, const char *suffix)
{
    const char *path = split->paths[index];
    assert_true(strlen(path) > strlen(suffix));
    assert_string_equal(path + strlen(path) - strlen(suffix), suffix);
}

static void subfolders_are_classes_sorted_by_name(void **state)
{
    (void)state;
    write_png("zebra/1.png");
    write_png("ant/b.PNG");
    write_png("ant/a.jpeg"); /* its content decides */
    write_png("ant/deeper/c.png");
    write_png("Bee/x.jpg");
    support_scratch_write_text("ant/notes.txt", "not an image");
    support_scratch_write_text("readme.md", "not a class");
    struct yk_image_set *set = open_set(support_scratch_folder());
    const struct yk_image_split *split = &set->splits[YK_IMAGE_SPLIT_TRAIN];
    assert_int_equal(set->class_count, 3);
    assert_string_equal(set->class_names[0], "Bee");
    assert_string_equal(set->class_names[1], "ant");
    assert_string_equal(set->class_names[2], "zebra");
    assert_int_equal(split->count, 5);
    expect_path(split, 0, "/Bee/x.jpg");
    expect_path(split, 1, "/ant/a.jpeg");
    expect_path(split, 2, "/ant/b.PNG");
    expect_path(split, 3, "/ant/deeper/c.png");
    expect_path(split, 4, "/zebra/1.png");
    const int32_t labels[] = {0, 1, 1, 1, 2};
    assert_memory_equal(split->labels, labels, sizeof labels);
    struct yk_image image = {0};
    assert_ok(yk_image_set_read(split, 1, 3, &image));
    assert_int_equal(image.width, 1);
    assert_int_equal(image.pixels[0], 100);
    assert_int_equal(image.pixels[2], 100);
    yk_image_free(&image);
    yk_image_set_close(set);
}

static void classes_get_the_numbers_of_a_model_by_name(void **state)
{
    (void)state;
    static const char *const model[] = {"zebra", "emu", "ant", "Bee", "emu"};
    static const char *const other[] = {"zebra", "ants"};
    static const char *const twice[] = {"ant", "zebra", "Bee", "ant"};
    write_png("zebra/1.png");
    write_png("ant/2.png");
    write_png("Bee/3.png");
    struct yk_image_set *set = open_set(support_scratch_folder());
    const struct yk_image_split *split = &set->splits[YK_IMAGE_SPLIT_TRAIN];
    assert_int_equal(yk_image_set_renumber_classes(set, other, 2, "it has no class"),
                     YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "it has no class \"Bee\""));
    assert_int_equal(yk_image_set_renumber_classes(set, twice, 4, "it has no class"),
                     YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "two classes of the model are called \"ant\""));
    expect_path(split, 0, "/Bee/3.png"); /* and their labels are still their own */
    assert_int_equal(split->labels[0], 0);
    assert_ok(yk_image_set_renumber_classes(set, model, 5, "it has no class"));
    const int32_t labels[] = {3, 2, 0}; /* of Bee, ant and zebra */
    assert_memory_equal(split->labels, labels, sizeof labels);
    yk_image_set_close(set);
}

static void train_val_and_test_are_splits_with_common_classes(void **state)
{
    (void)state;
    write_png("train/cat/1.png");
    write_png("train/dog/1.png");
    write_png("train/dog/2.png");
    write_png("validation/dog/3.png");
    write_png("test/cat/4.png");
    write_png("test/dog/5.png");
    struct yk_image_set *set = open_set(support_scratch_folder());
    assert_int_equal(set->class_count, 2);
    assert_int_equal(set->splits[YK_IMAGE_SPLIT_TRAIN].count, 3);
    assert_int_equal(set->splits[YK_IMAGE_SPLIT_VALIDATION].count, 1);
    assert_int_equal(set->splits[YK_IMAGE_SPLIT_VALIDATION].labels[0], 1);
    assert_int_equal(set->splits[YK_IMAGE_SPLIT_TEST].count, 2);
    yk_image_set_close(set);
    /* A split on its own is a set. */
    set = open_set(support_scratch_path("test"));
    assert_int_equal(set->splits[YK_IMAGE_SPLIT_TRAIN].count, 2);
    yk_image_set_close(set);
}

static void classes_that_lack_training_images_are_refused(void **state)
{
    (void)state;
    write_png("train/cat/1.png");
    write_png("test/dgo/2.png"); /* a misspelled class would never be learnt */
    expect_refused(support_scratch_folder(), "train/dgo: there is no such folder to train with");
}

static void folders_that_lack_images_are_no_sets(void **state)
{
    (void)state;
    write_png("image.png"); /* of no class */
    support_scratch_write_text("texts/a.txt", "text");
    assert_false(yk_image_set_detect(support_scratch_folder()));
    assert_false(yk_image_set_detect(support_scratch_path("texts/a.txt")));
    assert_false(yk_image_set_detect(support_scratch_path("missing")));
    expect_refused(support_scratch_folder(), "there are no images");
}

/* Record i of a file of CIFAR: pixel p of channel c is i + c + p. */
static void write_cifar(const char *name, int coarse, const uint8_t *labels, int count)
{
    const size_t record = (size_t)coarse + 1 + CIFAR_PIXELS;
    uint8_t *bytes = calloc((size_t)count, record);
    assert_non_null(bytes);
    for (int i = 0; i < count; i++) {
        uint8_t *one = bytes + (size_t)i * record;
        one[0] = 7;
        one[coarse] = labels[i];
        for (int p = 0; p < CIFAR_PIXELS; p++) {
            one[coarse + 1 + p] = (uint8_t)(i + p / 1024 + p % 1024);
        }
    }
    support_scratch_write(name, bytes, (size_t)count * record);
    free(bytes);
}

static void cifar_10_is_read_from_its_batches(void **state)
{
    (void)state;
    write_cifar("data_batch_1.bin", 0, (const uint8_t[]){3, 9}, 2);
    write_cifar("data_batch_2.bin", 0, (const uint8_t[]){0}, 1);
    write_cifar("test_batch.bin", 0, (const uint8_t[]){5, 6}, 2);
    support_scratch_write_text("batches.meta.txt", "airplane\nautomobile\nbird\ncat\n\n");
    struct yk_image_set *set = open_set(support_scratch_folder());
    const struct yk_image_split *split = &set->splits[YK_IMAGE_SPLIT_TRAIN];
    const int32_t labels[] = {3, 9, 0};
    assert_string_equal(set->form, "CIFAR-10");
    assert_int_equal(set->class_count, 10);
    assert_string_equal(set->class_names[3], "cat");
    assert_string_equal(set->class_names[9], "9");
    assert_int_equal(split->count, 3);
    assert_memory_equal(split->labels, labels, sizeof labels);
    assert_int_equal(set->splits[YK_IMAGE_SPLIT_TEST].count, 2);
    struct yk_image image = {0};
    assert_ok(yk_image_set_read(split, 1, 3, &image));
    assert_int_equal(image.height, 32);
    assert_int_equal(image.width, 32);
    for (int c = 0; c < 3; c++) {
        assert_int_equal(image.pixels[33 * 3 + c], 1 + c + 33);
    }
    yk_image_free(&image);
    yk_image_set_close(set);
    set = open_set(support_scratch_path("test_batch.bin"));
    assert_int_equal(set->splits[YK_IMAGE_SPLIT_TRAIN].labels[1], 6);
    yk_image_set_close(set);
}

static void cifar_100_has_fine_labels(void **state)
{
    (void)state;
    write_cifar("train.bin", 1, (const uint8_t[]){99, 42}, 2);
    write_cifar("test.bin", 1, (const uint8_t[]){1}, 1);
    struct yk_image_set *set = open_set(support_scratch_folder());
    assert_int_equal(set->class_count, 100);
    assert_int_equal(set->splits[YK_IMAGE_SPLIT_TRAIN].labels[0], 99);
    assert_int_equal(set->splits[YK_IMAGE_SPLIT_TRAIN].labels[1], 42);
    struct yk_image image = {0};
    assert_ok(yk_image_set_read(&set->splits[YK_IMAGE_SPLIT_TRAIN], 0, 3, &image));
    assert_int_equal(image.pixels[0], 0);
    assert_int_equal(image.pixels[4], 2);
    yk_image_free(&image);
    yk_image_set_close(set);
}

static void broken_files_of_cifar_are_refused(void **state)
{
    (void)state;
    write_cifar("data_batch_1.bin", 0, (const uint8_t[]){3}, 1);
    write_cifar("data_batch_2.bin", 0, (const uint8_t[]){1, 10}, 2);
    expect_refused(support_scratch_folder(), "image 2 is of class 10, but CIFAR-10 has");
    support_scratch_write_text("data_batch_2.bin", "cut");
    expect_refused(support_scratch_folder(),
                   "data_batch_2.bin: its size is not a multiple of 3073");
    support_scratch_write_text("alone/data_batch_1.bin", "cut");
    expect_refused(support_scratch_path("alone"), "data_batch_1.bin: its size is not a multiple");
    /* Tokens may be in a file of the same name. */
    support_scratch_write_text("tokens/train.bin", "these are no images");
    assert_false(yk_image_set_detect(support_scratch_path("tokens")));
}

static void a_batch_of_cifar_between_others_is_not_missing(void **state)
{
    (void)state;
    const uint8_t label[] = {3};
    write_cifar("data_batch_1.bin", 0, label, 1);
    write_cifar("data_batch_2.bin", 0, label, 1);
    write_cifar("data_batch_4.bin", 0, label, 1);
    expect_refused(support_scratch_folder(),
                   "has data_batch_4.bin, but not data_batch_3.bin, which comes before it");
    /* A single batch needs no others. */
    struct yk_image_set *set = open_set(support_scratch_path("data_batch_4.bin"));
    assert_int_equal(set->splits[YK_IMAGE_SPLIT_TRAIN].count, 1);
    yk_image_set_close(set);
    write_cifar("data_batch_3.bin", 0, label, 1);
    set = open_set(support_scratch_folder());
    assert_int_equal(set->splits[YK_IMAGE_SPLIT_TRAIN].count, 4);
    yk_image_set_close(set);
}

static void names_of_cifar_are_not_more_than_its_classes_and_none_is_left_out(void **state)
{
    (void)state;
    write_cifar("data_batch_1.bin", 0, (const uint8_t[]){3}, 1);
    support_scratch_write_text("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n");
    expect_refused(support_scratch_folder(),
                   "batches.meta.txt has more than 10 names, but CIFAR-10 has 10 classes");
    support_scratch_write_text("batches.meta.txt", "a\nb\n\nd\ne\nf\ng\nh\ni\nj\n");
    expect_refused(support_scratch_folder(),
                   "batches.meta.txt: line 3 is blank, but names of classes follow");
    support_scratch_write_text("batches.meta.txt", "a\r\nb\r\nc\nd\ne\nf\ng\nh\ni\nj\r\n\r\n\n");
    struct yk_image_set *set = open_set(support_scratch_folder());
    assert_string_equal(set->class_names[0], "a");
    assert_string_equal(set->class_names[1], "b");
    assert_string_equal(set->class_names[9], "j");
    yk_image_set_close(set);
}

/* They are members of a config.json. */
static void names_of_classes_are_different_and_utf_8(void **state)
{
    (void)state;
    write_cifar("data_batch_1.bin", 0, (const uint8_t[]){3}, 1);
    support_scratch_write_text("batches.meta.txt", "cat\ndog\ncat\n");
    expect_refused(support_scratch_folder(), "two classes are called \"cat\"; rename one of them");
    support_scratch_write_text("batches.meta.txt", "cat\nd\xffg\n");
    expect_refused(support_scratch_folder(), "the name of class 1 is not UTF-8; rename it");
}

static size_t add_number(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 24);
    to[1] = (uint8_t)(value >> 16);
    to[2] = (uint8_t)(value >> 8);
    to[3] = (uint8_t)value;
    return 4;
}

/* An IDX file of the bytes 0, 1, 2 …; returns its length. */
static size_t make_idx(uint8_t *out, const uint32_t *dimensions, uint32_t count)
{
    size_t length = add_number(out, 0x800 + count);
    size_t items = 1;
    for (uint32_t i = 0; i < count; i++) {
        length += add_number(out + length, dimensions[i]);
        items *= dimensions[i];
    }
    for (size_t i = 0; i < items; i++) {
        out[length++] = (uint8_t)i;
    }
    return length;
}

static void write_idx(const char *name, const uint32_t *dimensions, uint32_t count)
{
    uint8_t bytes[MOST];
    support_scratch_write(name, bytes, make_idx(bytes, dimensions, count));
}

static void idx_files_are_read_in_pairs(void **state)
{
    (void)state;
    write_idx("train-images-idx3-ubyte", (const uint32_t[]){3, 2, 4}, 3);
    write_idx("train-labels-idx1-ubyte", (const uint32_t[]){3}, 1);
    write_idx("t10k-images-idx3-ubyte", (const uint32_t[]){1, 2, 4}, 3);
    write_idx("t10k-labels-idx1-ubyte", (const uint32_t[]){1}, 1);
    struct yk_image_set *set = open_set(support_scratch_folder());
    const struct yk_image_split *split = &set->splits[YK_IMAGE_SPLIT_TRAIN];
    assert_int_equal(set->class_count, 3);
    assert_string_equal(set->class_names[2], "2");
    assert_int_equal(split->count, 3);
    assert_int_equal(split->labels[1], 1);
    assert_int_equal(set->splits[YK_IMAGE_SPLIT_TEST].count, 1);
    struct yk_image image = {0};
    assert_ok(yk_image_set_read(split, 2, 1, &image));
    assert_int_equal(image.height, 2);
    assert_int_equal(image.width, 4);
    assert_int_equal(image.pixels[0], 16);
    assert_int_equal(image.pixels[7], 23);
    yk_image_free(&image);
    yk_image_set_close(set);
    set = open_set(support_scratch_path("t10k-images-idx3-ubyte"));
    assert_int_equal(set->splits[YK_IMAGE_SPLIT_TRAIN].count, 1);
    yk_image_set_close(set);
}

static void idx_files_with_four_dimensions_have_colours(void **state)
{
    (void)state;
    write_idx("x-images-idx4-ubyte", (const uint32_t[]){2, 1, 2, 3}, 4);
    write_idx("x-labels-idx1-ubyte", (const uint32_t[]){2}, 1);
    struct yk_image_set *set = open_set(support_scratch_folder());
    struct yk_image image = {0};
    assert_ok(yk_image_set_read(&set->splits[YK_IMAGE_SPLIT_TRAIN], 1, 3, &image));
    const uint8_t expected[] = {6, 7, 8, 9, 10, 11};
    assert_memory_equal(image.pixels, expected, sizeof expected);
    yk_image_free(&image);
    yk_image_set_close(set);
}

static void compressed_idx_files_are_read(void **state)
{
    (void)state;
    /* gzip -9n of the IDX file (2, 1, 2) of 0, 1, 2, 3 */
    static const uint8_t images[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
                                     0x03, 0x63, 0x60, 0xe0, 0x60, 0x66, 0x60, 0x60, 0x60,
                                     0x02, 0x62, 0x46, 0x30, 0xcd, 0xc8, 0xc4, 0x0c, 0x00,
                                     0x62, 0xc5, 0x04, 0xec, 0x14, 0x00, 0x00, 0x00};
    support_scratch_write("train-images-idx3-ubyte.gz", images, sizeof images);
    write_idx("train-labels-idx1-ubyte", (const uint32_t[]){2}, 1);
    struct yk_image_set *set = open_set(support_scratch_folder());
    struct yk_image image = {0};
    assert_ok(yk_image_set_read(&set->splits[YK_IMAGE_SPLIT_TRAIN], 1, 1, &image));
    assert_int_equal(image.pixels[0], 2);
    assert_int_equal(image.pixels[1], 3);
    yk_image_free(&image);
    yk_image_set_close(set);
}

static void broken_idx_files_are_refused(void **state)
{
    (void)state;
    uint8_t bytes[MOST];
    const uint32_t dimensions[] = {3, 2, 4};
    const size_t length = make_idx(bytes, dimensions, 3);
    const char *folder = support_scratch_folder();
    write_idx("train-labels-idx1-ubyte", (const uint32_t[]){3}, 1);
    support_scratch_write("train-images-idx3-ubyte", bytes, length - 1);
    expect_refused(folder, "cut off: 1 of 24 bytes are missing");
    support_scratch_write("train-images-idx3-ubyte", bytes, length + 1);
    expect_refused(folder, "longer than its header says");
    support_scratch_write("train-images-idx3-ubyte", bytes, 10);
    expect_refused(folder, "cut off");
    add_number(bytes + 4, 0xffffffff); /* images that would not fit into any memory */
    add_number(bytes + 8, 5000);
    add_number(bytes + 12, 5000);
    support_scratch_write("train-images-idx3-ubyte", bytes, length);
    expect_refused(folder, "free memory");
    add_number(bytes + 8, 0xffffffff);
    support_scratch_write("train-images-idx3-ubyte", bytes, length);
    expect_refused(folder, "pixels");
    add_number(bytes + 8, 0);
    support_scratch_write("train-images-idx3-ubyte", bytes, length);
    expect_refused(folder, "dimension 1 is 0");
    bytes[2] = 0x0d;
    support_scratch_write("train-images-idx3-ubyte", bytes, length);
    expect_refused(folder, "begins with 00000d03");
    write_idx("train-images-idx3-ubyte", (const uint32_t[]){2, 2, 2}, 3);
    expect_refused(folder, "3 labels, but there are 2 images");
}

static void idx_files_that_lack_labels_or_have_a_double_are_refused(void **state)
{
    (void)state;
    write_idx("train-images-idx3-ubyte", (const uint32_t[]){2, 2, 2}, 3);
    expect_refused(support_scratch_folder(), "there are no labels; they belong into");
    write_idx("train-labels-idx1-ubyte", (const uint32_t[]){2}, 1);
    write_idx("extra-train-images-idx3-ubyte", (const uint32_t[]){2, 2, 2}, 3);
    expect_refused(support_scratch_folder(), "hold images of one split");
}

#define scratch_test(test)                                                                         \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(subfolders_are_classes_sorted_by_name),
        scratch_test(classes_get_the_numbers_of_a_model_by_name),
        scratch_test(train_val_and_test_are_splits_with_common_classes),
        scratch_test(classes_that_lack_training_images_are_refused),
        scratch_test(folders_that_lack_images_are_no_sets),
        scratch_test(cifar_10_is_read_from_its_batches),
        scratch_test(cifar_100_has_fine_labels),
        scratch_test(broken_files_of_cifar_are_refused),
        scratch_test(a_batch_of_cifar_between_others_is_not_missing),
        scratch_test(names_of_cifar_are_not_more_than_its_classes_and_none_is_left_out),
        scratch_test(names_of_classes_are_different_and_utf_8),
        scratch_test(idx_files_are_read_in_pairs),
        scratch_test(idx_files_with_four_dimensions_have_colours),
        scratch_test(compressed_idx_files_are_read),
        scratch_test(broken_idx_files_are_refused),
        scratch_test(idx_files_that_lack_labels_or_have_a_double_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
