#include "backend/ops.h"

size_t yk_nf4_parts(void *base, int64_t count, struct yk_nf4 *out)
{
    const size_t blocks = (size_t)((count + YK_NF4_BLOCK - 1) / YK_NF4_BLOCK);
    const size_t floats = (blocks + YK_NF4_SCALE_BLOCK - 1) / YK_NF4_SCALE_BLOCK + 1;
    const size_t code_bytes = ((size_t)count + 1) / 2;
    const size_t total = floats * sizeof(float) + code_bytes + blocks;
    if (out) { /* floats first, so that they are aligned */
        float *numbers = base;
        uint8_t *bytes = (uint8_t *)base + floats * sizeof(float);
        *out = (struct yk_nf4){
            .mean = numbers,
            .scale_scales = numbers + 1,
            .codes = bytes,
            .scales = bytes + code_bytes,
        };
    }
    /* Whatever comes next begins at a multiple of four bytes. */
    return (total + sizeof(float) - 1) / sizeof(float) * sizeof(float);
}
