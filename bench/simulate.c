/*
 * What simulating costs: a fully-sharded step of 64 ranks with a model of 126 blocks and 8
 * micro-batches, its ranks folded into one and each by itself; and what a planner does thousands of
 * times, a step of 34 layers with one micro-batch. Both ways must say the same.
 */
#include "device_line.h"

#include "base/clock.h"
#include "model/config.h"
#include "program/program.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANKS = 64,
    REPEATS = 9
};

static void check(yk_status status)
{
    if (status != YK_OK) {
        fprintf(stderr, "bench: %s\n", yk_status_message());
        exit(1);
    }
}

/* All that a program is made of. */
struct setting {
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    struct yk_cost_sources sources;
    struct yk_model_config config;
    struct yk_model_cache *cache;
    struct yk_layer_costs *costs;
    struct yk_plan *plan;
    struct yk_program *program;
};

static void make_plan(struct setting *setting, int32_t micro_batches)
{
    const struct yk_model *model = yk_model_cache_get_whole_batch(setting->cache);
    check(yk_plan_create(setting->arena, RANKS, 1, model->layer_count, &setting->plan));
    struct yk_plan *plan = setting->plan;
    plan->workload = model->workload;
    plan->micro_batches = micro_batches;
    plan->prefetch = 1;
    plan->block_bytes = 1e12;
    plan->bucket_bytes = 25e6;
    plan->groups[0].member_count = RANKS;
    for (int32_t i = 0; i < RANKS; i++) {
        plan->ranks[i] = (struct yk_plan_rank){
            .device = i, .limit_bytes = setting->cluster->devices[i].memory_bytes};
        plan->groups[0].members[i] = (struct yk_plan_group_member){
            .rank = i, .share = model->workload.batch / RANKS, .shard_fraction = 1.0 / RANKS};
    }
    for (int32_t i = 0; i < model->layer_count; i++) {
        plan->layers[i].strategy = YK_SHARDING_FULLY_SHARDED;
        plan->layers[i].recompute = true;
    }
    check(yk_plan_check(plan, model));
}

static struct setting *set_up(int64_t blocks, int32_t micro_batches)
{
    const struct yk_model_config *found = NULL;
    struct setting *setting = calloc(1, sizeof *setting);
    if (!setting) {
        exit(1);
    }
    check(yk_arena_create(&setting->arena));
    check(yk_cluster_parse_line("8x(8xa100-80 @ nvlink3) @ 25GB/s", &setting->cluster));
    check(yk_model_config_find_builtin("llama3-8b", &found));
    setting->config = *found;
    setting->config.layers = blocks;
    const struct yk_workload workload = {
        .batch = (int64_t)RANKS * micro_batches, .sequence = 1024, .precision = YK_PRECISION_BF16};
    check(yk_model_cache_create(&setting->config, &workload, &setting->cache));
    setting->sources = (struct yk_cost_sources){.cluster = setting->cluster};
    check(yk_layer_costs_create(&setting->sources, setting->cache, &setting->costs));
    make_plan(setting, micro_batches);
    check(yk_program_compile(setting->plan, setting->cluster, setting->cache, &setting->program));
    return setting;
}

static void tear_down(struct setting *setting)
{
    yk_program_destroy(setting->program);
    yk_layer_costs_destroy(setting->costs);
    yk_model_cache_destroy(setting->cache);
    yk_cluster_destroy(setting->cluster);
    yk_arena_destroy(setting->arena);
    free(setting);
}

/* Gives every rank a list of its own, so that none are folded. */
static void disassemble(struct setting *setting)
{
    for (int32_t i = 1; i < RANKS; i++) {
        struct yk_op_list *list = &setting->program->ranks[i];
        struct yk_op *ops =
            yk_arena_allocate(setting->arena, (size_t)list->op_count, sizeof *list->ops);
        if (!ops) {
            exit(1);
        }
        memcpy(ops, list->ops, (size_t)list->op_count * sizeof *ops);
        list->ops = ops;
    }
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Seconds that one simulation takes: the median. */
static double simulate(const struct setting *setting, double *step_s)
{
    const struct yk_sim_options options = {0};
    double seconds[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        struct yk_sim_result *sim = NULL;
        const double begin_s = yk_clock_now_s();
        check(yk_sim_run(setting->program, setting->costs, &options, &sim));
        seconds[i] = yk_clock_now_s() - begin_s;
        *step_s = sim->step_s;
        yk_sim_result_destroy(sim);
    }
    qsort(seconds, REPEATS, sizeof *seconds, by_value);
    return seconds[REPEATS / 2];
}

static void measure(int64_t blocks, int32_t micro_batches)
{
    struct setting *setting = set_up(blocks, micro_batches);
    const int32_t layer_count = setting->plan->layer_count;
    const int32_t op_count = setting->program->ranks[0].op_count;
    double folded_step_s = 0;
    double apart_step_s = 0;
    const double folded_s = simulate(setting, &folded_step_s);
    disassemble(setting);
    const double apart_s = simulate(setting, &apart_step_s);
    printf("  %d ranks, %d layers, %d micro-batches, %d ops a rank: folded %.3g s, apart %.3g s, "
           "ratio %.0f; steps of %.6g and %.6g s\n",
           RANKS, layer_count, micro_batches, op_count, folded_s, apart_s, apart_s / folded_s,
           folded_step_s, apart_step_s);
    tear_down(setting);
}

int main(void)
{
    print_device_line("simulate", "both ways", "1 thread");
    puts("simulate: seconds of one simulation, ranks folded and each by itself");
    measure(126, 8);
    measure(31, 1);
    return 0;
}
