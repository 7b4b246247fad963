/* Models whose head uses the embedding's weights: whatever is asked for, the search ends well, and
 * what it finds passes the checks of plans and programs. */
#include "base/log.h"
#include "base/random.h"
#include "planner/planner.h"
#include "program/program.h"
#include "support/support.h"

#include <string.h>

enum {
    TRIALS = 60,
#ifdef __SANITIZE_ADDRESS__
    DRAWN = 20
#else
    DRAWN = 300
#endif
};

struct asked {
    struct yk_model_config config;
    struct yk_cluster *cluster;
    struct yk_cost_sources sources;
    struct yk_plan_request request;
};

static void ask(const char *model, const char *cluster, struct asked *out)
{
    const struct yk_model_config *config = NULL;
    *out = (struct asked){0};
    assert_ok(yk_model_config_find_builtin(model, &config));
    out->config = *config;
    assert_true(config->tied);
    assert_ok(yk_cluster_parse_line(cluster, &out->cluster));
    out->sources = (struct yk_cost_sources){.cluster = out->cluster};
    out->request = (struct yk_plan_request){
        .cost_sources = &out->sources,
        .config = &out->config,
        .workload = {.batch = 4, .sequence = 32, .precision = YK_PRECISION_FP32},
        .decisions = YK_DECIDE_ALL,
        .strategy = YK_SHARDING_STRATEGY_COUNT,
        .search = {.moves = TRIALS, .seed = 1},
    };
}

/* Why a candidate was refused, where one was. */
static void show(void *user, enum yk_log_level level, const char *line)
{
    (void)user;
    (void)level;
    print_message("%s\n", line);
}

/* Returns whether there is a plan. */
static bool assert_sound(const struct asked *asked)
{
    struct yk_planner_outcome *planned = NULL;
    assert_ok(yk_planner_search(&asked->request, &planned));
    assert_int_equal(planned->context->refused, 0);
    const bool found = planned->plan != NULL;
    if (found) {
        assert_ok(yk_plan_check(planned->plan, planned->context->model));
        assert_ok(yk_program_check(planned->evaluation.program));
    }
    yk_planner_outcome_destroy(planned);
    return found;
}

static void free_asked(struct asked *asked)
{
    yk_cluster_destroy(asked->cluster);
}

/* An embedding of 86 tokens is under the parameters that DeepSpeed keeps whole, 1e5; what the head
 * has of its own, nothing, is as well, and blocks are not. */
static void a_small_embedding_and_its_head_are_kept_alike(void **state)
{
    (void)state;
    struct asked asked;
    ask("llama-mini", "2xcpu:1", &asked);
    asked.config.vocabulary = 86;
    asked.request.workload.lora_rank = 8;
    asked.request.workload.nf4 = true;
    assert_true(assert_sound(&asked));
    free_asked(&asked);
}

static void draw(struct yk_random *random, struct asked *out)
{
    static const char *const models[] = {"llama-mini", "gpt2", "bert-tiny", "transformer-small"};
    static const char *const clusters[] = {"2xcpu:1", "1xcpu:4 + 2xcpu:1 @ 1GB/s",
                                           "1xrtx6000ada + 2xrtx3090 @ 32GB/s",
                                           "2x(2xrtx3090) @ 10GbE"};
    static const int64_t vocabularies[] = {60, 300, 2000, 20000};
    static const double memories[] = {0, 0, 1.5e9, 0.9e9, 30e6};
    ask(models[yk_random_below(random, 4)], clusters[yk_random_below(random, 4)], out);
    struct yk_plan_request *request = &out->request;
    out->config.vocabulary = vocabularies[yk_random_below(random, 4)];
    if (out->config.layers > 4) {
        out->config.layers = 1 + yk_random_below(random, 4);
    }
    if (yk_random_below(random, 2) == 0) {
        request->workload.precision = YK_PRECISION_BF16;
    }
    request->workload.lora_rank = yk_random_below(random, 2) == 0 ? 8 : 0;
    request->workload.nf4 = request->workload.lora_rank > 0 && yk_random_below(random, 2) == 0;
    request->workload.batch = 1 + yk_random_below(random, 8);
    request->memory_bytes = memories[yk_random_below(random, 5)];
    request->strategy =
        (enum yk_sharding_strategy)yk_random_below(random, YK_SHARDING_STRATEGY_COUNT + 1);
    request->random_strategies = yk_random_below(random, 4) == 0;
    request->micro_batches = yk_random_below(random, 3) == 0 && request->workload.batch > 1 ? 2 : 0;
    request->clip = yk_random_below(random, 2) == 0;
    request->search.seed = (uint64_t)yk_random_below(random, 1000);
}

static void whatever_is_asked_a_plan_passes_the_checks(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(7);
    int32_t found = 0;
    for (int32_t i = 0; i < DRAWN; i++) {
        struct asked asked;
        draw(&random, &asked);
        found += assert_sound(&asked) ? 1 : 0;
        free_asked(&asked);
    }
    assert_true(found > DRAWN / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_embedding_and_its_head_are_kept_alike),
        cmocka_unit_test(whatever_is_asked_a_plan_passes_the_checks),
    };
    yk_log_set_sink(show, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
