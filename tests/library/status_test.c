#include "public_api.h"

#include <pthread.h>
#include <stdlib.h>

static void the_version_has_three_numbers(void **state)
{
    (void)state;
    const char *version = yoke_version();
    int dots = 0;
    for (const char *c = version; *c; c++) {
        dots += *c == '.' ? 1 : 0;
        assert_true(*c == '.' || (*c >= '0' && *c <= '9'));
    }
    assert_int_equal(dots, 2);
}

static void a_failure_leaves_a_sentence_and_the_output_alone(void **state)
{
    (void)state;
    yoke_cluster *cluster = NULL;
    assert_says(yoke_cluster_open("2xrtx3091", &cluster), YOKE_ERROR_INPUT,
                "cluster: column 3: unknown device \"rtx3091\"; did you mean rtx3090, rtx3060 or "
                "rtx3070?");
    assert_null(cluster);
}

static void a_missing_argument_is_named(void **state)
{
    (void)state;
    yoke_cluster *cluster = NULL;
    assert_says(yoke_cluster_open(NULL, &cluster), YOKE_ERROR_USAGE,
                "yoke_cluster_open: word must not be NULL");
    assert_says(yoke_cluster_open("1xa30", NULL), YOKE_ERROR_USAGE,
                "yoke_cluster_open: out must not be NULL");
    assert_null(cluster);
}

static void *fail_elsewhere(void *unused)
{
    (void)unused;
    yoke_model *model = NULL;
    const yoke_status status = yoke_model_open("gpt3", NULL, &model);
    return status == YOKE_ERROR_INPUT && strstr(yoke_message(), "gpt3") ? "told" : NULL;
}

static void each_thread_has_a_sentence_of_its_own(void **state)
{
    (void)state;
    pthread_t thread;
    void *received = NULL;
    yoke_cluster *cluster = NULL;
    assert_int_equal(yoke_cluster_open("here", &cluster), YOKE_ERROR_INPUT);
    char *before = strdup(yoke_message());
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    assert_int_equal(pthread_join(thread, &received), 0);
    assert_non_null(received);
    assert_string_equal(yoke_message(), before);
    free(before);
}

/* The last line logged. */
struct heard {
    int count;
    enum yoke_log_level level;
    char line[256];
};

static void hear(void *user, enum yoke_log_level level, const char *line)
{
    struct heard *heard = user;
    heard->count++;
    heard->level = level;
    strncpy(heard->line, line, sizeof heard->line - 1);
}

static void remarks_go_where_they_are_sent_and_nowhere_else(void **state)
{
    (void)state;
    /* Bytes without a bandwidth: one is taken for granted, and said. */
    static const char workflow[] =
        "{\"name\": \"w\", \"schemaVersion\": \"1.5\", \"workflow\": {\"specification\": "
        "{\"tasks\": [{\"name\": \"a\", \"id\": \"a\", \"parents\": [], \"children\": [\"b\"], "
        "\"outputFiles\": [\"f\"]}, {\"name\": \"b\", \"id\": \"b\", \"parents\": [\"a\"], "
        "\"children\": [], \"inputFiles\": [\"f\"]}], \"files\": [{\"id\": \"f\", "
        "\"sizeInBytes\": 1000}]}, \"execution\": {\"tasks\": [{\"id\": \"a\", "
        "\"runtimeInSeconds\": 1}, {\"id\": \"b\", \"runtimeInSeconds\": 1}]}}}";
    const struct yoke_graph_options options = {.device_count = 2};
    struct heard heard = {0};
    yoke_graph *graph = NULL;
    yoke_set_log(hear, &heard);
    assert_done(yoke_graph_read(workflow, "workflow", &options, &graph));
    yoke_graph_destroy(graph);
    assert_int_equal(heard.count, 1);
    assert_int_equal(heard.level, YOKE_LOG_NOTE);
    assert_contains(heard.line, "1.25GB/s");
    yoke_set_log(NULL, NULL);
    assert_done(yoke_graph_read(workflow, "workflow", &options, &graph));
    yoke_graph_destroy(graph);
    assert_int_equal(heard.count, 1);
}

static void destroying_nothing_does_no_harm(void **state)
{
    (void)state;
    yoke_free(NULL);
    yoke_stop_destroy(NULL);
    yoke_cluster_destroy(NULL);
    yoke_model_destroy(NULL);
    yoke_costs_destroy(NULL);
    yoke_graph_destroy(NULL);
    yoke_schedule_destroy(NULL);
    yoke_request_destroy(NULL);
    yoke_placements_destroy(NULL);
    yoke_plan_destroy(NULL);
    yoke_tradeoff_destroy(NULL);
    yoke_order_problem_destroy(NULL);
    yoke_order_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_has_three_numbers),
        cmocka_unit_test(a_failure_leaves_a_sentence_and_the_output_alone),
        cmocka_unit_test(a_missing_argument_is_named),
        cmocka_unit_test(each_thread_has_a_sentence_of_its_own),
        cmocka_unit_test(remarks_go_where_they_are_sent_and_nowhere_else),
        cmocka_unit_test(destroying_nothing_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
