#include "data/images/image_processor.h"

struct yk_image_processor yk_image_processor_make(int64_t channels, int64_t height, int64_t width)
{
    struct yk_image_processor processor = {
        .channels = channels,
        .height = height,
        .width = width,
        .resize = YK_IMAGE_RESIZE_EXACT,
        .resize_height = height,
        .resize_width = width,
        .filter = YK_IMAGE_FILTER_BILINEAR,
        .rescale = 1.0 / 255,
    };
    for (int c = 0; c < YK_IMAGE_PROCESSOR_MAX_CHANNELS; c++) {
        processor.mean[c] = 0.5;
        processor.std[c] = 0.5;
    }
    return processor;
}

int64_t yk_image_processor_bytes(const struct yk_image_processor *processor)
{
    return processor->channels * processor->height * processor->width;
}
