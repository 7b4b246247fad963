/* What passes of layers allocate is what the model counts, for random configs of all families:
 * tests/oracle/make_family_cases.py. */
#include "model/config.h"
#include "model/model.h"
#include "nn/layers/layer.h"
#include "nn/net.h"
#include "support/support.h"

#include <string.h>

/* A buffer is as long as a multiple of the alignment, which a model does not count; no pass has
 * more buffers than this. */
enum {
    MOST_BUFFERS = 40,
};

static const char *const cases[] = {
#define FAMILY_CASE(family_, text_, ...) text_,
#include "model/family_cases.inc"
#undef FAMILY_CASE
};

/* Large enough that every buffer of activations is longer than what alignment adds. */
static const struct yk_workload workloads[] = {
    {.batch = 64, .sequence = 14},
    {.batch = 64, .sequence = 14, .precision = YK_PRECISION_BF16},
    {.batch = 64, .sequence = 14, .precision = YK_PRECISION_BF16, .lora_rank = 4},
    {.batch = 64, .sequence = 14, .precision = YK_PRECISION_BF16, .lora_rank = 4, .nf4 = true},
};

/* Inputs have buffers of their own. */
static int64_t saved_except_input(const struct yk_model *model, int32_t layer)
{
    int64_t bytes = model->layers[layer].saved_bytes;
    for (int32_t e = 0; e < model->edge_count && model->layers[layer].keeps_input; e++) {
        bytes -= model->edges[e].to == layer ? model->edges[e].bytes : 0;
    }
    return bytes;
}

static void expect_counted(const struct yk_model *model, const struct yk_net *net, int32_t number,
                           const char *text)
{
    const struct yk_layer *layer = &model->layers[number];
    const struct yk_workload *workload = &model->workload;
    const struct yk_batch_shape batch = {
        .samples = workload->batch,
        .sequence = yk_net_layer_input_rows(&net->layers[number], workload->sequence),
        .memory = net->layers[number].memory >= 0 ? workload->sequence : 0,
    };
    const int64_t slack = (int64_t)MOST_BUFFERS * YK_BACKEND_ALIGNMENT;
    struct yk_layer_memory_sizes sizes = {0};
    net->layers[number].kind->measure(net, number, &batch, &sizes);
    /* What a layer without a backward pass saves, only its forward has. */
    const int64_t saved =
        layer->backward.count > 0 ? saved_except_input(model, number) : layer->workspace_bytes;
    const int64_t allocated = (int64_t)sizes.saved_bytes;
    /* Of other layers, tokens and copies for the loss have buffers that are not those of a pass. */
    if (allocated > saved + slack ||
        (layer->role == YK_LAYER_ROLE_BLOCK && allocated < saved - slack)) {
        fail_msg("%s, \"%s\": %lld bytes saved, %lld counted\n%s", layer->name, layer->shape,
                 (long long)allocated, (long long)saved, text);
    }
    const int64_t forward = (int64_t)sizes.forward_bytes;
    const int64_t backward = (int64_t)sizes.backward_bytes;
    const int64_t counted = layer->workspace_bytes;
    if (forward > counted + slack || backward > counted + slack) {
        fail_msg("%s, \"%s\": workspaces of %lld and %lld bytes, %lld counted\n%s", layer->name,
                 layer->shape, (long long)forward, (long long)backward, (long long)counted, text);
    }
}

static void expect_case_counted(const char *text, const struct yk_workload *wanted)
{
    struct yk_workload workload = *wanted;
    struct yk_arena *arena = NULL;
    const struct yk_model_config *config = NULL;
    const struct yk_model *model = NULL;
    struct yk_net *net = NULL;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_model_config_parse(text, strlen(text), "config.json", arena, &config));
    if (yk_model_config_reads_images(config)) {
        workload.sequence = config->positions;
    }
    assert_ok(yk_model_build(config, &workload, arena, &model));
    if (!config->pooler) { /* which is not trained */
        assert_ok(yk_net_create(model, &(struct yk_net_options){0}, &net));
        for (int32_t l = 0; l < model->layer_count; l++) {
            expect_counted(model, net, l, text);
        }
    }
    yk_net_destroy(net);
    yk_arena_destroy(arena);
}

static void expect_counts(const struct yk_workload *workload)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_case_counted(cases[i], workload);
    }
}

static void passes_in_fp32_allocate_what_is_counted(void **state)
{
    (void)state;
    expect_counts(&workloads[0]);
}

static void passes_in_bf16_allocate_what_is_counted(void **state)
{
    (void)state;
    expect_counts(&workloads[1]);
}

static void passes_with_adapters_allocate_what_is_counted(void **state)
{
    (void)state;
    expect_counts(&workloads[2]);
}

static void passes_with_nf4_allocate_what_is_counted(void **state)
{
    (void)state;
    expect_counts(&workloads[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_in_fp32_allocate_what_is_counted),
        cmocka_unit_test(passes_in_bf16_allocate_what_is_counted),
        cmocka_unit_test(passes_with_adapters_allocate_what_is_counted),
        cmocka_unit_test(passes_with_nf4_allocate_what_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
