#include "data/permutation.h"

#include <assert.h>

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

uint64_t yk_permutation_mix(uint64_t seed, uint64_t number)
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
        const uint64_t mixed = left ^ (yk_permutation_mix(key + round, right) & mask);
        left = right;
        right = mixed;
    }
    return left << bits | right;
}

/* Numbers that fall outside are encrypted again until they fall inside: the walk along a cycle of
 * the larger permutation comes back at the latest to where it started (Black and Rogaway, 2002).
 * The larger one is less than four times as large, so it takes few steps. */
int64_t yk_permutation_at(uint64_t key, int64_t count, int64_t index)
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
