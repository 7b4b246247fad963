/*
 * Image transform: makes the input of a model from an image (data/images/image_processor.h).
 */
#ifndef YK_DATA_IMAGES_IMAGE_TRANSFORM_H
#define YK_DATA_IMAGES_IMAGE_TRANSFORM_H

#include "base/random.h"
#include "data/images/image.h"
#include "data/images/image_processor.h"

/* Writes (channels, height, width) bytes to `out`. The image has the channels of the processor.
 * `random` chooses the augmentation; NULL means: no augmentation. Fails if the processor does not
 * resize and the image has another size, or if the resized image would be too large. */
yk_status yk_image_transform_apply(const struct yk_image_processor *processor,
                                   const struct yk_image *image, struct yk_random *random,
                                   uint8_t *out) YK_MUST_USE;

#endif
