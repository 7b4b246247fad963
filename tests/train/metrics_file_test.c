/* The lines of a run, and what is left of them when it goes on from an earlier step. */
#include "train/metrics_file.h"

#include "base/file.h"
#include "base/log.h"
#include "support/files/other_programs.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct bench {
    char *folder;
    char path[256];
};

static void open_bench(struct bench *bench)
{
    bench->folder = outside_make_folder();
    (void)snprintf(bench->path, sizeof bench->path, "%s/metrics.jsonl", bench->folder);
}

static void write_steps(const struct bench *bench, int64_t after, int64_t until)
{
    struct yk_metrics_file *metrics = NULL;
    assert_int_equal(yk_metrics_file_open(bench->path, after, &yk_throughput_unit_token, &metrics),
                     YK_OK);
    for (int64_t s = after + 1; s <= until; s++) {
        const struct yk_step_metrics step = {
            .step = s, .loss = s == 2 ? NAN : 1.5, .norm = 2, .lr = 0.25, .loss_scale = 1};
        assert_int_equal(yk_metrics_file_add_step(metrics, &step), YK_OK);
    }
    const struct yk_evaluation_result text = {.loss = 3, .tokens = 77, .accuracy = NAN};
    assert_int_equal(yk_metrics_file_add_evaluation(metrics, until, &text), YK_OK);
    yk_metrics_file_close(metrics);
}

static void expect_file(const struct bench *bench, const char *expected)
{
    struct yk_text text = {0};
    assert_int_equal(yk_file_read_document(bench->path, &text), YK_OK);
    assert_string_equal(yk_text_chars(&text), expected);
    yk_text_free(&text);
}

#define STEP(number, loss)                                                                         \
    "{\"step\": " number ", \"loss\": " loss                                                       \
    ", \"norm\": 2, \"lr\": 0.25, \"seconds\": 0, \"tokens_per_s\": 0}\n"
#define EVALUATION(number) "{\"step\": " number ", \"evaluation_loss\": 3, \"tokens\": 77}\n"

static void a_run_on_images_counts_images_and_has_accuracies(void **state)
{
    (void)state;
    struct bench bench;
    struct yk_metrics_file *metrics = NULL;
    const struct yk_step_metrics step = {.step = 4,
                                         .loss = 1.5,
                                         .norm = 2,
                                         .lr = 0.25,
                                         .seconds = 0.5,
                                         .tokens_per_s = 256,
                                         .loss_scale = 1};
    const struct yk_evaluation_result images = {
        .loss = 3, .tokens = 77, .accuracy = 0.5, .top5_accuracy = 0.75};
    open_bench(&bench);
    assert_int_equal(yk_metrics_file_open(bench.path, 0, &yk_throughput_unit_image, &metrics),
                     YK_OK);
    assert_int_equal(yk_metrics_file_add_step(metrics, &step), YK_OK);
    assert_int_equal(yk_metrics_file_add_evaluation(metrics, 4, &images), YK_OK);
    yk_metrics_file_close(metrics);
    expect_file(&bench, "{\"step\": 4, \"loss\": 1.5, \"norm\": 2, \"lr\": 0.25, \"seconds\": 0.5, "
                        "\"images_per_s\": 256}\n"
                        "{\"step\": 4, \"evaluation_loss\": 3, \"images\": 77, "
                        "\"accuracy\": 0.5, \"top5_accuracy\": 0.75}\n");
    outside_remove(bench.folder);
}

static void each_step_is_one_object_a_line(void **state)
{
    (void)state;
    struct bench bench;
    open_bench(&bench);
    write_steps(&bench, 0, 2);
    expect_file(&bench, STEP("1", "1.5") STEP("2", "null") EVALUATION("2"));
    outside_remove(bench.folder);
}

static void going_on_from_an_earlier_step_drops_what_came_after_it(void **state)
{
    (void)state;
    struct bench bench;
    open_bench(&bench);
    write_steps(&bench, 0, 3);
    FILE *file = fopen(bench.path, "a");
    assert_non_null(file);
    assert_true(fputs("{\"step\": 1, \"lo", file) >= 0); /* cut off by a kill */
    assert_int_equal(fclose(file), 0);
    write_steps(&bench, 1, 3);
    expect_file(&bench, STEP("1", "1.5") STEP("2", "null") STEP("3", "1.5") EVALUATION("3"));
    outside_remove(bench.folder);
}

static void keep_warning(void *user, enum yk_log_level level, const char *line)
{
    if (level == YK_LOG_WARNING) {
        (void)snprintf(user, 512, "%s", line);
    }
}

static void a_file_that_is_removed_meanwhile_is_missed_and_made_anew(void **state)
{
    (void)state;
    struct bench bench;
    struct yk_metrics_file *metrics = NULL;
    char warning[512] = "";
    char expected[512];
    open_bench(&bench);
    yk_log_set_sink(keep_warning, warning);
    assert_int_equal(yk_metrics_file_open(bench.path, 0, &yk_throughput_unit_token, &metrics),
                     YK_OK);
    struct yk_step_metrics step = {.step = 1, .loss = 1.5, .norm = 2, .lr = 0.25, .loss_scale = 1};
    assert_int_equal(yk_metrics_file_add_step(metrics, &step), YK_OK);
    assert_string_equal(warning, "");
    assert_int_equal(unlink(bench.path), 0);
    step.step = 2;
    assert_int_equal(yk_metrics_file_add_step(metrics, &step), YK_OK);
    (void)snprintf(expected, sizeof expected,
                   "%s was removed or replaced while it was written; what it held is lost, and it "
                   "goes on with the next line",
                   bench.path);
    assert_string_equal(warning, expected);
    warning[0] = '\0';
    step.step = 3;
    assert_int_equal(yk_metrics_file_add_step(metrics, &step), YK_OK);
    assert_string_equal(warning, "");
    yk_metrics_file_close(metrics);
    yk_log_set_sink(NULL, NULL);
    expect_file(&bench, STEP("2", "1.5") STEP("3", "1.5"));
    outside_remove(bench.folder);
}

static void a_folder_that_is_not_there_is_refused(void **state)
{
    (void)state;
    struct yk_metrics_file *metrics = NULL;
    assert_int_equal(
        yk_metrics_file_open("/nonexistent/metrics.jsonl", 0, &yk_throughput_unit_token, &metrics),
        YK_ERROR_SYSTEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_is_one_object_a_line),
        cmocka_unit_test(a_run_on_images_counts_images_and_has_accuracies),
        cmocka_unit_test(going_on_from_an_earlier_step_drops_what_came_after_it),
        cmocka_unit_test(a_file_that_is_removed_meanwhile_is_missed_and_made_anew),
        cmocka_unit_test(a_folder_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
