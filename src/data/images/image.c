#include "data/images/image.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

yk_status yk_image_check_size(int64_t height, int64_t width)
{
    if (height < 1 || width < 1) {
        return yk_fail(YK_ERROR_INPUT, "an image of %" PRId64 " × %" PRId64 " pixels", width,
                       height);
    }
    if (width > YK_IMAGE_MAX_PIXELS / height) {
        return yk_fail(YK_ERROR_INPUT,
                       "an image of %" PRId64 " × %" PRId64 " pixels; at most %" PRId64
                       " are decoded: make it smaller",
                       width, height, YK_IMAGE_MAX_PIXELS);
    }
    return YK_OK;
}

yk_status yk_image_allocate(int64_t height, int64_t width, int64_t channels, struct yk_image *out)
{
    assert(channels == 1 || channels == 3);
    YK_TRY(yk_image_check_size(height, width));
    uint8_t *pixels = malloc((size_t)(height * width * channels) + 1);
    YK_TRY_ALLOCATED(pixels);
    *out = (struct yk_image){height, width, channels, pixels};
    return YK_OK;
}

void yk_image_free(struct yk_image *image)
{
    free(image->pixels);
    *image = (struct yk_image){0};
}

/* The luma of ITU-R BT.601 with Pillow's 16-bit weights. */
static uint8_t luma(const uint8_t *pixel)
{
    return (uint8_t)((19595u * pixel[0] + 38470u * pixel[1] + 7471u * pixel[2] + 0x8000u) >> 16);
}

yk_status yk_image_convert(struct yk_image *image, int64_t channels)
{
    struct yk_image other = {0};
    if (image->channels == channels) {
        return YK_OK;
    }
    YK_TRY(yk_image_allocate(image->height, image->width, channels, &other));
    const int64_t count = image->height * image->width;
    const uint8_t *from = image->pixels;
    uint8_t *to = other.pixels;
    if (channels == 1) {
        for (int64_t i = 0; i < count; i++) {
            to[i] = luma(from + 3 * i);
        }
    } else {
        for (int64_t i = 0; i < count; i++) {
            to[3 * i] = to[3 * i + 1] = to[3 * i + 2] = from[i];
        }
    }
    yk_image_free(image);
    *image = other;
    return YK_OK;
}
