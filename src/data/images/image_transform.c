#include "data/images/image_transform.h"

#include "base/number.h"
#include "data/images/image_resize.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    CROP_TRIES = 10 /* for a random crop that lies inside the image */
};

static double uniform_between(struct yk_random *random, double low, double high)
{
    return low + (high - low) * yk_random_uniform(random);
}

/* The largest part in the middle whose ratio is allowed. */
static struct yk_image_rectangle middle(const struct yk_image *image,
                                        const struct yk_image_augmentation *augmentation)
{
    const double ratio = (double)image->width / (double)image->height;
    int64_t height = image->height;
    int64_t width = image->width;
    if (ratio < augmentation->min_ratio) {
        height = (int64_t)nearbyint((double)width / augmentation->min_ratio);
    } else if (ratio > augmentation->max_ratio) {
        width = (int64_t)nearbyint((double)height * augmentation->max_ratio);
    }
    height = yk_number_min(yk_number_max(height, 1), image->height);
    width = yk_number_min(yk_number_max(width, 1), image->width);
    return (struct yk_image_rectangle){(image->height - height) / 2, (image->width - width) / 2,
                                       height, width};
}

/* A random part, as torchvision's RandomResizedCrop chooses it: the area is uniform, the ratio
 * uniform in its logarithm. */
static struct yk_image_rectangle random_part(const struct yk_image *image,
                                             const struct yk_image_augmentation *augmentation,
                                             struct yk_random *random)
{
    const double area = (double)image->height * (double)image->width;
    const double low = log(augmentation->min_ratio);
    const double high = log(augmentation->max_ratio);
    for (int i = 0; i < CROP_TRIES; i++) {
        const double part =
            area * uniform_between(random, augmentation->min_area, augmentation->max_area);
        const double ratio = exp(uniform_between(random, low, high));
        const int64_t width = (int64_t)nearbyint(sqrt(part * ratio));
        const int64_t height = (int64_t)nearbyint(sqrt(part / ratio));
        if (width > 0 && width <= image->width && height > 0 && height <= image->height) {
            const int64_t top = yk_random_below(random, image->height - height + 1);
            const int64_t left = yk_random_below(random, image->width - width + 1);
            return (struct yk_image_rectangle){top, left, height, width};
        }
    }
    return middle(image, augmentation);
}

/* The size of the whole resized image. */
static void resized_size(const struct yk_image_processor *processor, const struct yk_image *image,
                         int64_t *out_height, int64_t *out_width)
{
    const int64_t edge = processor->resize_height;
    *out_height = image->height;
    *out_width = image->width;
    if (processor->resize == YK_IMAGE_RESIZE_EXACT) {
        *out_height = processor->resize_height;
        *out_width = processor->resize_width;
    } else if (processor->resize == YK_IMAGE_RESIZE_SHORTEST_EDGE) {
        const bool upright = image->width <= image->height;
        const int64_t shorter = upright ? image->width : image->height;
        const int64_t longer = upright ? image->height : image->width;
        const int64_t other = (int64_t)((double)(edge * longer) / (double)shorter);
        *out_height = upright ? other : edge;
        *out_width = upright ? edge : other;
    }
}

/* Where `crop` positions from the middle of `size` positions begin. A negative start means that
 * many positions of padding. */
static int64_t crop_start(int64_t size, int64_t crop)
{
    return size >= crop ? (size - crop) / 2 : -((crop - size + 1) / 2);
}

static yk_status check_size(const struct yk_image_processor *processor,
                            const struct yk_image *image, int64_t height, int64_t width)
{
    const bool cropped = processor->center_crop;
    if (width > YK_IMAGE_MAX_PIXELS / height) {
        return yk_fail(YK_ERROR_INPUT,
                       "an image of %" PRId64 " × %" PRId64 " pixels would become one of %" PRId64
                       " × %" PRId64 ", which is too large",
                       image->width, image->height, width, height);
    }
    if (!cropped && (height != processor->height || width != processor->width)) {
        return yk_fail(YK_ERROR_INPUT,
                       "an image of %" PRId64 " × %" PRId64 " pixels becomes one of %" PRId64
                       " × %" PRId64 ", but the model takes %" PRId64 " × %" PRId64
                       ": let preprocessor_config.json resize or crop it",
                       image->width, image->height, width, height, processor->width,
                       processor->height);
    }
    return YK_OK;
}

/* Resizes and crops from the centre. What a crop beyond the borders adds is black. */
static yk_status resize_and_crop(const struct yk_image_processor *processor,
                                 const struct yk_image *image, uint8_t *out)
{
    const int64_t channels = image->channels;
    struct yk_image_resize_request request = {
        .source = {0, 0, image->height, image->width},
        .filter = processor->filter,
    };
    resized_size(processor, image, &request.height, &request.width);
    YK_TRY(check_size(processor, image, request.height, request.width));
    const int64_t top = crop_start(request.height, processor->height);
    const int64_t left = crop_start(request.width, processor->width);
    request.window = (struct yk_image_rectangle){
        yk_number_max(top, 0),
        yk_number_max(left, 0),
        yk_number_min(request.height, processor->height),
        yk_number_min(request.width, processor->width),
    };
    if (top >= 0 && left >= 0) {
        return yk_image_resize_to(image, &request, out);
    }
    const int64_t row_bytes = request.window.width * channels;
    uint8_t *inner = malloc((size_t)(request.window.height * row_bytes));
    YK_TRY_ALLOCATED(inner);
    YK_TRY_OR_CLEAN_UP(yk_image_resize_to(image, &request, inner), free(inner));
    memset(out, 0, (size_t)yk_image_processor_bytes(processor));
    for (int64_t y = 0; y < request.window.height; y++) {
        const int64_t row = y + yk_number_max(-top, 0);
        memcpy(out + (row * processor->width + yk_number_max(-left, 0)) * channels,
               inner + y * row_bytes, (size_t)row_bytes);
    }
    free(inner);
    return YK_OK;
}

/* How far an image moves when it is padded and cropped again. */
struct shift {
    int64_t down;
    int64_t right;
    bool flip;
};

/* Converts (height, width, channels) to (channels, height, width), and moves and mirrors. */
static void write_planes(const struct yk_image_processor *processor, const uint8_t *pixels,
                         struct shift shift, uint8_t *out)
{
    const int64_t channels = processor->channels;
    const int64_t height = processor->height;
    const int64_t width = processor->width;
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t y = 0; y < height; y++, out += width) {
            const int64_t from_y = y - shift.down;
            if (from_y < 0 || from_y >= height) {
                memset(out, 0, (size_t)width);
                continue;
            }
            const uint8_t *row = pixels + from_y * width * channels + c;
            for (int64_t x = 0; x < width; x++) {
                const int64_t from_x = (shift.flip ? width - 1 - x : x) - shift.right;
                out[x] = from_x >= 0 && from_x < width ? row[from_x * channels] : 0;
            }
        }
    }
}

static struct shift random_shift(const struct yk_image_augmentation *augmentation,
                                 struct yk_random *random)
{
    struct shift shift = {0};
    if (augmentation->padding > 0) {
        shift.down = augmentation->padding - yk_random_below(random, 2 * augmentation->padding + 1);
        shift.right =
            augmentation->padding - yk_random_below(random, 2 * augmentation->padding + 1);
    }
    if (augmentation->flip_probability > 0) {
        shift.flip = yk_random_uniform(random) < augmentation->flip_probability;
    }
    return shift;
}

yk_status yk_image_transform_apply(const struct yk_image_processor *processor,
                                   const struct yk_image *image, struct yk_random *random,
                                   uint8_t *out)
{
    const struct yk_image_augmentation *augmentation = &processor->augmentation;
    struct shift shift = {0};
    yk_status status = YK_OK;
    uint8_t *pixels = malloc((size_t)yk_image_processor_bytes(processor));
    YK_TRY_ALLOCATED(pixels);
    if (random && augmentation->max_area > 0) {
        const struct yk_image_resize_request request = {
            .source = random_part(image, augmentation, random),
            .height = processor->height,
            .width = processor->width,
            .window = {0, 0, processor->height, processor->width},
            .filter = processor->filter,
        };
        status = yk_image_resize_to(image, &request, pixels);
    } else {
        status = resize_and_crop(processor, image, pixels);
    }
    if (status == YK_OK) {
        shift = random ? random_shift(augmentation, random) : shift;
        write_planes(processor, pixels, shift, out);
    }
    free(pixels);
    return status;
}
