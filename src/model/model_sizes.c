#include "model/model_sizes.h"

#include <stdlib.h>

struct yk_model_sizes {
    struct yk_arena *arena;
    const struct yk_model_config *config;
    struct yk_workload workload;
    const struct yk_model **models; /* (batch + 1, 2), NULL where nobody asked yet */
};

static yk_status start(struct yk_model_sizes *sizes)
{
    const struct yk_model *whole = NULL;
    YK_TRY(yk_arena_create(&sizes->arena));
    /* Refuses what cannot be before room is taken for as many samples as it says. */
    YK_TRY(yk_model_describe(sizes->config, &sizes->workload, sizes->arena, &whole));
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(sizes->arena, sizes->models, 2 * (sizes->workload.batch + 1));
    sizes->models[2 * sizes->workload.batch] = whole;
    return YK_OK;
}

yk_status yk_model_sizes_create(const struct yk_model_config *config,
                                const struct yk_workload *workload, struct yk_model_sizes **out)
{
    struct yk_model_sizes *sizes = calloc(1, sizeof *sizes);
    if (!sizes) {
        return yk_fail_out_of_memory();
    }
    sizes->config = config;
    sizes->workload = *workload;
    sizes->workload.recompute = false;
    const yk_status status = start(sizes);
    if (status != YK_OK) {
        yk_model_sizes_destroy(sizes);
        return status;
    }
    *out = sizes;
    return YK_OK;
}

void yk_model_sizes_destroy(struct yk_model_sizes *sizes)
{
    if (sizes) {
        yk_arena_destroy(sizes->arena);
        free(sizes);
    }
}

yk_status yk_model_sizes_get(struct yk_model_sizes *sizes, int64_t batch, bool recompute,
                             const struct yk_model **out)
{
    const struct yk_model **slot = &sizes->models[2 * batch + (recompute ? 1 : 0)];
    if (!*slot) {
        struct yk_workload workload = sizes->workload;
        workload.batch = batch;
        workload.recompute = recompute;
        YK_TRY(yk_model_describe(sizes->config, &workload, sizes->arena, slot));
    }
    *out = *slot;
    return YK_OK;
}

const struct yk_model *yk_model_sizes_whole_batch(const struct yk_model_sizes *sizes)
{
    return sizes->models[2 * sizes->workload.batch];
}
