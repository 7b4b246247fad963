#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/fp32_buffer.h"
#include "backend/cpu/math/philox.h"
#include "backend/cpu/parallel.h"

#include <math.h>

/* Samples are cut into chunks, so that a chunk begins with the first word of a counter. */
struct drop {
    const struct yk_dropout_op *op;
    int64_t sample_size; /* numbers in a sample */
    int64_t sample_chunks;
    uint32_t limit; /* words below it drop their number */
    float scale;    /* of what stays */
};

/* Counters that are worked on side by side, so that each round becomes vector instructions. */
enum {
    SIDE = 32,
    WORDS = 4 * SIDE, /* that they give */
};

_Static_assert(YK_CPU_FP32_BUFFER_SIZE % WORDS == 0,
               "a chunk is whole steps of four words a counter");

/* One round of Philox on SIDE counters; the whole of it for one counter is in philox.h. */
static void run_round(uint32_t key0, uint32_t key1, uint32_t *restrict x0, uint32_t *restrict x1,
                      uint32_t *restrict x2, uint32_t *restrict x3)
{
    for (int i = 0; i < SIDE; i++) {
        const uint64_t product0 = (uint64_t)YK_CPU_PHILOX_MULTIPLIER0 * x0[i];
        const uint64_t product2 = (uint64_t)YK_CPU_PHILOX_MULTIPLIER2 * x2[i];
        x0[i] = (uint32_t)(product2 >> 32) ^ x1[i] ^ key0;
        x1[i] = (uint32_t)product2;
        x2[i] = (uint32_t)(product0 >> 32) ^ x3[i] ^ key1;
        x3[i] = (uint32_t)product0;
    }
}

/* What WORDS numbers of a sample from 4 · `counter` are multiplied by: 0 or the scale. */
static void find_factors(const struct drop *drop, uint32_t sample, uint32_t counter, float *factors)
{
    const struct yk_dropout_options *dropout = &drop->op->dropout;
    const uint32_t limit = drop->limit;
    const float scale = drop->scale;
    uint32_t key0 = (uint32_t)dropout->seed;
    uint32_t key1 = (uint32_t)(dropout->seed >> 32);
    uint32_t x0[SIDE];
    uint32_t x1[SIDE];
    uint32_t x2[SIDE];
    uint32_t x3[SIDE];
    for (uint32_t i = 0; i < SIDE; i++) {
        x0[i] = counter + i;
        x1[i] = sample;
        x2[i] = (uint32_t)dropout->site;
        x3[i] = (uint32_t)(dropout->site >> 32);
    }
    for (int round = 0; round < YK_CPU_PHILOX_ROUNDS; round++) {
        run_round(key0, key1, x0, x1, x2, x3);
        key0 += YK_CPU_PHILOX_KEY_INCREMENT0;
        key1 += YK_CPU_PHILOX_KEY_INCREMENT1;
    }
    for (int64_t i = 0; i < SIDE; i++) {
        factors[4 * i] = x0[i] < limit ? 0.0F : scale;
        factors[4 * i + 1] = x1[i] < limit ? 0.0F : scale;
        factors[4 * i + 2] = x2[i] < limit ? 0.0F : scale;
        factors[4 * i + 3] = x3[i] < limit ? 0.0F : scale;
    }
}

static void find_chunk_factors(const struct drop *drop, int64_t sample, int64_t first,
                               int64_t count, float *factors)
{
    const uint32_t number = (uint32_t)(drop->op->dropout.first_sample + sample);
    if (drop->limit == 0) {
        for (int64_t i = 0; i < count; i++) {
            factors[i] = drop->scale;
        }
        return;
    }
    for (int64_t i = 0; i < count; i += WORDS) { /* may write past count, but not the chunk */
        find_factors(drop, number, (uint32_t)((first + i) / 4), factors + i);
    }
}

static void apply_factors(const float *from, const float *factors, const float *add, int64_t count,
                          float *to)
{
    if (add) {
        for (int64_t i = 0; i < count; i++) {
            to[i] = from[i] * factors[i] + add[i];
        }
    } else {
        for (int64_t i = 0; i < count; i++) {
            to[i] = from[i] * factors[i];
        }
    }
}

static void drop_chunk(const void *work, int64_t chunk)
{
    const struct drop *drop = work;
    const struct yk_dropout_op *op = drop->op;
    const int64_t sample = chunk / drop->sample_chunks;
    const int64_t first = chunk % drop->sample_chunks * YK_CPU_FP32_BUFFER_SIZE; /* in the sample */
    const int64_t at = sample * drop->sample_size + first;
    const int64_t rest = yk_number_min(drop->sample_size - first, op->rows * op->width - at);
    const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, rest);
    float factors[YK_CPU_FP32_BUFFER_SIZE];
    float from_scratch[YK_CPU_FP32_BUFFER_SIZE];
    float add_scratch[YK_CPU_FP32_BUFFER_SIZE];
    if (count <= 0) { /* the last sample may have fewer rows */
        return;
    }
    find_chunk_factors(drop, sample, first, count, factors);
    const float *from = yk_cpu_fp32_buffer_for_reading(op->type, op->from, at, count, from_scratch);
    const float *add =
        op->add ? yk_cpu_fp32_buffer_for_reading(op->type, op->add, at, count, add_scratch) : NULL;
    float *to = yk_cpu_fp32_buffer_for_writing(op->type, op->to, at, from_scratch);
    apply_factors(from, factors, add, count, to);
    yk_cpu_fp32_buffer_store_back(op->type, to, count, op->to, at);
}

void yk_cpu_dropout(int threads, const void *op)
{
    const struct yk_dropout_op *drop = op;
    const int64_t sample_size = drop->sequence * drop->width;
    const int64_t samples = yk_number_ceil_div(drop->rows, drop->sequence);
    /* word < rate · 2^32, in whole numbers; a rate of 1 leaves nothing. */
    const double limit = ceil((double)drop->dropout.rate * 0x1p32);
    const float scale = drop->scale != 0.0F ? drop->scale : 1.0F;
    const struct drop work = {
        .op = drop,
        .sample_size = sample_size,
        .sample_chunks = yk_number_ceil_div(sample_size, YK_CPU_FP32_BUFFER_SIZE),
        .limit = limit < 0x1p32 ? (uint32_t)limit : UINT32_MAX,
        .scale = drop->dropout.rate < 1.0F ? scale / (1.0F - drop->dropout.rate) : 0.0F,
    };
    yk_cpu_parallel_for(threads, samples * work.sample_chunks, drop_chunk, &work);
}
