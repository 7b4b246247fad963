/*
 * Ranges whose work is launched as graphs, against the same ops put outside any range, bit for bit.
 * A range is replayed from about the fourth time on; tests go through it well before and well
 * after.
 */
#include "gpu/gpu.h"

#include "base/hash.h"
#include "base/random.h"
#include "support/support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    B = 2,
    T = 128,
    C = 128,
    HEADS = 2,
    ROWS = B * T,
    QKV = 3 * C,
    TIMES = 10,
    LANES = 2,
    ALIGNMENT = 256,
    MEMORY_BYTES = 1 << 20,
};

/* What the work of a range reads and writes, all on the device. Numbers are bf16 where not said. */
struct places {
    char *inputs;   /* those up to `results` */
    char *x;        /* (ROWS, C) */
    char *weights;  /* (C, 3 · C) */
    char *bias;     /* (3 · C) */
    char *norm;     /* (C), and its bias (C) */
    char *results;  /* those up to `counter` */
    char *normed;   /* (ROWS, C) */
    char *mean;     /* (ROWS) fp32, and rstd (ROWS) */
    char *qkv;      /* (ROWS, 3 · C) */
    char *sums;     /* (B, HEADS, T) fp32 */
    char *attended; /* (ROWS, C) */
    char *moved;    /* (ROWS, C) */
    char *d_bias;   /* (3 · C) */
    char *counter;  /* (1) fp32: how often the work was done */
    char *one;      /* (1) fp32 */
    char *end;
};

struct bench {
    struct yk_backend_device *device;
    struct yk_backend_lane *lane;
    struct yk_backend_event *event;
    void *memory;
    struct places at;
    char *host; /* as long as results */
};

static const struct yk_backend *backend;

/* ---- a bench ---- */

static char *carve(char **next, size_t bytes)
{
    char *at = *next;
    *next += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

static struct places lay_out(char *memory)
{
    const size_t row = (size_t)C * 2;
    const size_t numbers = (size_t)ROWS * sizeof(float);
    struct places at = {.inputs = memory};
    char *next = memory;
    at.x = carve(&next, ROWS * row);
    at.weights = carve(&next, (size_t)QKV * row);
    at.bias = carve(&next, 3 * row);
    at.norm = carve(&next, 2 * row);
    at.results = next;
    at.normed = carve(&next, ROWS * row);
    at.mean = carve(&next, 2 * numbers);
    at.qkv = carve(&next, (size_t)ROWS * 3 * row);
    at.sums = carve(&next, numbers * HEADS);
    at.attended = carve(&next, ROWS * row);
    at.moved = carve(&next, ROWS * row);
    at.d_bias = carve(&next, 3 * row);
    at.counter = carve(&next, sizeof(float));
    at.one = carve(&next, sizeof(float));
    at.end = next;
    return at;
}

static size_t results_bytes(const struct bench *bench)
{
    return (size_t)(bench->at.counter - bench->at.results);
}

/* bf16 between −1 and 1. */
static void fill_inputs(const struct bench *bench, uint64_t seed)
{
    const size_t bytes = (size_t)(bench->at.results - bench->at.inputs);
    uint16_t *drawn = malloc(bytes);
    struct yk_random random = yk_random_from_seed(seed);
    assert_non_null(drawn);
    for (size_t i = 0; i < bytes / sizeof *drawn; i++) {
        const float number = (float)(2 * yk_random_unit(&random) - 1);
        uint32_t bits;
        memcpy(&bits, &number, sizeof bits);
        drawn[i] = (uint16_t)(bits >> 16);
    }
    backend->copy(bench->lane, bench->at.inputs, drawn, bytes);
    assert_ok(backend->finish(bench->lane));
    free(drawn);
}

static void open_on(struct yk_backend_device *device, struct bench *out)
{
    const float one = 1;
    *out = (struct bench){.device = device};
    assert_ok(backend->lane_create(device, "compute", &out->lane));
    assert_ok(backend->event_create(device, &out->event));
    assert_ok(backend->take(device, MEMORY_BYTES, &out->memory));
    out->at = lay_out(out->memory);
    assert_true(out->at.end - out->at.inputs <= MEMORY_BYTES);
    out->host = malloc(results_bytes(out));
    assert_non_null(out->host);
    backend->copy(out->lane, out->at.one, &one, sizeof one);
    fill_inputs(out, 1);
}

static void drop_bench(struct bench *bench)
{
    backend->lane_destroy(bench->lane);
    backend->event_destroy(bench->event);
    backend->give_back(bench->device, bench->memory);
    free(bench->host);
}

static struct bench open_bench(const struct yk_backend_options *options)
{
    struct yk_backend_device *device = NULL;
    struct bench bench;
    assert_ok(backend->open(options, &device));
    open_on(device, &bench);
    return bench;
}

static struct bench open_replaying(void)
{
    const struct yk_backend_options options = {.graphs = true, .attention = "own"};
    return open_bench(&options);
}

static void close_bench(struct bench *bench)
{
    drop_bench(bench);
    backend->close(bench->device);
}

/* ---- the work ---- */

static void put_attention(const struct bench *bench, float scale, int64_t sample)
{
    const size_t row = (size_t)C * 2;
    backend->attend(bench->lane, &(struct yk_attend){
                                     .batch = B,
                                     .queries = T,
                                     .keys = T,
                                     .heads = HEADS,
                                     .kv_heads = HEADS,
                                     .head_size = C / HEADS,
                                     .q = bench->at.qkv,
                                     .k = bench->at.qkv + row,
                                     .v = bench->at.qkv + 2 * row,
                                     .out = bench->at.attended,
                                     .sums = (float *)(void *)bench->at.sums,
                                     .q_stride = QKV,
                                     .k_stride = QKV,
                                     .v_stride = QKV,
                                     .out_stride = C,
                                     .type = YK_PRECISION_BF16,
                                     .scale = scale,
                                     .causal = true,
                                     .dropout = {.seed = 1, .first_sample = sample},
                                 });
}

static void put_product(const struct bench *bench)
{
    backend->matmul(bench->lane, &(struct yk_matmul){
                                     .m = ROWS,
                                     .n = QKV,
                                     .k = C,
                                     .a = bench->at.normed,
                                     .b = bench->at.weights,
                                     .c = bench->at.qkv,
                                     .a_stride = C,
                                     .b_stride = QKV,
                                     .c_stride = QKV,
                                     .a_type = YK_PRECISION_BF16,
                                     .b_type = YK_PRECISION_BF16,
                                     .c_type = YK_PRECISION_BF16,
                                     .bias_type = YK_PRECISION_BF16,
                                     .scale = 1,
                                     .bias = bench->at.bias,
                                     .cuts = {C, QKV - C},
                                 });
}

/* Norm, product and attention, a sum, and some moving around; counts itself. */
static void put_work(const struct bench *bench, float scale, int64_t sample)
{
    const struct places *at = &bench->at;
    const size_t row = (size_t)C * 2;
    backend->normalise(bench->lane, &(struct yk_normalise){
                                        .rows = ROWS,
                                        .width = C,
                                        .x = at->x,
                                        .y = at->normed,
                                        .weight = at->norm,
                                        .bias = at->norm + row,
                                        .mean = (float *)(void *)at->mean,
                                        .rstd = (float *)(void *)at->mean + ROWS,
                                        .epsilon = 1e-5F,
                                        .x_type = YK_PRECISION_BF16,
                                        .y_type = YK_PRECISION_BF16,
                                        .weight_type = YK_PRECISION_BF16,
                                    });
    put_product(bench);
    put_attention(bench, scale, sample);
    backend->clear(bench->lane, at->d_bias, 3 * row);
    backend->sum_rows(bench->lane, &(struct yk_sum_rows){
                                       .rows = ROWS,
                                       .columns = QKV,
                                       .from = at->qkv,
                                       .stride = QKV,
                                       .to = at->d_bias,
                                       .from_type = YK_PRECISION_BF16,
                                       .to_type = YK_PRECISION_BF16,
                                   });
    backend->copy(bench->lane, at->moved, at->x, ROWS * row);
    backend->add(bench->lane, &(struct yk_add){.count = (int64_t)ROWS * C,
                                               .from = at->attended,
                                               .to = at->moved,
                                               .type = YK_PRECISION_BF16});
    backend->add(bench->lane,
                 &(struct yk_add){
                     .count = 1, .from = at->one, .to = at->counter, .type = YK_PRECISION_FP32});
}

static yk_status read_results(const struct bench *bench, uint64_t *out)
{
    const size_t bytes = results_bytes(bench);
    backend->copy(bench->lane, bench->host, bench->at.results, bytes);
    YK_TRY(backend->finish(bench->lane));
    *out = yk_hash_bytes(bench->host, bytes);
    return YK_OK;
}

/* In a range of that name, or in none. */
static yk_status work(const struct bench *bench, const char *name, float scale, uint64_t *out)
{
    static _Atomic int64_t sample; /* where nothing is dropped, its number means nothing */
    backend->clear(bench->lane, bench->at.results, results_bytes(bench));
    if (name) {
        backend->begin_range(bench->lane, name);
    }
    put_work(bench, scale, sample++);
    if (name) {
        backend->end_range(bench->lane);
    }
    return read_results(bench, out);
}

static uint64_t direct(const struct bench *bench, float scale)
{
    uint64_t digest = 0;
    assert_ok(work(bench, NULL, scale, &digest));
    return digest;
}

static uint64_t ranged(const struct bench *bench, const char *name, float scale)
{
    uint64_t digest = 0;
    assert_ok(work(bench, name, scale, &digest));
    return digest;
}

/* Goes through the range until it is replayed. */
static void repeat(const struct bench *bench, const char *name, float scale, uint64_t expected)
{
    for (int i = 0; i < TIMES; i++) {
        assert_int_equal(ranged(bench, name, scale), expected);
    }
}

static float read_counter(const struct bench *bench)
{
    float counter = 0;
    backend->copy(bench->lane, &counter, bench->at.counter, sizeof counter);
    assert_ok(backend->finish(bench->lane));
    return counter;
}

/* ---- tests ---- */

static void repeat_with(const struct yk_backend_options *options)
{
    struct bench bench = open_bench(options);
    repeat(&bench, "layer", 0.125F, direct(&bench, 0.125F));
    close_bench(&bench);
}

static void range_gives_the_same_bits_every_time(void **state)
{
    (void)state;
    repeat_with(&(struct yk_backend_options){.graphs = true, .attention = "own"});
}

static void ranges_without_graphs_give_the_same_bits(void **state)
{
    (void)state;
    repeat_with(&(struct yk_backend_options){.attention = "own"});
}

static void products_side_by_side_are_replayed(void **state)
{
    (void)state;
    repeat_with(
        &(struct yk_backend_options){.graphs = true, .side_streams = true, .attention = "own"});
}

static void attention_of_a_library_is_replayed(void **state)
{
    (void)state;
    repeat_with(&(struct yk_backend_options){.graphs = true, .attention = "cudnn"});
}

enum {
    WEIGHTS = 64 * 256, /* in each of three tensors in NF4 */
    TENSORS = 3,
    TENSOR_ROOM = 2 * WEIGHTS, /* bytes for one, in four bits or as bf16 */
};

/* Dequantises tensors into two places by turns, the later ones ahead, and copies them to where
 * results are. `first` is the turn of the first. */
static void put_tensors(const struct bench *bench, char *memory, enum yk_turn first)
{
    for (int i = 0; i < TENSORS; i++) {
        char *place = memory + (ptrdiff_t)(TENSORS + i % 2) * TENSOR_ROOM;
        struct yk_dequantise op = {
            .count = WEIGHTS,
            .to = place,
            .type = YK_PRECISION_BF16,
            .turn = i == 0 ? first : YK_TURN_AHEAD,
        };
        (void)yk_nf4_parts(memory + (ptrdiff_t)i * TENSOR_ROOM, WEIGHTS, &op.from);
        backend->dequantise(bench->lane, &op);
        backend->copy(bench->lane, bench->at.results + (ptrdiff_t)i * TENSOR_ROOM, place,
                      TENSOR_ROOM);
    }
}

static uint64_t read_tensors(const struct bench *bench, char *memory, const char *name,
                             enum yk_turn first)
{
    uint64_t digest = 0;
    backend->clear(bench->lane, bench->at.results, results_bytes(bench));
    if (name) {
        backend->begin_range(bench->lane, name);
    }
    put_tensors(bench, memory, first);
    if (name) {
        backend->end_range(bench->lane);
    }
    assert_ok(read_results(bench, &digest));
    return digest;
}

static void weights_made_ahead_are_replayed(void **state)
{
    (void)state;
    struct bench bench = open_replaying();
    void *memory = NULL;
    assert_true(results_bytes(&bench) >= (size_t)TENSORS * TENSOR_ROOM);
    assert_ok(backend->take(bench.device, (size_t)(TENSORS + 2) * TENSOR_ROOM, &memory));
    for (int i = 0; i < TENSORS; i++) {
        struct yk_quantise op = {
            .count = WEIGHTS,
            .from = bench.at.inputs + (ptrdiff_t)i * ALIGNMENT,
            .type = YK_PRECISION_BF16,
        };
        (void)yk_nf4_parts((char *)memory + (ptrdiff_t)i * TENSOR_ROOM, WEIGHTS, &op.to);
        backend->quantise(bench.lane, &op);
    }
    const uint64_t expected = read_tensors(&bench, memory, NULL, YK_TURN_FIRST);
    for (int i = 0; i < 3 * TIMES; i++) {
        assert_int_equal(read_tensors(&bench, memory, "layer", YK_TURN_FIRST), expected);
        assert_int_equal(read_tensors(&bench, memory, "other", YK_TURN_AHEAD), expected);
        assert_int_equal(read_tensors(&bench, memory, NULL, YK_TURN_AHEAD), expected);
    }
    backend->give_back(bench.device, memory);
    close_bench(&bench);
}

static void work_of_a_range_is_done_once(void **state)
{
    (void)state;
    struct bench bench = open_replaying();
    for (int i = 1; i <= 3 * TIMES; i++) {
        backend->begin_range(bench.lane, "layer");
        put_work(&bench, 0.125F, 0);
        backend->end_range(bench.lane);
        if (i % 4 == 0) {
            assert_float_equal(read_counter(&bench), (float)i, 0);
        }
    }
    assert_float_equal(read_counter(&bench), 3.0F * TIMES, 0);
    close_bench(&bench);
}

static void new_numbers_in_the_same_memory_are_seen(void **state)
{
    (void)state;
    struct bench bench = open_replaying();
    const uint64_t first = direct(&bench, 0.125F);
    repeat(&bench, "layer", 0.125F, first);
    fill_inputs(&bench, 2);
    const uint64_t second = direct(&bench, 0.125F);
    assert_int_not_equal(second, first);
    assert_int_equal(ranged(&bench, "layer", 0.125F), second);
    close_bench(&bench);
}

static void changed_argument_is_heeded(void **state)
{
    (void)state;
    struct bench bench = open_replaying();
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
    close_bench(&bench);
}

static void argument_that_always_changes_is_heeded(void **state)
{
    enum {
        CHANGES = 40,
        STAYS = 600, /* longer than a range that always changed is left alone */
    };
    (void)state;
    struct bench bench = open_replaying();
    for (int i = 1; i <= CHANGES; i++) {
        const float scale = 0.01F * (float)i;
        const uint64_t expected = direct(&bench, scale);
        assert_int_equal(ranged(&bench, "layer", scale), expected);
    }
    const uint64_t expected = direct(&bench, 0.125F);
    for (int i = 0; i < STAYS; i++) {
        assert_int_equal(ranged(&bench, "layer", 0.125F), expected);
    }
    close_bench(&bench);
}

/* What was scratch memory belongs to somebody else after it grew. */
static void scratch_memory_may_grow_in_between(void **state)
{
    (void)state;
    const size_t before = (size_t)64 << 20;
    struct bench bench = open_replaying();
    void *taken = NULL;
    uint8_t *seen = malloc(before);
    size_t wrong = 0;
    assert_non_null(seen);
    assert_ok(backend->prepare(bench.lane, before));
    const uint64_t expected = direct(&bench, 0.125F);
    repeat(&bench, "layer", 0.125F, expected);
    assert_ok(backend->prepare(bench.lane, 3 * before));
    assert_ok(backend->take(bench.device, before, &taken));
    memset(seen, 0xa5, before);
    backend->copy(bench.lane, taken, seen, before);
    repeat(&bench, "layer", 0.125F, expected);
    backend->copy(bench.lane, seen, taken, before);
    assert_ok(backend->finish(bench.lane));
    for (size_t i = 0; i < before; i++) {
        wrong += seen[i] != 0xa5;
    }
    assert_int_equal(wrong, 0);
    backend->give_back(bench.device, taken);
    free(seen);
    close_bench(&bench);
}

static void count_call(void *user)
{
    int *calls = user;
    (*calls)++;
}

static void range_may_hold_events_and_work_of_the_host(void **state)
{
    (void)state;
    struct bench bench = open_replaying();
    const uint64_t expected = direct(&bench, 0.125F);
    const float start = 10;
    int calls = 0;
    for (int i = 1; i <= 3 * TIMES; i++) {
        uint64_t digest = 0;
        float counter = 0;
        backend->clear(bench.lane, bench.at.results, results_bytes(&bench));
        backend->begin_range(bench.lane, "layer");
        put_work(&bench, 0.125F, 0);
        backend->call(bench.lane, count_call, &calls);
        backend->record(bench.lane, bench.event);
        backend->copy(bench.lane, bench.at.counter, &start, sizeof start);
        put_work(&bench, 0.125F, 0);
        backend->copy(bench.lane, &counter, bench.at.counter, sizeof counter);
        assert_ok(backend->reach(bench.event));
        assert_int_equal(calls, i);
        backend->end_range(bench.lane);
        assert_ok(read_results(&bench, &digest));
        assert_int_equal(digest, expected);
        assert_float_equal(counter, start + 1, 0);
    }
    close_bench(&bench);
}

static void ranges_within_ranges_are_one(void **state)
{
    (void)state;
    struct bench bench = open_replaying();
    const uint64_t expected = direct(&bench, 0.125F);
    for (int i = 0; i < TIMES; i++) {
        uint64_t digest = 0;
        backend->begin_range(bench.lane, "step");
        backend->clear(bench.lane, bench.at.results, results_bytes(&bench));
        backend->begin_range(bench.lane, "layer");
        put_work(&bench, 0.125F, 0);
        backend->end_range(bench.lane);
        backend->end_range(bench.lane);
        assert_ok(read_results(&bench, &digest));
        assert_int_equal(digest, expected);
        backend->begin_range(bench.lane, "nothing");
        backend->end_range(bench.lane);
    }
    close_bench(&bench);
}

struct worker {
    struct bench bench;
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
        const yk_status status = work(&worker->bench, name, 0.125F, &digest);
        worker->wrong += status != YK_OK || digest != worker->expected;
    }
    return NULL;
}

static void lanes_are_captured_side_by_side(void **state)
{
    (void)state;
    const struct yk_backend_options options = {.graphs = true, .attention = "own"};
    struct yk_backend_device *device = NULL;
    struct worker workers[LANES];
    pthread_t threads[LANES];
    assert_ok(backend->open(&options, &device));
    for (int i = 0; i < LANES; i++) {
        workers[i].wrong = 0;
        open_on(device, &workers[i].bench);
        workers[i].expected = direct(&workers[i].bench, 0.125F);
    }
    for (int i = 0; i < LANES; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work_alone, &workers[i]), 0);
    }
    for (int i = 0; i < LANES; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].wrong, 0);
        drop_bench(&workers[i].bench);
    }
    backend->close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_gives_the_same_bits_every_time),
        cmocka_unit_test(ranges_without_graphs_give_the_same_bits),
        cmocka_unit_test(products_side_by_side_are_replayed),
        cmocka_unit_test(attention_of_a_library_is_replayed),
        cmocka_unit_test(weights_made_ahead_are_replayed),
        cmocka_unit_test(work_of_a_range_is_done_once),
        cmocka_unit_test(new_numbers_in_the_same_memory_are_seen),
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
