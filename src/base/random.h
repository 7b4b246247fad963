/*
 * Random: reproducible random numbers. The same seed gives the same sequence on every machine.
 *
 * The generator is xoshiro256** (Blackman and Vigna, 2018), seeded with splitmix64. The state is a
 * plain struct. Only one thread at a time may use a state.
 */
#ifndef YK_BASE_RANDOM_H
#define YK_BASE_RANDOM_H

#include <stdint.h>

struct yk_random {
    uint64_t state[4];
};

struct yk_random yk_random_from_seed(uint64_t seed);

uint64_t yk_random_next_uint64(struct yk_random *random);

/* Returns a uniformly distributed integer in [0, bound). `bound` must be positive. */
int64_t yk_random_below(struct yk_random *random, int64_t bound);

/* Returns a uniformly distributed number in [0, 1) with 53 random bits. */
double yk_random_uniform(struct yk_random *random);

/* Returns an exponentially distributed number with mean 1. It is computed without a logarithm, so
 * that the result is the same on every machine. */
double yk_random_exponential(struct yk_random *random);

#endif
