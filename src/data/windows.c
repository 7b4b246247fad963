#include "data/windows.h"

#include "data/permutation.h"

struct yk_sampler_windows yk_sampler_windows_shuffled(int64_t tokens, int64_t length, uint64_t seed)
{
    const int64_t fitting = (tokens - (length - 1)) / length;
    const int64_t count = fitting > 0 ? fitting : 1;
    const int64_t room = tokens - length * count + 1;
    return (struct yk_sampler_windows){
        .count = count,
        .length = length,
        .phases = room < length ? room : length,
        .seed = seed,
    };
}

struct yk_sampler_windows yk_sampler_windows_sequential(int64_t tokens, int64_t length)
{
    return (struct yk_sampler_windows){
        .count = (tokens - 1) / length + 1,
        .length = length,
        .phases = 1,
        .sequential = true,
    };
}

int64_t yk_sampler_windows_first(const struct yk_sampler_windows *windows, int64_t number)
{
    const int64_t window = number % windows->count;
    if (windows->sequential) {
        return window * windows->length;
    }
    const uint64_t epoch = (uint64_t)(number / windows->count);
    const uint64_t key = yk_permutation_mix(windows->seed, epoch);
    /* So few phases of 2^64 that the remainder's bias cannot be seen. */
    const int64_t phase = (int64_t)(yk_permutation_mix(key, 0) % (uint64_t)windows->phases);
    return phase + yk_permutation_at(key, windows->count, window) * windows->length;
}
