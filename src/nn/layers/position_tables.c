#include "nn/layers/position_tables.h"

#include <math.h>
#include <stdlib.h>

static bool is_sinusoidal(const struct yk_model_config *config)
{
    return config->position_kind == YK_POSITIONS_SINUSOIDAL;
}

/* The precision of the embedding table: fp32 if blocks are NF4. */
static enum yk_precision sinusoidal_precision(const struct yk_net *net)
{
    return net->layers[0].precision;
}

static const struct yk_rope *find_rope(const struct yk_model_config *config, bool local)
{
    return local ? &config->local_rope : &config->rope;
}

const float *yk_position_tables_find_rotary(const struct yk_position_tables *position_tables,
                                            const struct yk_model_config *config, unsigned flags,
                                            int64_t sequence)
{
    const bool local = flags & YK_BLOCK_WINDOW && config->local_rope.theta > 0;
    const bool extended = yk_position_tables_is_extended(find_rope(config, local), sequence);
    return flags & YK_BLOCK_NO_ROPE
               ? NULL
               : position_tables->rotary[yk_position_tables_rotary_index(local, extended)];
}

void yk_position_tables_allocate(const struct yk_net *net, int64_t longest,
                                 struct yk_bump_allocator *allocator,
                                 struct yk_position_tables *out)
{
    const struct yk_model_config *config = net->config;
    const size_t size = (size_t)yk_precision_bytes(sinusoidal_precision(net));
    *out = (struct yk_position_tables){0};
    for (int32_t i = 0; i < YK_ROTARY_TABLES; i++) {
        const bool local = i >= yk_position_tables_rotary_index(true, false);
        const bool extended = i == yk_position_tables_rotary_index(local, true);
        const struct yk_rope *rope = find_rope(config, local);
        if (rope->theta > 0 && (!extended || yk_position_tables_is_extended(rope, longest))) {
            out->rotary[i] =
                yk_bump_allocate(allocator, longest * config->rotary_size, sizeof(float));
        }
    }
    out->sinusoidal =
        is_sinusoidal(config) ? yk_bump_allocate(allocator, longest * config->width, size) : NULL;
}

/* Llama 3 scales long wavelengths: those longer than positions / low by the whole factor, those
 * shorter than positions / high not at all. In between, the scaling is linear in the number of
 * rotations. */
static double stretch(const struct yk_rope *rope, double frequency)
{
    const double rotations = (double)rope->positions * frequency / (2 * M_PI);
    const double kept = (rotations - rope->low) / (rope->high - rope->low);
    const double smooth = fmin(1, fmax(0, kept));
    return smooth * frequency + (1 - smooth) * frequency / rope->factor;
}

/* The index of the frequency that rotates `rotations` times in `positions` tokens, not rounded. */
static double index_of_rotations(const struct yk_rope *rope, int64_t rotary_size, double rotations)
{
    return (double)rotary_size * log((double)rope->positions / (rotations * 2 * M_PI)) /
           (2 * log(rope->theta));
}

/* YaRN (Peng et al. 2023): frequencies before the ramp are kept, those after it are divided by the
 * factor. The ramp is linear in the index of the frequency. */
static double apply_ramp(const struct yk_rope *rope, int64_t rotary_size, int64_t index,
                         double frequency)
{
    const double fast = index_of_rotations(rope, rotary_size, rope->beta_fast);
    const double slow = index_of_rotations(rope, rotary_size, rope->beta_slow);
    const double begin = fmax(rope->untruncated ? fast : floor(fast), 0);
    double end = fmin(rope->untruncated ? slow : ceil(slow), (double)rotary_size - 1);
    end = begin == end ? end + 0.001 : end; /* as in transformers: a ramp without length */
    const double divided = fmin(1, fmax(0, ((double)index - begin) / (end - begin)));
    return frequency / rope->factor * divided + frequency * (1 - divided);
}

/* The base of YK_ROPE_DYNAMIC for sequences of `longest` tokens. */
static double grown_base(const struct yk_rope *rope, int64_t rotary_size, int64_t longest)
{
    const double growth = rope->factor * (double)longest / (double)rope->positions;
    return rope->theta *
           pow(growth - (rope->factor - 1), (double)rotary_size / (double)(rotary_size - 2));
}

static double compute_frequency(const struct yk_rope *rope, int64_t rotary_size, int64_t longest,
                                bool extended, int64_t index)
{
    const double power = 2 * (double)index / (double)rotary_size;
    const double frequency = pow(rope->theta, -power);
    switch (rope->scaling) {
    case YK_ROPE_LINEAR:
        return frequency / rope->factor;
    case YK_ROPE_DYNAMIC:
        return extended ? pow(grown_base(rope, rotary_size, longest), -power) : frequency;
    case YK_ROPE_LLAMA3:
        return stretch(rope, frequency);
    case YK_ROPE_YARN:
        return apply_ramp(rope, rotary_size, index, frequency);
    case YK_ROPE_LONGROPE:
        return frequency / (extended ? rope->long_factors : rope->short_factors)[index];
    case YK_ROPE_DEFAULT:
        break;
    }
    return frequency;
}

void yk_position_tables_compute_rotary(const struct yk_rope *rope, int64_t rotary_size,
                                       int64_t longest, bool extended, float *out)
{
    const int64_t half = rotary_size / 2;
    const bool scaled = rope->scaling == YK_ROPE_YARN || rope->scaling == YK_ROPE_LONGROPE;
    const float factor = scaled ? (float)rope->attention_factor : 1;
    for (int64_t i = 0; i < half; i++) {
        const double frequency = compute_frequency(rope, rotary_size, longest, extended, i);
        for (int64_t t = 0; t < longest; t++) {
            /* PyTorch computes the angle in fp32. */
            const float angle = (float)t * (float)frequency;
            out[(t * half + i) * 2] = cosf(angle) * factor;
            out[(t * half + i) * 2 + 1] = sinf(angle) * factor;
        }
    }
}

void yk_position_tables_compute_sinusoidal(const struct yk_model_config *config, int64_t longest,
                                           float *out)
{
    const int64_t C = config->width;
    const int64_t half = (C + 1) / 2;
    for (int64_t t = 0; t < longest; t++) {
        for (int64_t i = 0; i < C; i++) {
            const bool sine = i < half;
            const int64_t wave = sine ? i : i - half;
            const double angle = (double)t / pow(10000, 2 * (double)wave / (double)C);
            out[t * C + i] = (float)(sine ? sin(angle) : cos(angle));
        }
    }
}

/* Rounds an fp32 table on the device. */
static yk_status round_sinusoidal(const struct yk_parameter_store *store, int64_t count,
                                  const float *made, void *sinusoidal)
{
    const struct yk_device_context *context = &store->context;
    void *wide = NULL;
    YK_TRY(context->backend->allocate(context->device, (size_t)count * sizeof *made, &wide));
    yk_status status =
        yk_device_context_copy_and_wait(context, wide, made, (size_t)count * sizeof *made);
    if (status == YK_OK) {
        context->backend->cast(context->lane, &(struct yk_cast_op){
                                                  .count = count,
                                                  .from = wide,
                                                  .to = sinusoidal,
                                                  .from_type = YK_PRECISION_FP32,
                                                  .to_type = sinusoidal_precision(store->net),
                                              });
        status = context->backend->lane_synchronize(context->lane);
    }
    context->backend->free(context->device, wide);
    return status;
}

/* Computes a rotary table on the host and copies it to the device. */
static yk_status fill_rotary(const struct yk_parameter_store *store, int64_t longest, int32_t index,
                             float *to)
{
    const struct yk_model_config *config = store->net->config;
    const bool local = index >= yk_position_tables_rotary_index(true, false);
    const bool extended = index == yk_position_tables_rotary_index(local, true);
    const size_t count = (size_t)(longest * config->rotary_size);
    float *table = calloc(count, sizeof *table);
    YK_TRY_ALLOCATED(table);
    yk_position_tables_compute_rotary(find_rope(config, local), config->rotary_size, longest,
                                      extended, table);
    const yk_status status =
        yk_device_context_copy_and_wait(&store->context, to, table, count * sizeof *table);
    free(table);
    return status;
}

static yk_status fill_sinusoidal(const struct yk_parameter_store *store, int64_t longest, void *to)
{
    const int64_t count = longest * store->net->config->width;
    float *table = calloc((size_t)count, sizeof *table);
    YK_TRY_ALLOCATED(table);
    yk_position_tables_compute_sinusoidal(store->net->config, longest, table);
    const yk_status status = round_sinusoidal(store, count, table, to);
    free(table);
    return status;
}

yk_status yk_position_tables_fill(const struct yk_parameter_store *store, int64_t longest,
                                  const struct yk_position_tables *position_tables)
{
    for (int32_t i = 0; i < YK_ROTARY_TABLES; i++) {
        if (position_tables->rotary[i]) {
            YK_TRY(fill_rotary(store, longest, i, position_tables->rotary[i]));
        }
    }
    return position_tables->sinusoidal
               ? fill_sinusoidal(store, longest, position_tables->sinusoidal)
               : YK_OK;
}
