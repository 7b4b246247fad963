#include "data/sampler.h"

#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
    ROUNDS = 6
};

/* The finaliser of splitmix64 (Steele, Lea and Flood, 2014): every bit of the input changes about
 * half of the bits of the result. */
static uint64_t scramble(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t yk_sampler_hash_seed_and_number(uint64_t seed, uint64_t number)
{
    const uint64_t golden = 0x9e3779b97f4a7c15u;
    return scramble(scramble(seed + golden) + (number + 1) * golden);
}

/* A Feistel network on two halves of `bits` bits: a permutation of 2^(2 bits) numbers whatever the
 * round function is (Luby and Rackoff, 1988). */
static uint64_t encrypt(uint64_t key, unsigned bits, uint64_t number)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    uint64_t left = number >> bits;
    uint64_t right = number & mask;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const uint64_t mixed = left ^ (yk_sampler_hash_seed_and_number(key + round, right) & mask);
        left = right;
        right = mixed;
    }
    return left << bits | right;
}

/* Cycle walking (Black and Rogaway, 2002): numbers outside the range are encrypted again until they
 * are inside. The walk along a cycle of the larger permutation returns at the latest to its start.
 * That permutation is less than four times as large, so it takes few steps. */
int64_t yk_sampler_permuted_index(uint64_t key, int64_t count, int64_t index)
{
    assert(index >= 0 && index < count);
    unsigned bits = 0;
    while (bits < 31 && (INT64_C(1) << (2 * bits)) < count) {
        bits++;
    }
    if ((INT64_C(1) << (2 * bits)) < count) {
        bits++; /* halves of 32 bits hold every int64_t */
    }
    if (bits == 0) {
        return 0;
    }
    uint64_t number = (uint64_t)index;
    do {
        number = encrypt(key, bits, number);
    } while (number >= (uint64_t)count);
    return (int64_t)number;
}

void yk_sampler_destroy(struct yk_sampler *sampler)
{
    if (sampler && sampler->kind->destroy) {
        sampler->kind->destroy(sampler);
    } else {
        free(sampler);
    }
}

static yk_status fetch_samples(const struct yk_sampler *sampler, int64_t first, int64_t count,
                               struct yk_sample_slice *out)
{
    const int64_t T = sampler->sequence;
    out->samples = count;
    out->sequence = T;
    out->target_sequence = 0;
    out->first_sample = first;
    out->token_count = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t there = 0;
        YK_TRY(sampler->kind->fetch_sample(sampler, first + i, out->tokens + i * T,
                                           out->targets + i * T, &there));
        out->lengths[i] = (int32_t)there;
        out->token_count += there;
    }
    return YK_OK;
}

static yk_status fetch_images(const struct yk_sampler *sampler, int64_t first, int64_t count,
                              struct yk_sample_slice *out)
{
    assert(sampler->sequence == 1 && (out->pixels || !sampler->labels_need_pixels));
    out->samples = count;
    out->sequence = 1;
    out->target_sequence = 0;
    out->first_sample = first;
    out->token_count = count;
    yk_number_fill_int32_array(out->tokens, count, 0);
    yk_number_fill_int32_array(out->lengths, count, 1);
    return sampler->kind->fetch_images(sampler, first, count, out->pixels, out->targets);
}

static yk_status fetch(const struct yk_sampler *sampler, int64_t first, int64_t count,
                       struct yk_sample_slice *out)
{
    const struct yk_sampler_callbacks *kind = sampler->kind;
    if (kind->fetch_images) {
        return fetch_images(sampler, first, count, out);
    }
    return kind->fetch_sample ? fetch_samples(sampler, first, count, out)
                              : kind->fetch_slice(sampler, first, out);
}

yk_status yk_sampler_fetch_slice(const struct yk_sampler *sampler, int64_t first, int64_t count,
                                 struct yk_sample_slice *out)
{
    if (first < 0) {
        return yk_fail(YK_ERROR_INPUT, "there is no sample %" PRId64 "; they count from 0", first);
    }
    YK_TRY(fetch(sampler, first, count, out));
    const int64_t rows =
        out->samples * (out->target_sequence > 0 ? out->target_sequence : out->sequence);
    out->loss_targets = 0;
    for (int64_t i = 0; i < rows; i++) {
        out->loss_targets += out->targets[i] >= 0;
    }
    return YK_OK;
}

int64_t yk_sampler_max_slice_tokens(const struct yk_sampler *sampler, int64_t units)
{
    return sampler->max_slice_tokens > 0 ? sampler->max_slice_tokens : units * sampler->sequence;
}

struct yk_sampler_window_layout
yk_sampler_window_layout_make(int64_t tokens, int64_t length,
                              const struct yk_sampler_options *options)
{
    if (options->sequential) {
        return (struct yk_sampler_window_layout){
            .count = (tokens - 1) / length + 1, .length = length, .phases = 1, .sequential = true};
    }
    const int64_t fitting = (tokens - (length - 1)) / length;
    const int64_t count = fitting > 0 ? fitting : 1;
    const int64_t phases = tokens - length * count + 1;
    return (struct yk_sampler_window_layout){
        .count = count,
        .length = length,
        .phases = phases < length ? phases : length,
        .seed = options->seed,
    };
}

int64_t yk_sampler_window_layout_window_start(const struct yk_sampler_window_layout *windows,
                                              int64_t number)
{
    const int64_t window = number % windows->count;
    if (windows->sequential) {
        return window * windows->length;
    }
    const uint64_t epoch = (uint64_t)(number / windows->count);
    const uint64_t key = yk_sampler_hash_seed_and_number(windows->seed, epoch);
    /* The bias of the remainder is negligible, because there are far fewer phases than 2^64. */
    const int64_t phase =
        (int64_t)(yk_sampler_hash_seed_and_number(key, 0) % (uint64_t)windows->phases);
    return phase + yk_sampler_permuted_index(key, windows->count, window) * windows->length;
}
