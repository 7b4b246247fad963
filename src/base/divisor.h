/* Divisor: the greatest that two whole numbers have in common; of 0 and another, the other. */
#ifndef YK_BASE_DIVISOR_H
#define YK_BASE_DIVISOR_H

#include <stdint.h>

static inline int64_t yk_number_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
