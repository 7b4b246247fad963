/*
 * Image: the pixels of one image in memory. An image owns its pixels; {0} is an empty image, and
 * yk_image_free() makes it one. Only one thread at a time may use an image.
 */
#ifndef YK_DATA_IMAGES_IMAGE_H
#define YK_DATA_IMAGES_IMAGE_H

#include "base/status.h"

#include <stdint.h>

/* The largest image that is decoded: the size above which Pillow warns of decompression bombs. */
#define YK_IMAGE_MAX_PIXELS INT64_C(89478485)

struct yk_image {
    int64_t height;
    int64_t width;
    int64_t channels; /* 1: grey; 3: red, green, blue */
    uint8_t *pixels;  /* (height, width, channels), and one byte that loops may read */
};

/* Fails if a side is not positive, or if there are more than YK_IMAGE_MAX_PIXELS. */
yk_status yk_image_check_size(int64_t height, int64_t width) YK_MUST_USE;

/* Allocates the pixels of an image, not initialized. Fails if yk_image_check_size() does. */
yk_status yk_image_allocate(int64_t height, int64_t width, int64_t channels,
                            struct yk_image *out) YK_MUST_USE;
void yk_image_free(struct yk_image *image);

/* Converts an image to `channels` (1 or 3) in the way of Pillow's convert("L") and
 * convert("RGB"). */
yk_status yk_image_convert(struct yk_image *image, int64_t channels) YK_MUST_USE;

#endif
