/*
 * Ranges whose work is launched as graphs, against the same ops put outside any range, bit for bit.
 * A range is replayed from about the fourth time on; tests go through it well before and well
 * after.
 */
#include "gpu/gpu.h"
#include "gpu/replay_bench.h"
#include "support/support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIMES = 10,
    LANES = 2,
};

static const struct yk_backend *backend;

static struct replay_bench open_replaying(void)
{
    const struct yk_backend_device_options options = {.graphs = true, .attention = "own"};
    return replay_bench_open(backend, &options);
}

static uint64_t direct(const struct replay_bench *bench, float scale)
{
    uint64_t digest = 0;
    assert_ok(replay_bench_work(bench, NULL, scale, &digest));
    return digest;
}

static uint64_t ranged(const struct replay_bench *bench, const char *name, float scale)
{
    uint64_t digest = 0;
    assert_ok(replay_bench_work(bench, name, scale, &digest));
    return digest;
}

/* Goes through the range until it is replayed. */
static void repeat(const struct replay_bench *bench, const char *name, float scale,
                   uint64_t expected)
{
    for (int i = 0; i < TIMES; i++) {
        assert_int_equal(ranged(bench, name, scale), expected);
    }
}

static float read_counter(const struct replay_bench *bench)
{
    float counter = 0;
    backend->copy(bench->lane, &counter, bench->at.counter, sizeof counter);
    assert_ok(backend->lane_synchronize(bench->lane));
    return counter;
}

/* ---- tests ---- */

static void repeat_with(const struct yk_backend_device_options *options)
{
    struct replay_bench bench = replay_bench_open(backend, options);
    repeat(&bench, "layer", 0.125F, direct(&bench, 0.125F));
    replay_bench_close(&bench);
}

static void range_gives_the_same_bits_every_time(void **state)
{
    (void)state;
    repeat_with(&(struct yk_backend_device_options){.graphs = true, .attention = "own"});
}

static void ranges_with_graphs_off_give_the_same_bits(void **state)
{
    (void)state;
    repeat_with(&(struct yk_backend_device_options){.attention = "own"});
}

static void products_side_by_side_are_replayed(void **state)
{
    (void)state;
    repeat_with(&(struct yk_backend_device_options){
        .graphs = true, .side_streams = true, .attention = "own"});
}

static void attention_of_a_library_is_replayed(void **state)
{
    (void)state;
    repeat_with(&(struct yk_backend_device_options){.graphs = true, .attention = "cudnn"});
}

enum {
    WEIGHTS = 64 * 256, /* in each of three tensors in NF4 */
    TENSORS = 3,
    TENSOR_ROOM = 2 * WEIGHTS, /* bytes for one, in four bits or as bf16 */
};

/* Dequantises tensors into two places by turns, the later ones ahead, and copies them to where
 * results are. `first` is the turn of the first. */
static void print_tensors(const struct replay_bench *bench, char *memory,
                          enum yk_dequantise_schedule first)
{
    for (int i = 0; i < TENSORS; i++) {
        char *place = memory + (ptrdiff_t)(TENSORS + i % 2) * TENSOR_ROOM;
        struct yk_dequantise_op op = {
            .count = WEIGHTS,
            .to = place,
            .type = YK_PRECISION_BF16,
            .order = i == 0 ? first : YK_DEQUANTISE_PREFETCH,
        };
        (void)yk_ops_lay_out_nf4_tensor(memory + (ptrdiff_t)i * TENSOR_ROOM, WEIGHTS, &op.from);
        backend->dequantise(bench->lane, &op);
        backend->copy(bench->lane, bench->at.results + (ptrdiff_t)i * TENSOR_ROOM, place,
                      TENSOR_ROOM);
    }
}

static uint64_t read_tensors(const struct replay_bench *bench, char *memory, const char *name,
                             enum yk_dequantise_schedule first)
{
    uint64_t digest = 0;
    backend->clear(bench->lane, bench->at.results, replay_bench_bytes(bench));
    if (name) {
        backend->begin_range(bench->lane, name);
    }
    print_tensors(bench, memory, first);
    if (name) {
        backend->end_range(bench->lane);
    }
    assert_ok(replay_bench_read(bench, &digest));
    return digest;
}

static void weights_made_ahead_are_replayed(void **state)
{
    (void)state;
    struct replay_bench bench = open_replaying();
    void *memory = NULL;
    assert_true(replay_bench_bytes(&bench) >= (size_t)TENSORS * TENSOR_ROOM);
    assert_ok(backend->allocate(bench.device, (size_t)(TENSORS + 2) * TENSOR_ROOM, &memory));
    for (int i = 0; i < TENSORS; i++) {
        struct yk_quantise_op op = {
            .count = WEIGHTS,
            .from = bench.at.inputs + (ptrdiff_t)i * REPLAY_ALIGNMENT,
            .type = YK_PRECISION_BF16,
        };
        (void)yk_ops_lay_out_nf4_tensor((char *)memory + (ptrdiff_t)i * TENSOR_ROOM, WEIGHTS,
                                        &op.to);
        backend->quantise(bench.lane, &op);
    }
    const uint64_t expected = read_tensors(&bench, memory, NULL, YK_DEQUANTISE_IN_ORDER);
    for (int i = 0; i < 3 * TIMES; i++) {
        assert_int_equal(read_tensors(&bench, memory, "layer", YK_DEQUANTISE_IN_ORDER), expected);
        assert_int_equal(read_tensors(&bench, memory, "other", YK_DEQUANTISE_PREFETCH), expected);
        assert_int_equal(read_tensors(&bench, memory, NULL, YK_DEQUANTISE_PREFETCH), expected);
    }
    backend->free(bench.device, memory);
    replay_bench_close(&bench);
}

static void work_of_a_range_is_done_once(void **state)
{
    (void)state;
    struct replay_bench bench = open_replaying();
    for (int i = 1; i <= 3 * TIMES; i++) {
        backend->begin_range(bench.lane, "layer");
        replay_bench_enqueue(&bench, 0.125F, 0);
        backend->end_range(bench.lane);
        if (i % 4 == 0) {
            assert_float_equal(read_counter(&bench), (float)i, 0);
        }
    }
    assert_float_equal(read_counter(&bench), 3.0F * TIMES, 0);
    replay_bench_close(&bench);
}

static void new_numbers_in_the_same_memory_are_used(void **state)
{
    (void)state;
    struct replay_bench bench = open_replaying();
    const uint64_t first = direct(&bench, 0.125F);
    repeat(&bench, "layer", 0.125F, first);
    replay_bench_fill(&bench, 2);
    const uint64_t second = direct(&bench, 0.125F);
    assert_int_not_equal(second, first);
    assert_int_equal(ranged(&bench, "layer", 0.125F), second);
    replay_bench_close(&bench);
}

static void changed_argument_is_heeded(void **state)
{
    (void)state;
    struct replay_bench bench = open_replaying();
    const uint64_t first = direct(&bench, 0.125F);
    const uint64_t second = direct(&bench, 0.25F);
    assert_int_not_equal(second, first);
    repeat(&bench, "layer", 0.125F, first);
    assert_int_equal(ranged(&bench, "layer", 0.25F), second);
    assert_int_equal(ranged(&bench, "layer", 0.125F), first);
    for (int i = 0; i < TIMES; i++) { /* both are kept under one name */
        assert_int_equal(ranged(&bench, "layer", 0.25F), second);
        assert_int_equal(ranged(&bench, "layer", 0.125F), first);
    }
    replay_bench_close(&bench);
}

static void argument_that_always_changes_is_heeded(void **state)
{
    enum {
        CHANGES = 40,
        STAYS = 600, /* longer than a range that always changed is left alone */
    };
    (void)state;
    struct replay_bench bench = open_replaying();
    for (int i = 1; i <= CHANGES; i++) {
        const float scale = 0.01F * (float)i;
        const uint64_t expected = direct(&bench, scale);
        assert_int_equal(ranged(&bench, "layer", scale), expected);
    }
    const uint64_t expected = direct(&bench, 0.125F);
    for (int i = 0; i < STAYS; i++) {
        assert_int_equal(ranged(&bench, "layer", 0.125F), expected);
    }
    replay_bench_close(&bench);
}

/* What was scratch memory belongs to somebody else after it grew. */
static void scratch_memory_may_grow_in_between(void **state)
{
    (void)state;
    const size_t before = (size_t)64 << 20;
    struct replay_bench bench = open_replaying();
    void *allocated = NULL;
    uint8_t *observed = malloc(before);
    size_t wrong = 0;
    assert_non_null(observed);
    assert_ok(backend->reserve_scratch(bench.lane, before));
    const uint64_t expected = direct(&bench, 0.125F);
    repeat(&bench, "layer", 0.125F, expected);
    assert_ok(backend->reserve_scratch(bench.lane, 3 * before));
    assert_ok(backend->allocate(bench.device, before, &allocated));
    memset(observed, 0xa5, before);
    backend->copy(bench.lane, allocated, observed, before);
    repeat(&bench, "layer", 0.125F, expected);
    backend->copy(bench.lane, observed, allocated, before);
    assert_ok(backend->lane_synchronize(bench.lane));
    for (size_t i = 0; i < before; i++) {
        wrong += observed[i] != 0xa5;
    }
    assert_int_equal(wrong, 0);
    backend->free(bench.device, allocated);
    free(observed);
    replay_bench_close(&bench);
}

static void count_call(void *user)
{
    int *calls = user;
    (*calls)++;
}

static void range_may_hold_events_and_work_of_the_host(void **state)
{
    (void)state;
    struct replay_bench bench = open_replaying();
    const uint64_t expected = direct(&bench, 0.125F);
    const float start = 10;
    int calls = 0;
    for (int i = 1; i <= 3 * TIMES; i++) {
        uint64_t digest = 0;
        float counter = 0;
        backend->clear(bench.lane, bench.at.results, replay_bench_bytes(&bench));
        backend->begin_range(bench.lane, "layer");
        replay_bench_enqueue(&bench, 0.125F, 0);
        backend->call_host(bench.lane, count_call, &calls);
        backend->event_record(bench.lane, bench.event);
        backend->copy(bench.lane, bench.at.counter, &start, sizeof start);
        replay_bench_enqueue(&bench, 0.125F, 0);
        backend->copy(bench.lane, &counter, bench.at.counter, sizeof counter);
        assert_ok(backend->event_synchronize(bench.event));
        assert_int_equal(calls, i);
        backend->end_range(bench.lane);
        assert_ok(replay_bench_read(&bench, &digest));
        assert_int_equal(digest, expected);
        assert_float_equal(counter, start + 1, 0);
    }
    replay_bench_close(&bench);
}

static void ranges_within_ranges_are_one(void **state)
{
    (void)state;
    struct replay_bench bench = open_replaying();
    const uint64_t expected = direct(&bench, 0.125F);
    for (int i = 0; i < TIMES; i++) {
        uint64_t digest = 0;
        backend->begin_range(bench.lane, "step");
        backend->clear(bench.lane, bench.at.results, replay_bench_bytes(&bench));
        backend->begin_range(bench.lane, "layer");
        replay_bench_enqueue(&bench, 0.125F, 0);
        backend->end_range(bench.lane);
        backend->end_range(bench.lane);
        assert_ok(replay_bench_read(&bench, &digest));
        assert_int_equal(digest, expected);
        backend->begin_range(bench.lane, "nothing");
        backend->end_range(bench.lane);
    }
    replay_bench_close(&bench);
}

struct worker {
    struct replay_bench bench;
    uint64_t expected;
    int wrong;
};

static void *work_alone(void *user)
{
    static const char *const names[] = {"first", "second", "third", "fourth"};
    struct worker *worker = user;
    for (size_t i = 0; i < sizeof names / sizeof names[0] * TIMES; i++) {
        uint64_t digest = 0;
        const char *name = names[i / TIMES];
        const yk_status status = replay_bench_work(&worker->bench, name, 0.125F, &digest);
        worker->wrong += status != YK_OK || digest != worker->expected;
    }
    return NULL;
}

static void lanes_are_captured_side_by_side(void **state)
{
    (void)state;
    const struct yk_backend_device_options options = {.graphs = true, .attention = "own"};
    struct yk_backend_device *device = NULL;
    struct worker workers[LANES];
    pthread_t threads[LANES];
    assert_ok(backend->open(&options, &device));
    for (int i = 0; i < LANES; i++) {
        workers[i].wrong = 0;
        replay_bench_open_on(backend, device, &workers[i].bench);
        workers[i].expected = direct(&workers[i].bench, 0.125F);
    }
    for (int i = 0; i < LANES; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work_alone, &workers[i]), 0);
    }
    for (int i = 0; i < LANES; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].wrong, 0);
        replay_bench_drop(&workers[i].bench);
    }
    backend->close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_gives_the_same_bits_every_time),
        cmocka_unit_test(ranges_with_graphs_off_give_the_same_bits),
        cmocka_unit_test(products_side_by_side_are_replayed),
        cmocka_unit_test(attention_of_a_library_is_replayed),
        cmocka_unit_test(weights_made_ahead_are_replayed),
        cmocka_unit_test(work_of_a_range_is_done_once),
        cmocka_unit_test(new_numbers_in_the_same_memory_are_used),
        cmocka_unit_test(changed_argument_is_heeded),
        cmocka_unit_test(argument_that_always_changes_is_heeded),
        cmocka_unit_test(scratch_memory_may_grow_in_between),
        cmocka_unit_test(range_may_hold_events_and_work_of_the_host),
        cmocka_unit_test(ranges_within_ranges_are_one),
        cmocka_unit_test(lanes_are_captured_side_by_side),
    };
    const int found = gpu_find(&backend);
    return found != 0 ? found : cmocka_run_group_tests_name("replay on a GPU", tests, NULL, NULL);
}
