#include "data/sampler.h"

#include <inttypes.h>

void yk_sampler_destroy(struct yk_sampler *sampler)
{
    if (sampler) {
        sampler->kind->destroy(sampler);
    }
}

static yk_status take_samples(const struct yk_sampler *sampler, int64_t first, int64_t count,
                              struct yk_slice *out)
{
    const int64_t T = sampler->sequence;
    out->samples = count;
    out->sequence = T;
    out->target_sequence = 0;
    out->first_sample = first;
    out->present = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t there = 0;
        YK_TRY(sampler->kind->take_sample(sampler, first + i, out->tokens + i * T,
                                          out->targets + i * T, &there));
        out->lengths[i] = (int32_t)there;
        out->present += there;
    }
    return YK_OK;
}

yk_status yk_sampler_fetch(const struct yk_sampler *sampler, int64_t first, int64_t count,
                           struct yk_slice *out)
{
    if (first < 0) {
        return yk_fail(YK_ERROR_INPUT, "there is no sample %" PRId64 "; they count from 0", first);
    }
    YK_TRY(sampler->kind->take_sample ? take_samples(sampler, first, count, out)
                                      : sampler->kind->take_piece(sampler, first, out));
    const int64_t rows =
        out->samples * (out->target_sequence > 0 ? out->target_sequence : out->sequence);
    out->counted = 0;
    for (int64_t i = 0; i < rows; i++) {
        out->counted += out->targets[i] >= 0;
    }
    return YK_OK;
}

int64_t yk_sampler_rows(const struct yk_sampler *sampler, int64_t units)
{
    return sampler->piece_rows > 0 ? sampler->piece_rows : units * sampler->sequence;
}
