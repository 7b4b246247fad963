#include "public_api.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];
static char text_path[128];
static char run_path[128];

static int remove_one(const char *path, const struct stat *info, int flag, struct FTW *place)
{
    (void)info;
    (void)flag;
    (void)place;
    return remove(path);
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/yoke-train-XXXXXX");
    if (!mkdtemp(folder)) {
        return -1;
    }
    (void)snprintf(text_path, sizeof text_path, "%s/text.txt", folder);
    (void)snprintf(run_path, sizeof run_path, "%s/run", folder);
    FILE *file = fopen(text_path, "w");
    for (int i = 0; file && i < 500; i++) {
        fprintf(file, "line %d of a text that repeats itself.\n", i % 7);
    }
    return file ? fclose(file) : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* What a run reports. */
struct heard {
    double losses[16]; /* by step, from 1 */
    int steps;
    int evaluations;
    int checkpoints;
    char newest[256];
    int stop_after; /* 0: never */
    yoke_stop *stop;
};

static void hear_step(void *user, const struct yoke_training_step *step)
{
    struct heard *heard = user;
    assert_true(step->step >= 1 && step->step < 16);
    heard->losses[step->step] = step->loss;
    heard->steps++;
    assert_true(step->lr > 0 && step->seconds > 0 && step->tokens_per_s > 0);
    if (step->step == heard->stop_after) {
        yoke_stop_raise(heard->stop);
    }
}

static void hear_evaluation(void *user, int64_t step, double loss)
{
    struct heard *heard = user;
    assert_true(step > 0 && loss > 0);
    heard->evaluations++;
}

static void hear_checkpoint(void *user, int64_t step, const char *checkpoint)
{
    struct heard *heard = user;
    assert_true(step > 0);
    heard->checkpoints++;
    (void)snprintf(heard->newest, sizeof heard->newest, "%s", checkpoint);
}

static yoke_training *make_training(const char *run, const char *steps)
{
    const char *const options[][2] = {
        {"model", "gpt-nano"}, {"data", text_path},
        {"out", run},          {"steps", steps},
        {"batch", "2"},        {"seq", "16"},
        {"rate", "1e-3"},      {"rate-rule", "constant"},
        {"profile", "none"},   {"threads", "1"},
        {"eval-samples", "2"},
    };
    yoke_training *training = NULL;
    assert_done(yoke_training_create(&training));
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        assert_done(yoke_training_set(training, options[i][0], options[i][1]));
    }
    return training;
}

static yoke_status run(yoke_training *training, struct heard *heard)
{
    const struct yoke_training_callbacks callbacks = {
        .user = heard,
        .step = hear_step,
        .evaluated = hear_evaluation,
        .saved = hear_checkpoint,
        .stop = heard->stop,
    };
    return yoke_training_run(training, &callbacks);
}

static void every_step_is_reported(void **state)
{
    (void)state;
    struct heard heard = {0};
    yoke_training *training = make_training(run_path, "3");
    assert_null(yoke_training_result(training));
    assert_done(run(training, &heard));
    const struct yoke_training_result *result = yoke_training_result(training);
    assert_int_equal(heard.steps, 3);
    assert_true(heard.evaluations > 0);
    assert_int_equal(heard.checkpoints, 1);
    assert_int_equal(result->steps_done, 3);
    assert_int_equal(result->rank, 0);
    assert_int_equal(result->rank_count, 1);
    assert_false(result->stopped);
    assert_string_equal(result->folder, run_path);
    assert_string_equal(result->checkpoint, heard.newest);
    assert_true(access(result->checkpoint, F_OK) == 0);
    assert_float_equal(result->first_loss, heard.losses[1], 0);
    assert_float_equal(result->last_loss, heard.losses[3], 0);
    /* Two samples of 16 tokens a step. */
    assert_float_equal(result->tokens, 3 * 2 * 16, 0);
    assert_true(result->mfu > 0 && result->predicted_step_s > 0 && result->median_step_s > 0);
    yoke_training_destroy(training);
}

/* Stopped after its second step and continued twice, a run comes to the same losses. */
static void a_run_that_is_continued_ends_as_one_that_never_stopped(void **state)
{
    (void)state;
    char other_path[160];
    struct heard whole = {0};
    struct heard parts = {.stop_after = 2};
    (void)snprintf(other_path, sizeof other_path, "%s/other", folder);
    yoke_training *training = make_training(run_path, "6");
    assert_done(run(training, &whole));
    yoke_training_destroy(training);

    assert_done(yoke_stop_create(&parts.stop));
    training = make_training(other_path, "6");
    assert_done(run(training, &parts));
    assert_true(yoke_training_result(training)->stopped);
    assert_int_equal(yoke_training_result(training)->steps_done, 2);
    yoke_stop_lower(parts.stop);
    parts.stop_after = 4;
    assert_done(yoke_training_set(training, "resume", "true"));
    assert_done(run(training, &parts));
    assert_int_equal(yoke_training_result(training)->steps_done, 4);
    yoke_stop_lower(parts.stop);
    yoke_training_destroy(training);
    /* Another handle knows of the run what its folder does. */
    assert_done(yoke_training_create(&training));
    assert_done(yoke_training_set(training, "out", other_path));
    assert_done(yoke_training_set(training, "resume", "true"));
    assert_done(run(training, &parts));
    assert_false(yoke_training_result(training)->stopped);
    assert_int_equal(yoke_training_result(training)->steps_done, 6);
    for (int step = 1; step <= 6; step++) {
        assert_float_equal(whole.losses[step], parts.losses[step], 0);
    }
    yoke_training_destroy(training);
    yoke_stop_destroy(parts.stop);
}

static void options_that_make_no_sense_are_refused_at_once(void **state)
{
    (void)state;
    yoke_training *training = NULL;
    assert_done(yoke_training_create(&training));
    assert_says(yoke_training_set(training, "bach", "4"), YOKE_ERROR_USAGE,
                "there is no setting \"bach\"; did you mean \"batch\"?");
    assert_mentions(yoke_training_set(training, "batch", "four"), YOKE_ERROR_USAGE,
                    "\"four\" is not a whole number");
    assert_mentions(yoke_training_set(training, "resume", "yes"), YOKE_ERROR_USAGE,
                    "true or false");
    assert_mentions(yoke_training_set(NULL, "batch", "4"), YOKE_ERROR_USAGE, "must not be NULL");
    assert_mentions(yoke_training_set(training, NULL, "4"), YOKE_ERROR_USAGE, "must not be NULL");
    assert_mentions(yoke_training_set(training, "batch", NULL), YOKE_ERROR_USAGE,
                    "must not be NULL");
    assert_mentions(yoke_training_create(NULL), YOKE_ERROR_USAGE, "must not be NULL");
    assert_mentions(yoke_training_run(NULL, NULL), YOKE_ERROR_USAGE, "must not be NULL");
    yoke_training_destroy(training);
    yoke_training_destroy(NULL);
}

static void a_training_that_fails_has_no_result(void **state)
{
    (void)state;
    yoke_training *training = make_training(run_path, "3");
    assert_done(yoke_training_set(training, "data", "/nowhere/text.txt"));
    assert_says(yoke_training_run(training, NULL), YOKE_ERROR_INPUT,
                "cannot open /nowhere/text.txt: No such file or directory");
    assert_null(yoke_training_result(training));
    assert_true(access(run_path, F_OK) != 0);
    yoke_training_destroy(training);
}

/* No process is started: ranks are those that a launcher has started. */
static void ranks_that_nobody_started_are_refused(void **state)
{
    (void)state;
    yoke_training *training = make_training(run_path, "3");
    assert_done(yoke_training_set(training, "ranks", "2"));
    assert_mentions(yoke_training_run(training, NULL), YOKE_ERROR_USAGE,
                    "start them by a launcher");
    yoke_training_destroy(training);
}

static bool count_texts(void *user, const char *text, size_t length)
{
    char *collected = user;
    strncat(collected, text, length);
    return strlen(collected) < 40;
}

static void train_three_steps(void)
{
    yoke_training *training = make_training(run_path, "3");
    assert_done(yoke_training_run(training, NULL));
    yoke_training_destroy(training);
}

static void a_trained_model_is_evaluated(void **state)
{
    (void)state;
    struct yoke_evaluation evaluation = {0};
    struct yoke_evaluation_request request = {
        .model = {.path = run_path, .device = "cpu", .threads = 1},
        .data = text_path,
        .samples = 3,
        .sequence = 16,
    };
    train_three_steps();
    assert_done(yoke_evaluate(&request, &evaluation));
    assert_int_equal(evaluation.step, 3);
    assert_int_equal(evaluation.tokens, 3 * 16);
    assert_true(evaluation.loss > 0 && evaluation.loss < 10);
    assert_float_equal(evaluation.perplexity, exp(evaluation.loss), 1e-9);
    request.data = NULL;
    assert_mentions(yoke_evaluate(&request, &evaluation), YOKE_ERROR_USAGE, "must not be NULL");
    request.data = text_path;
    request.data_part = 2;
    assert_mentions(yoke_evaluate(&request, &evaluation), YOKE_ERROR_USAGE, "0 to 1, not 2");
    request.data_part = 0;
    request.model.path = "/nowhere";
    assert_int_equal(yoke_evaluate(&request, &evaluation), YOKE_ERROR_INPUT);
    assert_mentions(yoke_evaluate(NULL, &evaluation), YOKE_ERROR_USAGE, "must not be NULL");
}

static void a_trained_model_generates_the_same_text_every_time(void **state)
{
    (void)state;
    char collected[256] = "";
    char *first = NULL;
    char *second = NULL;
    struct yoke_generation_request request = {
        .model = {.path = run_path, .device = "cpu", .threads = 1},
        .prompt = "line ",
        .tokens = 60,
    };
    train_three_steps();
    assert_done(yoke_generate(&request, &first));
    assert_int_equal(strlen(first), 5 + 60); /* a token is a character here */
    assert_memory_equal(first, "line ", 5);
    request.text = count_texts;
    request.text_user = collected;
    assert_done(yoke_generate(&request, &second));
    assert_string_equal(collected, second);
    assert_int_equal(strlen(second), 40); /* the callback has ended it */
    assert_memory_equal(first, second, 40);
    yoke_free(first);
    yoke_free(second);
    request.prompt = NULL;
    assert_mentions(yoke_generate(&request, NULL), YOKE_ERROR_USAGE, "must not be NULL");
    request.prompt = "line ";
    request.temperature = -1;
    assert_mentions(yoke_generate(&request, NULL), YOKE_ERROR_USAGE, "0 or more");
}

static void layers_are_measured_for_plans(void **state)
{
    (void)state;
    char profile[160];
    char *json = NULL;
    yoke_model *model = NULL;
    yoke_cluster *cluster = NULL;
    yoke_costs *costs = NULL;
    struct yoke_cost cost = {0};
    const struct yoke_workload workload = {.batch = 1, .sequence = 16, .precision = "fp32"};
    (void)snprintf(profile, sizeof profile, "%s/profile.db", folder);
    const struct yoke_profile_request request = {
        .model = "gpt-nano",
        .profile = profile,
        .device = "cpu",
        .batch = 1,
        .sequence = 16,
        .seconds = 0.01,
    };
    assert_done(yoke_profile_measure(&request, &json));
    assert_contains(json, "\"device\": \"cpu:");
    yoke_free(json);
    assert_done(yoke_model_open("gpt-nano", &workload, &model));
    assert_done(yoke_cluster_discover(&cluster));
    assert_done(yoke_costs_create(cluster, profile, &costs));
    assert_done(yoke_costs_layer(costs, model, 1, 0, YOKE_PASS_FORWARD, &cost));
    assert_string_equal(cost.origin, "measured");
    assert_true(cost.seconds > 0 && cost.seconds < 60);
    yoke_costs_destroy(costs);
    yoke_cluster_destroy(cluster);
    yoke_model_destroy(model);
    assert_mentions(yoke_profile_measure(NULL, NULL), YOKE_ERROR_USAGE, "must not be NULL");
    assert_mentions(yoke_profile_measure(&(struct yoke_profile_request){0}, NULL), YOKE_ERROR_USAGE,
                    "must not be NULL");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(every_step_is_reported),
        IN_FOLDER(a_run_that_is_continued_ends_as_one_that_never_stopped),
        cmocka_unit_test(options_that_make_no_sense_are_refused_at_once),
        IN_FOLDER(a_training_that_fails_has_no_result),
        IN_FOLDER(ranks_that_nobody_started_are_refused),
        IN_FOLDER(a_trained_model_is_evaluated),
        IN_FOLDER(a_trained_model_generates_the_same_text_every_time),
        IN_FOLDER(layers_are_measured_for_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
