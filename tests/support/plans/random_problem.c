#include "support/plans/random_problem.h"

#include "support/support.h"

#include "base/random.h"
#include "base/text.h"

#include <math.h>

static double between(struct yk_random *random, double low, double high)
{
    return low + (high - low) * yk_random_uniform(random);
}

/* Each order of magnitude is as likely as another. */
static double scale_between(struct yk_random *random, double low, double high)
{
    return low * pow(high / low, yk_random_uniform(random));
}

static void draw_config(struct yk_random *random, int most_blocks, struct yk_model_config *out)
{
    static const int64_t widths[] = {64, 256, 512};
    static const int64_t vocabularies[] = {100, 2000, 12000};
    const struct yk_model_config *gpt2 = NULL;
    assert_ok(yk_model_config_find_builtin("gpt2", &gpt2));
    *out = *gpt2;
    out->name = "drawn";
    out->width = widths[yk_random_below(random, 3)];
    out->vocabulary = vocabularies[yk_random_below(random, 3)];
    out->layers = 1 + yk_random_below(random, most_blocks);
    out->heads = 4;
    out->kv_heads = 4;
    out->head_size = out->width / 4;
    out->feed_forward_width = 4 * out->width;
    out->tied = yk_random_below(random, 2) == 0;
}

/* What one device needs to train the model all by itself. */
static double whole_bytes(const struct yk_plan_request *request)
{
    struct yk_arena *arena = NULL;
    const struct yk_model *model = NULL;
    double bytes = 0;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_model_build(request->config, &request->workload, arena, &model));
    for (int32_t l = 0; l < model->layer_count; l++) {
        bytes += yk_cost_layer_state_bytes(model, &model->layers[l]) +
                 (double)model->layers[l].saved_bytes;
    }
    yk_arena_destroy(arena);
    return bytes;
}

/* Times for one sample and for eight, a part of which is there whatever the samples. */
static void add_times(struct yk_random *random, double scale, struct yk_text *text)
{
    static const char *const kinds[] = {"embed", "gpt-block", "norm", "head"};
    static const double usual_s[] = {1e-3, 4e-3, 2e-4, 3e-3};
    const double fixed = yk_random_below(random, 2) == 0 ? 0 : between(random, 0, 0.7);
    for (int i = 0; i < 4; i++) {
        const double forward_s = scale * usual_s[i] * between(random, 0.7, 1.4);
        for (int batch = 1; batch <= 8; batch *= 8) {
            const double factor = fixed + (1 - fixed) * batch;
            yk_text_addf(text,
                         "%s{\"layer\":\"%s\",\"batch\":%d,\"forward\":\"%.9fs\",\"backward\":"
                         "\"%.9fs\",\"update\":\"%.9fs\"}",
                         i + batch > 1 ? "," : "", kinds[i], batch, forward_s * factor,
                         2.1 * forward_s * factor, 0.1 * forward_s);
        }
    }
}

static void add_links(struct yk_random *random, int devices, double bytes, struct yk_text *text)
{
    /* The model travels in a tenth of a step or in ten of them; all links alike, or not. */
    const double usual = bytes / scale_between(random, 1e-3, 1);
    const bool alike = yk_random_below(random, 2) == 0;
    yk_text_add(text, "],\"links\":[");
    for (int i = 0; i < devices; i++) {
        for (int j = 0; j < i; j++) {
            const double speed = alike ? usual : usual * scale_between(random, 0.2, 5);
            yk_text_addf(text,
                         "%s{\"between\":[\"d%d\",\"d%d\"],\"bandwidth\":\"%.0fB/s\",\"latency\":"
                         "\"%dus\"}",
                         i + j > 1 ? "," : "", j, i, speed, 1 + (int)yk_random_below(random, 50));
        }
    }
    yk_text_add(text, "]}");
}

static void add_device(struct yk_random *random, int number, double bytes, double roomy,
                       struct yk_text *text)
{
    const double context = 0.7 * 1024 * 1024 * 1024;
    const double speed = scale_between(random, 1, 6);
    const double memory = context + bytes * between(random, 0.15, 0.5 + 1.5 * roomy);
    yk_text_addf(text,
                 "%s{\"name\":\"d%d\",\"memory\":\"%.0fB\",\"rates\":{\"matrix\":\"1TFLOPS\","
                 "\"vector\":\"1TFLOPS\"},\"memory_bandwidth\":\"1TB/s\",\"measured\":[",
                 number > 0 ? "," : "", number, memory);
    add_times(random, speed, text);
    yk_text_add(text, "]}");
}

static struct yk_cluster *draw_cluster(struct yk_random *random, int most_devices,
                                       const struct yk_plan_request *request)
{
    const double bytes = whole_bytes(request);
    const int devices = 2 + (int)yk_random_below(random, most_devices - 1);
    const double roomy = yk_random_uniform(random);
    struct yk_text text = {0};
    struct yk_cluster *cluster = NULL;
    yk_text_add(&text, "{\"yoke\":1,\"kind\":\"cluster\",\"devices\":[");
    for (int i = 0; i < devices; i++) {
        const struct yk_random before = *random;
        add_device(random, i, bytes, roomy, &text);
        if (i + 1 < devices && yk_random_below(random, 4) == 0) {
            struct yk_random again = before;
            add_device(&again, ++i, bytes, roomy, &text); /* one more of the same */
        }
    }
    add_links(random, devices, bytes, &text);
    assert_ok(yk_text_status(&text));
    assert_ok(yk_cluster_read_json(text.bytes, text.length, "drawn", &cluster));
    yk_text_free(&text);
    return cluster;
}

void drawn_problem_make(uint64_t seed, const struct drawn_size *most, struct drawn_problem *out)
{
    struct yk_random random = yk_random_from_seed(seed);
    *out = (struct drawn_problem){0};
    draw_config(&random, most->blocks, &out->config);
    out->request = (struct yk_plan_request){
        .cost_sources = &out->sources,
        .config = &out->config,
        .workload = {.batch = 2 + yk_random_below(&random, most->batch - 1),
                     .sequence = 32 << yk_random_below(&random, 4),
                     .precision = YK_PRECISION_BF16},
        .model_source = "drawn",
        .cluster_source = "drawn",
        .clip = yk_random_below(&random, 4) == 0,
        .decisions = YK_DECIDE_ALL,
        .strategy = YK_SHARDING_STRATEGY_COUNT,
        .search = {.budget_s = 1e6, .seed = seed},
    };
    out->cluster = draw_cluster(&random, most->devices, &out->request);
    out->sources = (struct yk_cost_sources){.cluster = out->cluster, .measurements = out->facts};
}

void drawn_problem_free(struct drawn_problem *problem)
{
    yk_cluster_destroy(problem->cluster);
    *problem = (struct drawn_problem){0};
}
