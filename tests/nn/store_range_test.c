#include "nn/store/parameter_store.h"

#include "base/random.h"
#include "support/support.h"
#include "support/training/small_store.h"

enum {
    MAX_COUNT = 4096
};

/* A store of the same net that keeps a part of every layer. */
static struct yk_parameter_store *open_part(const struct small_store *whole,
                                            struct yk_layer_partition partition)
{
    struct yk_parameter_store *store = NULL;
    struct yk_layer_partition *partitions =
        yk_arena_allocate(whole->arena, (size_t)whole->net->layer_count, sizeof *partitions);
    assert_non_null(partitions);
    for (int32_t l = 0; l < whole->net->layer_count; l++) {
        partitions[l] = partition;
    }
    assert_ok(yk_parameter_store_create(
        whole->net, &whole->store->context, whole->store->optimizer,
        &(struct yk_parameter_store_layout){.partitions = partitions}, &store));
    return store;
}

/* Whatever ranges a parameter comes in, what is kept of it is what the whole store has. */
static void check_trained(const struct small_store *whole, const struct yk_parameter_store *part,
                          int32_t layer, const struct yk_parameter *parameter,
                          struct yk_random *random)
{
    const struct yk_layer_partition *partition = &part->layers[layer].partition;
    float numbers[MAX_COUNT];
    float kept[MAX_COUNT];
    struct yk_parameter_range range;
    assert_true(parameter->count <= MAX_COUNT);
    assert_ok(yk_parameter_store_read_values(whole->store, layer, parameter, numbers));
    for (int64_t first = 0; first < parameter->count;) {
        const int64_t left = parameter->count - first;
        const int64_t count = 1 + yk_random_below(random, left);
        assert_ok(yk_parameter_store_write_range(part, layer, parameter, YK_STATE_WEIGHTS,
                                                 (struct yk_parameter_range){first, count},
                                                 numbers + first));
        first += count;
    }
    for (int32_t b = 0;
         yk_layer_partition_next_kept_range(partition, whole->net, layer, parameter, &b, &range);) {
        assert_ok(
            yk_parameter_store_read_range(part, layer, parameter, YK_STATE_WEIGHTS, range, kept));
        assert_memory_equal(kept, numbers + range.first, (size_t)range.count * sizeof numbers[0]);
    }
}

static void check_all(const struct small_store_request *request,
                      struct yk_layer_partition partition)
{
    struct small_store whole = small_store_open(request);
    struct yk_parameter_store *part = open_part(&whole, partition);
    struct yk_random random = yk_random_from_seed(5);
    small_store_fill(&whole, 3);
    for (int32_t l = 0; l < whole.net->layer_count; l++) {
        for (int32_t i = 0; i < whole.net->layers[l].parameter_count; i++) {
            const struct yk_parameter *parameter = &whole.net->layers[l].parameters[i];
            if (parameter->trained) {
                check_trained(&whole, part, l, parameter, &random);
            }
        }
    }
    yk_parameter_store_destroy(part);
    small_store_close(&whole);
}

static void numbers_come_back_in_any_ranges(void **state)
{
    (void)state;
    static const struct yk_layer_partition partitions[] = {
        {.kind = YK_LAYER_PARTITION_WHOLE},
        {.kind = YK_LAYER_PARTITION_ABSENT},
        {.kind = YK_LAYER_PARTITION_SHARDED_STATE, .blocks = 3, .from = 0.2, .to = 0.7},
        {.kind = YK_LAYER_PARTITION_FULLY_SHARDED, .blocks = 1, .from = 0, .to = 0.3},
        {.kind = YK_LAYER_PARTITION_FULLY_SHARDED, .blocks = 5, .from = 0.3, .to = 1},
    };
    static const enum yk_precision precisions[] = {YK_PRECISION_FP32, YK_PRECISION_BF16,
                                                   YK_PRECISION_FP16};
    for (size_t h = 0; h < sizeof partitions / sizeof partitions[0]; h++) {
        for (size_t p = 0; p < sizeof precisions / sizeof precisions[0]; p++) {
            struct small_store_request request = {
                .config = &small_gpt, .precision = precisions[p], .optimizer = YK_OPTIMIZER_ADAMW};
            check_all(&request, partitions[h]);
            request.optimizer = YK_OPTIMIZER_NONE; /* no master copies */
            check_all(&request, partitions[h]);
        }
    }
}

static void numbers_that_are_not_kept_here_are_not_read(void **state)
{
    (void)state;
    const struct small_store_request request = {.config = &small_gpt,
                                                .optimizer = YK_OPTIMIZER_SGD};
    struct small_store whole = small_store_open(&request);
    struct yk_parameter_store *part = open_part(
        &whole, (struct yk_layer_partition){
                    .kind = YK_LAYER_PARTITION_FULLY_SHARDED, .blocks = 1, .from = 0, .to = 0.5});
    const struct yk_parameter *parameter = &whole.net->layers[0].parameters[0];
    float numbers[MAX_COUNT];
    /* The embedding's 88 + 48 numbers: the first half ends at 68. */
    assert_string_equal(parameter->name, "transformer.wte.weight");
    assert_ok(yk_parameter_store_read_range(part, 0, parameter, YK_STATE_MOMENT1,
                                            (struct yk_parameter_range){60, 8}, numbers));
    assert_fails(yk_parameter_store_read_range(part, 0, parameter, YK_STATE_MOMENT1,
                                               (struct yk_parameter_range){60, 9}, numbers),
                 YK_ERROR_INPUT,
                 "1 of 9 things of \"transformer.wte.weight\" from 60 on are not kept here");
    yk_parameter_store_destroy(part);
    small_store_close(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back_in_any_ranges),
        cmocka_unit_test(numbers_that_are_not_kept_here_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
