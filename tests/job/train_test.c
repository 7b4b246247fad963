/* A training as a job: what its callbacks are told, and what its result says. */
#include "job/training/request.h"

#include "support/files/other_programs.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_PATH = 512,
    STEPS = 5,
    STOP_AFTER = 2,
};

struct fixture {
    struct yk_arena *arena;
    char *folder;
    char data[MAX_PATH];
    char run[MAX_PATH];
    struct yk_job_callbacks job;
    struct yk_train_progress_callbacks progress;
    atomic_bool stop;
    bool stops;
    /* What was reported. */
    int phases;
    int starts;
    int64_t parameters;
    int64_t steps[STEPS + 1];
    int step_count;
    int64_t evaluated_step;
    char checkpoint[MAX_PATH];
};

static void on_phase(void *user, enum yk_train_job_phase phase)
{
    struct fixture *fixture = user;
    assert_int_equal(phase, fixture->phases == 0 ? YK_TRAIN_JOB_PHASE_PLANNING
                                                 : YK_TRAIN_JOB_PHASE_TRAINING);
    fixture->phases++;
}

static void on_start(void *user, const struct yk_train_start_report *start)
{
    struct fixture *fixture = user;
    assert_int_equal(fixture->step_count, 0);
    fixture->parameters = start->predicted->parameters;
    fixture->starts++;
}

static void on_step(void *user, const struct yk_train_step_report *step)
{
    struct fixture *fixture = user;
    assert_in_range(fixture->step_count, 0, STEPS - 1);
    assert_true(isfinite(step->metrics->loss));
    fixture->steps[fixture->step_count++] = step->metrics->step;
    if (fixture->stops && step->metrics->step == STOP_AFTER) {
        atomic_store(&fixture->stop, true);
    }
}

static void on_evaluation(void *user, const struct yk_train_evaluation_report *evaluation)
{
    ((struct fixture *)user)->evaluated_step = evaluation->step;
}

static void on_checkpoint(void *user, const struct yk_train_checkpoint_report *checkpoint)
{
    struct fixture *fixture = user;
    (void)snprintf(fixture->checkpoint, sizeof fixture->checkpoint, "%s", checkpoint->path);
}

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){.folder = outside_make_folder()};
    fixture.job = (struct yk_job_callbacks){.stop = &fixture.stop};
    fixture.progress = (struct yk_train_progress_callbacks){
        .user = &fixture,
        .phase = on_phase,
        .start = on_start,
        .step = on_step,
        .evaluation = on_evaluation,
        .checkpoint = on_checkpoint,
    };
    (void)snprintf(fixture.data, sizeof fixture.data, "%s/text", fixture.folder);
    (void)snprintf(fixture.run, sizeof fixture.run, "%s/run", fixture.folder);
    outside_write(fixture.folder, "text",
                  "a quick brown fox jumps over the lazy dog, and the dog sleeps on; the fox is "
                  "gone before the dog has even turned around to see who it was that jumped\n"
                  "and so it goes on with foxes and dogs, of which there are many\n");
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

static struct yk_train_request make_request(struct fixture *fixture)
{
    const struct yk_train_option options[] = {
        {"model", "gpt-nano"}, {"data", fixture->data}, {"out", fixture->run},
        {"steps", "5"},        {"batch", "2"},          {"seq", "8"},
        {"threads", "1"},      {"device", "cpu"},       {"profile", "none"},
    };
    struct yk_train_request request;
    assert_ok(yk_train_request_from_options(options, sizeof options / sizeof options[0],
                                            fixture->arena, &request));
    request.job = &fixture->job;
    request.progress = &fixture->progress;
    return request;
}

static void a_training_reports_every_step_and_its_result(void **state)
{
    struct fixture *fixture = *state;
    const struct yk_train_request request = make_request(fixture);
    struct yk_train_result result = {0};
    assert_ok(yk_train_run(&request, &result));
    assert_int_equal(fixture->phases, 2);
    assert_int_equal(fixture->starts, 1);
    assert_int_equal(fixture->step_count, STEPS);
    for (int i = 0; i < STEPS; i++) {
        assert_int_equal(fixture->steps[i], i + 1);
    }
    assert_int_equal(fixture->evaluated_step, STEPS);
    assert_true(result.trained && !result.stopped);
    assert_string_equal(result.model, "gpt-nano");
    assert_int_equal(result.parameters, fixture->parameters);
    assert_int_equal(result.steps_done, STEPS);
    assert_float_equal(result.tokens, STEPS * 2 * 8, 0);
    assert_string_equal(result.checkpoint, fixture->checkpoint);
    assert_int_equal(result.rank_count, 1);
    yk_train_result_free(&result);
}

static void a_training_that_is_asked_to_stop_saves(void **state)
{
    struct fixture *fixture = *state;
    const struct yk_train_request request = make_request(fixture);
    struct yk_train_result result = {0};
    fixture->stops = true;
    assert_int_equal(yk_train_run(&request, &result), YK_ERROR_STOPPED);
    assert_true(result.trained && result.stopped);
    assert_true(result.steps_done >= STOP_AFTER && result.steps_done < STEPS);
    assert_string_not_equal(fixture->checkpoint, "");
    yk_train_result_free(&result);
}

static void a_dry_run_predicts_and_writes_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct yk_train_request request = make_request(fixture);
    struct yk_train_result result = {0};
    struct yk_text listed = {0};
    request.dry_run = true;
    assert_ok(yk_train_run(&request, &result));
    assert_true(result.planned && !result.trained);
    assert_true(result.predicted_step_s > 0);
    assert_true(result.planned_bytes > 0);
    assert_int_equal(fixture->step_count, 0);
    assert_int_equal(outside_run(fixture->folder, "ls", &listed), 0);
    assert_string_equal(yk_text_chars(&listed), "text\n");
    yk_text_free(&listed);
    yk_train_result_free(&result);
}

static void what_does_not_fit_says_so_and_trains_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct yk_train_request request = make_request(fixture);
    struct yk_train_result result = {0};
    request.memory_bytes = 1000;
    assert_int_equal(yk_train_run(&request, &result), YK_ERROR_NO_FIT);
    assert_false(result.planned || result.trained);
    assert_int_equal(fixture->step_count, 0);
    yk_train_result_free(&result);
}

static void ranks_that_nobody_has_started_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct yk_train_request request = make_request(fixture);
    struct yk_train_result result = {0};
    request.ranks = 2;
    assert_int_equal(yk_train_run(&request, &result), YK_ERROR_USAGE);
    yk_train_result_free(&result);
}

static void a_training_needs_no_callbacks(void **state)
{
    struct fixture *fixture = *state;
    struct yk_train_request request = make_request(fixture);
    struct yk_train_result result = {0};
    request.job = NULL;
    request.progress = NULL;
    assert_ok(yk_train_run(&request, &result));
    assert_int_equal(result.steps_done, STEPS);
    yk_train_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_training_reports_every_step_and_its_result, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_training_that_is_asked_to_stop_saves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_dry_run_predicts_and_writes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_does_not_fit_says_so_and_trains_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(ranks_that_nobody_has_started_are_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_training_needs_no_callbacks, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
