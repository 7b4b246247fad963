/* Plans the training of a model and prints who does what: plan MODEL CLUSTER BATCH [PLAN]. */
#include <stdio.h>
#include <stdlib.h>
#include <yoke/yoke.h>

static void print_plan(const yoke_plan *plan)
{
    const struct yoke_plan_info *info = yoke_plan_info(plan);
    printf("%s\n", info->summary);
    printf("step %.6f s, bound %.6f s, %.0f tokens/s\n", info->step_s, info->bound_s,
           info->tokens_per_s);
    printf("%s\n", info->bottleneck);
    for (int32_t i = 0; i < info->rank_count; i++) {
        const struct yoke_rank *rank = yoke_plan_rank(plan, i);
        printf("%s: %lld samples, %.1f of %.1f GiB, %.0f %% busy\n", rank->device_name,
               (long long)rank->share, rank->peak_bytes / (1 << 30), rank->limit_bytes / (1 << 30),
               100 * rank->compute_s / info->step_s);
    }
}

int main(int count, char **words)
{
    if (count < 4) {
        fprintf(stderr, "usage: %s MODEL CLUSTER BATCH [PLAN]\n", words[0]);
        return YOKE_ERROR_USAGE;
    }
    const struct yoke_workload workload = {.batch = strtoll(words[3], NULL, 10)};
    const struct yoke_search search = {.moves = 300}; /* plans to look at, however long it takes */
    yoke_model *model = NULL;
    yoke_cluster *cluster = NULL;
    yoke_request *request = NULL;
    yoke_plan *plan = NULL;

    /* Each step only if all before it went well; the first failure is the one to tell. */
    yoke_status status = yoke_model_open(words[1], &workload, &model);
    if (status == YOKE_OK) {
        status = yoke_cluster_open(words[2], &cluster);
    }
    if (status == YOKE_OK) {
        status = yoke_request_create(model, cluster, &request);
    }
    if (status == YOKE_OK) {
        status = yoke_request_set_search(request, &search);
    }
    if (status == YOKE_OK) {
        status = yoke_plan_find(request, &plan);
    }
    if (status == YOKE_OK && count > 4) {
        status = yoke_plan_save(plan, words[4]);
    }
    if (status == YOKE_OK) {
        print_plan(plan);
    } else {
        fprintf(stderr, "%s: %s\n", words[0], yoke_message());
    }
    yoke_plan_destroy(plan);
    yoke_request_destroy(request);
    yoke_cluster_destroy(cluster);
    yoke_model_destroy(model);
    return status;
}
