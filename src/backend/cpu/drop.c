#include "backend/cpu/kernels.h"

#include "backend/cpu/chunk.h"
#include "backend/cpu/philox.h"
#include "backend/cpu/share.h"
#include "backend/ops.h"

#include <math.h>

/* Samples are cut into chunks, so that a chunk begins with the first word of a counter. */
struct drop {
    const struct yk_drop *op;
    int64_t sample_size; /* numbers in a sample */
    int64_t sample_chunks;
    uint32_t limit; /* words below it drop their number */
    float scale;    /* of what stays */
};

_Static_assert(YK_CPU_CHUNK % 4 == 0, "a counter gives four words");

/* What `count` numbers from place `first` of a sample are multiplied by: 0 or the scale. */
static void find_factors(const struct drop *drop, int64_t sample, int64_t first, int64_t count,
                         float *factors)
{
    const struct yk_dropout *dropout = &drop->op->dropout;
    const uint64_t seed = dropout->seed;
    const uint32_t site_low = (uint32_t)dropout->site;
    const uint32_t site_high = (uint32_t)(dropout->site >> 32);
    const uint32_t number = (uint32_t)(dropout->first_sample + sample);
    const uint32_t start = (uint32_t)(first / 4);
    const uint32_t limit = drop->limit;
    const float scale = drop->scale;
    const uint32_t counters = (uint32_t)yk_cpu_pieces(count, 4);
    if (limit == 0) {
        for (int64_t i = 0; i < count; i++) {
            factors[i] = scale;
        }
        return;
    }
    for (uint32_t i = 0; i < counters; i++) {
        const uint32_t counter[4] = {start + i, number, site_low, site_high};
        uint32_t words[4];
        yk_cpu_philox(seed, counter, words);
        factors[4 * i] = words[0] < limit ? 0.0F : scale;
        factors[4 * i + 1] = words[1] < limit ? 0.0F : scale;
        factors[4 * i + 2] = words[2] < limit ? 0.0F : scale;
        factors[4 * i + 3] = words[3] < limit ? 0.0F : scale;
    }
}

static void drop_chunk(const float *from, const float *factors, const float *add, int64_t count,
                       float *to)
{
    if (add) {
        for (int64_t i = 0; i < count; i++) {
            to[i] = (factors[i] > 0.0F ? from[i] * factors[i] : 0.0F) + add[i];
        }
    } else {
        for (int64_t i = 0; i < count; i++) {
            to[i] = factors[i] > 0.0F ? from[i] * factors[i] : 0.0F;
        }
    }
}

static void drop_piece(const void *work, int64_t piece)
{
    const struct drop *drop = work;
    const struct yk_drop *op = drop->op;
    const int64_t sample = piece / drop->sample_chunks;
    const int64_t first = piece % drop->sample_chunks * YK_CPU_CHUNK; /* in the sample */
    const int64_t at = sample * drop->sample_size + first;
    const int64_t rest = yk_cpu_least(drop->sample_size - first, op->rows * op->width - at);
    const int64_t count = yk_cpu_least(YK_CPU_CHUNK, rest);
    float factors[YK_CPU_CHUNK];
    float from_scratch[YK_CPU_CHUNK];
    float add_scratch[YK_CPU_CHUNK];
    if (count <= 0) { /* the last sample may have fewer rows */
        return;
    }
    find_factors(drop, sample, first, count, factors);
    const float *from = yk_cpu_view(op->type, op->from, at, count, from_scratch);
    const float *add = op->add ? yk_cpu_view(op->type, op->add, at, count, add_scratch) : NULL;
    float *to = yk_cpu_draft(op->type, op->to, at, from_scratch);
    drop_chunk(from, factors, add, count, to);
    yk_cpu_keep(op->type, to, count, op->to, at);
}

void yk_cpu_drop(int threads, const void *op)
{
    const struct yk_drop *drop = op;
    const int64_t sample_size = drop->sequence * drop->width;
    const int64_t samples = yk_cpu_pieces(drop->rows, drop->sequence);
    /* word < rate · 2^32, in whole numbers; a rate of 1 leaves nothing. */
    const double limit = ceil((double)drop->dropout.rate * 0x1p32);
    const struct drop work = {
        .op = drop,
        .sample_size = sample_size,
        .sample_chunks = yk_cpu_pieces(sample_size, YK_CPU_CHUNK),
        .limit = limit < 0x1p32 ? (uint32_t)limit : UINT32_MAX,
        .scale = drop->dropout.rate < 1.0F ? 1.0F / (1.0F - drop->dropout.rate) : 0.0F,
    };
    yk_cpu_share(threads, samples * work.sample_chunks, drop_piece, &work);
}
