/*
 * Philox4x32-10: random numbers as a function of a key and a counter (Salmon, Moraes, Dror and
 * Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011). The function has no state, so any
 * thread may call it. struct yk_dropout_options in backend/ops.h defines how dropout uses it.
 */
#ifndef YK_BACKEND_CPU_MATH_PHILOX_H
#define YK_BACKEND_CPU_MATH_PHILOX_H

#include <stdint.h>

enum {
    YK_CPU_PHILOX_ROUNDS = 10,
};

/* The multipliers of words 0 and 2, and the numbers that are added to the two words of the key in
 * each round (made from the golden ratio and √3 − 1). */
#define YK_CPU_PHILOX_MULTIPLIER0 0xd2511f53U
#define YK_CPU_PHILOX_MULTIPLIER2 0xcd9e8d57U
#define YK_CPU_PHILOX_KEY_INCREMENT0 0x9e3779b9U
#define YK_CPU_PHILOX_KEY_INCREMENT1 0xbb67ae85U

/* Computes four random words. The low half of the seed is the first word of the key. */
static inline void yk_cpu_philox_random_words(uint64_t seed, const uint32_t counter[4],
                                              uint32_t out[4])
{
    uint32_t key0 = (uint32_t)seed;
    uint32_t key1 = (uint32_t)(seed >> 32);
    uint32_t x0 = counter[0];
    uint32_t x1 = counter[1];
    uint32_t x2 = counter[2];
    uint32_t x3 = counter[3];
    for (int round = 0; round < YK_CPU_PHILOX_ROUNDS; round++) {
        const uint64_t product0 = (uint64_t)YK_CPU_PHILOX_MULTIPLIER0 * x0;
        const uint64_t product2 = (uint64_t)YK_CPU_PHILOX_MULTIPLIER2 * x2;
        x0 = (uint32_t)(product2 >> 32) ^ x1 ^ key0;
        x1 = (uint32_t)product2;
        x2 = (uint32_t)(product0 >> 32) ^ x3 ^ key1;
        x3 = (uint32_t)product0;
        key0 += YK_CPU_PHILOX_KEY_INCREMENT0;
        key1 += YK_CPU_PHILOX_KEY_INCREMENT1;
    }
    out[0] = x0;
    out[1] = x1;
    out[2] = x2;
    out[3] = x3;
}

#endif
