#include "train/checkpoint/checkpoint.h"

#include "support/files/captured_log.h"
#include "support/files/scratch.h"
#include "support/files/skip_fsync.h"
#include "support/support.h"
#include "support/training/sharded_checkpoint.h"
#include "support/training/small_checkpoint.h"
#include "train/rank_partitions.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_RANKS = 4
};

static const struct small_store_request adamw = {.config = &small_gpt,
                                                 .optimizer = YK_OPTIMIZER_ADAMW};

static struct sharded_world world_of(const struct small_store_request *request, int32_t ranks,
                                     uint64_t seed)
{
    return (struct sharded_world){
        .request = request, .folder = support_scratch_folder(), .ranks = ranks, .seed = seed};
}

static void save_steps(int32_t ranks, int64_t first, int64_t last)
{
    const struct sharded_world world = world_of(&adamw, ranks, 3);
    for (int64_t step = first; step <= last; step++) {
        assert_ok(sharded_save(&world, step, 9));
    }
}

/* ---- from any number of ranks to any other ---- */

/* Every seed is another layout: groups, strategies, parts and blocks. */
static void check_all_pairs(const struct small_store_request *request)
{
    int64_t step = 0;
    for (int32_t savers = 1; savers <= MAX_RANKS; savers++) {
        for (int32_t loaders = 1; loaders <= MAX_RANKS; loaders++) {
            for (uint64_t seed = 1; seed <= 5; seed++) {
                const struct sharded_world from = world_of(request, savers, seed);
                const struct sharded_world to = world_of(request, loaders, 100 * seed);
                int64_t found = 0;
                assert_ok(sharded_save(&from, ++step, 1));
                if (sharded_load(&to, &found) != YK_OK) {
                    fail_msg("%d to %d ranks, seed %d: %s", savers, loaders, (int)seed,
                             yk_status_message());
                }
                assert_int_equal(found, step);
            }
        }
    }
    assert_string_equal(logged, "");
}

static void any_number_of_ranks_goes_on_from_any_other_in_fp32(void **state)
{
    (void)state;
    check_all_pairs(&adamw);
}

static void any_number_of_ranks_goes_on_from_any_other_in_bf16(void **state)
{
    (void)state;
    check_all_pairs(&(struct small_store_request){
        .config = &small_llama, .precision = YK_PRECISION_BF16, .optimizer = YK_OPTIMIZER_ADAMW});
}

static void any_number_of_ranks_goes_on_from_any_other_with_sgd(void **state)
{
    (void)state;
    check_all_pairs(&(struct small_store_request){.config = &small_marian_two,
                                                  .precision = YK_PRECISION_FP16,
                                                  .optimizer = YK_OPTIMIZER_SGD});
}

static void any_number_of_ranks_goes_on_from_any_other_with_adapters_of_nf4(void **state)
{
    (void)state;
    check_all_pairs(&(struct small_store_request){.config = &small_gpt_free,
                                                  .precision = YK_PRECISION_BF16,
                                                  .lora_rank = 2,
                                                  .lora_alpha = 4,
                                                  .nf4 = true,
                                                  .optimizer = YK_OPTIMIZER_ADAMW});
}

static void any_number_of_ranks_goes_on_from_any_other_with_frozen_16_bits(void **state)
{
    (void)state;
    check_all_pairs(&(struct small_store_request){.config = &small_bert,
                                                  .precision = YK_PRECISION_BF16,
                                                  .lora_rank = 3,
                                                  .optimizer = YK_OPTIMIZER_SGD});
}

static const struct yk_model_config *const configs[] = {
    &small_gpt,       &small_gpt_free, &small_llama,      &small_bert,
    &small_bert_free, &small_marian,   &small_marian_two, &small_marian_free};

static void all_models_come_back_into_one_store(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        const struct small_store_request request = {.config = configs[i],
                                                    .optimizer = YK_OPTIMIZER_ADAMW};
        const struct sharded_world world = world_of(&request, 3, i);
        assert_ok(sharded_save(&world, (int64_t)i, 1));
        assert_int_equal(small_checkpoint_step(world.folder, &request), i);
    }
}

/* ---- what is there ---- */

static int64_t count_bytes(const char *name)
{
    struct stat info;
    return stat(support_scratch_path(name), &info) == 0 ? (int64_t)info.st_size : -1;
}

static void each_rank_has_one_shard_and_nothing_is_saved_twice(void **state)
{
    (void)state;
    int64_t bytes = 0;
    save_steps(3, 7, 7);
    for (int rank = 1; rank <= 3; rank++) {
        char name[64];
        snprintf(name, sizeof name, "step-00000007/shard-%05d-of-00003.safetensors", rank);
        assert_true(support_scratch_holds(name));
        bytes += count_bytes(name);
    }
    /* 1896 numbers with two moments each; the rest is headers. */
    assert_in_range(bytes, 1896 * 12, 1896 * 12 + 40000);
    assert_true(support_scratch_holds("step-00000007/config.json"));
    assert_true(support_scratch_holds("step-00000007/state.json"));
    assert_false(support_scratch_holds("step-00000007/model.safetensors"));
    assert_false(support_scratch_holds("step-00000007/optimizer.safetensors"));
}

/* The slices of a layer that all members have whole, cut by hand: 10 things of 4 members. */
static void replicated_layers_are_saved_in_slices(void **state)
{
    (void)state;
    struct small_store small = small_store_open(&adamw);
    struct yk_program *program = sharded_program(small.net, 4, 1, small.arena);
    struct yk_plan *plan = (struct yk_plan *)(uintptr_t)program->plan;
    const int64_t firsts[] = {0, 3, 5, 8, 10};
    for (int32_t l = 0; l < plan->layer_count; l++) {
        plan->layers[l] = (struct yk_plan_layer){.group = 0, .strategy = YK_SHARDING_REPLICATED};
    }
    plan->groups[0].member_count = 4;
    for (int32_t m = 0; m < 4; m++) {
        plan->groups[0].members[m].rank = m;
    }
    for (int32_t rank = 0; rank < 4; rank++) {
        struct yk_layer_partition *saves = NULL;
        assert_ok(yk_rank_partitions_compute_saved(program, rank, small.arena, &saves));
        assert_int_equal(saves[0].blocks, 1);
        assert_int_equal(yk_layer_partition_fraction_to_element(10, 1, 0, saves[0].from),
                         firsts[rank]);
        assert_int_equal(yk_layer_partition_fraction_to_element(10, 1, 0, saves[0].to),
                         firsts[rank + 1]);
    }
    small_store_close(&small);
}

/* ---- stores of another form ---- */

/* Loads the newest checkpoint into one store; the same from one rank's and from three ranks' files
 * must give the same numbers. */
static void assert_same_from_shards(const struct small_store_request *saved,
                                    const struct small_store_request *wanted)
{
    struct small_store loaded[2];
    for (int i = 0; i < 2; i++) {
        struct yk_checkpoint *checkpoint = NULL;
        const struct sharded_world world = world_of(saved, i == 0 ? 1 : 3, 5);
        assert_ok(sharded_save(&world, 4, 1));
        loaded[i] = small_store_open(wanted);
        small_store_fill(&loaded[i], 99);
        assert_ok(yk_checkpoint_open(world.folder, &checkpoint));
        assert_int_equal(checkpoint->shards, i == 0 ? 0 : 3);
        assert_ok(yk_checkpoint_load(checkpoint, NULL, loaded[i].store));
        yk_checkpoint_close(checkpoint);
    }
    assert_null(small_store_difference(&loaded[0], &loaded[1], true));
    small_store_close(&loaded[0]);
    small_store_close(&loaded[1]);
}

static void shards_load_into_other_forms_as_files_of_one_rank_do(void **state)
{
    (void)state;
    const struct small_store_request half = {
        .config = &small_gpt, .precision = YK_PRECISION_BF16, .optimizer = YK_OPTIMIZER_ADAMW};
    const struct small_store_request frozen = {.config = &small_gpt,
                                               .precision = YK_PRECISION_BF16,
                                               .lora_rank = 2,
                                               .optimizer = YK_OPTIMIZER_ADAMW};
    struct small_store_request wanted = half;
    wanted.optimizer = YK_OPTIMIZER_NONE; /* to evaluate */
    assert_same_from_shards(&half, &wanted);
    wanted.precision = YK_PRECISION_FP32;
    assert_same_from_shards(&half, &wanted);
    wanted.optimizer = YK_OPTIMIZER_ADAMW; /* to go on, in another precision */
    assert_same_from_shards(&half, &wanted);
    wanted.optimizer = YK_OPTIMIZER_SGD;
    assert_same_from_shards(&half, &wanted);
    assert_same_from_shards(&half, &frozen); /* to adapt what was trained whole */
    wanted = frozen;
    wanted.precision = YK_PRECISION_FP32;
    assert_same_from_shards(&frozen, &wanted);
    wanted.nf4 = true; /* quantised from here on */
    wanted.precision = YK_PRECISION_BF16;
    assert_same_from_shards(&frozen, &wanted);
}

/* Master copies become the weights, also where only the state is in parts. */
static void ranks_go_on_in_another_precision(void **state)
{
    (void)state;
    const struct small_store_request half = {
        .config = &small_gpt, .precision = YK_PRECISION_BF16, .optimizer = YK_OPTIMIZER_ADAMW};
    int64_t step = 0;
    for (int32_t savers = 1; savers <= 3; savers += 2) {
        for (uint64_t seed = 1; seed <= 8; seed++) {
            const struct sharded_world from = world_of(&half, savers, seed);
            const struct sharded_world to = world_of(&adamw, 3, seed);
            int64_t found = 0;
            assert_ok(sharded_save(&from, ++step, 1));
            assert_ok(sharded_load(&to, &found));
            assert_int_equal(found, step);
        }
    }
}

/* One rank's files keep the model in 16 bits; shards keep what the codes stand for exactly. */
static void nf4_loads_into_a_store_that_has_none(void **state)
{
    (void)state;
    const struct small_store_request nf4 = {
        .config = &small_llama, .lora_rank = 2, .nf4 = true, .optimizer = YK_OPTIMIZER_ADAMW};
    struct small_store_request plain = nf4;
    plain.nf4 = false;
    assert_same_from_shards(&nf4, &plain);
}

/* Frozen numbers are the base's, whoever saved it; adapters are the checkpoint's. */
static void check_adapters(int32_t base_ranks)
{
    const struct small_store_request full = {.config = &small_llama, .optimizer = YK_OPTIMIZER_SGD};
    const struct small_store_request adapted = {
        .config = &small_llama, .lora_rank = 2, .optimizer = YK_OPTIMIZER_ADAMW};
    const char *const frozen = "model.layers.0.mlp.down_proj.weight";
    const char *const trained = "base_model.model.model.layers.0.mlp.down_proj.lora_A.weight";
    struct small_store model = small_store_open(&full);
    struct small_store run = small_store_open(&adapted);
    struct small_store loaded = small_store_open(&adapted);
    struct yk_checkpoint *checkpoint = NULL;
    char base[256];
    snprintf(base, sizeof base, "%s", support_scratch_path("base/step-00000077"));
    const struct sharded_world first = {
        .request = &full, .folder = support_scratch_path("base"), .ranks = base_ranks, .seed = 4};
    const struct sharded_world second = {.request = &adapted,
                                         .folder = support_scratch_path("run"),
                                         .ranks = 2,
                                         .seed = 2,
                                         .base_model = base};
    assert_ok(sharded_save(&first, 77, 1));
    assert_ok(sharded_save(&second, 5, 1));
    small_store_fill(&model, 77);
    small_store_fill(&run, 5);
    assert_ok(yk_checkpoint_open(second.folder, &checkpoint));
    assert_ok(yk_checkpoint_load(checkpoint, NULL, loaded.store));
    assert_memory_equal(small_store_numbers(&loaded, frozen), small_store_numbers(&model, frozen),
                        sizeof(float[24][8]));
    assert_memory_equal(small_store_numbers(&loaded, trained), small_store_numbers(&run, trained),
                        sizeof(float[2][24]));
    yk_checkpoint_close(checkpoint);
    small_store_close(&loaded);
    small_store_close(&run);
    small_store_close(&model);
}

static void adapters_leave_a_model_that_is_kept_elsewhere_there(void **state)
{
    (void)state;
    check_adapters(1);
    check_adapters(3);
}

/* ---- torn ones ---- */

static void flip_bit(const char *path, off_t at)
{
    unsigned char byte = 0;
    const int file = open(path, O_RDWR);
    assert_true(file >= 0);
    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    close(file);
}

static const char *shard_path(int step, int shard, int ranks)
{
    char name[96];
    snprintf(name, sizeof name, "step-%08d/shard-%05d-of-%05d.safetensors", step, shard, ranks);
    return support_scratch_path(name);
}

/* With any number of ranks, all of which go back to step 1 and say why. */
static void assert_goes_back(const char *path, const char *why)
{
    for (int32_t ranks = 1; ranks <= MAX_RANKS; ranks++) {
        const struct sharded_world world = world_of(&adamw, ranks, 8);
        char expected[1024];
        int64_t found = 0;
        logged[0] = '\0';
        assert_ok(sharded_load(&world, &found));
        assert_int_equal(found, 1);
        snprintf(expected, sizeof expected, "%s%s; going back to %s\n", path, why,
                 support_scratch_path("step-00000001"));
        const char *said = strstr(logged, path);
        assert_non_null(said);
        assert_string_equal(said, expected);
        assert_true(said == logged || memcmp(logged, "rank ", 5) == 0);
        assert_null(strchr(logged, '\n')[1] == '\0' ? NULL : "more than one line");
    }
}

static void a_shard_that_was_cut_off_is_left_for_the_checkpoint_before(void **state)
{
    (void)state;
    save_steps(3, 1, 2);
    char path[256];
    char why[128];
    snprintf(path, sizeof path, "%s", shard_path(2, 3, 3));
    const int64_t bytes = count_bytes("step-00000002/shard-00003-of-00003.safetensors");
    assert_int_equal(truncate(path, bytes - 1), 0);
    snprintf(why, sizeof why, " has %d bytes, but had %d when it was saved", (int)bytes - 1,
             (int)bytes);
    assert_goes_back(path, why);
}

static void a_flipped_bit_is_left_for_the_checkpoint_before(void **state)
{
    (void)state;
    save_steps(3, 1, 2);
    for (int shard = 1; shard <= 3; shard++) {
        char path[256];
        struct stat info;
        snprintf(path, sizeof path, "%s", shard_path(2, shard, 3));
        assert_int_equal(stat(path, &info), 0);
        flip_bit(path, info.st_size / 2);
        assert_goes_back(path, " does not hold what was saved: its hash differs");
        flip_bit(path, info.st_size / 2);
    }
    const struct sharded_world world = world_of(&adamw, 2, 8);
    int64_t found = 0;
    assert_ok(sharded_load(&world, &found));
    assert_int_equal(found, 2);
}

static void a_missing_shard_is_left_for_the_checkpoint_before(void **state)
{
    (void)state;
    save_steps(2, 1, 2);
    char path[256];
    char why[300];
    snprintf(path, sizeof path, "%s", shard_path(2, 2, 2));
    assert_int_equal(unlink(path), 0);
    snprintf(why, sizeof why, "cannot open %s", path);
    assert_goes_back(why, ": No such file or directory");
}

static void shards_of_another_number_of_ranks_are_left(void **state)
{
    (void)state;
    const struct sharded_world two = {
        .request = &adamw, .folder = support_scratch_path("other"), .ranks = 2, .seed = 3};
    char theirs[256];
    char ours[256];
    save_steps(3, 1, 2);
    assert_ok(sharded_save(&two, 2, 1));
    snprintf(theirs, sizeof theirs, "%s/step-00000002/shard-00001-of-00002.safetensors",
             two.folder);
    snprintf(ours, sizeof ours, "%s", shard_path(2, 1, 3));
    assert_int_equal(rename(theirs, ours), 0);
    for (int32_t ranks = 1; ranks <= 3; ranks++) {
        const struct sharded_world world = world_of(&adamw, ranks, 1);
        int64_t found = 0;
        logged[0] = '\0';
        assert_ok(sharded_load(&world, &found));
        assert_int_equal(found, 1);
        assert_non_null(strstr(logged, ours));
    }
}

static void a_run_with_no_whole_checkpoint_is_refused_by_all_ranks(void **state)
{
    (void)state;
    const struct sharded_world world = world_of(&adamw, 3, 3);
    int64_t found = 0;
    assert_int_equal(sharded_load(&world, &found), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "holds neither checkpoints nor a model"));
    save_steps(2, 1, 1);
    assert_int_equal(truncate(shard_path(1, 1, 2), 9), 0);
    assert_int_equal(sharded_load(&world, &found), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "no checkpoint in "));
    assert_non_null(strstr(yk_status_message(), shard_path(1, 1, 2)));
}

#define IN_SCRATCH(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, logged_scratch_make, logged_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(any_number_of_ranks_goes_on_from_any_other_in_fp32),
        IN_SCRATCH(any_number_of_ranks_goes_on_from_any_other_in_bf16),
        IN_SCRATCH(any_number_of_ranks_goes_on_from_any_other_with_sgd),
        IN_SCRATCH(any_number_of_ranks_goes_on_from_any_other_with_adapters_of_nf4),
        IN_SCRATCH(any_number_of_ranks_goes_on_from_any_other_with_frozen_16_bits),
        IN_SCRATCH(all_models_come_back_into_one_store),
        IN_SCRATCH(each_rank_has_one_shard_and_nothing_is_saved_twice),
        IN_SCRATCH(replicated_layers_are_saved_in_slices),
        IN_SCRATCH(shards_load_into_other_forms_as_files_of_one_rank_do),
        IN_SCRATCH(ranks_go_on_in_another_precision),
        IN_SCRATCH(nf4_loads_into_a_store_that_has_none),
        IN_SCRATCH(adapters_leave_a_model_that_is_kept_elsewhere_there),
        IN_SCRATCH(a_shard_that_was_cut_off_is_left_for_the_checkpoint_before),
        IN_SCRATCH(a_flipped_bit_is_left_for_the_checkpoint_before),
        IN_SCRATCH(a_missing_shard_is_left_for_the_checkpoint_before),
        IN_SCRATCH(shards_of_another_number_of_ranks_are_left),
        IN_SCRATCH(a_run_with_no_whole_checkpoint_is_refused_by_all_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
