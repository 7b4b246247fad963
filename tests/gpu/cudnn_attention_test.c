/*
 * Attention by cuDNN against the plug-in's own kernels, in norm, and against itself, bit for bit.
 * The plug-in's file is named by YOKE_CUDA_PLUGIN; without it, or without a GPU, all is skipped.
 */
#include "backend/backend.h"
#include "base/random.h"
#include "support/support.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct attend_case {
    const char *name;
    int64_t batch;
    int64_t queries;
    int64_t keys;
    int64_t heads;
    int64_t kv_heads;
    int64_t head_size;
    int64_t window;
    float softcap;
    bool causal;
    bool lengths;
    bool fused;   /* q, k and v side by side in rows */
    bool by_head; /* fused, and side by side in every head */
};

static const struct attend_case cases[] = {
    {"causal", 4, 1024, 1024, 12, 12, 64, 0, 0, true, false, false, false},
    {"causal, fused", 32, 1024, 1024, 12, 12, 64, 0, 0, true, false, true, false},
    {"grouped", 4, 512, 512, 32, 8, 128, 0, 0, true, false, false, false},
    {"grouped, long", 2, 2048, 2048, 32, 8, 128, 0, 0, true, false, false, false},
    {"padded", 8, 100, 100, 8, 8, 64, 0, 0, false, true, false, false},
    {"padded, causal", 8, 100, 100, 8, 8, 64, 0, 0, true, true, true, false},
    {"across", 8, 64, 96, 8, 8, 64, 0, 0, false, true, false, false},
    {"odd", 3, 197, 197, 12, 4, 80, 0, 0, false, false, true, false},
    {"by head", 4, 1024, 1024, 16, 16, 64, 0, 0, true, false, true, true},
    {"by head, padded", 4, 192, 192, 8, 8, 80, 0, 0, false, true, true, true},
    {"96 elements", 4, 2048, 2048, 32, 32, 96, 0, 0, true, false, true, false},
    {"256 elements", 2, 2048, 2048, 8, 4, 256, 0, 0, true, false, true, false},
    {"window", 2, 4096, 4096, 32, 8, 128, 1024, 0, true, false, true, false},
    {"window both ways", 4, 2048, 2048, 12, 12, 64, 65, 0, false, false, true, false},
    {"softcap", 2, 2048, 2048, 8, 4, 128, 0, 50, true, false, true, false},
    {"256 elements, softcap", 2, 4096, 4096, 8, 4, 256, 0, 50, true, false, true, false},
    {"256 elements, softcap, window", 1, 8192, 8192, 8, 4, 256, 4096, 50, true, false, true, false},
};

enum {
    OUT,
    SUMS,
    DQ,
    DK,
    DV,
    RESULTS,
    WARM_RUNS = 2,
    TIMED_RUNS = 10,
};

static const char *const result_names[RESULTS] = {"out", "sums", "dq", "dk", "dv"};

/* All numbers of a case, (rows, stride), as they lie on the host. */
struct numbers {
    int64_t q_width;
    int64_t kv_width;
    int64_t q_rows;
    int64_t kv_rows;
    int64_t q_stride;
    int64_t kv_stride;
    uint16_t *inputs; /* q, k, v and d_out one after the other, or fused and d_out */
    int64_t input_count;
    int32_t *lengths; /* (B) */
};

/* What one run gave: bf16 as it is stored, and sums. */
struct results {
    uint16_t *numbers[RESULTS]; /* NULL for sums */
    float *sums;
    int64_t counts[RESULTS];
    double forward_s;
    double back_s;
};

static uint16_t to_bf16(double value)
{
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return (uint16_t)((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

static double from_bf16(uint16_t stored)
{
    const uint32_t bits = (uint32_t)stored << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    assert_non_null(memory);
    return memory;
}

static struct numbers draw(const struct attend_case *one)
{
    struct numbers numbers = {
        .q_width = one->heads * one->head_size,
        .kv_width = one->kv_heads * one->head_size,
        .q_rows = one->batch * one->queries,
        .kv_rows = one->batch * one->keys,
    };
    numbers.q_stride = one->fused ? numbers.q_width + 2 * numbers.kv_width : numbers.q_width;
    numbers.kv_stride = one->fused ? numbers.q_stride : numbers.kv_width;
    numbers.input_count =
        2 * numbers.q_rows * numbers.q_width + 2 * numbers.kv_rows * numbers.kv_width;
    numbers.inputs = allocate((size_t)numbers.input_count, sizeof(uint16_t));
    struct yk_random random = yk_random_from_seed(17);
    for (int64_t i = 0; i < numbers.input_count; i++) {
        numbers.inputs[i] = to_bf16(3.46 * (yk_random_uniform(&random) - 0.5)); /* variance 1 */
    }
    if (one->lengths) {
        numbers.lengths = allocate((size_t)one->batch, sizeof(int32_t));
        for (int64_t i = 0; i < one->batch; i++) {
            numbers.lengths[i] = (int32_t)(1 + yk_random_below(&random, one->keys));
        }
    }
    return numbers;
}

/* A device with all that one case needs on it. */
struct place {
    const struct yk_backend *backend;
    struct yk_backend_device *device;
    struct yk_backend_lane *lane;
    struct yk_backend_event *begin;
    struct yk_backend_event *end;
    char *inputs;
    char *outputs; /* as inputs, d_out being out: dq, dk, dv and out */
    float *sums;
    int32_t *lengths;
};

static void open_place(const struct yk_backend *backend, const char *choice,
                       const struct attend_case *one, const struct numbers *numbers,
                       struct place *out)
{
    const struct yk_backend_device_options options = {.attention = choice};
    const size_t bytes = (size_t)numbers->input_count * sizeof(uint16_t);
    const size_t sum_bytes = (size_t)(numbers->q_rows * one->heads) * sizeof(float);
    *out = (struct place){.backend = backend};
    assert_ok(backend->open(&options, &out->device));
    assert_ok(backend->lane_create(out->device, "compute", &out->lane));
    assert_ok(backend->event_create(out->device, &out->begin));
    assert_ok(backend->event_create(out->device, &out->end));
    assert_ok(backend->allocate(out->device, bytes, (void **)&out->inputs));
    assert_ok(backend->allocate(out->device, bytes, (void **)&out->outputs));
    assert_ok(backend->allocate(out->device, sum_bytes, (void **)&out->sums));
    backend->copy(out->lane, out->inputs, numbers->inputs, bytes);
    if (one->lengths) {
        const size_t length_bytes = (size_t)one->batch * sizeof(int32_t);
        assert_ok(backend->allocate(out->device, length_bytes, (void **)&out->lengths));
        backend->copy(out->lane, out->lengths, numbers->lengths, length_bytes);
    }
    assert_ok(backend->lane_synchronize(out->lane));
}

static void close_place(struct place *place)
{
    const struct yk_backend *backend = place->backend;
    backend->free(place->device, place->inputs);
    backend->free(place->device, place->outputs);
    backend->free(place->device, place->sums);
    backend->free(place->device, place->lengths);
    backend->event_destroy(place->begin);
    backend->event_destroy(place->end);
    backend->lane_destroy(place->lane);
    backend->close(place->device);
}

/* Outputs become not-a-number, so that what is not written shows. */
static void poison(const struct place *place, const struct numbers *numbers)
{
    const size_t bytes = (size_t)numbers->input_count * sizeof(uint16_t);
    void *all_ones = allocate(bytes, 1);
    memset(all_ones, 0xff, bytes);
    place->backend->copy(place->lane, place->outputs, all_ones, bytes);
    assert_ok(place->backend->lane_synchronize(place->lane));
    free(all_ones);
}

static struct yk_attention_backward_op
op_of(const struct attend_case *one, const struct numbers *numbers, const struct place *place)
{
    const int64_t q_size = one->by_head ? one->head_size : numbers->q_width;
    const int64_t k_size = one->by_head ? one->head_size : numbers->kv_width;
    const int64_t k_at = one->fused ? q_size : numbers->q_rows * numbers->q_width;
    const int64_t v_at = k_at + (one->fused ? k_size : numbers->kv_rows * numbers->kv_width);
    const int64_t out_at =
        numbers->q_rows * numbers->q_width + 2 * numbers->kv_rows * numbers->kv_width;
    return (struct yk_attention_backward_op){
        .forward =
            {
                .batch = one->batch,
                .queries = one->queries,
                .keys = one->keys,
                .heads = one->heads,
                .kv_heads = one->kv_heads,
                .head_size = one->head_size,
                .q = place->inputs,
                .k = place->inputs + k_at * 2,
                .v = place->inputs + v_at * 2,
                .out = place->outputs + out_at * 2,
                .log_sum_exp = place->sums,
                .q_stride = numbers->q_stride,
                .k_stride = numbers->kv_stride,
                .v_stride = numbers->kv_stride,
                .out_stride = numbers->q_width,
                .head_stride = one->by_head ? 3 * one->head_size : 0,
                .type = YK_PRECISION_BF16,
                .scale = (float)(1 / sqrt((double)one->head_size)),
                .softcap = one->softcap,
                .causal = one->causal,
                .window = one->window,
                .lengths = place->lengths,
            },
        .d_out = place->inputs + out_at * 2,
        .dq = place->outputs,
        .dk = place->outputs + k_at * 2,
        .dv = place->outputs + v_at * 2,
        .dq_stride = numbers->q_stride,
        .dk_stride = numbers->kv_stride,
        .dv_stride = numbers->kv_stride,
    };
}

static double time_runs(const struct place *place, const struct yk_attention_backward_op *op,
                        bool back)
{
    const struct yk_backend *backend = place->backend;
    for (int i = -WARM_RUNS; i < TIMED_RUNS; i++) {
        if (i == 0) {
            backend->event_record(place->lane, place->begin);
        }
        if (back) {
            backend->attention_backward(place->lane, op);
        } else {
            backend->attention(place->lane, &op->forward);
        }
    }
    backend->event_record(place->lane, place->end);
    assert_ok(backend->lane_synchronize(place->lane));
    return (backend->event_time_s(place->end) - backend->event_time_s(place->begin)) / TIMED_RUNS;
}

/* A matrix of heads among the outputs of an op. */
struct heads {
    const void *at;
    int64_t rows;
    int64_t stride;
    int64_t count;
    int64_t head_size;
    int64_t head_stride;
};

/* Copies the heads to new memory, one after the other. */
static uint16_t *fetch(const struct place *place, const uint16_t *all, struct heads heads)
{
    const int64_t first = ((const char *)heads.at - place->outputs) / (int64_t)sizeof(uint16_t);
    const int64_t size = heads.head_size;
    uint16_t *packed = allocate((size_t)(heads.rows * heads.count * size), sizeof *packed);
    for (int64_t i = 0; i < heads.rows * heads.count; i++) {
        const int64_t from = first + i / heads.count * heads.stride +
                             i % heads.count * (heads.head_stride ? heads.head_stride : size);
        memcpy(packed + i * size, all + from, (size_t)size * sizeof *packed);
    }
    return packed;
}

static struct results run(const struct attend_case *one, const struct numbers *numbers,
                          const struct place *place)
{
    const struct yk_backend *backend = place->backend;
    const struct yk_attention_backward_op op = op_of(one, numbers, place);
    const size_t bytes = (size_t)numbers->input_count * sizeof(uint16_t);
    poison(place, numbers);
    struct results results = {.counts[SUMS] = numbers->q_rows * one->heads};
    results.forward_s = time_runs(place, &op, false);
    results.back_s = time_runs(place, &op, true);
    results.sums = allocate((size_t)results.counts[SUMS], sizeof(float));
    uint16_t *all = allocate(bytes, 1);
    backend->copy(place->lane, all, place->outputs, bytes);
    backend->copy(place->lane, results.sums, place->sums,
                  (size_t)results.counts[SUMS] * sizeof(float));
    assert_ok(backend->lane_synchronize(place->lane));

    const int64_t q_count = numbers->q_rows * numbers->q_width;
    const int64_t kv_count = numbers->kv_rows * numbers->kv_width;
    results.counts[OUT] = results.counts[DQ] = q_count;
    results.counts[DK] = results.counts[DV] = kv_count;
    const struct yk_attention_op *forward = &op.forward;
    const int64_t size = one->head_size;
    results.numbers[OUT] = fetch(
        place, all,
        (struct heads){forward->out, numbers->q_rows, forward->out_stride, one->heads, size, 0});
    results.numbers[DQ] = fetch(place, all,
                                (struct heads){op.dq, numbers->q_rows, op.dq_stride, one->heads,
                                               size, forward->head_stride});
    results.numbers[DK] = fetch(place, all,
                                (struct heads){op.dk, numbers->kv_rows, op.dk_stride, one->kv_heads,
                                               size, forward->head_stride});
    results.numbers[DV] = fetch(place, all,
                                (struct heads){op.dv, numbers->kv_rows, op.dv_stride, one->kv_heads,
                                               size, forward->head_stride});
    free(all);
    return results;
}

static void free_results(struct results *results)
{
    for (int i = 0; i < RESULTS; i++) {
        free(results->numbers[i]);
    }
    free(results->sums);
}

static double number(const struct results *results, int which, int64_t i)
{
    return which == SUMS ? (double)results->sums[i] : from_bf16(results->numbers[which][i]);
}

static bool is_same(const struct results *a, const struct results *b, int which)
{
    const size_t count = (size_t)a->counts[which];
    return which == SUMS
               ? memcmp(a->sums, b->sums, count * sizeof(float)) == 0
               : memcmp(a->numbers[which], b->numbers[which], count * sizeof(uint16_t)) == 0;
}

static double error_of(const struct results *a, const struct results *b, int which)
{
    double difference = 0;
    double size = 0;
    for (int64_t i = 0; i < a->counts[which]; i++) {
        const double apart = number(a, which, i) - number(b, which, i);
        difference += apart * apart;
        size += number(b, which, i) * number(b, which, i);
    }
    return sqrt(difference / size);
}

/* Number of pairs of a query and a visible key in one head of one sample, without regard to
 * lengths. */
static double count_pairs(const struct attend_case *one)
{
    double pairs = 0;
    for (int64_t t = 0; t < one->queries; t++) {
        const int64_t position = t + one->keys - one->queries;
        const int64_t reach = one->window > 0 ? one->window - 1 : one->keys + one->queries;
        const int64_t first = position > reach ? position - reach : 0;
        const int64_t last = one->causal ? position : position + reach;
        pairs += (double)((last < one->keys ? last + 1 : one->keys) - first);
    }
    return pairs;
}

static void print_speed(const struct attend_case *one, const char *choice,
                        const struct results *results)
{
    const double products =
        2.0 * (double)(one->batch * one->heads * one->head_size) * count_pairs(one);
    print_message("%s, %s: forward %.1f us, %.0f TFLOP/s; backward %.1f us, %.0f TFLOP/s\n",
                  one->name, choice, 1e6 * results->forward_s,
                  1e-12 * 2 * products / results->forward_s, 1e6 * results->back_s,
                  1e-12 * 5 * products / results->back_s);
}

static struct results run_by(const struct yk_backend *backend, const char *choice,
                             const struct attend_case *one, const struct numbers *numbers)
{
    struct place place;
    open_place(backend, choice, one, numbers, &place);
    const struct results results = run(one, numbers, &place);
    close_place(&place);
    print_speed(one, choice, &results);
    return results;
}

static const struct yk_backend *backend_or_skip(void)
{
    const char *path = getenv("YOKE_CUDA_PLUGIN");
    if (!path) {
        skip();
    }
    const struct yk_backend *backend = NULL;
    assert_ok(yk_backend_load_plugin(path, &backend));
    const struct yk_backend_device_options options = {.attention = "own"};
    struct yk_backend_device *device = NULL;
    if (backend->open(&options, &device) != YK_OK) {
        skip();
    }
    backend->close(device);
    return backend;
}

/* Ops that every cuDNN from 9.10 on has graphs for. */
static bool is_always_served(const struct attend_case *one)
{
    return one->queries % 64 == 0 && one->keys % 64 == 0 && one->head_size <= 128 &&
           one->window == 0 && one->softcap <= 0;
}

static void cudnn_and_own_kernels_agree(void **state)
{
    const struct attend_case *one = *state;
    const struct yk_backend *backend = backend_or_skip();
    struct numbers numbers = draw(one);
    struct results cudnn = run_by(backend, "cudnn", one, &numbers);
    struct results again = run_by(backend, "cudnn", one, &numbers);
    struct results own = run_by(backend, "own", one, &numbers);
    bool served = false;
    bool wrong = false;
    for (int i = 0; i < RESULTS; i++) {
        const double error = error_of(&cudnn, &own, i);
        const bool repeated = is_same(&cudnn, &again, i);
        print_message("%s: %s apart by %.1e%s\n", one->name, result_names[i], error,
                      repeated ? "" : ", and not the same twice");
        /* Asked for by name, it may sum gradients in any order. */
        wrong = wrong || !(error <= 1e-2) || !(repeated || i > SUMS);
        served = served || !is_same(&cudnn, &own, i);
    }
    free_results(&cudnn);
    free_results(&again);
    free_results(&own);
    free(numbers.inputs);
    free(numbers.lengths);
    assert_false(wrong);
    if (!served && is_always_served(one)) {
        fail_msg("%s: not one bit differs: cuDNN did not serve", one->name);
    }
}

int main(void)
{
    enum {
        CASES = sizeof(cases) / sizeof(cases[0]),
    };
    struct CMUnitTest tests[CASES];
    for (int i = 0; i < CASES; i++) {
        tests[i] = (struct CMUnitTest){
            .name = cases[i].name,
            .test_func = cudnn_and_own_kernels_agree,
            .initial_state = (void *)(uintptr_t)&cases[i],
        };
    }
    return cmocka_run_group_tests_name("attend_cudnn", tests, NULL, NULL);
}
