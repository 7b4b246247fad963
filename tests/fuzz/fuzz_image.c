/*
 * Fuzz target of pictures. The first byte says what the others are: the file of a picture (PNG or
 * JPEG, by its content), an IDX file of images, or records of CIFAR. Pictures that are decoded are
 * made into the input of a model as well.
 */
#include "fuzz/fuzz.h"

#include "base/input_stream.h"
#include "data/images/cifar.h"
#include "data/images/idx.h"
#include "data/images/image_file.h"
#include "data/images/image_transform.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    SIDE = 9,
    KINDS = 4
};

static void transform(const struct yk_image *image, uint8_t seed)
{
    struct yk_image_processor processor = yk_image_processor_make(image->channels, SIDE, SIDE);
    struct yk_random random = yk_random_from_seed(seed);
    uint8_t out[3 * SIDE * SIDE];
    processor.filter = seed % YK_IMAGE_FILTER_COUNT;
    processor.resize = seed % 2 ? YK_IMAGE_RESIZE_SHORTEST_EDGE : YK_IMAGE_RESIZE_EXACT;
    processor.center_crop = processor.resize == YK_IMAGE_RESIZE_SHORTEST_EDGE;
    if (seed % 3 == 0) {
        fuzz_expect(yk_image_processor_parse_augmentation("flip,pad-crop=2,resized-crop",
                                                          &processor.augmentation) == YK_OK,
                    "these are augmentations");
    }
    if (yk_image_transform_apply(&processor, image, &random, out) != YK_OK) {
        fuzz_expect(yk_status_message()[0] != '\0', "a refusal says why");
    }
}

static void read_picture(const uint8_t *data, size_t size, uint8_t seed)
{
    struct yk_image image = {0};
    const int64_t channels = seed % 2 ? 1 : 3;
    if (yk_image_file_decode(data, size, channels, "fuzz", &image) == YK_OK) {
        fuzz_accept();
        fuzz_expect(image.channels == channels && image.height > 0 && image.width > 0 &&
                        image.width <= YK_IMAGE_MAX_PIXELS / image.height,
                    "a picture has a size within its bounds");
        uint32_t sum = 0; /* every pixel was written */
        for (int64_t i = 0; i < image.height * image.width * channels; i++) {
            sum += image.pixels[i];
        }
        transform(&image, (uint8_t)(seed + sum % 2 * 6));
    } else {
        fuzz_expect(strncmp(yk_status_message(), "fuzz: ", 6) == 0 ||
                        yk_status_message()[0] != '\0',
                    "a refusal says where");
    }
    yk_image_free(&image);
}

static void read_idx(const uint8_t *data, size_t size)
{
    struct yk_input_stream *stream = NULL;
    struct yk_image_split split = {0};
    const int file = memfd_create("idx", MFD_CLOEXEC);
    fuzz_expect(file >= 0 && write(file, data, size) == (ssize_t)size &&
                    lseek(file, 0, SEEK_SET) == 0,
                "there is memory");
    fuzz_expect(yk_input_stream_open(file, "fuzz", &stream) == YK_OK, "there is memory");
    if (yk_idx_read_images(stream, "fuzz", &split) == YK_OK) {
        fuzz_accept();
        fuzz_expect(split.count > 0 &&
                        split.record_bytes == split.height * split.width * split.channels,
                    "images fill their records");
        struct yk_image image = {0};
        fuzz_expect(yk_image_set_read(&split, split.count - 1, 3, &image) == YK_OK,
                    "the last image is there");
        yk_image_free(&image);
    }
    free(split.records);
    yk_input_stream_close(stream);
    close(file);
}

static void read_cifar(const uint8_t *data, size_t size, int coarse)
{
    struct yk_arena *arena = NULL;
    struct yk_image_split split = {0};
    uint8_t *records = malloc(size + 1);
    fuzz_expect(records && yk_arena_create(&arena) == YK_OK, "there is memory");
    memcpy(records, data, size);
    if (yk_cifar_parse(&records, size, coarse, "fuzz", arena, &split) == YK_OK) {
        fuzz_accept();
        struct yk_image image = {0};
        fuzz_expect(yk_image_set_read(&split, split.count - 1, 1, &image) == YK_OK,
                    "the last image is there");
        yk_image_free(&image);
    }
    free(records);
    free(split.records);
    yk_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    switch (data[0] % KINDS) {
    case 0:
        read_idx(data + 1, size - 1);
        break;
    case 1:
        read_cifar(data + 1, size - 1, data[0] / KINDS % 2);
        break;
    default:
        read_picture(data + 1, size - 1, data[0] / KINDS);
        break;
    }
    return 0;
}
