/*
 * How many images a second the sampler of images makes ready for a model, as JSON:
 * bench-images FOLDER [SIDE [PICTURES [AUGMENTATION]]]. Images are decoded and resized (bicubic)
 * to SIDE × SIDE pixels (224), by as many threads as there are cores for this process; with
 * AUGMENTATION (such as resized-crop,flip) they are those of training. bench/images/run compares.
 */
#include "base/clock.h"
#include "base/number.h"
#include "data/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 64
};

static int64_t argument(int count, char **words, int index, int64_t otherwise)
{
    int64_t value = otherwise;
    if (index < count) {
        (void)yk_number_parse_integer(words[index], strlen(words[index]), &value);
    }
    return value;
}

/* Fetches images in batches; sets the sum of all bytes, so that others can compare. */
static yk_status fetch(const struct yk_sampler *sampler, int64_t images, uint64_t *out_sum)
{
    int32_t tokens[BATCH];
    int32_t targets[BATCH];
    int32_t lengths[BATCH];
    uint8_t *pixels = malloc((size_t)(BATCH * sampler->pixel_bytes));
    YK_TRY_ALLOCATED(pixels);
    struct yk_sample_slice slice = {
        .tokens = tokens, .targets = targets, .lengths = lengths, .pixels = pixels};
    yk_status status = YK_OK;
    *out_sum = 0;
    for (int64_t done = 0; status == YK_OK && done < images; done += BATCH) {
        const int64_t count = yk_number_min(BATCH, images - done);
        status = yk_sampler_fetch_slice(sampler, done, count, &slice);
        for (int64_t i = 0; status == YK_OK && i < count * sampler->pixel_bytes; i++) {
            *out_sum += pixels[i];
        }
    }
    free(pixels);
    return status;
}

static yk_status run(int count, char **words)
{
    const int64_t side = argument(count, words, 2, 224);
    struct yk_image_processor processor = yk_image_processor_make(3, side, side);
    struct yk_dataset_request request = {
        .kind = YK_DATASET_IMAGES, .path = words[1], .part = 1, .images = &processor};
    const struct yk_sampler_options options = {.seed = 1};
    struct yk_dataset *dataset = NULL;
    struct yk_sampler *sampler = NULL;
    uint64_t sum = 0;
    processor.filter = YK_IMAGE_FILTER_BICUBIC;
    if (count > 4) {
        YK_TRY(yk_image_processor_parse_augmentation(words[4], &processor.augmentation));
    }
    YK_TRY(yk_dataset_open(&request, &dataset));
    yk_status status =
        count > 4 ? yk_dataset_create_training_sampler(dataset, &options, &sampler)
                  : yk_dataset_create_evaluation_sampler(dataset, &options, true, &sampler);
    if (status == YK_OK) {
        const int64_t images = argument(count, words, 3, sampler->epoch_units);
        const double began_s = yk_clock_now_s();
        status = fetch(sampler, images, &sum);
        printf("{\"images\": %lld, \"seconds\": %.6f, \"sum\": %llu}\n", (long long)images,
               yk_clock_now_s() - began_s, (unsigned long long)sum);
    }
    yk_sampler_destroy(sampler);
    yk_dataset_close(dataset);
    return status;
}

int main(int count, char **words)
{
    if (count < 2) {
        fprintf(stderr, "usage: bench-images FOLDER [SIDE [PICTURES [AUGMENTATION]]]\n");
        return YK_ERROR_USAGE;
    }
    const yk_status status = run(count, words);
    if (status != YK_OK) {
        fprintf(stderr, "images: %s\n", yk_status_message());
    }
    return (int)status;
}
