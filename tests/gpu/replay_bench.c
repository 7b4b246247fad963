#include "gpu/replay_bench.h"

#include "base/hash.h"
#include "base/random.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum {
    B = 2,
    T = 128,
    C = 128,
    HEADS = 2,
    ROWS = B * T,
    QKV = 3 * C,
    MEMORY_BYTES = 1 << 20,
};

/* ---- a bench ---- */

static char *carve(char **next, size_t bytes)
{
    char *at = *next;
    *next += (bytes + REPLAY_ALIGNMENT - 1) / REPLAY_ALIGNMENT * REPLAY_ALIGNMENT;
    return at;
}

static struct replay_places lay_out(char *memory)
{
    const size_t row = (size_t)C * 2;
    const size_t numbers = (size_t)ROWS * sizeof(float);
    struct replay_places at = {.inputs = memory};
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

size_t replay_bench_bytes(const struct replay_bench *bench)
{
    return (size_t)(bench->at.counter - bench->at.results);
}

void replay_bench_fill(const struct replay_bench *bench, uint64_t seed)
{
    const size_t bytes = (size_t)(bench->at.results - bench->at.inputs);
    uint16_t *drawn = malloc(bytes);
    struct yk_random random = yk_random_from_seed(seed);
    assert_non_null(drawn);
    for (size_t i = 0; i < bytes / sizeof *drawn; i++) {
        const float number = (float)(2 * yk_random_uniform(&random) - 1);
        uint32_t bits;
        memcpy(&bits, &number, sizeof bits);
        drawn[i] = (uint16_t)(bits >> 16);
    }
    bench->backend->copy(bench->lane, bench->at.inputs, drawn, bytes);
    assert_ok(bench->backend->lane_synchronize(bench->lane));
    free(drawn);
}

void replay_bench_open_on(const struct yk_backend *backend, struct yk_backend_device *device,
                          struct replay_bench *out)
{
    const float one = 1;
    *out = (struct replay_bench){.backend = backend, .device = device};
    assert_ok(backend->lane_create(device, "compute", &out->lane));
    assert_ok(backend->event_create(device, &out->event));
    assert_ok(backend->allocate(device, MEMORY_BYTES, &out->memory));
    out->at = lay_out(out->memory);
    assert_true(out->at.end - out->at.inputs <= MEMORY_BYTES);
    out->host = malloc(replay_bench_bytes(out));
    assert_non_null(out->host);
    backend->copy(out->lane, out->at.one, &one, sizeof one);
    replay_bench_fill(out, 1);
}

void replay_bench_drop(struct replay_bench *bench)
{
    bench->backend->lane_destroy(bench->lane);
    bench->backend->event_destroy(bench->event);
    bench->backend->free(bench->device, bench->memory);
    free(bench->host);
}

struct replay_bench replay_bench_open(const struct yk_backend *backend,
                                      const struct yk_backend_device_options *options)
{
    struct yk_backend_device *device = NULL;
    struct replay_bench bench;
    assert_ok(backend->open(options, &device));
    replay_bench_open_on(backend, device, &bench);
    return bench;
}

void replay_bench_close(struct replay_bench *bench)
{
    replay_bench_drop(bench);
    bench->backend->close(bench->device);
}

/* ---- the work ---- */

static void enqueue_attention(const struct replay_bench *bench, float scale, int64_t sample)
{
    const size_t row = (size_t)C * 2;
    bench->backend->attention(bench->lane, &(struct yk_attention_op){
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
                                               .log_sum_exp = (float *)(void *)bench->at.sums,
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

static void enqueue_product(const struct replay_bench *bench)
{
    bench->backend->matmul(bench->lane, &(struct yk_matmul_op){
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
                                            .split_columns = {C, QKV - C},
                                        });
}

void replay_bench_enqueue(const struct replay_bench *bench, float scale, int64_t sample)
{
    const struct replay_places *at = &bench->at;
    const size_t row = (size_t)C * 2;
    bench->backend->norm(bench->lane, &(struct yk_norm_op){
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
    enqueue_product(bench);
    enqueue_attention(bench, scale, sample);
    bench->backend->clear(bench->lane, at->d_bias, 3 * row);
    bench->backend->sum_rows(bench->lane, &(struct yk_sum_rows_op){
                                              .rows = ROWS,
                                              .columns = QKV,
                                              .from = at->qkv,
                                              .stride = QKV,
                                              .to = at->d_bias,
                                              .from_type = YK_PRECISION_BF16,
                                              .to_type = YK_PRECISION_BF16,
                                          });
    bench->backend->copy(bench->lane, at->moved, at->x, ROWS * row);
    bench->backend->add(bench->lane, &(struct yk_add_op){.count = (int64_t)ROWS * C,
                                                         .from = at->attended,
                                                         .to = at->moved,
                                                         .type = YK_PRECISION_BF16});
    bench->backend->add(bench->lane, &(struct yk_add_op){.count = 1,
                                                         .from = at->one,
                                                         .to = at->counter,
                                                         .type = YK_PRECISION_FP32});
}

yk_status replay_bench_read(const struct replay_bench *bench, uint64_t *out)
{
    const size_t bytes = replay_bench_bytes(bench);
    bench->backend->copy(bench->lane, bench->host, bench->at.results, bytes);
    YK_TRY(bench->backend->lane_synchronize(bench->lane));
    *out = yk_hash_bytes(bench->host, bytes);
    return YK_OK;
}

yk_status replay_bench_work(const struct replay_bench *bench, const char *name, float scale,
                            uint64_t *out)
{
    static _Atomic int64_t sample; /* where nothing is dropped, its number means nothing */
    bench->backend->clear(bench->lane, bench->at.results, replay_bench_bytes(bench));
    if (name) {
        bench->backend->begin_range(bench->lane, name);
    }
    replay_bench_enqueue(bench, scale, sample++);
    if (name) {
        bench->backend->end_range(bench->lane);
    }
    return replay_bench_read(bench, out);
}
