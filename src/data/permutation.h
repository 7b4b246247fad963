/*
 * Permutation: the numbers 0 … count - 1 in an order that looks random and follows from a key,
 * without keeping the order anywhere: any place of it can be asked for. Any thread.
 */
#ifndef YK_DATA_PERMUTATION_H
#define YK_DATA_PERMUTATION_H

#include <stdint.h>

/* 64 bits that look random, from two numbers. The same on every machine. */
uint64_t yk_permutation_mix(uint64_t seed, uint64_t number);

/* The number at place `index` of the order of `key`; 0 <= index < count. */
int64_t yk_permutation_at(uint64_t key, int64_t count, int64_t index);

#endif
