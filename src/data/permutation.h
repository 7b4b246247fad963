/*
 * Permutation: the numbers 0 … count - 1 in a pseudo-random order that follows from a key and is
 * not stored: any place of it can be computed. Any thread.
 */
#ifndef YK_DATA_PERMUTATION_H
#define YK_DATA_PERMUTATION_H

#include <stdint.h>

/* 64 bits that look random, from two numbers. The same on every machine. */
uint64_t yk_permutation_mix(uint64_t seed, uint64_t number);

/* The number at place `index` of the order of `key`; 0 <= index < count. */
int64_t yk_permutation_at(uint64_t key, int64_t count, int64_t index);

#endif
