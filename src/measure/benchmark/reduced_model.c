#include "measure/benchmark/reduced_model.h"

#include "cost/cost.h"
#include "measure/benchmark/benchmark.h"

#include <math.h>
#include <string.h>

static yk_status find_bytes(const struct yk_reduced_model_request *request,
                            const struct yk_model_config *config, int64_t samples,
                            struct yk_arena *arena, double *out)
{
    struct yk_benchmark_step_program plan = {0};
    yk_status status = yk_benchmark_step_program_make(config, &request->workload, request->cluster,
                                                      samples, arena, &plan);
    YK_IF_OK(yk_benchmark_step_program_peak_bytes(&plan, arena, out));
    yk_benchmark_step_program_free(&plan);
    return status;
}

/* Filling more parameters than this takes longer than measuring them. */
static const int64_t max_parameters = 3000000000;

/* What a step would take by the device's datasheet; INFINITY for a model that takes too long to
 * initialise. */
static yk_status find_step_s(const struct yk_reduced_model_request *request,
                             const struct yk_model_config *config, struct yk_arena *arena,
                             double *out)
{
    const struct yk_cost_sources sources = {.cluster = request->cluster};
    const struct yk_model *model = NULL;
    double step_s = 0;
    YK_TRY(yk_model_build(config, &request->workload, arena, &model));
    for (int32_t l = 0; l < model->layer_count; l++) {
        for (int pass = YK_COST_PASS_FORWARD; pass <= YK_COST_PASS_UPDATE; pass++) {
            struct yk_cost_time_estimate time = {0};
            YK_TRY(yk_cost_layer_time(&sources, 0, model, &model->layers[l],
                                      (enum yk_cost_pass)pass, &time));
            step_s += time.seconds * (pass == YK_COST_PASS_UPDATE ? 1 : YK_BENCHMARK_MICRO_BATCHES);
        }
    }
    *out = model->parameters <= max_parameters ? step_s : INFINITY;
    return YK_OK;
}

/* The flags of the first blocks. Every kind of block that the model has comes first once, so that a
 * few blocks contain all kinds. */
static yk_status reduce_flags(const struct yk_model_config *config, struct yk_arena *arena,
                              struct yk_model_config *truncated)
{
    unsigned char *flags = NULL;
    int64_t kinds = 0;
    YK_TRY_NEW(arena, flags, truncated->layers);
    for (int64_t i = 0; i < config->layers && kinds < truncated->layers; i++) {
        if (!memchr(flags, config->block_flags[i], (size_t)kinds)) {
            flags[kinds++] = config->block_flags[i];
        }
    }
    memcpy(flags + kinds, config->block_flags, (size_t)(truncated->layers - kinds));
    truncated->block_flags = flags;
    return YK_OK;
}

yk_status yk_reduced_model_make_config(const struct yk_model_config *config, int64_t blocks,
                                       struct yk_arena *arena, const struct yk_model_config **out)
{
    struct yk_model_config *truncated = NULL;
    YK_TRY_NEW(arena, truncated, 1);
    *truncated = *config;
    truncated->layers = config->layers < blocks ? config->layers : blocks;
    truncated->encoder_layers = config->encoder_layers < blocks ? config->encoder_layers : blocks;
    if (config->block_flags && truncated->layers < config->layers) {
        YK_TRY(reduce_flags(config, arena, truncated));
    }
    *out = truncated;
    return YK_OK;
}

/* Of a config that is as short as can be: as many samples as fit, halving. */
static yk_status find_batch(const struct yk_reduced_model_request *request,
                            const struct yk_model_config *config, struct yk_arena *arena,
                            int64_t *out)
{
    int64_t samples = request->workload.batch;
    double bytes = 0;
    YK_TRY(find_bytes(request, config, samples, arena, &bytes));
    while (bytes > request->free_bytes && samples > 0) {
        samples /= 2;
        if (samples > 0) {
            YK_TRY(find_bytes(request, config, samples, arena, &bytes));
        }
    }
    *out = samples;
    return YK_OK;
}

yk_status yk_reduced_model_choose_blocks(const struct yk_reduced_model_request *request,
                                         struct yk_arena *arena, struct yk_reduced_model *out)
{
    static const int64_t lengths[] = {INT64_MAX, 8, 4, 2};
    struct yk_reduced_model made = {0};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        double bytes = 0;
        double step_s = 0;
        YK_TRY(yk_reduced_model_make_config(request->config, lengths[i], arena, &made.config));
        YK_TRY(find_bytes(request, made.config, request->workload.batch, arena, &bytes));
        YK_TRY(find_step_s(request, made.config, arena, &step_s));
        if (bytes <= request->free_bytes && step_s < INFINITY && step_s <= request->step_s) {
            break;
        }
    }
    made.whole = made.config->layers == request->config->layers &&
                 made.config->encoder_layers == request->config->encoder_layers;
    YK_TRY(find_batch(request, made.config, arena, &made.batch));
    *out = made;
    return YK_OK;
}
