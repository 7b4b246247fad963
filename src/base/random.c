#include "base/random.h"

#include <assert.h>

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

struct yk_random yk_random_from_seed(uint64_t seed)
{
    struct yk_random random;
    for (int i = 0; i < 4; i++) {
        random.state[i] = splitmix64(&seed);
    }
    return random;
}

static uint64_t rotate_left(uint64_t value, int by)
{
    return (value << by) | (value >> (64 - by));
}

uint64_t yk_random_next_uint64(struct yk_random *random)
{
    uint64_t *s = random->state;
    const uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    const uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

int64_t yk_random_below(struct yk_random *random, int64_t bound)
{
    assert(bound > 0);
    /* Values after the last whole multiple of `bound` would favour small results: draw again. */
    const uint64_t range = (uint64_t)bound;
    const uint64_t rejected = (UINT64_MAX - range + 1) % range;
    uint64_t value = yk_random_next_uint64(random);
    while (value < rejected) {
        value = yk_random_next_uint64(random);
    }
    return (int64_t)(value % range);
}

double yk_random_uniform(struct yk_random *random)
{
    return (double)(yk_random_next_uint64(random) >> 11) * 0x1.0p-53;
}

/* von Neumann, 1951: count the length of a decreasing run of uniform numbers. If it is odd, accept
 * the first one; each rejected run adds 1. */
double yk_random_exponential(struct yk_random *random)
{
    for (double whole = 0;; whole += 1) {
        const double first = yk_random_uniform(random);
        double last = first;
        for (int length = 1;; length++) {
            const double next = yk_random_uniform(random);
            if (next >= last) {
                if (length % 2 == 1) {
                    return whole + first;
                }
                break;
            }
            last = next;
        }
    }
}
