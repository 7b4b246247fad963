/*
 * Random: reproducible random numbers. One seed gives one sequence on every machine.
 *
 * The generator is xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64. A state is a
 * plain value owned by whoever declares it and is used by one thread at a time.
 */
#ifndef YK_BASE_RANDOM_H
#define YK_BASE_RANDOM_H

#include <stdint.h>

struct yk_random {
    uint64_t state[4];
};

struct yk_random yk_random_from_seed(uint64_t seed);

uint64_t yk_random_next(struct yk_random *random);

/* An integer in [0, bound), each equally likely; bound must be positive. */
int64_t yk_random_below(struct yk_random *random, int64_t bound);

/* A number in [0, 1) with 53 random bits. */
double yk_random_uniform(struct yk_random *random);

/* A number from the exponential distribution of mean 1, made of comparisons alone: the same on
 * every machine, which logarithms are not. */
double yk_random_exponential(struct yk_random *random);

#endif
