#include "train/checkpoint/checkpoint.h"

#include "nn/weights/weights.h"
#include "support/files/captured_log.h"
#include "support/files/scratch.h"
#include "support/files/skip_fsync.h"
#include "support/support.h"
#include "support/training/small_checkpoint.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct small_store_request adamw = {.config = &small_gpt,
                                                 .optimizer = YK_OPTIMIZER_ADAMW};

static void save_steps(const struct small_store_request *request, int64_t first, int64_t last,
                       int32_t keep)
{
    struct small_store small = small_store_open(request);
    for (int64_t step = first; step <= last; step++) {
        assert_ok(small_checkpoint_save(support_scratch_folder(), &small, step, keep));
    }
    small_store_close(&small);
}

static void assert_files(const char *name, const char *const *expected)
{
    int found = 0;
    int count = 0;
    DIR *listing = opendir(support_scratch_path(name));
    assert_non_null(listing);
    for (struct dirent *entry = NULL; (entry = readdir(listing));) {
        bool known = entry->d_name[0] == '.';
        for (int i = 0; expected[i]; i++) {
            known = known || strcmp(expected[i], entry->d_name) == 0;
        }
        found += entry->d_name[0] != '.';
        assert_true(known);
    }
    closedir(listing);
    while (expected[count]) {
        count++;
    }
    assert_int_equal(found, count);
}

static void all_that_a_training_needs_comes_back(void **state)
{
    (void)state;
    static const char options[] = "{\"optimizer\": \"adamw\",\n  \"settings\": {\"x\" : 1e-3},\n"
                                  "  \"text\": \"\\\"\\u00e4\\n}\", \"list\":[ ]}";
    struct small_store small = small_store_open(&adamw);
    struct yk_character_vocabulary *vocabulary = NULL;
    struct yk_tokenizer *tokenizer = NULL;
    struct yk_checkpoint *opened = NULL;
    struct yk_text path = {0};
    assert_ok(yk_character_vocabulary_build("hello\n", 6, "test", &vocabulary));
    assert_ok(yk_tokenizer_create_character_level(vocabulary, &tokenizer));
    const struct yk_checkpoint_content content = {
        .store = small.store,
        .state = {.step = 123456789,
                  .updates = 123456700,
                  .samples = INT64_C(1) << 52,
                  .bad = 3,
                  .seed = UINT64_MAX - 1,
                  .scaler = {.scale = 1.0 / 3, .clean = 1999}},
        .tokenizer = tokenizer,
        .options_json = options,
    };
    assert_ok(yk_checkpoint_save(support_scratch_folder(), &content, 1, &path));
    assert_string_equal(yk_text_chars(&path), support_scratch_path("step-123456789"));
    assert_ok(yk_checkpoint_open(yk_text_chars(&path), &opened));
    assert_string_equal(opened->path, yk_text_chars(&path));
    assert_memory_equal(&opened->state, &content.state, sizeof content.state);
    assert_string_equal(opened->options_json, options);
    assert_string_equal(opened->config->name, "small-gpt");
    assert_int_equal(opened->config->vocabulary, 11);
    assert_int_equal(opened->workload.batch, 3);
    assert_int_equal(opened->workload.sequence, 5);
    assert_int_equal(yk_tokenizer_vocabulary_size(opened->tokenizer), 5);
    assert_null(opened->base_model);
    yk_checkpoint_close(opened);
    yk_tokenizer_destroy(tokenizer);
    yk_character_vocabulary_destroy(vocabulary);
    yk_text_free(&path);
    small_store_close(&small);
}

/* Whatever a store holds, down to the codes of NF4, whose numbers would not give them again. */
static void stores_of_every_kind_come_back_bit_for_bit(void **state)
{
    (void)state;
    static const struct small_store_request requests[] = {
        {.config = &small_gpt_free, .optimizer = YK_OPTIMIZER_ADAMW},
        {.config = &small_gpt, .precision = YK_PRECISION_BF16, .optimizer = YK_OPTIMIZER_ADAMW},
        {.config = &small_llama, .precision = YK_PRECISION_FP16, .optimizer = YK_OPTIMIZER_SGD},
        {.config = &small_llama, .precision = YK_PRECISION_BF16},
        {.config = &small_llama, .lora_rank = 2, .optimizer = YK_OPTIMIZER_ADAMW},
        {.config = &small_llama,
         .precision = YK_PRECISION_BF16,
         .lora_rank = 2,
         .lora_alpha = 5,
         .nf4 = true,
         .optimizer = YK_OPTIMIZER_ADAMW},
    };
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        save_steps(&requests[i], 1 + (int64_t)i, 1 + (int64_t)i, 1);
        assert_int_equal(small_checkpoint_step(support_scratch_folder(), &requests[i]), 1 + i);
    }
}

static void files_are_those_that_are_needed(void **state)
{
    (void)state;
    static const char *const whole[] = {"manifest.json",         "config.json", "model.safetensors",
                                        "optimizer.safetensors", "state.json",  NULL};
    save_steps(&adamw, 7, 7, 1);
    assert_files("step-00000007", whole);
}

static void weights_that_are_kept_elsewhere_are_not_saved_again(void **state)
{
    (void)state;
    static const char *const files[] = {"manifest.json",
                                        "config.json",
                                        "adapter_config.json",
                                        "adapter_model.safetensors",
                                        "optimizer.safetensors",
                                        "state.json",
                                        NULL};
    const struct small_store_request request = {.config = &small_llama,
                                                .precision = YK_PRECISION_BF16,
                                                .lora_rank = 2,
                                                .lora_alpha = 4,
                                                .nf4 = true,
                                                .optimizer = YK_OPTIMIZER_ADAMW};
    const struct small_store_request plain = {.config = &small_llama};
    const char *base = support_scratch_path("base");
    struct small_store model = small_store_open(&plain);
    struct small_store small = small_store_open(&request);
    struct small_store loaded = small_store_open(&request);
    struct yk_checkpoint *opened = NULL;
    struct yk_text path = {0};
    assert_int_equal(mkdir(base, 0777), 0);
    small_store_fill(&model, 1);
    assert_ok(yk_weights_save(model.store, base, 0, false));
    small_store_fill(&small, 2);
    assert_ok(yk_weights_load(small.store, base));
    const struct yk_checkpoint_content content = {
        .store = small.store, .options_json = "{}", .base_model = base};
    assert_ok(yk_checkpoint_save(support_scratch_path("run"), &content, 1, &path));
    assert_files("run/step-00000000", files);
    assert_ok(yk_checkpoint_open(support_scratch_path("run"), &opened));
    assert_string_equal(opened->base_model, base);
    assert_int_equal(opened->workload.lora_rank, 2);
    assert_true(opened->lora_alpha == 4);
    assert_true(opened->workload.nf4);
    assert_ok(yk_checkpoint_load(opened, NULL, loaded.store));
    assert_null(small_store_difference(&small, &loaded, true));
    /* The model has moved. */
    assert_int_equal(rename(base, support_scratch_path("moved")), 0);
    char expected[512];
    snprintf(expected, sizeof expected,
             "the adapter in %s is for the model \"%s\", which is no folder here; name the folder "
             "with its weights",
             opened->path, base);
    assert_fails(yk_checkpoint_load(opened, NULL, loaded.store), YK_ERROR_INPUT, expected);
    assert_ok(yk_checkpoint_load(opened, support_scratch_path("moved"), loaded.store));
    assert_null(small_store_difference(&small, &loaded, true));
    yk_checkpoint_close(opened);
    yk_text_free(&path);
    small_store_close(&model);
    small_store_close(&small);
    small_store_close(&loaded);
}

static void the_newest_of_a_runs_folder_is_opened(void **state)
{
    (void)state;
    struct small_store small = small_store_open(&adamw);
    assert_int_equal(mkdir(support_scratch_path("run"), 0777), 0);
    for (int64_t step = 9; step <= 11; step++) {
        assert_ok(small_checkpoint_save(support_scratch_path("run/checkpoints"), &small, step, 5));
    }
    small_store_close(&small);
    assert_int_equal(small_checkpoint_step(support_scratch_path("run"), &adamw), 11);
    assert_int_equal(small_checkpoint_step(support_scratch_path("run/checkpoints"), &adamw), 11);
    assert_int_equal(
        small_checkpoint_step(support_scratch_path("run/checkpoints/step-00000009"), &adamw), 9);
    assert_string_equal(logged, "");
}

static void only_the_newest_are_kept(void **state)
{
    (void)state;
    static const char *const two[] = {"step-00000004", "step-00000005", NULL};
    static const char *const all[] = {"step-00000004", "step-00000005", "step-00000006",
                                      "step-00000007", NULL};
    save_steps(&adamw, 1, 5, 2);
    assert_files("", two);
    save_steps(&adamw, 6, 7, 0);
    assert_files("", all);
}

/* A run that goes on from an older checkpoint: what was saved after that is of another run. */
static void steps_that_were_undone_go_first(void **state)
{
    (void)state;
    static const char *const kept[] = {"step-00000002", "step-00000003", NULL};
    save_steps(&adamw, 2, 2, 9);
    save_steps(&adamw, 6, 8, 9);
    save_steps(&adamw, 3, 3, 2);
    assert_files("", kept);
    assert_int_equal(small_checkpoint_step(support_scratch_folder(), &adamw), 3);
}

static void a_checkpoint_of_the_same_step_is_replaced(void **state)
{
    (void)state;
    static const char *const kept[] = {"step-00000004", NULL};
    const struct small_store_request request = {.config = &small_llama,
                                                .optimizer = YK_OPTIMIZER_SGD};
    save_steps(&adamw, 4, 4, 2);
    save_steps(&request, 4, 4, 2);
    assert_files("", kept);
    assert_int_equal(small_checkpoint_step(support_scratch_folder(), &request), 4);
}

/* Cut off between stepping aside and being replaced. */
static void one_that_stepped_aside_is_still_read(void **state)
{
    (void)state;
    static const char *const kept[] = {"step-00000004", NULL};
    save_steps(&adamw, 3, 4, 2);
    assert_int_equal(
        rename(support_scratch_path("step-00000004"), support_scratch_path("step-00000004.old")),
        0);
    assert_int_equal(small_checkpoint_step(support_scratch_folder(), &adamw), 4);
    save_steps(&adamw, 4, 4, 1);
    assert_files("", kept);
}

static void what_was_cut_off_is_cleared_away(void **state)
{
    (void)state;
    static const char *const kept[] = {"step-00000002", "step-00000003", "notes.partial", NULL};
    save_steps(&adamw, 2, 2, 5);
    (void)support_scratch_write_text("step-00000009.partial/model.safetensors", "half");
    (void)support_scratch_write_text("step-00000003.partial/deeper/file", "half");
    (void)support_scratch_write_text("notes.partial", "somebody's");
    assert_int_equal(small_checkpoint_step(support_scratch_folder(), &adamw), 2);
    save_steps(&adamw, 3, 3, 5);
    assert_files("", kept);
}

/* A damage to one file of step 2, in place. */
static void damage(const char *file, size_t at, unsigned char bits, bool cut)
{
    char name[64];
    unsigned char byte = 0;
    snprintf(name, sizeof name, "step-00000002/%s", file);
    const int descriptor = open(support_scratch_path(name), O_RDWR);
    assert_true(descriptor >= 0);
    if (cut) {
        assert_int_equal(ftruncate(descriptor, (off_t)at), 0);
    } else {
        assert_int_equal(pread(descriptor, &byte, 1, (off_t)at), 1);
        byte ^= bits;
        assert_int_equal(pwrite(descriptor, &byte, 1, (off_t)at), 1);
    }
    close(descriptor);
}

static size_t size_of(const char *file)
{
    char name[64];
    struct stat info;
    snprintf(name, sizeof name, "step-00000002/%s", file);
    assert_int_equal(stat(support_scratch_path(name), &info), 0);
    return (size_t)info.st_size;
}

/* Step 1 is opened, with a warning that names step 2. */
static void assert_falls_back(void)
{
    struct yk_checkpoint *opened = NULL;
    logged[0] = '\0';
    assert_ok(yk_checkpoint_open(support_scratch_folder(), &opened));
    assert_int_equal(opened->state.step, 1);
    assert_non_null(strstr(logged, "/step-00000002"));
    assert_non_null(strstr(logged, "; going back to "));
    yk_checkpoint_close(opened);
}

static void a_bit_that_flipped_is_found_in_every_file(void **state)
{
    (void)state;
    static const char *const files[] = {"config.json", "model.safetensors", "optimizer.safetensors",
                                        "state.json"};
    save_steps(&adamw, 1, 2, 2);
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        const size_t size = size_of(files[f]);
        for (size_t i = 0; i < 8; i++) {
            const size_t at = i * (size - 1) / 7;
            damage(files[f], at, (unsigned char)(1 << i), false);
            assert_falls_back();
            damage(files[f], at, (unsigned char)(1 << i), false);
        }
    }
    assert_int_equal(small_checkpoint_step(support_scratch_folder(), &adamw), 2);
}

static void a_bit_that_flipped_anywhere_in_the_manifest_is_found(void **state)
{
    (void)state;
    save_steps(&adamw, 1, 2, 2);
    const size_t size = size_of("manifest.json");
    assert_true(size > 300);
    for (size_t at = 0; at < size; at++) {
        /* Each bit in turn, and the one that tells small letters from large ones. */
        const unsigned char bits[2] = {(unsigned char)(1 << at % 8), 0x20};
        for (int i = 0; i < 2; i++) {
            damage("manifest.json", at, bits[i], false);
            assert_falls_back();
            damage("manifest.json", at, bits[i], false);
        }
    }
    assert_int_equal(small_checkpoint_step(support_scratch_folder(), &adamw), 2);
}

static void a_file_that_is_cut_or_gone_is_found(void **state)
{
    (void)state;
    static const char *const files[] = {"manifest.json", "config.json", "model.safetensors",
                                        "optimizer.safetensors", "state.json"};
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        char name[64];
        save_steps(&adamw, 1, 2, 2);
        damage(files[f], size_of(files[f]) - 1, 0, true);
        assert_falls_back();
        damage(files[f], 0, 0, true);
        assert_falls_back();
        snprintf(name, sizeof name, "step-00000002/%s", files[f]);
        assert_int_equal(unlink(support_scratch_path(name)), 0);
        assert_falls_back();
    }
}

static void where_none_is_whole_all_faults_are_reported(void **state)
{
    (void)state;
    struct yk_checkpoint *opened = NULL;
    char expected[1024];
    save_steps(&adamw, 1, 2, 2);
    damage("model.safetensors", 100, 1, false);
    damage("state.json", 5, 0, true);
    assert_int_equal(unlink(support_scratch_path("step-00000001/manifest.json")), 0);
    snprintf(expected, sizeof expected,
             "no checkpoint in %s is whole: %s/step-00000002/state.json has 5 bytes, but had ",
             support_scratch_folder(), support_scratch_folder());
    assert_int_equal(yk_checkpoint_open(support_scratch_folder(), &opened), YK_ERROR_INPUT);
    assert_memory_equal(yk_status_message(), expected, strlen(expected));
    snprintf(expected, sizeof expected,
             "cannot open %s/step-00000001/manifest.json: No such file or directory",
             support_scratch_folder());
    assert_non_null(strstr(yk_status_message(), expected));
    assert_null(opened);
    assert_string_equal(logged, "");
    /* Asked for by its own name, one without a manifest is no model of somebody else's. */
    assert_int_equal(yk_checkpoint_open(support_scratch_path("step-00000001"), &opened),
                     YK_ERROR_INPUT);
}

static void a_model_of_hugging_faces_opens_at_step_0(void **state)
{
    (void)state;
    const struct small_store_request request = {.config = &small_llama,
                                                .precision = YK_PRECISION_BF16};
    const struct small_store_request trained = {
        .config = &small_llama, .precision = YK_PRECISION_BF16, .optimizer = YK_OPTIMIZER_ADAMW};
    for (uint64_t max = 0; max <= 1000; max += 1000) {
        struct small_store saved = small_store_open(&request);
        struct small_store loaded = small_store_open(&trained);
        struct yk_checkpoint *opened = NULL;
        small_store_fill(&saved, 3);
        assert_ok(yk_weights_save(saved.store, support_scratch_folder(), max, false));
        assert_ok(yk_checkpoint_open(support_scratch_folder(), &opened));
        assert_int_equal(opened->state.step, 0);
        assert_int_equal(opened->state.updates, 0);
        assert_null(opened->options_json);
        assert_string_equal(opened->config->name, support_scratch_folder());
        assert_null(opened->tokenizer);
        assert_int_equal(opened->workload.precision, YK_PRECISION_BF16);
        assert_int_equal(opened->workload.sequence, 16);
        assert_int_equal(opened->workload.lora_rank, 0);
        assert_ok(yk_checkpoint_load(opened, NULL, loaded.store));
        assert_null(small_store_difference(&saved, &loaded, false));
        yk_checkpoint_close(opened);
        small_store_close(&saved);
        small_store_close(&loaded);
    }
}

static void an_adapter_of_pefts_opens_at_step_0(void **state)
{
    (void)state;
    const struct small_store_request plain = {.config = &small_gpt};
    const struct small_store_request request = {
        .config = &small_gpt, .lora_rank = 2, .lora_alpha = 3};
    const char *base = support_scratch_path("base");
    const char *folder = support_scratch_path("adapter");
    struct small_store model = small_store_open(&plain);
    struct small_store saved = small_store_open(&request);
    struct small_store loaded = small_store_open(&request);
    struct yk_checkpoint *opened = NULL;
    assert_int_equal(mkdir(base, 0777), 0);
    assert_int_equal(mkdir(folder, 0777), 0);
    small_store_fill(&model, 3);
    small_store_fill(&saved, 4);
    assert_ok(yk_weights_save(model.store, base, 0, false));
    assert_ok(yk_weights_load(saved.store, base));
    assert_ok(yk_adapter_save(saved.store, folder, base));
    assert_ok(yk_checkpoint_open(folder, &opened));
    assert_int_equal(opened->workload.lora_rank, 2);
    assert_true(opened->lora_alpha == 3);
    assert_int_equal(opened->config->width, 8);
    assert_string_equal(opened->base_model, base);
    assert_ok(yk_checkpoint_load(opened, NULL, loaded.store));
    assert_null(small_store_difference(&saved, &loaded, false));
    char expected[512];
    snprintf(expected, sizeof expected, "%s has an adapter, but the model was made without one",
             folder);
    assert_fails(yk_checkpoint_load(opened, NULL, model.store), YK_ERROR_INPUT, expected);
    yk_checkpoint_close(opened);
    small_store_close(&model);
    small_store_close(&saved);
    small_store_close(&loaded);
}

/* A whole model that is adapted from here on starts without the optimizer's state. */
static void a_whole_checkpoint_can_be_adapted(void **state)
{
    (void)state;
    const struct small_store_request request = {
        .config = &small_gpt, .lora_rank = 2, .optimizer = YK_OPTIMIZER_ADAMW};
    struct small_store loaded = small_store_open(&request);
    struct small_store expected = small_store_open(&adamw);
    struct yk_checkpoint *opened = NULL;
    save_steps(&adamw, 1, 1, 1);
    small_store_fill(&expected, 1);
    assert_ok(yk_checkpoint_open(support_scratch_folder(), &opened));
    assert_ok(yk_checkpoint_load(opened, NULL, loaded.store));
    assert_memory_equal(small_store_numbers(&loaded, "transformer.h.0.mlp.c_fc.weight"),
                        small_store_numbers(&expected, "transformer.h.0.mlp.c_fc.weight"),
                        sizeof(float[8][32]));
    yk_checkpoint_close(opened);
    small_store_close(&loaded);
    small_store_close(&expected);
}

/* From 16 bits to fp32 and back, a training goes on from the numbers that were updated. */
static void master_copies_become_weights_in_another_precision(void **state)
{
    (void)state;
    const struct small_store_request half = {
        .config = &small_gpt, .precision = YK_PRECISION_BF16, .optimizer = YK_OPTIMIZER_ADAMW};
    save_steps(&half, 1, 1, 1);
    assert_int_equal(small_checkpoint_step(support_scratch_folder(), &adamw), 1);
    save_steps(&adamw, 2, 2, 1);
    assert_int_equal(small_checkpoint_step(support_scratch_folder(), &half), 2);
}

static void state_of_another_optimizer_is_refused(void **state)
{
    (void)state;
    const struct small_store_request sgd = {.config = &small_gpt, .optimizer = YK_OPTIMIZER_SGD};
    struct small_store loaded = small_store_open(&adamw);
    struct yk_checkpoint *opened = NULL;
    char expected[512];
    save_steps(&sgd, 1, 1, 1);
    snprintf(expected, sizeof expected,
             "%s/step-00000001/optimizer.safetensors has no \"moment2.transformer.wte.weight\"; it "
             "was trained with another optimizer, or other parameters were",
             support_scratch_folder());
    assert_ok(yk_checkpoint_open(support_scratch_folder(), &opened));
    assert_fails(yk_checkpoint_load(opened, NULL, loaded.store), YK_ERROR_INPUT, expected);
    yk_checkpoint_close(opened);
    small_store_close(&loaded);
}

static void other_paths_are_refused(void **state)
{
    (void)state;
    struct yk_checkpoint *opened = NULL;
    char expected[512];
    snprintf(expected, sizeof expected,
             "%s holds neither checkpoints nor a model: no step-… and no config.json with weights",
             support_scratch_folder());
    assert_fails(yk_checkpoint_open(support_scratch_folder(), &opened), YK_ERROR_INPUT, expected);
    const char *path = support_scratch_write_text("file", "");
    snprintf(expected, sizeof expected, "%s is no folder; a checkpoint is one", path);
    assert_fails(yk_checkpoint_open(path, &opened), YK_ERROR_INPUT, expected);
    path = support_scratch_path("none");
    snprintf(expected, sizeof expected, "cannot open %s: No such file or directory", path);
    assert_fails(yk_checkpoint_open(path, &opened), YK_ERROR_INPUT, expected);
}

#define IN_SCRATCH(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, logged_scratch_make, logged_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(all_that_a_training_needs_comes_back),
        IN_SCRATCH(stores_of_every_kind_come_back_bit_for_bit),
        IN_SCRATCH(files_are_those_that_are_needed),
        IN_SCRATCH(weights_that_are_kept_elsewhere_are_not_saved_again),
        IN_SCRATCH(the_newest_of_a_runs_folder_is_opened),
        IN_SCRATCH(only_the_newest_are_kept),
        IN_SCRATCH(steps_that_were_undone_go_first),
        IN_SCRATCH(a_checkpoint_of_the_same_step_is_replaced),
        IN_SCRATCH(one_that_stepped_aside_is_still_read),
        IN_SCRATCH(what_was_cut_off_is_cleared_away),
        IN_SCRATCH(a_bit_that_flipped_is_found_in_every_file),
        IN_SCRATCH(a_bit_that_flipped_anywhere_in_the_manifest_is_found),
        IN_SCRATCH(a_file_that_is_cut_or_gone_is_found),
        IN_SCRATCH(where_none_is_whole_all_faults_are_reported),
        IN_SCRATCH(a_model_of_hugging_faces_opens_at_step_0),
        IN_SCRATCH(an_adapter_of_pefts_opens_at_step_0),
        IN_SCRATCH(a_whole_checkpoint_can_be_adapted),
        IN_SCRATCH(master_copies_become_weights_in_another_precision),
        IN_SCRATCH(state_of_another_optimizer_is_refused),
        IN_SCRATCH(other_paths_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
