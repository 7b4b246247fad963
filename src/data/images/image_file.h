/*
 * Image file: reads a PNG or JPEG file. The bytes decide which it is, not the name.
 */
#ifndef YK_DATA_IMAGES_IMAGE_FILE_H
#define YK_DATA_IMAGES_IMAGE_FILE_H

#include "data/images/image.h"

#include <stddef.h>

/* Decodes the bytes of a file into an image with `channels` (1 or 3). `source` is its path, for
 * messages. Any thread may call it. */
yk_status yk_image_file_decode(const uint8_t *bytes, size_t length, int64_t channels,
                               const char *source, struct yk_image *out) YK_MUST_USE;

/* Checks the first bytes of a file: that it is an image, and that its header and its size make
 * sense. The pixels are not checked. */
yk_status yk_image_file_check_header(const char *path) YK_MUST_USE;

/* Reads and decodes a file. */
yk_status yk_image_file_read(const char *path, int64_t channels, struct yk_image *out) YK_MUST_USE;

#endif
