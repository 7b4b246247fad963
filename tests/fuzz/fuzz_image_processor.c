/* Fuzz target of image processors: what is accepted makes pictures of the size of the model. */
#include "fuzz/fuzz.h"

#include "data/images/image_processor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yk_image_processor processor = yk_image_processor_make(3, 10, 12);
    if (yk_image_processor_parse((const char *)data, size, "fuzz", &processor) == YK_OK) {
        fuzz_accept();
        fuzz_expect(processor.height == 10 && processor.width == 12, "the model's size stays");
        fuzz_expect(processor.resize_height >= 1 &&
                        processor.resize_height <= YK_IMAGE_PROCESSOR_MAX_SIDE &&
                        processor.resize_width >= 1 &&
                        processor.resize_width <= YK_IMAGE_PROCESSOR_MAX_SIDE,
                    "sizes are within their bounds");
        fuzz_expect((int)processor.filter >= 0 && processor.filter < YK_IMAGE_FILTER_COUNT,
                    "the filter exists");
        for (int c = 0; c < 3; c++) {
            fuzz_expect(processor.std[c] > 0, "pixels can be normalized");
        }
    }
    return 0;
}
