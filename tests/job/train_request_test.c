/* Requests of trainings that are made of settings by name: presets, layers, and what is refused. */
#include "job/training/request.h"

#include "base/folder.h"
#include "support/files/other_programs.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_PATH = 512
};

struct fixture {
    struct yk_arena *arena;
    char *folder;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){.folder = outside_make_folder()};
    assert_ok(yk_arena_create(&fixture.arena));
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    yk_arena_destroy(fixture->arena);
    outside_remove(fixture->folder);
    return 0;
}

#define make(fixture, options, out)                                                                \
    yk_train_request_from_options((options), sizeof(options) / sizeof(options)[0],                 \
                                  (fixture)->arena, (out))

/* As yoke train --help says. */
static void a_request_of_nothing_has_the_presets(void **state)
{
    const struct fixture *fixture = *state;
    struct yk_train_request request;
    assert_ok(yk_train_request_from_options(NULL, 0, fixture->arena, &request));
    assert_int_equal(request.batch, 16);
    assert_string_equal(request.optimizer, "adamw");
    assert_string_equal(request.precision, "fp32");
    assert_float_equal(request.eval_fraction, 0.1, 1e-12);
    assert_float_equal(request.beta2, 0.95, 0);
    assert_int_equal(request.warmup, -1);
    assert_int_equal(request.steps, 0);
    assert_true(isnan(request.epochs));
    assert_null(request.data);
    assert_false(request.nf4);
}

static void an_option_replaces_the_preset(void **state)
{
    static const struct yk_train_option options[] = {
        {"batch", "8"}, {"eval-part", "25%"}, {"nf4", "true"}, {"memory", "2GiB"}, {"batch", "4"},
    };
    const struct fixture *fixture = *state;
    struct yk_train_request request;
    assert_ok(make(fixture, options, &request));
    assert_int_equal(request.batch, 4);
    assert_float_equal(request.eval_fraction, 0.25, 1e-12);
    assert_true(request.nf4);
    assert_float_equal(request.memory_bytes, 2147483648.0, 0);
}

static void values_are_copied(void **state)
{
    const struct fixture *fixture = *state;
    char path[] = "poems.txt";
    const struct yk_train_option options[] = {{"data", path}};
    struct yk_train_request request;
    assert_ok(make(fixture, options, &request));
    path[0] = 'P';
    assert_string_equal(request.data, "poems.txt");
}

static void an_unknown_name_is_refused_with_the_nearest(void **state)
{
    static const struct yk_train_option near[] = {{"bacth", "8"}};
    static const struct yk_train_option far[] = {{"xyzzy-plugh", "8"}};
    const struct fixture *fixture = *state;
    struct yk_train_request request = {.batch = 77};
    assert_fails(make(fixture, near, &request), YK_ERROR_USAGE,
                 "there is no setting \"bacth\"; did you mean \"batch\"?");
    assert_fails(make(fixture, far, &request), YK_ERROR_USAGE,
                 "there is no setting \"xyzzy-plugh\"");
    assert_int_equal(request.batch, 77);
}

static void a_bad_value_is_refused_with_its_name(void **state)
{
    static const struct yk_train_option wrong[][1] = {
        {{"batch", "many"}}, {{"precision", "fp64"}}, {{"beta1", "1"}}, {{"nf4", "maybe"}}};
    const struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct yk_train_request request;
        char begins[32];
        (void)snprintf(begins, sizeof begins, "--%s", wrong[i][0].name);
        assert_int_equal(make(fixture, wrong[i], &request), YK_ERROR_USAGE);
        assert_memory_equal(yk_status_message(), begins, strlen(begins));
    }
}

static void steps_and_epochs_are_refused_together(void **state)
{
    static const struct yk_train_option options[] = {{"steps", "3"}, {"epochs", "2"}};
    const struct fixture *fixture = *state;
    struct yk_train_request request;
    assert_fails(make(fixture, options, &request), YK_ERROR_USAGE,
                 "--steps and --epochs both say how long; leave one out");
}

static void a_file_lies_under_the_options(void **state)
{
    const struct fixture *fixture = *state;
    char path[MAX_PATH];
    (void)snprintf(path, sizeof path, "%s/run.json", fixture->folder);
    outside_write(fixture->folder, "run.json",
                  "{\"batch\": 4, \"seq\": 32, \"steps\": 7, \"recompute\": true}");
    const struct yk_train_option options[] = {
        {"config", path}, {"seq", "64"}, {"epochs", "2"}, {"recompute", "false"}};
    struct yk_train_request request;
    assert_ok(make(fixture, options, &request));
    assert_int_equal(request.batch, 4);
    assert_int_equal(request.sequence, 64);
    assert_int_equal(request.steps, 0);
    assert_float_equal(request.epochs, 2, 0);
    assert_false(request.recompute);
}

static void a_resumed_run_goes_on_with_its_options(void **state)
{
    const struct fixture *fixture = *state;
    char data[MAX_PATH];
    char run[MAX_PATH];
    (void)snprintf(data, sizeof data, "%s/text", fixture->folder);
    (void)snprintf(run, sizeof run, "%s/run", fixture->folder);
    outside_write(fixture->folder, "text",
                  "a quick brown fox jumps over the lazy dog, and the dog sleeps on; the fox is "
                  "gone before the dog has even turned around to see who it was that jumped\n");
    const struct yk_train_option first[] = {
        {"model", "gpt-nano"}, {"data", data},     {"out", run},     {"steps", "2"},
        {"batch", "3"},        {"seq", "8"},       {"threads", "1"}, {"device", "cpu"},
        {"rate", "0.005"},     {"profile", "none"}};
    struct yk_train_request request;
    struct yk_train_result result = {0};
    assert_ok(make(fixture, first, &request));
    assert_ok(yk_train_run(&request, &result));
    assert_int_equal(result.steps_done, 2);
    yk_train_result_free(&result);

    const struct yk_train_option again[] = {
        {"resume", "true"}, {"out", run}, {"steps", "4"}, {"rate", "0.001"}};
    assert_ok(make(fixture, again, &request));
    assert_string_equal(request.model, "gpt-nano");
    assert_string_equal(request.data, data);
    assert_int_equal(request.batch, 3);
    assert_int_equal(request.sequence, 8);
    assert_int_equal(request.steps, 4);
    assert_float_equal(request.lr, 0.001, 0);
    assert_non_null(request.resumed);
    assert_true(yk_folder_exists(request.resumed));
}

static void a_run_with_no_checkpoint_is_not_resumed(void **state)
{
    const struct fixture *fixture = *state;
    const struct yk_train_option options[] = {{"resume", "true"}, {"out", fixture->folder}};
    struct yk_train_request request;
    char sentence[MAX_PATH + 80];
    (void)snprintf(sentence, sizeof sentence,
                   "%s holds no checkpoint yet; start the run without --resume", fixture->folder);
    assert_fails(make(fixture, options, &request), YK_ERROR_INPUT, sentence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_request_of_nothing_has_the_presets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_option_replaces_the_preset, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_are_copied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unknown_name_is_refused_with_the_nearest, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_bad_value_is_refused_with_its_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(steps_and_epochs_are_refused_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_lies_under_the_options, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_resumed_run_goes_on_with_its_options, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_with_no_checkpoint_is_not_resumed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
