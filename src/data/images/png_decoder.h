/*
 * PNG decoder: decodes PNG files with libpng into the pixels that Pillow's convert("RGB") and
 * convert("L") give. Any thread may call it.
 *
 * Alpha and transparent colours are dropped, not blended. Of 16-bit colours, the upper byte is
 * kept. 16-bit grey without alpha is cut off at 255, as Pillow does. Palettes are looked up. Gamma
 * and colour profiles are ignored.
 */
#ifndef YK_DATA_IMAGES_PNG_DECODER_H
#define YK_DATA_IMAGES_PNG_DECODER_H

#include "data/images/image.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns whether the bytes begin like a PNG file. */
bool yk_png_decoder_recognize(const uint8_t *bytes, size_t length);

/* Decodes a whole file into an image with 1 or 3 channels, whichever the file has. */
yk_status yk_png_decoder_decode(const uint8_t *bytes, size_t length,
                                struct yk_image *out) YK_MUST_USE;

/* Checks the header in the first bytes of a file: that it can be read, and the size of the image.
 * If the header is longer than these bytes, what follows is not checked. `whole` means: the bytes
 * are the whole file, so that a header that is cut off is an error. */
yk_status yk_png_decoder_check_header(const uint8_t *bytes, size_t length, bool whole) YK_MUST_USE;

#endif
