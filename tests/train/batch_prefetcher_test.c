/* What a rank of a pipeline reads of images. A file that is gone cannot have been opened. */
#include "train/batch_prefetcher.h"

#include "data/images/image_data.h"
#include "support/files/scratch.h"
#include "support/support.h"

#include <stdio.h>
#include <unistd.h>

enum {
    IMAGES = 12,
    BATCH = 6,
    MICRO_BATCHES = 2,
    SIDE = 8
};

/* 8 × 8 black pixels, as Python's zlib packs them. */
static const uint8_t picture[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
    0x44, 0x52, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x08, 0x08, 0x00, 0x00, 0x00,
    0x00, 0xe1, 0x64, 0xe1, 0x57, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78,
    0x9c, 0x63, 0x60, 0xa0, 0x0e, 0x00, 0x00, 0x00, 0x48, 0x00, 0x01, 0x2e, 0xb8, 0x3c,
    0x7e, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};

struct bench {
    struct yk_arena *arena;
    struct yk_image_processor processor;
    struct yk_image_data *data;
    struct yk_sampler *sampler;
    struct yk_device_context context;
    struct yk_plan *plan; /* layer 0 on rank 0, layer 1 on rank 1 */
};

static void image_name(int number, char out[64])
{
    (void)snprintf(out, 64, "class%d/%d.png", number % 3, number);
}

static void remove_images(void)
{
    for (int i = 0; i < IMAGES; i++) {
        char name[64];
        char path[512];
        image_name(i, name);
        (void)snprintf(path, sizeof path, "%s/%s", support_scratch_folder(), name);
        assert_int_equal(unlink(path), 0);
    }
}

static void open_bench(bool skip_faulty, struct bench *bench)
{
    const struct yk_backend_device_options device = {.threads = 1};
    const struct yk_sampler_options options = {.seed = 7};
    *bench = (struct bench){.processor = yk_image_processor_make(1, SIDE, SIDE),
                            .context = {.backend = &yk_backend_cpu}};
    for (int i = 0; i < IMAGES; i++) {
        char name[64];
        image_name(i, name);
        support_scratch_write(name, picture, sizeof picture);
    }
    assert_ok(yk_arena_create(&bench->arena));
    assert_ok(yk_image_data_open(&(struct yk_image_data_request){.path = support_scratch_folder(),
                                                                 .processor = &bench->processor,
                                                                 .part = 1,
                                                                 .skip_faulty = skip_faulty},
                                 &bench->data));
    assert_ok(yk_image_data_create_sampler(bench->data, YK_IMAGE_DATA_TRAINING, &options,
                                           &bench->sampler));
    assert_ok(yk_backend_cpu.open(&device, &bench->context.device));
    assert_ok(yk_plan_create(bench->arena, 2, 2, 2, &bench->plan));
    bench->plan->micro_batches = MICRO_BATCHES;
    bench->plan->workload.batch = BATCH;
    for (int32_t g = 0; g < 2; g++) {
        bench->plan->groups[g].member_count = 1;
        bench->plan->groups[g].members[0] =
            (struct yk_plan_group_member){.rank = g, .share = BATCH, .shard_fraction = 1};
        bench->plan->layers[g].group = g;
    }
}

static void close_bench(struct bench *bench)
{
    yk_sampler_destroy(bench->sampler);
    yk_image_data_close(bench->data);
    yk_backend_cpu.close(bench->context.device);
    yk_arena_destroy(bench->arena);
}

static struct yk_batch_prefetcher *open_rank(struct bench *bench, int32_t rank)
{
    struct yk_batch_prefetcher *prefetcher = NULL;
    assert_ok(yk_batch_prefetcher_create_for_plan(bench->plan, rank, bench->sampler,
                                                  &bench->context, &prefetcher));
    return prefetcher;
}

static void a_rank_that_lacks_the_first_layer_opens_no_image(void **state)
{
    (void)state;
    struct bench bench;
    open_bench(false, &bench);
    struct yk_batch_prefetcher *first = open_rank(&bench, 0);
    struct yk_batch_prefetcher *last = open_rank(&bench, 1);
    const struct yk_rank_batch *read = NULL;
    const struct yk_rank_batch *other = NULL;
    assert_ok(yk_batch_prefetcher_read_batch(first, 0, INT64_MAX, &read));
    remove_images();
    assert_ok(yk_batch_prefetcher_read_batch(last, 0, INT64_MAX, &other));
    assert_int_equal(other->units, read->units);
    assert_int_equal(other->loss_targets, BATCH);
    for (int32_t m = 0; m < MICRO_BATCHES; m++) {
        const struct yk_sample_slice *expected = &read->slices[m].own;
        const struct yk_sample_slice *labels = &other->slices[m].own;
        assert_non_null(expected->pixels);
        assert_null(labels->pixels);
        assert_int_equal(labels->samples, BATCH / MICRO_BATCHES);
        assert_memory_equal(labels->targets, expected->targets,
                            BATCH / MICRO_BATCHES * sizeof *labels->targets);
    }
    assert_int_equal(yk_batch_prefetcher_read_batch(first, 0, INT64_MAX, &read), YK_ERROR_INPUT);
    yk_batch_prefetcher_destroy(first);
    yk_batch_prefetcher_destroy(last);
    close_bench(&bench);
}

/* Which image takes the place of a faulty one is known only to who decodes. */
static void every_rank_decodes_where_faulty_images_are_skipped(void **state)
{
    (void)state;
    struct bench bench;
    open_bench(true, &bench);
    struct yk_batch_prefetcher *last = open_rank(&bench, 1);
    const struct yk_rank_batch *batch = NULL;
    assert_ok(yk_batch_prefetcher_read_batch(last, 0, INT64_MAX, &batch));
    assert_non_null(batch->slices[0].own.pixels);
    yk_batch_prefetcher_destroy(last);
    close_bench(&bench);
}

#define scratch_test(test)                                                                         \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(a_rank_that_lacks_the_first_layer_opens_no_image),
        scratch_test(every_rank_decodes_where_faulty_images_are_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
