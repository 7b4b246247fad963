#include "nn/weights/weights.h"

#include "base/file.h"
#include "nn/weights/adapter_config.h"
#include "support/files/scratch.h"
#include "support/support.h"
#include "support/training/small_store.h"
#include "support/training/training_case.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const struct small_store_request gpt = {
    .config = &small_gpt, .lora_rank = 3, .lora_alpha = 6};
static const struct small_store_request llama = {
    .config = &small_llama, .precision = YK_PRECISION_BF16, .lora_rank = 2};

static const struct small_store_request marian = {.config = &small_marian, .lora_rank = 2};

static yk_status read_config(int64_t *rank, double *alpha)
{
    struct yk_arena *arena = NULL;
    struct yk_adapter_config config = {.rank = *rank, .alpha = *alpha};
    assert_ok(yk_arena_create(&arena));
    const yk_status status = yk_adapter_config_read(support_scratch_folder(), arena, &config);
    yk_arena_destroy(arena);
    *rank = config.rank;
    *alpha = config.alpha;
    return status;
}

static void assert_file_holds(const char *path, const char *words)
{
    struct yk_text text = {0};
    assert_ok(yk_file_read_document(path, &text));
    assert_string_equal(yk_text_chars(&text), words);
    yk_text_free(&text);
}

/* Saves an adapter of `request` in the scratch folder itself. */
static void save(const struct small_store_request *request, const char *base)
{
    struct small_store small = small_store_open(request);
    small_store_fill(&small, 4);
    assert_ok(yk_adapter_save(small.store, support_scratch_folder(), base));
    small_store_close(&small);
}

static yk_status load(const struct small_store_request *request)
{
    struct small_store small = small_store_open(request);
    const yk_status status = yk_adapter_load(small.store, support_scratch_folder());
    small_store_close(&small);
    return status;
}

static void an_adapter_is_loaded_bit_for_bit(void **state)
{
    (void)state;
    const struct small_store_request *requests[] = {&gpt, &llama, &marian};
    for (int i = 0; i < 3; i++) {
        struct small_store saved = small_store_open(requests[i]);
        struct small_store loaded = small_store_open(requests[i]);
        small_store_fill(&saved, 4);
        small_store_fill(&loaded, 4);
        for (int32_t l = 0; l < loaded.net->layer_count; l++) {
            const struct yk_net_layer *layer = &loaded.net->layers[l];
            for (int32_t p = 0; p < layer->parameter_count; p++) {
                if (layer->parameters[p].adapter) {
                    memset(loaded.store->layers[l].weights + layer->parameters[p].offset, 0,
                           yk_net_parameter_bytes(loaded.net, &layer->parameters[p]));
                }
            }
        }
        assert_non_null(small_store_difference(&saved, &loaded, false));
        assert_ok(yk_adapter_save(saved.store, support_scratch_folder(), "base"));
        assert_ok(yk_adapter_load(loaded.store, support_scratch_folder()));
        assert_null(small_store_difference(&saved, &loaded, false));
        small_store_close(&saved);
        small_store_close(&loaded);
    }
}

/* Keys and values as PEFT 0.21 writes them for such an adapter. */
static void the_config_is_written_in_pefts_keys(void **state)
{
    (void)state;
    save(&gpt, "models/\"mine\"");
    assert_file_holds(support_scratch_path("adapter_config.json"),
                      "{\n"
                      "  \"alpha_pattern\": {},\n"
                      "  \"base_model_name_or_path\": \"models/\\\"mine\\\"\",\n"
                      "  \"bias\": \"none\",\n"
                      "  \"fan_in_fan_out\": true,\n"
                      "  \"inference_mode\": true,\n"
                      "  \"init_lora_weights\": true,\n"
                      "  \"layers_pattern\": null,\n"
                      "  \"layers_to_transform\": null,\n"
                      "  \"lora_alpha\": 6,\n"
                      "  \"lora_dropout\": 0.0,\n"
                      "  \"modules_to_save\": null,\n"
                      "  \"peft_type\": \"LORA\",\n"
                      "  \"r\": 3,\n"
                      "  \"rank_pattern\": {},\n"
                      "  \"revision\": null,\n"
                      "  \"target_modules\": [\n"
                      "    \"c_attn\",\n"
                      "    \"c_fc\",\n"
                      "    \"c_proj\"\n"
                      "  ],\n"
                      "  \"task_type\": \"CAUSAL_LM\",\n"
                      "  \"use_dora\": false,\n"
                      "  \"use_rslora\": false\n"
                      "}\n");
}

static void assert_config_has(const char *words)
{
    struct yk_text text = {0};
    assert_ok(yk_file_read_document(support_scratch_path("adapter_config.json"), &text));
    assert_non_null(strstr(yk_text_chars(&text), words));
    yk_text_free(&text);
}

/* The part for images has modules of the same names. PEFT reads a string as an expression. */
static void target_modules_of_a_multimodal_model_are_an_expression(void **state)
{
    (void)state;
    const struct small_store_request request = {.config = &small_multimodal, .lora_rank = 2};
    save(&request, NULL);
    assert_config_has(
        "\"target_modules\": \"model\\\\.language_model\\\\..*\\\\.(down_proj|gate_proj|"
        "k_proj|o_proj|q_proj|up_proj|v_proj)\",\n  \"task_type\"");
    assert_ok(load(&request));
}

/* The heads of BERT and RoBERTa have a linear "dense" without an adapter, which "dense" alone would
 * mean, too. GPT-NeoX has no other. */
static void target_modules_mean_no_others(void **state)
{
    (void)state;
    const struct small_store_request bert = {.config = &small_bert, .lora_rank = 2};
    const struct small_store_request roberta = {.config = &small_roberta, .lora_rank = 2};
    const struct small_store_request neox = {.config = &small_neox, .lora_rank = 2};
    save(&bert, NULL);
    assert_config_has("\"target_modules\": [\n    \"intermediate.dense\",\n    \"key\",\n    "
                      "\"output.dense\",\n    \"query\",\n    \"value\"\n  ],\n  "
                      "\"task_type\": null");
    save(&roberta, NULL);
    assert_config_has("\"target_modules\": [\n    \"intermediate.dense\",\n    \"key\",\n    "
                      "\"output.dense\",\n    \"query\",\n    \"value\"\n  ],\n  "
                      "\"task_type\": null");
    save(&neox, NULL);
    assert_config_has("\"target_modules\": [\n    \"dense\",\n    \"dense_4h_to_h\",\n    "
                      "\"dense_h_to_4h\",\n    \"query_key_value\"\n  ],\n  "
                      "\"task_type\": \"CAUSAL_LM\"");
    save(&marian, NULL);
    assert_config_has("\"target_modules\": [\n    \"fc1\",\n    \"fc2\",\n    \"k_proj\",\n    "
                      "\"out_proj\",\n    \"q_proj\",\n    \"v_proj\"\n  ],\n  "
                      "\"task_type\": \"SEQ_2_SEQ_LM\"");
}

static void an_alpha_that_was_not_given_is_the_rank(void **state)
{
    (void)state;
    int64_t rank = 0;
    double alpha = 0;
    save(&llama, NULL);
    assert_ok(read_config(&rank, &alpha));
    assert_int_equal(rank, 2);
    assert_true(alpha == 2);
}

static void what_peft_wrote_is_read(void **state)
{
    (void)state;
    static const char *const names[] = {"gpt-lora", "llama-lora", "bert-lora", "marian-nf4"};
    for (int i = 0; i < 4; i++) {
        struct training_case *c = training_case_open(names[i]);
        int64_t rank = 0;
        double alpha = 0;
        (void)support_scratch_write_text("adapter_config.json", c->adapter_text);
        assert_ok(read_config(&rank, &alpha));
        assert_int_equal(rank, c->options.lora_rank);
        assert_true(alpha == c->options.lora_alpha);
        training_case_close(c);
    }
}

static void assert_says(yk_status status, const char *format, const char *path)
{
    char expected[512];
    snprintf(expected, sizeof expected, format, path);
    assert_int_equal(status, YK_ERROR_INPUT);
    assert_string_equal(yk_status_message(), expected);
}

static void another_rank_or_alpha_is_refused(void **state)
{
    (void)state;
    struct small_store_request other = gpt;
    save(&gpt, NULL);
    other.lora_rank = 4;
    assert_says(load(&other), "the adapter in %s has the rank 3, but 4 was asked for",
                support_scratch_folder());
    other.lora_rank = 3;
    other.lora_alpha = 7;
    assert_says(load(&other), "the adapter in %s has an alpha of 6, but 7 was asked for",
                support_scratch_folder());
}

/* PEFT saves the head of a classifier with its adapter, but no other model has such a head. */
static void modules_saved_with_adapters_are_refused(void **state)
{
    (void)state;
    save(&gpt, NULL);
    (void)support_scratch_write_text("adapter_config.json",
                                     "{\"peft_type\": \"LORA\", \"r\": 3, \"lora_alpha\": 6, "
                                     "\"modules_to_save\": [\"lm_head\"]}");
    assert_says(load(&gpt),
                "the adapter in %s has \"lm_head\" in \"modules_to_save\"; only the head of a "
                "classifier can be saved with an adapter",
                support_scratch_folder());
}

static void other_modules_are_refused(void **state)
{
    (void)state;
    struct yk_model_config config = small_gpt;
    struct small_store_request other = gpt;
    other.config = &config;
    save(&gpt, NULL);
    config.layers = 1;
    assert_says(load(&other),
                "%s: \"base_model.model.transformer.h.1.attn.c_attn.lora_A.weight\" belongs to no "
                "linear of a block of small-gpt; adapters are on those",
                support_scratch_path("adapter_model.safetensors"));
    config.layers = 3;
    assert_says(load(&other),
                "%s has no \"base_model.model.transformer.h.2.attn.c_attn.lora_A.weight\"; "
                "adapters must be on all linears of all blocks",
                support_scratch_path("adapter_model.safetensors"));
}

static void adapters_of_other_families_are_refused(void **state)
{
    (void)state;
    static const char phi3_text[] =
        "{\"model_type\": \"phi3\", \"vocab_size\": 13, \"hidden_size\": 8, "
        "\"intermediate_size\": 24, \"num_hidden_layers\": 2, \"num_attention_heads\": 2, "
        "\"num_key_value_heads\": 1, \"max_position_embeddings\": 16}";
    const char *path = support_scratch_path("adapter_model.safetensors");
    const struct small_store_request neox = {.config = &small_neox, .lora_rank = 2};
    struct small_store_request phi3 = {.lora_rank = 2};
    struct small_store_request wider = llama;
    struct yk_model_config config = small_llama;
    struct yk_arena *arena = NULL;
    assert_ok(yk_arena_create(&arena));
    assert_ok(
        yk_model_config_parse(phi3_text, strlen(phi3_text), "phi3.json", arena, &phi3.config));
    save(&neox, NULL);
    assert_says(
        load(&llama),
        "%s: \"base_model.model.gpt_neox.layers.0.attention.query_key_value.lora_A.weight\" "
        "belongs to no linear of a block of small-llama; adapters are on those",
        path);
    save(&phi3, NULL); /* names of modules that begin alike, but other linears */
    assert_says(load(&llama),
                "%s: \"base_model.model.model.layers.0.self_attn.qkv_proj.lora_A.weight\" belongs "
                "to no linear of a block of small-llama; adapters are on those",
                path);
    config.feed_forward_width = 20;
    wider.config = &config;
    save(&wider, NULL); /* the same names, another size */
    assert_says(load(&llama),
                "%s: the shape of \"base_model.model.model.layers.0.mlp.gate_proj.lora_B.weight\" "
                "is (20, 2), but the model's is (24, 2)",
                path);
    yk_arena_destroy(arena);
}

static void other_kinds_of_adapters_are_refused_by_their_key(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *sentence;
    } cases[] = {
        {"{\"peft_type\": \"LORA\", \"r\": 4, \"use_rslora\": true}",
         "%s: \"use_rslora\" is set; only plain LoRA adapters, without it, can be used"},
        {"{\"peft_type\": \"LORA\", \"r\": 4, \"use_dora\": true}",
         "%s: \"use_dora\" is set; only plain LoRA adapters, without it, can be used"},
        {"{\"peft_type\": \"LORA\", \"r\": 4, \"modules_to_save\": [\"lm_head\", \"norm\"]}",
         "%s: \"modules_to_save\" must be a list of one module, the head of a classifier"},
        {"{\"peft_type\": \"LORA\", \"r\": 4, \"rank_pattern\": {\"q_proj\": 8}}",
         "%s: \"rank_pattern\" is set; only plain LoRA adapters, without it, can be used"},
        {"{\"peft_type\": \"LORA\", \"r\": 4, \"bias\": \"all\"}",
         "%s: \"bias\" is set; only plain LoRA adapters, without it, can be used"},
        {"{\"peft_type\": \"IA3\", \"r\": 4}",
         "%s: \"peft_type\" is \"IA3\"; only \"LORA\" can be used"},
        {"{\"r\": 4}", "%s: \"peft_type\" is missing; only \"LORA\" can be used"},
        {"{\"peft_type\": \"LORA\"}", "%s: \"r\" is missing; it gives the rank of the adapters"},
        {"{\"peft_type\": \"LORA\", \"r\": 0}",
         "%s: \"r\" must be a whole number from 1 to 1048576"},
        {"{\"peft_type\": \"LORA\", \"r\": 4, \"lora_alpha\": 0}",
         "%s: \"lora_alpha\" must be a number above 0"},
        {"[]", "%s: an adapter_config.json is an object, not a list"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t rank = -1;
        double alpha = -1;
        const char *path = support_scratch_write_text("adapter_config.json", cases[i].text);
        assert_says(read_config(&rank, &alpha), cases[i].sentence, path);
        assert_int_equal(rank, -1);
    }
}

static void a_model_with_no_adapters_has_none_to_save(void **state)
{
    (void)state;
    const struct small_store_request whole = {.config = &small_gpt};
    struct small_store small = small_store_open(&whole);
    assert_fails(yk_adapter_save(small.store, support_scratch_folder(), NULL), YK_ERROR_INPUT,
                 "small-gpt has no adapter that could be saved");
    small_store_close(&small);
}

#define IN_SCRATCH(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(an_adapter_is_loaded_bit_for_bit),
        IN_SCRATCH(the_config_is_written_in_pefts_keys),
        IN_SCRATCH(target_modules_of_a_multimodal_model_are_an_expression),
        IN_SCRATCH(target_modules_mean_no_others),
        IN_SCRATCH(an_alpha_that_was_not_given_is_the_rank),
        IN_SCRATCH(what_peft_wrote_is_read),
        IN_SCRATCH(another_rank_or_alpha_is_refused),
        IN_SCRATCH(other_modules_are_refused),
        IN_SCRATCH(modules_saved_with_adapters_are_refused),
        IN_SCRATCH(adapters_of_other_families_are_refused),
        IN_SCRATCH(other_kinds_of_adapters_are_refused_by_their_key),
        IN_SCRATCH(a_model_with_no_adapters_has_none_to_save),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
