#include "public_api.h"

#include <pthread.h>

static void options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    const struct yoke_search backwards = {.budget_s = -1};
    yoke_request *request = ask("2xrtx3090", 4);
    assert_says(yoke_request_set_micro_batches(request, 5), YOKE_ERROR_USAGE,
                "4 samples cannot be split into 5 micro-batches");
    assert_says(yoke_request_set_micro_batches(request, -1), YOKE_ERROR_USAGE,
                "there are 1 to 4096 micro-batches, or 0 for the search to choose, not -1");
    assert_says(yoke_request_set_memory(request, NAN), YOKE_ERROR_USAGE,
                "memory is 0 bytes or more, not nan");
    assert_says(yoke_request_set_slowdown(request, 0.9), YOKE_ERROR_USAGE,
                "a slowdown is 1 or more, or 0 for the usual one, not 0.9");
    assert_says(yoke_request_set_decisions(request, 1U << 20), YOKE_ERROR_USAGE,
                "there are no decisions 0x100000");
    assert_says(yoke_request_set_strategy(request, "sharded"), YOKE_ERROR_USAGE,
                "there is no strategy \"sharded\"; there are: replicated, sharded-state, kept, "
                "fully-sharded, random");
    assert_says(yoke_request_set_algorithm(request, "pipelines"), YOKE_ERROR_USAGE,
                "there is no way of placing \"pipelines\"; did you mean \"pipeline\"?");
    assert_says(yoke_request_set_search(request, &backwards), YOKE_ERROR_USAGE,
                "a search takes 0 seconds or more, not -1");
    assert_mentions(yoke_request_set_map(request, "{\"nowhere\": 0}", "mine"), YOKE_ERROR_INPUT,
                    "mine: ");
    yoke_request_destroy(request);
}

static void a_profile_is_opened_when_it_is_needed(void **state)
{
    (void)state;
    yoke_request *request = ask("2xrtx3090", 4);
    yoke_plan *plan = NULL;
    assert_done(yoke_request_set_profile(request, "/no/such/profile"));
    assert_mentions(yoke_plan_find(request, &plan), YOKE_ERROR_INPUT, "/no/such/profile");
    assert_null(plan);
    assert_done(yoke_request_set_profile(request, NULL));
    assert_done(yoke_plan_find(request, &plan));
    yoke_plan_destroy(plan);
    yoke_request_destroy(request);
}

static void count(void *user, const char *what, double done)
{
    int *calls = user;
    assert_non_null(what);
    assert_true(done >= 0 && done <= 1);
    (*calls)++;
}

static void a_search_reports_how_far_it_is(void **state)
{
    (void)state;
    int calls = 0;
    const struct yoke_search search = {.progress = count, .progress_user = &calls};
    yoke_request *request = ask("2xrtx3090", 4);
    yoke_plan *plan = NULL;
    assert_done(yoke_request_set_search(request, &search));
    assert_done(yoke_plan_find(request, &plan));
    assert_true(calls > 0);
    assert_done(yoke_request_set_search(request, NULL));
    yoke_plan_destroy(plan);
    yoke_request_destroy(request);
}

/* A search that is stopped before it begins has looked at less than one that is not. */
static void a_raised_flag_ends_the_search(void **state)
{
    (void)state;
    yoke_stop *stop = NULL;
    yoke_request *request = ask("1xrtx6000ada + 2xrtx3090 @ 32GB/s", 16);
    yoke_plan *stopped = NULL;
    yoke_plan *whole = NULL;
    assert_done(yoke_stop_create(&stop));
    const struct yoke_search search = {.moves = 300, .stop = stop};
    assert_done(yoke_request_set_search(request, &search));
    yoke_stop_raise(stop);
    assert_done(yoke_plan_find(request, &stopped));
    yoke_stop_lower(stop);
    assert_done(yoke_plan_find(request, &whole));
    assert_true(yoke_plan_info(stopped)->trials < yoke_plan_info(whole)->trials);
    yoke_plan_destroy(stopped);
    yoke_plan_destroy(whole);
    yoke_request_destroy(request);
    yoke_stop_destroy(stop);
}

/* The strategies of all layers of a plan, in a few characters. */
static void draw(uint64_t seed, char out[16])
{
    const struct yoke_search search = {.moves = 300, .seed = seed};
    yoke_request *request = ask("2xrtx3090 @ 32GB/s", 16);
    yoke_plan *plan = NULL;
    assert_done(yoke_request_set_search(request, &search));
    assert_done(yoke_request_set_strategy(request, "random"));
    assert_done(yoke_request_set_decisions(request, YOKE_DECIDE_SHARES));
    assert_done(yoke_plan_find(request, &plan));
    for (int32_t l = 0; l < 15; l++) {
        out[l] = yoke_plan_layer(plan, l)->strategy[0];
    }
    out[15] = '\0';
    yoke_plan_destroy(plan);
    yoke_request_destroy(request);
}

static void one_seed_draws_the_same_strategies(void **state)
{
    (void)state;
    char one[16];
    char same[16];
    draw(7, one);
    draw(7, same);
    assert_string_equal(one, same);
}

static void a_request_can_be_changed_after_a_plan_was_found(void **state)
{
    (void)state;
    const double limit = 6.0 * (1 << 30);
    yoke_request *request = ask("2xrtx3090", 4);
    yoke_plan *before = NULL;
    yoke_plan *after = NULL;
    assert_done(yoke_plan_find(request, &before));
    const double step_s = yoke_plan_info(before)->step_s;
    assert_done(yoke_request_set_memory(request, limit));
    assert_done(yoke_plan_find(request, &after));
    yoke_request_destroy(request);
    assert_near(yoke_plan_rank(after, 0)->limit_bytes, limit);
    yoke_plan_destroy(after);
    assert_near(yoke_plan_info(before)->step_s, step_s);
    assert_near(yoke_plan_rank(before, 0)->limit_bytes, 24.0 * (1 << 30));
    yoke_plan_destroy(before);
}

struct job {
    yoke_request *request;
    double step_s;
};

static void *run_job(void *user)
{
    struct job *job = user;
    yoke_plan *plan = NULL;
    if (yoke_plan_find(job->request, &plan) == YOKE_OK) {
        job->step_s = yoke_plan_info(plan)->step_s;
    }
    yoke_plan_destroy(plan);
    return NULL;
}

static void threads_with_requests_of_their_own_do_not_disturb_each_other(void **state)
{
    (void)state;
    const struct yoke_search search = {.moves = 300};
    struct job jobs[3] = {{0}};
    pthread_t threads[2];
    for (int i = 0; i < 3; i++) {
        jobs[i].request = ask("1xrtx6000ada + 1xrtx3090 @ 8GB/s", 4 + 2 * (i % 2));
        assert_done(yoke_request_set_search(jobs[i].request, &search));
    }
    assert_int_equal(pthread_create(&threads[0], NULL, run_job, &jobs[0]), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, run_job, &jobs[1]), 0);
    assert_int_equal(pthread_join(threads[0], NULL), 0);
    assert_int_equal(pthread_join(threads[1], NULL), 0);
    run_job(&jobs[2]);
    assert_true(jobs[0].step_s > 0);
    assert_near(jobs[0].step_s, jobs[2].step_s); /* the same question, asked alone */
    assert_true(jobs[1].step_s > jobs[0].step_s);
    for (int i = 0; i < 3; i++) {
        yoke_request_destroy(jobs[i].request);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_make_no_sense_are_refused),
        cmocka_unit_test(a_profile_is_opened_when_it_is_needed),
        cmocka_unit_test(a_search_reports_how_far_it_is),
        cmocka_unit_test(a_raised_flag_ends_the_search),
        cmocka_unit_test(one_seed_draws_the_same_strategies),
        cmocka_unit_test(a_request_can_be_changed_after_a_plan_was_found),
        cmocka_unit_test(threads_with_requests_of_their_own_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
