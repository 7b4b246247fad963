#include "library/library.h"
#include "planner/placement/placement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_MICRO_BATCHES = 4096
};

_Static_assert((int)YOKE_DECIDE_SHARES == (int)YK_DECIDE_SAMPLE_SHARES &&
                   (int)YOKE_DECIDE_PARTS == (int)YK_DECIDE_SHARD_FRACTIONS &&
                   (int)YOKE_DECIDE_STRATEGIES == (int)YK_DECIDE_STRATEGIES &&
                   (int)YOKE_DECIDE_BLOCK == (int)YK_DECIDE_BLOCK_SIZE &&
                   (int)YOKE_DECIDE_ORDER == (int)YK_DECIDE_TRANSFER_ORDER &&
                   (int)YOKE_DECIDE_PLACEMENT == (int)YK_DECIDE_PLACEMENT &&
                   (int)YOKE_DECIDE_RECOMPUTATION == (int)YK_DECIDE_RECOMPUTATION &&
                   (int)YOKE_DECIDE_ALL == (int)YK_DECIDE_ALL,
               "yoke_decision is yk_plan_decision");

yoke_status yoke_request_create(yoke_model *model, yoke_cluster *cluster, yoke_request **out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(model, cluster, out);
    yoke_request *request = calloc(1, sizeof *request);
    const yk_status status = request ? yk_arena_create(&request->arena) : yk_fail_out_of_memory();
    YK_LIBRARY_TRY_OR_CLEANUP(status, free(request));
    atomic_init(&request->references, 1);
    request->model = YK_LIBRARY_RETAIN(model);
    request->cluster = YK_LIBRARY_RETAIN(cluster);
    request->decisions = YOKE_DECIDE_ALL;
    request->strategy = YK_SHARDING_STRATEGY_COUNT;
    *out = request;
    return YOKE_OK;
}

void yoke_request_destroy(yoke_request *request)
{
    if (request && yk_library_release_reference(&request->references)) {
        yoke_cluster_destroy(request->cluster);
        yoke_model_destroy(request->model);
        yk_arena_destroy(request->arena);
        free(request);
    }
}

yoke_status yoke_request_set_profile(yoke_request *request, const char *path)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(request);
    return yk_library_to_public_status(yk_arena_strdup(request->arena, path, &request->profile));
}

yoke_status yoke_request_set_micro_batches(yoke_request *request, int32_t micro_batches)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(request);
    const int64_t batch = request->model->info.workload.batch;
    if (micro_batches < 0 || micro_batches > MAX_MICRO_BATCHES) {
        return YK_LIBRARY_FAIL_USAGE("there are 1 to %d micro-batches, or 0 for the search to "
                                     "choose, not %d",
                                     MAX_MICRO_BATCHES, micro_batches);
    }
    if (micro_batches > batch) {
        return YK_LIBRARY_FAIL_USAGE("%lld samples cannot be split into %d micro-batches",
                                     (long long)batch, micro_batches);
    }
    request->micro_batches = micro_batches;
    return YOKE_OK;
}

yoke_status yoke_request_set_search(yoke_request *request, const struct yoke_search *search)
{
    struct yk_scheduler_options checked;
    YK_LIBRARY_REQUIRE_NOT_NULL(request);
    YK_LIBRARY_TRY(yk_library_convert_search_options(search, 1, &checked));
    request->search = search ? *search : (struct yoke_search){0};
    return YOKE_OK;
}

yoke_status yoke_request_set_memory(yoke_request *request, double memory_bytes)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(request);
    if (!isfinite(memory_bytes) || memory_bytes < 0) {
        return YK_LIBRARY_FAIL_USAGE("memory is 0 bytes or more, not %g", memory_bytes);
    }
    request->memory_bytes = memory_bytes;
    return YOKE_OK;
}

yoke_status yoke_request_set_slowdown(yoke_request *request, double slowdown)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(request);
    YK_LIBRARY_TRY(yk_library_check_request_slowdown(slowdown));
    request->slowdown = slowdown;
    return YOKE_OK;
}

yk_status yk_library_check_request_slowdown(double slowdown)
{
    if (slowdown == 0 || (isfinite(slowdown) && slowdown >= 1)) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_USAGE, "a slowdown is 1 or more, or 0 for the usual one, not %g",
                   slowdown);
}

yoke_status yoke_request_set_clip(yoke_request *request, bool clip)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(request);
    request->clip = clip;
    return YOKE_OK;
}

yoke_status yoke_request_set_decisions(yoke_request *request, uint32_t decisions)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(request);
    if ((decisions & ~(uint32_t)YOKE_DECIDE_ALL) != 0) {
        return YK_LIBRARY_FAIL_USAGE("there are no decisions 0x%x", (unsigned)decisions);
    }
    request->decisions = decisions;
    return YOKE_OK;
}

/* The names of the strategies, then "random". */
static const char *strategy_name(int32_t number)
{
    if (number < YK_SHARDING_STRATEGY_COUNT) {
        return yk_plan_strategy_name((enum yk_sharding_strategy)number);
    }
    return number == YK_SHARDING_STRATEGY_COUNT ? "random" : NULL;
}

yoke_status yoke_request_set_strategy(yoke_request *request, const char *strategy)
{
    int32_t number = YK_SHARDING_STRATEGY_COUNT;
    YK_LIBRARY_REQUIRE_NOT_NULL(request);
    if (strategy) {
        YK_LIBRARY_TRY(yk_library_find_index_of_name("strategy", strategy, strategy_name, &number));
    }
    request->strategy = (enum yk_sharding_strategy)number;
    request->random_strategies = strategy && number == YK_SHARDING_STRATEGY_COUNT;
    return YOKE_OK;
}

const char *yoke_placement_algorithm(int32_t number)
{
    return number < 0 ? NULL : yk_placement_algorithm_name((size_t)number);
}

yoke_status yoke_request_set_algorithm(yoke_request *request, const char *algorithm)
{
    int32_t number = 0;
    YK_LIBRARY_REQUIRE_NOT_NULL(request);
    if (algorithm) {
        YK_LIBRARY_TRY(yk_library_find_index_of_name("way of placing", algorithm,
                                                     yoke_placement_algorithm, &number));
    }
    request->algorithm = algorithm ? yoke_placement_algorithm(number) : NULL;
    return YOKE_OK;
}

static yk_status read_map(const char *text, const char *source, struct yoke_request *request)
{
    const struct yk_module_tree *modules = NULL;
    YK_TRY(yk_module_tree_build(request->model->config, request->arena, &modules));
    return yk_device_map_parse(text, strlen(text), source, modules,
                               request->cluster->info.device_count, request->arena, &request->map);
}

yoke_status yoke_request_set_map(yoke_request *request, const char *text, const char *source)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(request);
    if (!text) {
        request->map = NULL;
        return YOKE_OK;
    }
    YK_LIBRARY_REQUIRE_NOT_NULL(source);
    return yk_library_to_public_status(read_map(text, source, request));
}
