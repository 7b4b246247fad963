/*
 * Image set: images and their classes, in up to three splits. The source is one of
 *
 *   folder tree   FOLDER/CLASS/…: each sub-folder is a class, as in torchvision's ImageFolder.
 *                 Images are the PNG and JPEG files in it and below it. FOLDER may have the
 *                 splits train, val and test as sub-folders, whose sub-folders are the classes.
 *   CIFAR         a folder with data_batch_1.bin …, test_batch.bin (CIFAR-10) or train.bin and
 *                 test.bin (CIFAR-100, fine labels), or one of these files
 *   IDX           a folder with train-images-idx3-ubyte and train-labels-idx1-ubyte, and t10k-…
 *                 (MNIST), or one file of images; idx4 has colours as its last dimension. Files may
 *                 be compressed (.gz).
 *
 * Without splits, all images are training images. Classes of folders are sorted by name; those
 * of CIFAR and IDX have the numbers of the files.
 *
 * The images of folders are opened and decoded when they are read, and may be broken. Those of
 * CIFAR and IDX are in memory. A set is immutable: any number of threads may use it.
 */
#ifndef YK_DATA_IMAGES_IMAGE_SET_H
#define YK_DATA_IMAGES_IMAGE_SET_H

#include "base/arena.h"
#include "base/status.h"
#include "data/images/image.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_image_split_kind {
    YK_IMAGE_SPLIT_TRAIN,
    YK_IMAGE_SPLIT_VALIDATION,
    YK_IMAGE_SPLIT_TEST,
    YK_IMAGE_SPLIT_COUNT
};

/* Images of one split. Either each is a file, or all are equally large records in memory. */
struct yk_image_split {
    int64_t count;
    int32_t *labels; /* (count) numbers in `class_names`, or as yk_image_set_renumber_classes() set
                        them */
    const char **paths; /* (count) of files; NULL means: records */

    uint8_t *records; /* owned; record i begins at i * record_bytes */
    int64_t record_bytes;
    int64_t pixel_offset; /* of the pixels in a record */
    int64_t height;
    int64_t width;
    int64_t channels;
    bool planar; /* (channels, height, width) instead of (height, width, channels) */
};

/* Callers must not change the members. */
struct yk_image_set {
    struct yk_arena *arena;
    const char *form; /* "folder tree", "CIFAR-10" … */
    struct yk_image_split splits[YK_IMAGE_SPLIT_COUNT];
    int32_t class_count;
    const char **class_names; /* (class_count) */
};

/* Returns whether a path holds images in one of the forms. Looks at names and at the beginnings of
 * files. */
bool yk_image_set_detect(const char *path);

yk_status yk_image_set_open(const char *path, struct yk_image_set **out) YK_MUST_USE;
void yk_image_set_close(struct yk_image_set *set);

/* Changes the labels to the numbers that the classes have in `names`, such as the classes of a
 * model, where each must occur once. `unknown` begins the message about a class that does not, such
 * as "vit-tiny has no class". Nobody may read images meanwhile. */
yk_status yk_image_set_renumber_classes(struct yk_image_set *set, const char *const *names,
                                        int64_t count, const char *unknown) YK_MUST_USE;

/* Reads an image with `channels` (1 or 3). Any thread may call it. */
yk_status yk_image_set_read(const struct yk_image_split *split, int64_t index, int64_t channels,
                            struct yk_image *out) YK_MUST_USE;

#endif
