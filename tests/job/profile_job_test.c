/* A profile as jobs: measured, shown and imported without a terminal. */
#include "job/profiling/profile_job.h"

#include "support/files/other_programs.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_PATH = 512
};

struct fixture {
    char *folder;
    char first[MAX_PATH];
    char second[MAX_PATH];
    struct yk_job_callbacks job;
    atomic_bool stop;
    int begun;
    int ended;
    double done; /* the most that was reported */
};

static void begin(void *user)
{
    struct fixture *fixture = user;
    fixture->begun++;
}

static void progress(void *user, const char *what, double done)
{
    struct fixture *fixture = user;
    assert_non_null(what);
    assert_true(done >= 0 && done <= 1);
    fixture->done = done > fixture->done ? done : fixture->done;
}

static void end(void *user)
{
    struct fixture *fixture = user;
    fixture->ended++;
}

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){.folder = outside_make_folder()};
    (void)snprintf(fixture.first, MAX_PATH, "%s/first.db", fixture.folder);
    (void)snprintf(fixture.second, MAX_PATH, "%s/second.db", fixture.folder);
    fixture.job = (struct yk_job_callbacks){
        .user = &fixture,
        .begin = begin,
        .progress = progress,
        .end = end,
        .stop = &fixture.stop,
    };
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    outside_remove(fixture->folder);
    return 0;
}

/* The smallest model, on one sample. */
static struct yk_profile_job_request small_request(const struct fixture *fixture)
{
    return (struct yk_profile_job_request){
        .model = "gpt-nano",
        .workload = {.batch = 1, .sequence = 16},
        .device = "cpu",
        .wire = "auto",
        .seconds = 0.01,
        .profile = fixture->first,
        .job = &fixture->job,
    };
}

static void what_is_measured_is_kept_in_the_profile(void **state)
{
    struct fixture *fixture = *state;
    const struct yk_profile_job_request request = small_request(fixture);
    struct yk_profile_job_result result = {0};
    struct yk_profile_show_result shown = {0};
    assert_ok(yk_profile_job_run(&request, &result));
    assert_int_equal(result.rank, 0);
    assert_string_equal(result.path, fixture->first);
    assert_int_equal(result.target_count, 1);
    assert_true(result.profiler.layer_count > 0);
    assert_false(result.profiler.stopped);
    assert_ok(
        yk_profile_show_run(&(struct yk_profile_job_request){.profile = fixture->first}, &shown));
    assert_int_equal(shown.report.layer_row_count, result.profiler.layer_count);
    assert_int_equal(shown.report.fact_count, result.profiler.fact_count);
    yk_profile_show_result_free(&shown);
    yk_profile_job_result_free(&result);
}

static void callbacks_report_how_far_it_is(void **state)
{
    struct fixture *fixture = *state;
    const struct yk_profile_job_request request = small_request(fixture);
    struct yk_profile_job_result result = {0};
    assert_ok(yk_profile_job_run(&request, &result));
    assert_int_equal(fixture->begun, 1);
    assert_int_equal(fixture->ended, 1);
    assert_true(fixture->done > 0);
    yk_profile_job_result_free(&result);
}

static void stopped_it_ends_with_what_it_has(void **state)
{
    struct fixture *fixture = *state;
    const struct yk_profile_job_request request = small_request(fixture);
    struct yk_profile_job_result result = {0};
    atomic_store(&fixture->stop, true);
    assert_ok(yk_profile_job_run(&request, &result));
    assert_true(result.profiler.stopped);
    yk_profile_job_result_free(&result);
}

static void nothing_is_measured_with_no_model(void **state)
{
    const struct fixture *fixture = *state;
    struct yk_profile_job_request request = small_request(fixture);
    request.model = NULL;
    assert_int_equal(yk_profile_job_check_request(&request, 2), YK_ERROR_USAGE);
    assert_non_null(strstr(yk_status_message(), "--model"));
}

static void a_profile_imported_twice_adds_nothing(void **state)
{
    struct fixture *fixture = *state;
    const struct yk_profile_job_request request = small_request(fixture);
    const struct yk_profile_import_request import = {
        .files = fixture->first,
        .profile = fixture->second,
    };
    struct yk_profile_job_result measured = {0};
    struct yk_profile_import_result once = {0};
    struct yk_profile_import_result twice = {0};
    assert_ok(yk_profile_job_run(&request, &measured));
    const int32_t numbers = measured.profiler.layer_count + measured.profiler.fact_count;
    assert_ok(yk_profile_import_run(&import, &once));
    assert_int_equal(once.file_count, 1);
    assert_int_equal(once.files[0].counts.added, numbers);
    assert_ok(yk_profile_import_run(&import, &twice));
    assert_int_equal(twice.files[0].counts.added, 0);
    assert_int_equal(twice.files[0].counts.left, numbers);
    yk_profile_import_result_free(&twice);
    yk_profile_import_result_free(&once);
    yk_profile_job_result_free(&measured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_measured_is_kept_in_the_profile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(callbacks_report_how_far_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stopped_it_ends_with_what_it_has, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_measured_with_no_model, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_profile_imported_twice_adds_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
