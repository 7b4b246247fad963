/*
 * Image resize: scales an image in the way of Pillow's Image.resize(), to the bit.
 *
 * Each output pixel is a weighted mean of input pixels under a filter whose width grows with the
 * scale, so that a smaller image has no aliasing. Rows are scaled first, then columns; between
 * the two, pixels are rounded to bytes. Weights are fixed-point numbers of 22 bits.
 */
#ifndef YK_DATA_IMAGES_IMAGE_RESIZE_H
#define YK_DATA_IMAGES_IMAGE_RESIZE_H

#include "data/images/image.h"
#include "data/images/image_processor.h"

struct yk_image_rectangle {
    int64_t top;
    int64_t left;
    int64_t height;
    int64_t width;
};

struct yk_image_resize_request {
    struct yk_image_rectangle source; /* the part of the input that is scaled, as if the input ended
                                         at its borders */
    int64_t height;                   /* that the source is scaled to */
    int64_t width;
    struct yk_image_rectangle window; /* the part of the result that is computed */
    enum yk_image_filter filter;
};

/* Writes the window of the scaled image to `out`, (window.height, window.width, channels). */
yk_status yk_image_resize_to(const struct yk_image *image,
                             const struct yk_image_resize_request *request,
                             uint8_t *out) YK_MUST_USE;

#endif
