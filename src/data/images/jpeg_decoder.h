/*
 * JPEG decoder: decodes JPEG files with libjpeg-turbo into the pixels that Pillow's convert("RGB")
 * and convert("L") give: accurate integer DCT, smooth upsampling of colours, baseline and
 * progressive files. CMYK is converted to RGB without a colour profile. The orientation of EXIF is
 * ignored, as Image.open() does. Any thread may call it.
 */
#ifndef YK_DATA_IMAGES_JPEG_DECODER_H
#define YK_DATA_IMAGES_JPEG_DECODER_H

#include "data/images/image.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns whether the bytes begin like a JPEG file. */
bool yk_jpeg_decoder_recognize(const uint8_t *bytes, size_t length);

/* Decodes a whole file into an image with 1 or 3 channels, whichever the file has. */
yk_status yk_jpeg_decoder_decode(const uint8_t *bytes, size_t length,
                                 struct yk_image *out) YK_MUST_USE;

/* Checks the header in the first bytes of a file: that it can be read, and the size of the image.
 * If the header is longer than these bytes, what follows is not checked. `whole` means: the bytes
 * are the whole file, so that a header that is cut off is an error. */
yk_status yk_jpeg_decoder_check_header(const uint8_t *bytes, size_t length, bool whole) YK_MUST_USE;

#endif
