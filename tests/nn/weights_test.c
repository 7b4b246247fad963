#include "nn/weights/weights.h"

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "support/files/scratch.h"
#include "support/support.h"
#include "support/training/small_store.h"
#include "tensors/safetensors_writer.h"
#include "tensors/tensor_set.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct small_store_request gpt = {.config = &small_gpt};

static char logged[1024];

static void keep_line(void *user, enum yk_log_level level, const char *line)
{
    (void)user;
    snprintf(logged, sizeof logged, "%d %s", (int)level, line);
}

static void assert_starts(const char *words, const char *beginning)
{
    char start[1024];
    snprintf(start, sizeof start, "%.*s", (int)strlen(beginning), words);
    assert_string_equal(start, beginning);
}

static const char *make_folder(const char *name)
{
    const char *path = support_scratch_path(name);
    assert_int_equal(mkdir(path, 0777), 0);
    return path;
}

static void what_is_saved_is_loaded_bit_for_bit(void **state)
{
    (void)state;
    static const struct small_store_request requests[] = {
        {.config = &small_gpt},
        {.config = &small_gpt_free, .precision = YK_PRECISION_BF16},
        {.config = &small_llama, .precision = YK_PRECISION_FP16},
        {.config = &small_llama, .precision = YK_PRECISION_TF32},
        {.config = &small_gpt, .precision = YK_PRECISION_BF16, .optimizer = YK_OPTIMIZER_ADAMW},
        {.config = &small_bert},
        {.config = &small_bert_free, .precision = YK_PRECISION_BF16},
        {.config = &small_marian, .optimizer = YK_OPTIMIZER_ADAMW},
        {.config = &small_marian_two, .precision = YK_PRECISION_BF16},
        {.config = &small_marian_free},
    };
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        char name[16];
        snprintf(name, sizeof name, "model-%zu", i);
        const char *folder = make_folder(name);
        struct small_store saved = small_store_open(&requests[i]);
        struct small_store loaded = small_store_open(&requests[i]);
        small_store_fill(&saved, 1 + i);
        assert_non_null(small_store_difference(&saved, &loaded, false));
        assert_ok(yk_weights_save(saved.store, folder, 0, false));
        assert_ok(yk_weights_load(loaded.store, folder));
        assert_null(small_store_difference(&saved, &loaded, false));
        small_store_close(&saved);
        small_store_close(&loaded);
    }
}

static void types_in_the_file_are_those_of_the_training(void **state)
{
    (void)state;
    const struct small_store_request request = {
        .config = &small_llama, .precision = YK_PRECISION_FP16, .lora_rank = 2, .nf4 = true};
    const char *folder = make_folder("model");
    struct small_store small = small_store_open(&request);
    struct yk_tensor_set *set = NULL;
    small_store_fill(&small, 7);
    assert_ok(yk_weights_save(small.store, folder, 0, false));
    assert_ok(yk_tensor_set_open(folder, &set));
    /* Two tables, a norm, and of each of two blocks two norms and seven linears; no adapters. */
    assert_int_equal(set->count, 21);
    for (int32_t i = 0; i < set->count; i++) {
        const struct yk_tensor_file_entry *entry = set->locations[i].entry;
        const bool linear = strstr(entry->name, "_proj");
        assert_int_equal(entry->type, linear ? YK_TENSOR_F16 : YK_TENSOR_F32);
    }
    assert_string_equal(set->files[0]->header->metadata[0].value, "pt");
    yk_tensor_set_close(set);
    small_store_close(&small);
}

static void a_number_that_is_none_is_refused_by_the_name_of_its_tensor(void **state)
{
    (void)state;
    const struct small_store_request request = {.config = &small_llama};
    const char *folder = make_folder("model");
    struct small_store small = small_store_open(&request);
    int32_t layer = 0;
    small_store_fill(&small, 7);
    const struct yk_parameter *parameter =
        yk_net_find_parameter(small.store->net, "model.norm.weight", &layer);
    assert_non_null(parameter);
    float *numbers = calloc((size_t)parameter->count, sizeof *numbers);
    assert_non_null(numbers);
    numbers[2] = INFINITY;
    assert_ok(yk_parameter_store_write_values(small.store, layer, parameter, numbers));
    free(numbers);
    assert_ok(yk_weights_save(small.store, folder, 0, false));
    assert_int_equal(yk_weights_load(small.store, folder), YK_ERROR_NUMBERS);
    assert_non_null(strstr(yk_status_message(), "number 2 of \"model.norm.weight\" is inf"));
    small_store_close(&small);
}

static void nf4_is_saved_as_what_its_codes_stand_for(void **state)
{
    (void)state;
    static const char name[] = "model.layers.1.mlp.down_proj.weight";
    const struct small_store_request request = {
        .config = &small_llama, .precision = YK_PRECISION_BF16, .lora_rank = 2, .nf4 = true};
    const struct small_store_request plain = {.config = &small_llama};
    const char *folder = make_folder("model");
    struct small_store small = small_store_open(&request);
    struct small_store loaded = small_store_open(&plain);
    small_store_fill(&small, 7);
    assert_ok(yk_weights_save(small.store, folder, 0, false));
    assert_ok(yk_weights_load(loaded.store, folder));
    const float *stand_for = small_store_numbers(&small, name);
    const float *read = small_store_numbers(&loaded, name);
    for (int i = 0; i < 8 * 24; i++) {
        /* bf16 has eight significant bits. */
        assert_true(fabsf(stand_for[i] - read[i]) <= fabsf(stand_for[i]) / 256);
    }
    small_store_close(&small);
    small_store_close(&loaded);
}

static struct yk_json *read_json(const char *path)
{
    struct yk_text text = {0};
    struct yk_json *root = NULL;
    assert_ok(yk_file_read_document(path, &text));
    assert_ok(yk_json_parse(yk_text_chars(&text), text.length, &root));
    yk_text_free(&text);
    return root;
}

static void several_files_have_an_index(void **state)
{
    (void)state;
    const char *folder = make_folder("model");
    struct small_store saved = small_store_open(&gpt);
    struct small_store loaded = small_store_open(&gpt);
    struct yk_tensor_set *set = NULL;
    double total = 0;
    small_store_fill(&saved, 3);
    assert_ok(yk_weights_save(saved.store, folder, 0, false));
    assert_ok(yk_weights_save(saved.store, folder, 3000, false));
    assert_false(support_scratch_holds("model/model.safetensors"));
    assert_ok(yk_weights_load(loaded.store, folder));
    assert_null(small_store_difference(&saved, &loaded, false));
    struct yk_json *index = read_json(support_scratch_path("model/model.safetensors.index.json"));
    assert_true(yk_json_number_value(
        yk_json_get_member(yk_json_get_member(index, "metadata"), "total_size"), &total));
    /* (11 + 6 + 2) · 8 of the ends, and 872 of each block: 4 · 8 of norms, 3 · 8 · 9, 8 · 9, 32 · 9
     * and 8 · 33 of linears. */
    assert_int_equal((int)total, 4 * (19 * 8 + 2 * 872));
    yk_json_destroy(index);
    assert_ok(yk_tensor_set_open(folder, &set));
    assert_int_equal(set->file_count, 3);
    for (int32_t i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "model/model-%05d-of-00003.safetensors", i + 1);
        uint64_t bytes = 0;
        struct yk_safetensors_file *file = NULL;
        assert_ok(yk_safetensors_open(support_scratch_path(name), &file));
        for (int32_t t = 0; t < file->header->count; t++) {
            bytes += file->header->entries[t].bytes;
        }
        assert_true(bytes > 0 && bytes <= 3000);
        yk_safetensors_close(file);
    }
    yk_tensor_set_close(set);
    assert_ok(yk_weights_save(saved.store, folder, 0, false));
    assert_false(support_scratch_holds("model/model.safetensors.index.json"));
    small_store_close(&saved);
    small_store_close(&loaded);
}

/* A file with what a store holds, under other names, types or shapes. */
struct edit {
    const char *strip;  /* taken off names that begin with it */
    const char *prefix; /* put before those names */
    const char *leave_out;
    const char *reshape; /* gets one row more */
    const char *retype;  /* becomes I32 */
    const char *extra[3];
    const char *rename[2]; /* what names end in, and what they end in then */
    const char *copies[4]; /* of the first table */
    const char *copy_of;   /* another than the first table */
    bool wrong_copy;
};

static void declare(struct yk_safetensors_writer *writer, const struct edit *edit,
                    const struct yk_parameter *parameter)
{
    const size_t strip = edit->strip ? strlen(edit->strip) : 0;
    const char *name = parameter->name;
    int64_t shape[2] = {parameter->shape[0], parameter->shape[1]};
    if (edit->leave_out && strcmp(name, edit->leave_out) == 0) {
        return;
    }
    shape[0] += edit->reshape && strcmp(name, edit->reshape) == 0;
    const bool retyped = edit->retype && strcmp(name, edit->retype) == 0;
    const bool begins = edit->strip && strncmp(name, edit->strip, strip) == 0;
    name += begins ? strip : 0;
    char prefixed[128];
    char renamed[128];
    if (begins && edit->prefix) {
        snprintf(prefixed, sizeof prefixed, "%s%s", edit->prefix, name);
        name = prefixed;
    }
    const char *suffix = edit->rename[0] ? strstr(name, edit->rename[0]) : NULL;
    if (suffix) {
        snprintf(renamed, sizeof renamed, "%.*s%s", (int)(suffix - name), name, edit->rename[1]);
        name = renamed;
    }
    assert_ok(yk_safetensors_writer_declare_tensor(
        writer, name, retyped ? YK_TENSOR_I32 : YK_TENSOR_F32, parameter->rank, shape));
}

static void add(struct yk_safetensors_writer *writer, const struct edit *edit,
                const struct small_store *small, const struct yk_parameter *parameter)
{
    static const float zeros[64];
    if (edit->leave_out && strcmp(parameter->name, edit->leave_out) == 0) {
        return;
    }
    assert_ok(yk_safetensors_writer_append_bytes(writer,
                                                 small_store_numbers(small, parameter->name),
                                                 (size_t)parameter->count * sizeof(float)));
    if (edit->reshape && strcmp(parameter->name, edit->reshape) == 0) {
        const int64_t row = parameter->rank > 1 ? parameter->shape[1] : 1;
        assert_ok(yk_safetensors_writer_append_bytes(writer, zeros, (size_t)row * sizeof(float)));
    }
}

static const struct yk_parameter *copied(const struct small_store *small, const struct edit *edit)
{
    const struct yk_parameter *first = &small->net->layers[0].parameters[0];
    return edit->copy_of ? yk_net_find_parameter(small->net, edit->copy_of, NULL) : first;
}

static void add_copies(struct yk_safetensors_writer *writer, const struct edit *edit,
                       const struct small_store *small)
{
    const struct yk_parameter *table = copied(small, edit);
    for (int i = 0; i < 4 && edit->copies[i]; i++) {
        float *numbers = (float *)small_store_numbers(small, table->name);
        numbers[table->count - 1] += edit->wrong_copy ? 1.0F : 0.0F;
        assert_ok(yk_safetensors_writer_append_bytes(writer, numbers,
                                                     (size_t)table->count * sizeof *numbers));
    }
}

static const char *write_edited(const struct small_store *small, const struct edit *edit)
{
    const char *path = support_scratch_path("edited.safetensors");
    const int64_t one = 1;
    const float number = 0;
    const struct yk_net *net = small->net;
    const struct yk_parameter *table = copied(small, edit);
    struct yk_safetensors_writer *writer = NULL;
    assert_ok(yk_safetensors_writer_create(path, &writer));
    for (int32_t l = 0; l < net->layer_count; l++) {
        for (int32_t i = 0; i < net->layers[l].parameter_count; i++) {
            declare(writer, edit, &net->layers[l].parameters[i]);
        }
    }
    for (int i = 0; i < 4 && edit->copies[i]; i++) {
        assert_ok(yk_safetensors_writer_declare_tensor(writer, edit->copies[i], YK_TENSOR_F32,
                                                       table->rank, table->shape));
    }
    for (int i = 0; i < 3 && edit->extra[i]; i++) {
        assert_ok(
            yk_safetensors_writer_declare_tensor(writer, edit->extra[i], YK_TENSOR_F32, 1, &one));
    }
    assert_ok(yk_safetensors_writer_write_header(writer));
    for (int32_t l = 0; l < net->layer_count; l++) {
        for (int32_t i = 0; i < net->layers[l].parameter_count; i++) {
            add(writer, edit, small, &net->layers[l].parameters[i]);
        }
    }
    add_copies(writer, edit, small);
    for (int i = 0; i < 3 && edit->extra[i]; i++) {
        assert_ok(yk_safetensors_writer_append_bytes(writer, &number, sizeof number));
    }
    assert_ok(yk_safetensors_writer_finish(writer, NULL));
    yk_safetensors_writer_destroy(writer);
    return path;
}

/* Loads an edited file into a fresh store. */
static yk_status load_edited(const struct small_store_request *request, const struct edit *edit)
{
    struct small_store saved = small_store_open(request);
    struct small_store loaded = small_store_open(request);
    small_store_fill(&saved, 5);
    logged[0] = '\0';
    yk_log_set_sink(keep_line, NULL);
    const yk_status status = yk_weights_load(loaded.store, write_edited(&saved, edit));
    yk_log_set_sink(NULL, NULL);
    if (status == YK_OK) {
        assert_null(small_store_difference(&saved, &loaded, false));
    }
    small_store_close(&saved);
    small_store_close(&loaded);
    return status;
}

/* The names that the first GPT-2 was published under. */
static void names_that_leave_out_the_models_own_module_are_read(void **state)
{
    (void)state;
    const struct edit edit = {
        .strip = "transformer.",
        .extra = {"h.0.attn.bias", "h.1.attn.masked_bias", "h.0.rotary_emb.inv_freq"},
    };
    assert_ok(load_edited(&gpt, &edit));
    assert_string_equal(logged, "");
}

static void tensors_that_are_not_used_are_noted(void **state)
{
    (void)state;
    char expected[256];
    const struct edit edit = {.extra = {"score.weight", "transformer.h.2.ln_1.weight"}};
    snprintf(expected, sizeof expected,
             "%d %s: 2 tensors that the model does not have are left out: score.weight, "
             "transformer.h.2.ln_1.weight",
             (int)YK_LOG_NOTE, support_scratch_path("edited.safetensors"));
    assert_ok(load_edited(&gpt, &edit));
    assert_string_equal(logged, expected);
}

static void a_tied_head_may_be_there_if_it_is_equal(void **state)
{
    (void)state;
    char expected[512];
    snprintf(expected, sizeof expected,
             "%s: \"lm_head.weight\" and \"transformer.wte.weight\" differ, but the config ties "
             "them; set \"tie_word_embeddings\" to false to keep both",
             support_scratch_path("edited.safetensors"));
    assert_ok(load_edited(&gpt, &(struct edit){.copies = {"lm_head.weight"}}));
    assert_string_equal(logged, "");
    assert_fails(
        load_edited(&gpt, &(struct edit){.copies = {"lm_head.weight"}, .wrong_copy = true}),
        YK_ERROR_INPUT, expected);
}

/* As the first BERT was published, and as one that was saved without its head. */
static void older_names_of_bert_are_read(void **state)
{
    (void)state;
    const struct small_store_request bert = {.config = &small_bert};
    const struct edit older = {.rename = {"LayerNorm.weight", "LayerNorm.gamma"},
                               .extra = {"bert.embeddings.position_ids"}};
    const struct edit old_biases = {.strip = "bert.",
                                    .rename = {"LayerNorm.bias", "LayerNorm.beta"}};
    assert_ok(load_edited(&bert, &older));
    assert_string_equal(logged, "");
    assert_ok(load_edited(&bert, &old_biases));
    assert_string_equal(logged, "");
}

/* Versions of transformers differ in the name of GPT-NeoX's head, and older ones saved masks. */
static void other_names_of_gpt_neox_are_read(void **state)
{
    (void)state;
    const struct small_store_request neox = {.config = &small_neox};
    const struct edit renamed = {
        .rename = {"embed_out.weight", "lm_head.weight"},
        .extra = {"gpt_neox.layers.0.attention.masked_bias", "gpt_neox.layers.0.attention.bias"}};
    assert_ok(load_edited(&neox, &(struct edit){.strip = "gpt_neox."}));
    assert_string_equal(logged, "");
    assert_ok(load_edited(&neox, &renamed));
    assert_string_equal(logged, "");
}

/* As Gemma 3 with images is published. */
static void the_language_model_of_a_multimodal_model_is_read(void **state)
{
    (void)state;
    const struct small_store_request request = {.config = &small_multimodal};
    const struct edit published = {
        .strip = "model.language_model.",
        .prefix = "language_model.model.",
        .rename = {"lm_head.weight", "language_model.lm_head.weight"},
        .extra = {"vision_tower.post_layernorm.weight", "multi_modal_projector.norm.weight"},
    };
    assert_ok(load_edited(&request, &published));
    assert_non_null(strstr(logged, "2 tensors that the model does not have are left out: "
                                   "vision_tower.post_layernorm.weight, multi_modal_projector"));
    assert_ok(load_edited(&request, &(struct edit){0}));
    assert_string_equal(logged, "");
}

/* The rest of the model is not there, so it is a language model. */
static void it_is_saved_as_a_language_model(void **state)
{
    (void)state;
    struct small_store saved =
        small_store_open(&(struct small_store_request){.config = &small_multimodal});
    struct yk_text config = {0};
    struct yk_tensor_set *set = NULL;
    small_store_fill(&saved, 3);
    assert_ok(yk_weights_save(saved.store, support_scratch_folder(), 600, false));
    assert_ok(yk_file_read_document(support_scratch_path("config.json"), &config));
    assert_non_null(strstr(yk_text_chars(&config), "\"Gemma3ForCausalLM\""));
    assert_null(strstr(yk_text_chars(&config), "text_config"));
    yk_text_free(&config);
    assert_ok(yk_tensor_set_open(support_scratch_folder(), &set)); /* by its index */
    assert_true(set->file_count > 1);
    assert_non_null(yk_tensor_set_find_tensor(set, "model.layers.0.self_attn.q_proj.weight"));
    assert_non_null(yk_tensor_set_find_tensor(set, "model.embed_tokens.weight"));
    assert_non_null(yk_tensor_set_find_tensor(set, "lm_head.weight"));
    yk_tensor_set_close(set);
    small_store_close(&saved);
}

static void copies_of_tied_tensors_may_be_there_if_they_are_equal(void **state)
{
    (void)state;
    const struct small_store_request bert = {.config = &small_bert};
    const struct small_store_request marian = {.config = &small_marian};
    const struct small_store_request two = {.config = &small_marian_two};
    const struct edit weights = {.copies = {"cls.predictions.decoder.weight"}};
    struct edit biases = {.copies = {"cls.predictions.decoder.bias"},
                          .copy_of = "cls.predictions.bias"};
    const struct edit tables = {
        .copies = {"lm_head.weight", "model.encoder.embed_tokens.weight",
                   "model.decoder.embed_tokens.weight"},
        .extra = {"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"},
    };
    const struct edit target = {.copies = {"lm_head.weight"},
                                .copy_of = "model.decoder.embed_tokens.weight"};
    assert_ok(load_edited(&bert, &weights));
    assert_string_equal(logged, "");
    assert_ok(load_edited(&bert, &biases));
    assert_string_equal(logged, "");
    assert_ok(load_edited(&marian, &tables));
    assert_string_equal(logged, "");
    assert_ok(load_edited(&two, &target));
    assert_string_equal(logged, "");
    biases.wrong_copy = true;
    assert_int_equal(load_edited(&bert, &biases), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "\"cls.predictions.decoder.bias\" and "
                                                "\"cls.predictions.bias\" differ"));
}

/* Some frameworks keep another of the names. */
static void a_copy_may_stand_for_what_is_missing(void **state)
{
    (void)state;
    const struct small_store_request marian = {.config = &small_marian};
    assert_ok(
        load_edited(&marian, &(struct edit){.leave_out = "model.shared.weight",
                                            .copies = {"model.encoder.embed_tokens.weight"}}));
    assert_string_equal(logged, "");
}

static void a_bias_that_is_never_trained_may_be_missing(void **state)
{
    (void)state;
    const struct small_store_request request = {.config = &small_marian};
    struct small_store saved = small_store_open(&request);
    struct small_store loaded = small_store_open(&request);
    small_store_fill(&saved, 5);
    small_store_fill(&loaded, 6);
    const char *path = write_edited(&saved, &(struct edit){.leave_out = "final_logits_bias"});
    assert_ok(yk_weights_load(loaded.store, path));
    const float *numbers = small_store_numbers(&loaded, "final_logits_bias");
    for (int64_t i = 0; i < small_marian.vocabulary; i++) {
        assert_true(numbers[i] == 0);
    }
    small_store_close(&saved);
    small_store_close(&loaded);
}

static void a_tensor_of_another_shape_is_named(void **state)
{
    (void)state;
    char expected[512];
    snprintf(expected, sizeof expected,
             "%s: the shape of \"transformer.h.1.mlp.c_fc.weight\" is (9, 32), but the model's is "
             "(8, 32)",
             support_scratch_path("edited.safetensors"));
    assert_fails(load_edited(&gpt, &(struct edit){.reshape = "transformer.h.1.mlp.c_fc.weight"}),
                 YK_ERROR_INPUT, expected);
}

static void a_tensor_that_is_missing_is_named(void **state)
{
    (void)state;
    char expected[512];
    snprintf(expected, sizeof expected, "%s has no tensor \"transformer.ln_f.bias\"",
             support_scratch_path("edited.safetensors"));
    assert_int_equal(load_edited(&gpt, &(struct edit){.leave_out = "transformer.ln_f.bias"}),
                     YK_ERROR_INPUT);
    assert_starts(yk_status_message(), expected);
}

/* Phi-3, whose queries, keys and values are one tensor, and gate and up another. The test frees
 * the arena. */
static struct small_store_request open_phi3(struct yk_arena **arena)
{
    static const char text[] =
        "{\"model_type\": \"phi3\", \"vocab_size\": 13, \"hidden_size\": 8, "
        "\"intermediate_size\": 12, \"num_hidden_layers\": 2, \"num_attention_heads\": 2, "
        "\"num_key_value_heads\": 1, \"max_position_embeddings\": 16}";
    struct small_store_request request = {0};
    assert_ok(yk_arena_create(arena));
    assert_ok(yk_model_config_parse(text, strlen(text), "phi3.json", *arena, &request.config));
    return request;
}

/* "<path>: <words>" */
static const char *about_edited(const char *words)
{
    static char expected[512];
    snprintf(expected, sizeof expected, "%s%s", support_scratch_path("edited.safetensors"), words);
    return expected;
}

static void fused_tensors_of_phi3_are_checked(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    const struct small_store_request phi3 = open_phi3(&arena);
    assert_ok(load_edited(&phi3, &(struct edit){.strip = "model."}));
    assert_fails(
        load_edited(&phi3, &(struct edit){.reshape = "model.layers.0.self_attn.qkv_proj.weight"}),
        YK_ERROR_INPUT,
        about_edited(": the shape of \"model.layers.0.self_attn.qkv_proj.weight\" is (17, 8), but "
                     "the model's is (16, 8)"));
    assert_fails(
        load_edited(&phi3, &(struct edit){.reshape = "model.layers.1.mlp.gate_up_proj.weight"}),
        YK_ERROR_INPUT,
        about_edited(": the shape of \"model.layers.1.mlp.gate_up_proj.weight\" is (25, 8), but "
                     "the model's is (24, 8)"));
    assert_int_equal(
        load_edited(&phi3, &(struct edit){.leave_out = "model.layers.1.self_attn.qkv_proj.weight"}),
        YK_ERROR_INPUT);
    assert_starts(yk_status_message(),
                  about_edited(" has no tensor \"model.layers.1.self_attn.qkv_proj.weight\""));
    yk_arena_destroy(arena);
}

/* The linears that other families have apart do not stand for the fused one. */
static void parts_of_a_fused_tensor_are_not_used(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    const struct small_store_request phi3 = open_phi3(&arena);
    const struct edit apart = {
        .extra = {"model.layers.0.self_attn.q_proj.weight", "model.layers.0.mlp.gate_proj.weight"}};
    char expected[600];
    snprintf(expected, sizeof expected, "%d %s", (int)YK_LOG_NOTE,
             about_edited(": 2 tensors that the model does not have are left out: "
                          "model.layers.0.self_attn.q_proj.weight, "
                          "model.layers.0.mlp.gate_proj.weight"));
    assert_ok(load_edited(&phi3, &apart));
    assert_string_equal(logged, expected);
    const struct edit renamed = {.rename = {"qkv_proj.weight", "q_proj.weight"}};
    assert_int_equal(load_edited(&phi3, &renamed), YK_ERROR_INPUT);
    assert_starts(yk_status_message(),
                  about_edited(" has no tensor \"model.layers.0.self_attn.qkv_proj.weight\""));
    yk_arena_destroy(arena);
}

static void fused_tensors_of_gpt_neox_are_checked(void **state)
{
    (void)state;
    static const char bias[] = "gpt_neox.layers.1.attention.query_key_value.bias";
    const struct small_store_request neox = {.config = &small_neox};
    assert_fails(load_edited(&neox, &(struct edit){.reshape = bias}), YK_ERROR_INPUT,
                 about_edited(": the shape of \"gpt_neox.layers.1.attention.query_key_value.bias\" "
                              "is (25), but the model's is (24)"));
    assert_int_equal(load_edited(&neox, &(struct edit){.leave_out = bias}), YK_ERROR_INPUT);
    assert_starts(
        yk_status_message(),
        about_edited(" has no tensor \"gpt_neox.layers.1.attention.query_key_value.bias\""));
    assert_ok(
        load_edited(&neox, &(struct edit){.extra = {"gpt_neox.layers.2.attention.dense.bias"}}));
    assert_non_null(strstr(logged, "1 tensor"));
}

static void a_tensor_of_integers_is_refused(void **state)
{
    (void)state;
    char expected[512];
    snprintf(expected, sizeof expected,
             "%s: \"transformer.wpe.weight\" is of type I32; weights are read as F64, F32, F16 or "
             "BF16",
             support_scratch_path("edited.safetensors"));
    assert_fails(load_edited(&gpt, &(struct edit){.retype = "transformer.wpe.weight"}),
                 YK_ERROR_INPUT, expected);
}

/* 1.5, −0.25 and 2 in each type; the rest is 0. Bits by hand from IEEE 754 and its upper half. */
static void every_floating_type_is_read(void **state)
{
    (void)state;
    static const double f64[3] = {1.5, -0.25, 2};
    static const float f32[3] = {1.5F, -0.25F, 2};
    static const uint16_t f16[3] = {0x3e00, 0xb400, 0x4000};
    static const uint16_t bf16[3] = {0x3fc0, 0xbe80, 0x4000};
    static const struct {
        enum yk_tensor_dtype type;
        const void *numbers;
    } cases[] = {
        {YK_TENSOR_F64, f64}, {YK_TENSOR_F32, f32}, {YK_TENSOR_F16, f16}, {YK_TENSOR_BF16, bf16}};
    static const char zeros[8 * 32 * 8];
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct small_store small = small_store_open(&gpt);
        const struct yk_net *net = small.net;
        const char *path = support_scratch_path("typed.safetensors");
        const size_t size = yk_tensor_dtype_element_bytes(cases[c].type);
        struct yk_safetensors_writer *writer = NULL;
        assert_ok(yk_safetensors_writer_create(path, &writer));
        for (int pass = 0; pass < 2; pass++) {
            for (int32_t l = 0; l < net->layer_count; l++) {
                for (int32_t i = 0; i < net->layers[l].parameter_count; i++) {
                    const struct yk_parameter *parameter = &net->layers[l].parameters[i];
                    if (pass == 0) {
                        assert_ok(yk_safetensors_writer_declare_tensor(
                            writer, parameter->name, cases[c].type, parameter->rank,
                            parameter->shape));
                        continue;
                    }
                    assert_ok(
                        yk_safetensors_writer_append_bytes(writer, cases[c].numbers, 3 * size));
                    assert_ok(yk_safetensors_writer_append_bytes(
                        writer, zeros, (size_t)(parameter->count - 3) * size));
                }
            }
            if (pass == 0) {
                assert_ok(yk_safetensors_writer_write_header(writer));
            }
        }
        assert_ok(yk_safetensors_writer_finish(writer, NULL));
        yk_safetensors_writer_destroy(writer);
        assert_ok(yk_weights_load(small.store, path));
        const float *numbers = small_store_numbers(&small, "transformer.h.0.mlp.c_fc.weight");
        assert_memory_equal(numbers, f32, sizeof f32);
        assert_true(numbers[3] == 0 && numbers[255] == 0);
        small_store_close(&small);
    }
}

/* One linear against the definition, W + alpha / rank · B·A, number by number. */
static void check_merged(const struct small_store_request *request, const char *module, int64_t out,
                         int64_t in, bool transposed)
{
    char a_name[128];
    char b_name[128];
    char w_name[128];
    const char *folder = support_scratch_path(request->config->name);
    const struct small_store_request whole = {.config = request->config};
    (void)mkdir(folder, 0777);
    struct small_store adapted = small_store_open(request);
    struct small_store merged = small_store_open(&whole);
    small_store_fill(&adapted, 9);
    assert_ok(yk_weights_save(adapted.store, folder, 0, true));
    assert_ok(yk_weights_load(merged.store, folder));
    snprintf(a_name, sizeof a_name, "base_model.model.%s.lora_A.weight", module);
    snprintf(b_name, sizeof b_name, "base_model.model.%s.lora_B.weight", module);
    snprintf(w_name, sizeof w_name, "%s.weight", module);
    const float *a = small_store_numbers(&adapted, a_name);
    const float *b = small_store_numbers(&adapted, b_name);
    const float *w = small_store_numbers(&adapted, w_name);
    const float *m = small_store_numbers(&merged, w_name);
    for (int64_t o = 0; o < out; o++) {
        for (int64_t i = 0; i < in; i++) {
            double sum = 0;
            for (int64_t k = 0; k < request->lora_rank; k++) {
                sum += (double)b[o * request->lora_rank + k] * (double)a[k * in + i];
            }
            const int64_t at = transposed ? i * out + o : o * in + i;
            const double expected =
                (double)w[at] + request->lora_alpha / (double)request->lora_rank * sum;
            assert_true(fabs((double)m[at] - expected) < 1e-6);
        }
    }
    small_store_close(&adapted);
    small_store_close(&merged);
}

static void adapters_are_added_to_what_they_adapt(void **state)
{
    (void)state;
    const struct small_store_request transposed = {
        .config = &small_gpt, .lora_rank = 3, .lora_alpha = 6};
    const struct small_store_request straight = {
        .config = &small_llama, .lora_rank = 2, .lora_alpha = 5};
    check_merged(&transposed, "transformer.h.0.attn.c_attn", 24, 8, true);
    check_merged(&transposed, "transformer.h.1.attn.c_proj", 8, 8, true);
    check_merged(&transposed, "transformer.h.1.mlp.c_proj", 8, 32, true);
    check_merged(&straight, "model.layers.0.self_attn.v_proj", 4, 8, false);
    check_merged(&straight, "model.layers.1.self_attn.o_proj", 8, 8, false);
    check_merged(&straight, "model.layers.1.mlp.up_proj", 24, 8, false);
}

#define IN_SCRATCH(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(what_is_saved_is_loaded_bit_for_bit),
        IN_SCRATCH(types_in_the_file_are_those_of_the_training),
        IN_SCRATCH(a_number_that_is_none_is_refused_by_the_name_of_its_tensor),
        IN_SCRATCH(nf4_is_saved_as_what_its_codes_stand_for),
        IN_SCRATCH(several_files_have_an_index),
        IN_SCRATCH(names_that_leave_out_the_models_own_module_are_read),
        IN_SCRATCH(tensors_that_are_not_used_are_noted),
        IN_SCRATCH(a_tied_head_may_be_there_if_it_is_equal),
        IN_SCRATCH(older_names_of_bert_are_read),
        IN_SCRATCH(other_names_of_gpt_neox_are_read),
        IN_SCRATCH(the_language_model_of_a_multimodal_model_is_read),
        IN_SCRATCH(it_is_saved_as_a_language_model),
        IN_SCRATCH(copies_of_tied_tensors_may_be_there_if_they_are_equal),
        IN_SCRATCH(a_copy_may_stand_for_what_is_missing),
        IN_SCRATCH(a_bias_that_is_never_trained_may_be_missing),
        IN_SCRATCH(a_tensor_of_another_shape_is_named),
        IN_SCRATCH(a_tensor_that_is_missing_is_named),
        IN_SCRATCH(fused_tensors_of_phi3_are_checked),
        IN_SCRATCH(parts_of_a_fused_tensor_are_not_used),
        IN_SCRATCH(fused_tensors_of_gpt_neox_are_checked),
        IN_SCRATCH(a_tensor_of_integers_is_refused),
        IN_SCRATCH(every_floating_type_is_read),
        IN_SCRATCH(adapters_are_added_to_what_they_adapt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
