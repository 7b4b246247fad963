/* Random configs of all families, and the parameters and adapters that transformers and PEFT make
 * of them: tests/oracle/make_family_cases.py. */
#include "base/sha256.h"
#include "model/architecture.h"
#include "model/config.h"
#include "model/model.h"
#include "model/module_tree.h"
#include "nn/net.h"
#include "support/files/same_config.h"
#include "support/support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGEST_DIGITS = 16,
    FAMILIES = 19,
    NAME_SIZE = 256,
    MIN_OF_A_FAMILY = 17,
};

struct family_case {
    const char *family;
    const char *text;
    int64_t parameters;
    const char *digest;
    const char *adapter_digest;
};

struct experts_case {
    const char *family;
    const char *text;
    int64_t parameters;
    int64_t active;
};

static const struct family_case cases[] = {
#define FAMILY_CASE(family_, text_, ...) {family_, text_, __VA_ARGS__},
#include "model/family_cases.inc"
#undef FAMILY_CASE
};

static const struct experts_case experts_cases[] = {
#define MOE_CASE(family_, text_, ...) {family_, text_, __VA_ARGS__},
#include "model/family_cases.inc"
#undef MOE_CASE
};

static const size_t case_count = sizeof cases / sizeof cases[0];
static const size_t experts_case_count = sizeof experts_cases / sizeof experts_cases[0];

/* A case and what is made of it; in memory of its own, since some models are large. */
struct bench {
    struct yk_arena *arena;
    const struct yk_model_config *config;
    const struct yk_model *model;
};

static void open_bench(const char *text, size_t number, int64_t lora_rank, struct bench *out)
{
    struct yk_workload workload = {.batch = 1, .sequence = 8, .lora_rank = lora_rank};
    *out = (struct bench){0};
    assert_ok(yk_arena_create(&out->arena));
    yk_status status =
        yk_model_config_parse(text, strlen(text), "config.json", out->arena, &out->config);
    if (status == YK_OK && yk_model_config_reads_images(out->config)) {
        workload.sequence = out->config->positions;
    }
    YK_IF_OK(yk_model_build(out->config, &workload, out->arena, &out->model));
    if (status != YK_OK) {
        fail_msg("case %zu: %s\n%s", number, yk_status_message(), text);
    }
}

static void close_bench(struct bench *bench)
{
    yk_arena_destroy(bench->arena);
    *bench = (struct bench){0};
}

/* ---- digests ---- */

static int by_bytes(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool is_buffer(const struct yk_parameter *parameter)
{
    return strcmp(parameter->name, "final_logits_bias") == 0;
}

/* "name shape" as in a file of weights, or of an adapter. */
static const char *line_of(const struct yk_net *net, const struct yk_parameter *parameter,
                           bool adapter, struct yk_arena *arena)
{
    char name[NAME_SIZE];
    const char *line =
        adapter && parameter->saved_with_adapter
            ? yk_arena_format(arena, "base_model.model.%s ", parameter->name)
            : yk_arena_format(arena, "%s ",
                              adapter
                                  ? parameter->name
                                  : yk_architecture_file_name(net->config->architecture,
                                                              parameter->name, name, sizeof name));
    for (int32_t i = 0; line && i < parameter->rank; i++) {
        line = yk_arena_format(arena, "%s%" PRId64 "%s", line, parameter->shape[i],
                               i + 1 < parameter->rank ? "," : "\n");
    }
    assert_non_null(line);
    return line;
}

/* The first digits of the SHA-256 of the sorted lines "name shape" of all parameters, or of the
 * adapters' alone. */
static void digest_of(const struct yk_net *net, bool adapter, struct yk_arena *arena,
                      char out[DIGEST_DIGITS + 1])
{
    struct yk_sha256 hash;
    unsigned char bytes[YK_SHA256_DIGEST_BYTES];
    size_t count = 0;
    size_t most = 0;
    for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);) {
        most++;
    }
    const char **lines = yk_arena_allocate(arena, most, sizeof *lines);
    assert_non_null(lines);
    for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);) {
        const struct yk_parameter *each = at.parameter;
        if ((adapter ? !yk_parameter_is_in_adapter(each) : each->adapter) || is_buffer(each)) {
            continue;
        }
        lines[count++] = line_of(net, each, adapter, arena);
    }
    qsort(lines, count, sizeof *lines, by_bytes);
    yk_sha256_begin(&hash);
    for (size_t i = 0; i < count; i++) {
        yk_sha256_update(&hash, lines[i], strlen(lines[i]));
    }
    yk_sha256_end(&hash, bytes);
    for (size_t i = 0; i < DIGEST_DIGITS / 2; i++) {
        (void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    }
}

/* Whether a net can be made of it: BERT with a pooler is planned, but has no loss. */
static bool make_net(const struct bench *bench, size_t number, struct yk_net **out)
{
    if (bench->config->pooler) {
        return false;
    }
    if (yk_net_create(bench->model, &(struct yk_net_options){0}, out) != YK_OK) {
        fail_msg("case %zu: %s", number, yk_status_message());
    }
    return true;
}

static void expect_digest(size_t number, int64_t lora_rank)
{
    const struct family_case *one = &cases[number];
    const char *expected = lora_rank > 0 ? one->adapter_digest : one->digest;
    char found[DIGEST_DIGITS + 1] = "";
    struct yk_net *net = NULL;
    struct bench bench;
    open_bench(one->text, number, lora_rank, &bench);
    if (make_net(&bench, number, &net)) {
        digest_of(net, lora_rank > 0, bench.arena, found);
        if (strcmp(found, expected) != 0) {
            fail_msg("case %zu (%s): the digest is %s, not %s: make_family_cases.py --print %zu",
                     number, one->family, found, expected, number);
        }
    }
    yk_net_destroy(net);
    close_bench(&bench);
}

static void parameters_are_those_of_the_framework(void **state)
{
    (void)state;
    for (size_t i = 0; i < case_count; i++) {
        struct bench bench;
        open_bench(cases[i].text, i, 0, &bench);
        if (bench.model->parameters != cases[i].parameters) {
            fail_msg("case %zu (%s): %" PRId64 " parameters, not %" PRId64, i, cases[i].family,
                     bench.model->parameters, cases[i].parameters);
        }
        assert_null(bench.config->not_trained);
        close_bench(&bench);
    }
}

static void names_and_shapes_are_those_of_the_framework(void **state)
{
    (void)state;
    for (size_t i = 0; i < case_count; i++) {
        expect_digest(i, 0);
    }
}

static void adapters_are_those_of_peft(void **state)
{
    (void)state;
    for (size_t i = 0; i < case_count; i++) {
        expect_digest(i, 2);
    }
}

/* ---- the module tree ---- */

/* The framework lists the sinusoids of Marian among the parameters; a net computes them. */
static bool is_parameter(const struct yk_module_tensor *tensor,
                         const struct yk_model_config *config)
{
    return !tensor->buffer && tensor->tied_to == YK_MODULE_NONE &&
           (config->position_kind != YK_POSITIONS_SINUSOIDAL ||
            !strstr(tensor->name, "embed_positions"));
}

static const struct yk_module_tree *tree_of(const struct bench *bench)
{
    const struct yk_module_tree *modules = NULL;
    assert_ok(yk_module_tree_build(bench->config, bench->arena, &modules));
    return modules;
}

static int64_t count_tree_elements(const struct bench *bench, const struct yk_module_tree *modules)
{
    int64_t elements = 0;
    for (int32_t t = 0; t < modules->tensor_count; t++) {
        const struct yk_module_tensor *tensor = &modules->tensors[t];
        elements += is_parameter(tensor, bench->config) ? tensor->elements : 0;
    }
    return elements;
}

static void expect_same_tensors(const struct bench *bench, const struct yk_module_tree *modules,
                                const struct yk_net *net, size_t number)
{
    int64_t count = 0;
    for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);) {
        count += !is_buffer(at.parameter);
    }
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        const struct yk_module_tensor *tensor = &modules->tensors[i];
        if (!is_parameter(tensor, bench->config)) {
            continue;
        }
        const struct yk_parameter *found = yk_net_find_parameter(net, tensor->name, NULL);
        if (!found || found->count != tensor->elements) {
            fail_msg("case %zu: %s is not there, or of another size", number, tensor->name);
        }
        count--;
    }
    assert_int_equal(count, 0);
}

static void module_trees_have_the_same_tensors(void **state)
{
    (void)state;
    for (size_t i = 0; i < case_count; i++) {
        struct yk_net *net = NULL;
        struct bench bench;
        open_bench(cases[i].text, i, 0, &bench);
        const struct yk_module_tree *modules = tree_of(&bench);
        const int64_t parameters = count_tree_elements(&bench, modules);
        if (parameters != cases[i].parameters) {
            fail_msg("case %zu (%s): %" PRId64 " elements, not %" PRId64, i, cases[i].family,
                     parameters, cases[i].parameters);
        }
        if (make_net(&bench, i, &net)) {
            expect_same_tensors(&bench, modules, net, i);
        }
        yk_net_destroy(net);
        close_bench(&bench);
    }
}

/* ---- configs ---- */

static void configs_written_again_read_back_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < case_count; i++) {
        const struct yk_model_config *again = NULL;
        struct yk_text text = {0};
        struct bench bench;
        open_bench(cases[i].text, i, 0, &bench);
        assert_ok(yk_model_config_to_json(bench.config, YK_PRECISION_FP32, &text));
        if (yk_model_config_parse(yk_text_chars(&text), text.length, "again", bench.arena,
                                  &again) != YK_OK) {
            fail_msg("case %zu: %s\n%s", i, yk_status_message(), yk_text_chars(&text));
        }
        assert_same_config(bench.config, again);
        yk_text_free(&text);
        close_bench(&bench);
    }
}

static void every_family_has_many_cases(void **state)
{
    (void)state;
    size_t families = 0;
    for (size_t i = 0; i < case_count; i++) {
        size_t alike = 0;
        size_t before = 0;
        for (size_t k = 0; k < case_count; k++) {
            const bool same = strcmp(cases[i].family, cases[k].family) == 0;
            alike += same;
            before += same && k < i;
        }
        families += before == 0;
        assert_true(alike >= MIN_OF_A_FAMILY);
    }
    assert_int_equal(families, FAMILIES);
}

/* ---- mixtures of experts ---- */

/* Phi-3.5-MoE has a bias at its head, which no other decoder has. */
static bool is_known(const struct experts_case *one)
{
    return strcmp(one->family, "phimoe") != 0;
}

static void experts_that_compute_no_token_are_counted(void **state)
{
    (void)state;
    for (size_t i = 0; i < experts_case_count; i++) {
        const struct experts_case *one = &experts_cases[i];
        struct bench bench;
        int64_t active = 0;
        if (!is_known(one)) {
            continue;
        }
        open_bench(one->text, i, 0, &bench);
        for (int32_t l = 0; l < bench.model->layer_count; l++) {
            active += bench.model->layers[l].parameters - bench.model->layers[l].inactive;
        }
        if (bench.model->parameters != one->parameters || active != one->active) {
            fail_msg("case %zu (%s): %" PRId64 " parameters, %" PRId64 " active, not %" PRId64
                     " and %" PRId64,
                     i, one->family, bench.model->parameters, active, one->parameters, one->active);
        }
        close_bench(&bench);
    }
}

static void mixtures_of_experts_are_planned_but_not_trained(void **state)
{
    (void)state;
    for (size_t i = 0; i < experts_case_count; i++) {
        const struct experts_case *one = &experts_cases[i];
        struct yk_net *net = NULL;
        struct bench bench;
        char expected[128];
        if (!is_known(one)) {
            continue;
        }
        open_bench(one->text, i, 0, &bench);
        (void)snprintf(expected, sizeof expected,
                       "config.json is a mixture of experts (%s), which yoke can plan but not "
                       "train yet",
                       one->family);
        assert_fails(yk_net_create(bench.model, &(struct yk_net_options){0}, &net), YK_ERROR_INPUT,
                     expected);
        close_bench(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_has_many_cases),
        cmocka_unit_test(parameters_are_those_of_the_framework),
        cmocka_unit_test(names_and_shapes_are_those_of_the_framework),
        cmocka_unit_test(adapters_are_those_of_peft),
        cmocka_unit_test(module_trees_have_the_same_tensors),
        cmocka_unit_test(configs_written_again_read_back_the_same),
        cmocka_unit_test(experts_that_compute_no_token_are_counted),
        cmocka_unit_test(mixtures_of_experts_are_planned_but_not_trained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
