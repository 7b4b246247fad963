#include "support/ops/reference.h"

#include <math.h>
#include <string.h>

/* ---- stored numbers ---- */

struct format {
    int digits;   /* significant binary digits, the hidden one included */
    int smallest; /* exponent of the smallest normal number */
    double largest;
};

static struct format format_of(enum yk_precision type)
{
    switch (type) {
    case YK_PRECISION_FP16:
        return (struct format){11, -14, 65504};
    case YK_PRECISION_BF16:
        return (struct format){8, -126, 0x1.fep127};
    default:
        return (struct format){24, -126, 0x1.fffffep127};
    }
}

/* Of normal numbers. */
static double power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* |value| is in [2^(exponent − 1), 2^exponent); −1022 of those that are not normal. */
static int exponent_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (int)(bits >> 52 & 0x7ffU) - 1022;
}

double reference_round(enum yk_precision type, double value)
{
    if (value == 0 || !isfinite(value)) {
        return value;
    }
    if (type == YK_PRECISION_FP32 && fabs(value) < 1e38) { /* the language has this one */
        return (double)(float)value;
    }
    const struct format format = format_of(type);
    int quantum = exponent_of(value) - format.digits;
    if (quantum < format.smallest - format.digits + 1) { /* subnormal */
        quantum = format.smallest - format.digits + 1;
    }
    const double rounded = rint(value * power_of_two(-quantum)) * power_of_two(quantum);
    return fabs(rounded) > format.largest ? copysign(INFINITY, value) : rounded;
}

static double load_fp16(uint16_t stored)
{
    const double sign = stored & 0x8000U ? -1 : 1;
    const int exponent = (int)(stored >> 10 & 0x1fU);
    const int fraction = (int)(stored & 0x3ffU);
    if (exponent == 31) {
        return fraction ? (double)NAN : sign * (double)INFINITY;
    }
    return sign * (exponent ? (fraction + 1024) * power_of_two(exponent - 25)
                            : fraction * power_of_two(-24));
}

static uint16_t store_fp16(double rounded)
{
    const uint16_t sign = signbit(rounded) ? 0x8000U : 0;
    const double size = fabs(rounded);
    if (isnan(size)) {
        return (uint16_t)(sign | 0x7e00U);
    }
    if (isinf(size)) {
        return (uint16_t)(sign | 0x7c00U);
    }
    if (size < 0x1p-14) {
        return (uint16_t)(sign | (uint16_t)(size * 0x1p24));
    }
    const int exponent = exponent_of(size);
    const double fraction = size * power_of_two(-exponent); /* in [0.5, 1) */
    return (uint16_t)(sign | (uint16_t)((exponent + 14) << 10) |
                      (uint16_t)(fraction * 0x1p11 - 1024));
}

double reference_load(enum yk_precision type, const void *from, int64_t at)
{
    if (type == YK_PRECISION_FP32 || type == YK_PRECISION_TF32) {
        float value;
        memcpy(&value, (const char *)from + at * 4, sizeof value);
        return (double)value;
    }
    uint16_t half;
    memcpy(&half, (const char *)from + at * 2, sizeof half);
    if (type == YK_PRECISION_FP16) {
        return load_fp16(half);
    }
    const uint32_t bits = (uint32_t)half << 16; /* bf16 is the upper half of an fp32 */
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

void reference_store(enum yk_precision type, double value, void *to, int64_t at)
{
    const double rounded = reference_round(type, value);
    if (type == YK_PRECISION_FP16) {
        const uint16_t half = store_fp16(rounded);
        memcpy((char *)to + at * 2, &half, sizeof half);
        return;
    }
    const float exact = (float)rounded;
    if (type == YK_PRECISION_BF16) {
        uint32_t bits;
        memcpy(&bits, &exact, sizeof bits);
        const uint16_t half = (uint16_t)(bits >> 16);
        memcpy((char *)to + at * 2, &half, sizeof half);
        return;
    }
    memcpy((char *)to + at * 4, &exact, sizeof exact);
}

/* ---- dropout ---- */

void reference_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t x[4] = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t round_key[2] = {key[0], key[1]};
    for (int round = 0; round < 10; round++) {
        const uint64_t even = (uint64_t)x[0] * 0xD2511F53U;
        const uint64_t odd = (uint64_t)x[2] * 0xCD9E8D57U;
        const uint32_t next[4] = {
            (uint32_t)(odd >> 32) ^ x[1] ^ round_key[0],
            (uint32_t)odd,
            (uint32_t)(even >> 32) ^ x[3] ^ round_key[1],
            (uint32_t)even,
        };
        memcpy(x, next, sizeof x);
        round_key[0] += 0x9E3779B9U; /* the golden ratio */
        round_key[1] += 0xBB67AE85U; /* the square root of 3, less 1 */
    }
    memcpy(out, x, sizeof x);
}

double reference_kept(const struct yk_dropout_options *dropout, int64_t sample, int64_t place)
{
    const uint32_t counter[4] = {(uint32_t)(place / 4), (uint32_t)sample, (uint32_t)dropout->site,
                                 (uint32_t)(dropout->site >> 32)};
    const uint32_t key[2] = {(uint32_t)dropout->seed, (uint32_t)(dropout->seed >> 32)};
    const double rate = (double)dropout->rate;
    uint32_t words[4];
    reference_philox(counter, key, words);
    return (double)words[place % 4] < rate * 0x1p32 ? 0 : 1 / (1 - rate);
}
