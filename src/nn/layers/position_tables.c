#include "nn/layers/position_tables.h"

#include "model/architecture.h"

#include <math.h>
#include <stdlib.h>

static bool is_rotary(const struct yk_model_config *config)
{
    return config->rope_theta > 0;
}

static bool is_sinusoidal(const struct yk_model_config *config)
{
    return config->architecture->position_table && !config->architecture->learned_positions;
}

/* The precision of the embedding table: fp32 if blocks are NF4. */
static enum yk_precision sinusoidal_precision(const struct yk_net *net)
{
    return net->layers[0].precision;
}

void yk_position_tables_allocate(const struct yk_net *net, int64_t longest,
                                 struct yk_bump_allocator *allocator,
                                 struct yk_position_tables *out)
{
    const struct yk_model_config *config = net->config;
    const size_t size = (size_t)yk_precision_bytes(sinusoidal_precision(net));
    out->rotary = is_rotary(config)
                      ? yk_bump_allocate(allocator, longest * config->head_size, sizeof(float))
                      : NULL;
    out->sinusoidal =
        is_sinusoidal(config) ? yk_bump_allocate(allocator, longest * config->width, size) : NULL;
}

/* Llama 3 scales long wavelengths: those longer than rope_positions / rope_low by the whole factor,
 * those shorter than rope_positions / rope_high not at all. In between, the scaling is linear in
 * the number of rotations. */
static double stretch(const struct yk_model_config *config, double frequency)
{
    if (config->rope_factor == 0) {
        return frequency;
    }
    const double rotations = (double)config->rope_positions * frequency / (2 * M_PI);
    const double kept = (rotations - config->rope_low) / (config->rope_high - config->rope_low);
    const double smooth = fmin(1, fmax(0, kept));
    return smooth * frequency + (1 - smooth) * frequency / config->rope_factor;
}

void yk_position_tables_compute_rotary(const struct yk_model_config *config, int64_t longest,
                                       float *out)
{
    const int64_t half = config->head_size / 2;
    for (int64_t i = 0; i < half; i++) {
        const double power = 2 * (double)i / (double)config->head_size;
        const double frequency = stretch(config, pow(config->rope_theta, -power));
        for (int64_t t = 0; t < longest; t++) {
            /* PyTorch computes the angle in fp32. */
            const float angle = (float)t * (float)frequency;
            out[(t * half + i) * 2] = cosf(angle);
            out[(t * half + i) * 2 + 1] = sinf(angle);
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

/* Computes a table of `count` numbers on the host and copies it to the device. */
static yk_status fill_table(const struct yk_parameter_store *store,
                            void (*compute_table)(const struct yk_model_config *config,
                                                  int64_t longest, float *out),
                            int64_t longest, int64_t count, void *to)
{
    float *table = calloc((size_t)count, sizeof *table);
    YK_TRY_ALLOCATED(table);
    compute_table(store->net->config, longest, table);
    const yk_status status = compute_table == yk_position_tables_compute_rotary
                                 ? yk_device_context_copy_and_wait(&store->context, to, table,
                                                                   (size_t)count * sizeof *table)
                                 : round_sinusoidal(store, count, table, to);
    free(table);
    return status;
}

yk_status yk_position_tables_fill(const struct yk_parameter_store *store, int64_t longest,
                                  const struct yk_position_tables *position_tables)
{
    const struct yk_model_config *config = store->net->config;
    if (position_tables->rotary) {
        YK_TRY(fill_table(store, yk_position_tables_compute_rotary, longest,
                          longest * config->head_size, position_tables->rotary));
    }
    return position_tables->sinusoidal
               ? fill_table(store, yk_position_tables_compute_sinusoidal, longest,
                            longest * config->width, position_tables->sinusoidal)
               : YK_OK;
}
