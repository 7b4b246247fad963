/*
 * Windows: where samples of equal length begin in a text of so many tokens. In order they lie side
 * by side from the first token on, the last one perhaps beyond the end. Otherwise each epoch has an
 * order of its own, and lays them side by side from a phase of its own on.
 */
#ifndef YK_DATA_WINDOWS_H
#define YK_DATA_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

struct yk_sampler_windows {
    int64_t count; /* of an epoch */
    int64_t length;
    int64_t phases; /* the first window begins at a token below; 1 when in order */
    uint64_t seed;
    bool sequential;
};

/* In a random order: as many as fit from the last phase on, so that all epochs have as many; a text
 * too short for that has one, and the phases that leave room for it. It has `length` tokens at
 * least. */
struct yk_sampler_windows yk_sampler_windows_shuffled(int64_t tokens, int64_t length,
                                                      uint64_t seed);

/* In order: so many that every token is in one; there is one token at least. */
struct yk_sampler_windows yk_sampler_windows_sequential(int64_t tokens, int64_t length);

/* The first token of the window at place `number`, counted through all epochs. */
int64_t yk_sampler_windows_first(const struct yk_sampler_windows *windows, int64_t number);

#endif
