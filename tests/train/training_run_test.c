/* Whole runs: resuming, threads, stopping, numbers that go bad. */
#include "program/op_index.h"
#include "train/training_run.h"

#include "data/corpus.h"
#include "data/sampler.h"
#include "support/files/other_programs.h"
#include "support/support.h"
#include "support/training/trainer.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    BATCH = 4,
    SEQUENCE = 16,
    STEPS = 100,
    MAX_PATH = 512,
};

static const struct yk_optimizer_options adamw = {
    .kind = YK_OPTIMIZER_ADAMW, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-8, .decay = 0.1};

/* What the disk has free, in bytes. */
static uint64_t free_bytes = UINT64_MAX;

int statvfs(const char *file, struct statvfs *buf)
{
    struct stat info;
    *buf = (struct statvfs){.f_frsize = 1, .f_blocks = UINT64_MAX, .f_bavail = free_bytes};
    return stat(file, &info);
}

struct bench {
    char *folder;
    struct yk_arena *arena;
    struct yk_corpus *corpus;
    struct yk_sampler *samples;
    struct yk_sampler *evaluation;
    struct trainer *trainer;
    struct yk_training_run run;
    int64_t stop_at; /* 0: never */
    int64_t last_step;
    int64_t saves;
};

static bool wants_to_stop(void *user)
{
    const struct bench *bench = user;
    return bench->stop_at > 0 && bench->last_step >= bench->stop_at;
}

static void note_step(void *user, const struct yk_step_metrics *step)
{
    ((struct bench *)user)->last_step = step->step;
}

static void note_save(void *user, int64_t step, const char *path, const char *fault)
{
    (void)step;
    (void)path;
    assert_null(fault);
    ((struct bench *)user)->saves++;
}

/* A text with something to learn: words that come again. */
static void write_text(const char *folder)
{
    struct yk_text text = {0};
    for (int i = 0; i < 400; i++) {
        yk_text_addf(&text, "the %s ox pulls %d of the load; ", i % 3 ? "strong" : "weak", i % 10);
    }
    outside_write(folder, "text.txt", yk_text_chars(&text));
    yk_text_free(&text);
}

static void open_data(struct bench *bench)
{
    char path[MAX_PATH];
    struct yk_corpus_range training;
    struct yk_corpus_range evaluation;
    bench->folder = outside_make_folder();
    write_text(bench->folder);
    (void)snprintf(path, sizeof path, "%s/text.txt", bench->folder);
    assert_int_equal(
        yk_corpus_open(&(struct yk_corpus_request){.path = path, .part = 1}, &bench->corpus),
        YK_OK);
    yk_corpus_split_train_eval(bench->corpus, 0.1, &training, &evaluation);
    assert_int_equal(yk_window_sampler_create(
                         &training, &(struct yk_sampler_options){.sequence = SEQUENCE, .seed = 5},
                         &bench->samples),
                     YK_OK);
    assert_int_equal(yk_window_sampler_create(
                         &evaluation,
                         &(struct yk_sampler_options){.sequence = SEQUENCE, .sequential = true},
                         &bench->evaluation),
                     YK_OK);
}

static void open_trainer(struct bench *bench, enum yk_precision precision, int32_t threads,
                         double dropout)
{
    char json[512];
    const struct yk_model_config *config = NULL;
    (void)snprintf(json, sizeof json,
                   "{\"model_type\": \"gpt2\", \"vocab_size\": %d, \"n_positions\": %d, "
                   "\"n_embd\": 24, \"n_layer\": 2, \"n_head\": 2}",
                   (int)yk_tokenizer_vocabulary_size(yk_corpus_tokenizer(bench->corpus)),
                   (int)SEQUENCE);
    assert_int_equal(yk_arena_create(&bench->arena), YK_OK);
    assert_int_equal(yk_model_config_parse(json, strlen(json), "test", bench->arena, &config),
                     YK_OK);
    bench->trainer = trainer_open(&(struct trainer_request){
        .config = config,
        .batch = BATCH,
        .sequence = SEQUENCE,
        .micro_batches = 2,
        .precision = precision,
        .clip = true,
        .threads = threads,
        .optimizer = adamw,
        .options = {.dropout = dropout, .seed = 9},
    });
    assert_int_equal(
        yk_parameter_store_init_parameters(bench->trainer->store, 1, YK_PARAMETER_STORE_INIT_ALL),
        YK_OK);
    bench->run = (struct yk_training_run){
        .program = bench->trainer->program,
        .store = bench->trainer->store,
        .samples = bench->samples,
        .options = {.steps = STEPS,
                    .batch = BATCH,
                    .lr_schedule = {.kind = YK_LR_SCHEDULE_COSINE,
                                    .max_lr = 3e-3,
                                    .warmup = 10,
                                    .steps = STEPS},
                    .optimizer = adamw,
                    .clip = 1,
                    .keep = 2},
        .callbacks = {.user = bench, .step = note_step, .saved = note_save, .stop = wants_to_stop},
        .options_json = "{}",
        .tokenizer = yk_corpus_tokenizer(bench->corpus),
        .state = {.seed = 1, .scaler = yk_loss_scaler_init(precision)},
    };
}

static void close_trainer(struct bench *bench)
{
    yk_trace_destroy(bench->run.trace);
    yk_op_timeline_log_destroy(bench->run.log);
    trainer_close(bench->trainer);
    yk_arena_destroy(bench->arena);
}

static void close_data(struct bench *bench)
{
    yk_sampler_destroy(bench->samples);
    yk_sampler_destroy(bench->evaluation);
    yk_corpus_close(bench->corpus);
    outside_remove(bench->folder);
}

/* Weights, gradients and optimizer state, all of them. */
static void *copy_store(const struct bench *bench)
{
    void *copy = malloc(bench->trainer->store->bytes);
    assert_non_null(copy);
    memcpy(copy, bench->trainer->store->memory, bench->trainer->store->bytes);
    return copy;
}

static void resuming_half_way_gives_the_same_bits(void **state)
{
    (void)state;
    static const enum yk_precision precisions[] = {YK_PRECISION_FP32, YK_PRECISION_FP16};
    static const int64_t lengths[] = {STEPS, 40}; /* 16 bits are slow on a CPU */
    for (int p = 0; p < 2; p++) {
        const int64_t steps = lengths[p];
        struct bench bench = {0};
        struct yk_checkpoint *checkpoint = NULL;
        char path[MAX_PATH];
        open_data(&bench);
        open_trainer(&bench, precisions[p], 2, 0.1);
        bench.run.options.steps = steps;
        assert_int_equal(yk_training_run_execute(&bench.run), YK_OK);
        assert_true(steps < STEPS || bench.run.last_loss < 0.6 * bench.run.first_loss);
        void *straight = copy_store(&bench);
        close_trainer(&bench);

        (void)snprintf(path, sizeof path, "%s/run", bench.folder);
        open_trainer(&bench, precisions[p], 2, 0.1);
        bench.run.options.steps = steps;
        bench.run.folder = path;
        bench.stop_at = steps / 2;
        assert_int_equal(yk_training_run_execute(&bench.run), YK_ERROR_STOPPED);
        assert_int_equal(bench.run.state.step, steps / 2);
        assert_int_equal(bench.saves, 1);
        close_trainer(&bench);

        open_trainer(&bench, precisions[p], 2, 0.1);
        bench.run.options.steps = steps;
        bench.run.folder = path;
        bench.stop_at = 0;
        assert_int_equal(yk_checkpoint_open(path, &checkpoint), YK_OK);
        assert_int_equal(yk_checkpoint_load(checkpoint, NULL, bench.trainer->store), YK_OK);
        bench.run.state = checkpoint->state;
        yk_checkpoint_close(checkpoint);
        assert_int_equal(yk_training_run_execute(&bench.run), YK_OK);
        assert_memory_equal(straight, bench.trainer->store->memory, bench.trainer->store->bytes);
        close_trainer(&bench);
        free(straight);
        close_data(&bench);
    }
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    struct bench bench = {0};
    void *first = NULL;
    open_data(&bench);
    for (int32_t threads = 1; threads <= 3; threads++) {
        open_trainer(&bench, YK_PRECISION_FP32, threads, 0.1);
        bench.run.options.steps = 20;
        assert_int_equal(yk_training_run_execute(&bench.run), YK_OK);
        if (!first) {
            first = copy_store(&bench);
        }
        assert_memory_equal(first, bench.trainer->store->memory, bench.trainer->store->bytes);
        close_trainer(&bench);
    }
    free(first);
    close_data(&bench);
}

/* What lanes are in, as a watch over ranks hears it. */
static struct {
    atomic_bool in_op[YK_LANE_COUNT];
    atomic_int begun;
    atomic_int nested;
} heard;

static void hear(void *user, enum yk_lane lane, int32_t op)
{
    (void)user;
    if (op != YK_OP_NONE) {
        (void)atomic_fetch_add(&heard.begun, 1);
        (void)atomic_fetch_add(&heard.nested, atomic_load(&heard.in_op[lane]) ? 1 : 0);
    }
    atomic_store(&heard.in_op[lane], op != YK_OP_NONE);
}

/* Else one that waits for a slow exchange would be taken for one that hangs. */
static void a_lane_is_in_an_op_only_while_it_runs_it(void **state)
{
    (void)state;
    struct bench bench = {0};
    open_data(&bench);
    open_trainer(&bench, YK_PRECISION_FP32, 1, 0);
    bench.run.options.steps = 5;
    bench.run.executor.op_began = hear;
    assert_int_equal(yk_training_run_execute(&bench.run), YK_OK);
    assert_true(atomic_load(&heard.begun) > 5 * 2 * 4);
    assert_int_equal(atomic_load(&heard.nested), 0);
    close_trainer(&bench);
    close_data(&bench);
}

static void a_run_leaves_its_metrics_and_the_newest_checkpoints(void **state)
{
    (void)state;
    struct bench bench = {0};
    struct yk_text lines = {0};
    char path[MAX_PATH];
    open_data(&bench);
    open_trainer(&bench, YK_PRECISION_FP32, 2, 0);
    (void)snprintf(path, sizeof path, "%s/run", bench.folder);
    bench.run.folder = path;
    bench.run.evaluation = bench.evaluation;
    bench.run.options.steps = 30;
    bench.run.options.save_every = 7;
    bench.run.options.evaluate_every = 10;
    assert_int_equal(yk_training_run_execute(&bench.run), YK_OK);
    assert_int_equal(bench.saves, 5);
    assert_true(isfinite(bench.run.evaluated.loss));
    assert_non_null(bench.run.trace);
    assert_int_equal(outside_run(path,
                                 "wc -l <metrics.jsonl; grep -c evaluation_loss metrics.jsonl; "
                                 "ls checkpoints",
                                 &lines),
                     0);
    assert_string_equal(yk_text_chars(&lines), "33\n3\nstep-00000028\nstep-00000030\n");
    yk_text_free(&lines);
    close_trainer(&bench);
    close_data(&bench);
}

/* Evaluation sees every token but the first once, whatever the batch. */
static void evaluation_does_not_depend_on_the_batch(void **state)
{
    (void)state;
    struct bench bench = {0};
    struct yk_evaluation_result results[2];
    open_data(&bench);
    open_trainer(&bench, YK_PRECISION_FP32, 2, 0.5);
    for (int i = 0; i < 2; i++) {
        const struct yk_evaluation_options evaluation = {.batch = i == 0 ? 1 : 7};
        assert_int_equal(yk_evaluate_on_this_rank(bench.trainer->store, bench.evaluation,
                                                  &evaluation, &results[i]),
                         YK_OK);
    }
    assert_true(fabs(results[0].loss - results[1].loss) < 1e-6 * results[0].loss);
    assert_int_equal(results[0].tokens, results[1].tokens);
    assert_true(isnan(results[0].accuracy)); /* the model is no classifier */
    close_trainer(&bench);
    close_data(&bench);
}

static void weights_that_are_no_numbers_end_it_with_their_name(void **state)
{
    (void)state;
    struct bench bench = {0};
    int32_t layer = 0;
    open_data(&bench);
    open_trainer(&bench, YK_PRECISION_FP32, 2, 0);
    const struct yk_parameter *parameter =
        yk_net_find_parameter(bench.trainer->net, "transformer.h.1.mlp.c_fc.weight", &layer);
    assert_non_null(parameter);
    float *numbers = calloc((size_t)parameter->count, sizeof *numbers);
    assert_non_null(numbers);
    numbers[3] = NAN;
    assert_int_equal(
        yk_parameter_store_write_values(bench.trainer->store, layer, parameter, numbers), YK_OK);
    free(numbers);
    assert_int_equal(yk_training_run_execute(&bench.run), YK_ERROR_NUMBERS);
    assert_non_null(strstr(yk_status_message(), "transformer.h.1.mlp.c_fc.weight"));
    assert_int_equal(bench.run.state.step, 8); /* skipped, until there were 8 in a row */
    assert_int_equal(bench.run.state.updates, 0);
    close_trainer(&bench);
    close_data(&bench);
}

/* Fewer steps than it takes to give up, and a folder to save in. */
static void a_run_that_ends_on_bad_numbers_fails_and_saves_nothing(void **state)
{
    (void)state;
    struct bench bench = {0};
    struct yk_text lines = {0};
    char path[MAX_PATH];
    open_data(&bench);
    open_trainer(&bench, YK_PRECISION_FP32, 2, 0);
    (void)snprintf(path, sizeof path, "%s/run", bench.folder);
    bench.run.folder = path;
    bench.run.options.steps = 5;
    bench.run.options.save_every = 1;
    bench.run.options.lr_schedule =
        (struct yk_lr_schedule){.kind = YK_LR_SCHEDULE_CONSTANT, .max_lr = 1e30};
    assert_int_equal(yk_training_run_execute(&bench.run), YK_ERROR_NUMBERS);
    assert_int_equal(outside_run(path, "ls checkpoints", &lines), 0);
    assert_string_equal(yk_text_chars(&lines), "step-00000001\n"); /* the step before it blew up */
    yk_text_free(&lines);
    close_trainer(&bench);
    close_data(&bench);
}

/* Files of at most 600 bytes: a few lines of metrics, and no checkpoint. */
static void a_full_disk_does_not_end_training(void **state)
{
    (void)state;
    struct bench bench = {0};
    struct yk_text lines = {0};
    struct rlimit before;
    char path[MAX_PATH];
    open_data(&bench);
    open_trainer(&bench, YK_PRECISION_FP32, 2, 0);
    (void)snprintf(path, sizeof path, "%s/run", bench.folder);
    bench.run.folder = path;
    bench.run.options.steps = 12;
    bench.run.callbacks.saved = NULL;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = 600, .rlim_max = before.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const yk_status status = yk_training_run_execute(&bench.run);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, YK_ERROR_SYSTEM); /* the last checkpoint, which is an error */
    assert_int_equal(bench.run.state.step, 12);
    assert_int_equal(outside_run(path, "grep -vc '^{\"step\": [0-9]*, .*}$' metrics.jsonl", &lines),
                     1); /* no line that is not whole */
    assert_string_equal(yk_text_chars(&lines), "0\n");
    yk_text_free(&lines);
    close_trainer(&bench);
    close_data(&bench);
}

static void a_disk_that_is_too_small_is_found_before_the_first_step(void **state)
{
    (void)state;
    struct bench bench = {0};
    char path[MAX_PATH];
    open_data(&bench);
    open_trainer(&bench, YK_PRECISION_FP32, 2, 0);
    (void)snprintf(path, sizeof path, "%s/run", bench.folder);
    bench.run.folder = path;
    free_bytes = 1000;
    const yk_status status = yk_training_run_execute(&bench.run);
    free_bytes = UINT64_MAX;
    assert_int_equal(status, YK_ERROR_SYSTEM);
    assert_non_null(strstr(yk_status_message(), "1000B are free there"));
    assert_int_equal(bench.run.state.step, 0);
    close_trainer(&bench);
    close_data(&bench);
}

/* From the first checkpoint on, files may have no more than 600 bytes. */
static void fill_disk(void *user, int64_t step, const char *path, const char *fault)
{
    (void)user;
    (void)step;
    (void)path;
    (void)fault;
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 600;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void where_the_last_cannot_be_saved_the_newest_is_named(void **state)
{
    (void)state;
    struct bench bench = {0};
    struct yk_text lines = {0};
    struct rlimit before;
    char path[MAX_PATH];
    open_data(&bench);
    open_trainer(&bench, YK_PRECISION_FP32, 2, 0);
    (void)snprintf(path, sizeof path, "%s/run", bench.folder);
    bench.run.folder = path;
    bench.run.options.steps = 3;
    bench.run.options.save_every = 2;
    bench.run.options.keep = 1;
    bench.run.callbacks.saved = fill_disk;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    const yk_status status = yk_training_run_execute(&bench.run);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, YK_ERROR_SYSTEM);
    assert_non_null(
        strstr(yk_status_message(), ": File too large; the newest checkpoint is that of step 2"));
    assert_int_equal(outside_run(path, "ls checkpoints", &lines), 0);
    assert_string_equal(yk_text_chars(&lines), "step-00000002\n");
    yk_text_free(&lines);
    close_trainer(&bench);
    close_data(&bench);
}

static void a_rate_that_explodes_ends_it_too(void **state)
{
    (void)state;
    struct bench bench = {0};
    open_data(&bench);
    open_trainer(&bench, YK_PRECISION_FP32, 2, 0);
    bench.run.options.lr_schedule =
        (struct yk_lr_schedule){.kind = YK_LR_SCHEDULE_CONSTANT, .max_lr = 1e30};
    assert_int_equal(yk_training_run_execute(&bench.run), YK_ERROR_NUMBERS);
    assert_non_null(strstr(yk_status_message(), "transformer."));
    close_trainer(&bench);
    close_data(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resuming_half_way_gives_the_same_bits),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(a_run_leaves_its_metrics_and_the_newest_checkpoints),
        cmocka_unit_test(evaluation_does_not_depend_on_the_batch),
        cmocka_unit_test(weights_that_are_no_numbers_end_it_with_their_name),
        cmocka_unit_test(a_lane_is_in_an_op_only_while_it_runs_it),
        cmocka_unit_test(a_full_disk_does_not_end_training),
        cmocka_unit_test(a_disk_that_is_too_small_is_found_before_the_first_step),
        cmocka_unit_test(where_the_last_cannot_be_saved_the_newest_is_named),
        cmocka_unit_test(a_rate_that_explodes_ends_it_too),
        cmocka_unit_test(a_run_that_ends_on_bad_numbers_fails_and_saves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
