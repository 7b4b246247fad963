/* The search ends when its budget does, wherever it is then; by a clock that does not wait. */
#include "planner/memory_tradeoff.h"
#include "planner/placement/placement.h"
#include "planner/planner.h"
#include "program/program.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_ASKS_AFTER = 20,         /* of loops within each other, that each ask once */
    MOST_PLACING_ASKS_AFTER = 60, /* and of each number of micro-batches, and of each remedy */
};

static const double far_s = 1e6;

/* Goes on by `tick_s` whenever it is asked, and past every end at the ask `jump`. */
struct ticking {
    int64_t asks;
    int64_t jump;
    double tick_s;
};

static double now_s(void *user)
{
    struct ticking *ticking = user;
    ticking->asks++;
    return (double)ticking->asks * ticking->tick_s + (ticking->asks >= ticking->jump ? far_s : 0);
}

struct asked {
    struct ticking ticking;
    struct yk_cluster *cluster;
    struct yk_cost_sources sources;
    struct yk_plan_request request;
};

/* In place, since the request points into it. */
static void ask(const char *model, const char *cluster, double memory_bytes, struct asked *out)
{
    *out = (struct asked){.ticking = {.jump = INT64_MAX, .tick_s = 1e-3}};
    assert_ok(yk_cluster_parse_line(cluster, &out->cluster));
    out->sources = (struct yk_cost_sources){.cluster = out->cluster};
    out->request = (struct yk_plan_request){
        .cost_sources = &out->sources,
        .workload = {.batch = 8, .sequence = 64, .precision = YK_PRECISION_BF16},
        .memory_bytes = memory_bytes,
        .decisions = YK_DECIDE_ALL,
        .strategy = YK_SHARDING_STRATEGY_COUNT,
        .search = {.budget_s = 1e3, .seed = 1, .clock = {now_s, &out->ticking}},
    };
    assert_ok(yk_model_config_find_builtin(model, &out->request.config));
}

static void free_asked(struct asked *asked)
{
    yk_cluster_destroy(asked->cluster);
}

static const char *const unlike = "1x(2xrtx3090) + 1x(1xrtx4090 + 1xrtx3090) @ 10GbE";

static void check_jump(int64_t jump, double memory_bytes)
{
    struct asked asked;
    struct yk_planner_outcome *planned = NULL;
    ask("gpt-mini", unlike, memory_bytes, &asked);
    asked.ticking.jump = jump;
    assert_ok(yk_planner_search(&asked.request, &planned));
    assert_true(asked.ticking.asks < jump + MOST_ASKS_AFTER);
    if (planned->plan) {
        assert_ok(yk_plan_check(planned->plan, planned->context->model));
        assert_ok(yk_program_check(planned->evaluation.program));
        assert_true(planned->evaluation.fits);
    } else {
        assert_true(planned->cut_short);
        assert_int_equal(yk_planner_fail_no_plan_found(planned), YK_ERROR_NO_FIT);
        char counted[64];
        snprintf(counted, sizeof counted, "s, which cut the search short after %lld trial%s",
                 (long long)planned->evaluation_count, planned->evaluation_count == 1 ? "" : "s");
        assert_non_null(strstr(yk_status_message(), "was found within the budget of"));
        assert_non_null(strstr(yk_status_message(), counted));
    }
    yk_planner_outcome_destroy(planned);
    free_asked(&asked);
}

/* The driver takes 717 MiB: with all of the memory everything fits, with 780 MiB some does and with
 * 718 MiB nothing. */
static void whenever_the_time_is_up_the_search_ends(void **state)
{
    static const double memories[] = {0, 780.0 * (1 << 20), 718.0 * (1 << 20)};
    (void)state;
    for (int64_t jump = 2; jump < 30000; jump += 1 + jump / 5) {
        for (int i = 0; i < 3; i++) {
            check_jump(jump, memories[i]);
        }
    }
}

/* What looks for a first plan that fits asks the clock as all else does. */
static void a_search_for_what_does_not_fit_keeps_to_its_budget(void **state)
{
    (void)state;
    struct asked asked;
    struct yk_planner_outcome *planned = NULL;
    ask("gpt2", unlike, 720.0 * (1 << 20), &asked);
    asked.request.search.budget_s = 2;
    assert_ok(yk_planner_search(&asked.request, &planned));
    assert_null(planned->plan);
    assert_true(planned->cut_short);
    assert_true(planned->search_s <= 2.1);
    yk_planner_outcome_destroy(planned);
    free_asked(&asked);
}

/* With one device there is little to look at: "no plan fits" is said of all of it. */
static void that_nothing_fits_is_said_after_a_complete_search_only(void **state)
{
    (void)state;
    struct asked asked;
    struct yk_planner_outcome *planned = NULL;
    ask("gpt-nano", "1xrtx3090", 718.0 * (1 << 20), &asked);
    asked.request.search.budget_s = 1e9;
    assert_ok(yk_planner_search(&asked.request, &planned));
    assert_null(planned->plan);
    assert_false(planned->cut_short);
    assert_int_equal(yk_planner_fail_no_plan_found(planned), YK_ERROR_NO_FIT);
    assert_non_null(strstr(yk_status_message(), "no plan for gpt-nano fits"));
    yk_planner_outcome_destroy(planned);
    free_asked(&asked);
}

/* As many plans as were asked for are looked at, and until one fits sixteen times as many, or as
 * many as if a hundred had been asked for. */
static void a_counted_search_ends_though_nothing_fits(void **state)
{
    (void)state;
    struct asked asked;
    struct yk_planner_outcome *planned = NULL;
    ask("gpt2", unlike, 720.0 * (1 << 20), &asked);
    asked.request.search.moves = 10;
    assert_ok(yk_planner_search(&asked.request, &planned));
    assert_null(planned->plan);
    assert_true(planned->cut_short);
    assert_true(planned->evaluation_count <= 1600);
    yk_planner_outcome_destroy(planned);
    free_asked(&asked);
}

enum {
    POINTS = 5
};

static yk_status weigh(int64_t jump, struct yk_memory_tradeoff **out)
{
    const struct yk_memory_tradeoff_options options = {.points = POINTS};
    struct asked asked;
    ask("gpt2", unlike, 0, &asked);
    asked.ticking.jump = jump;
    const yk_status status = yk_memory_tradeoff_compute(&asked.request, &options, out);
    assert_true(jump == INT64_MAX || asked.ticking.asks < jump + MOST_ASKS_AFTER);
    free_asked(&asked);
    return status;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* The first points of each curve are those of the curves that had all the time. */
static void check_curves(const struct yk_memory_tradeoff *some,
                         const struct yk_memory_tradeoff *all)
{
    double best_s = INFINITY;
    for (int32_t i = 0; i < POINTS; i++) {
        const bool split = i < some->split_points;
        const bool memory = i < some->memory_points;
        assert_true(some->scheduling_fraction[i] == all->scheduling_fraction[i]);
        assert_true(same(some->split_s[i], split ? all->split_s[i] : NAN));
        assert_true(!split || some->kept[i] == all->kept[i]);
        assert_true((some->split[i] != NULL) == isfinite(some->split_s[i]));
        assert_true(!memory || some->memory_bytes[i] == all->memory_bytes[i]);
        assert_true(!memory || same(some->joint_of_memory_s[i], all->joint_of_memory_s[i]));
        assert_true(!memory || same(some->ahead_of_memory_s[i], all->ahead_of_memory_s[i]));
        best_s = fmin(best_s, some->split_s[i]);
    }
    assert_true(some->joint_s <= best_s || !some->joint);
    assert_true(some->joint || isnan(some->joint_s));
    assert_true(some->bound_s == all->bound_s);
}

static bool has_time(const struct yk_memory_tradeoff *tradeoff)
{
    for (int32_t i = 0; i < tradeoff->split_points; i++) {
        if (isfinite(tradeoff->split_s[i])) {
            return true;
        }
    }
    return false;
}

/* Wherever the time is up, the points before are there; without one that fits, the budget is at
 * fault. */
static void curves_that_last_too_long_end_with_the_points_so_far(void **state)
{
    (void)state;
    struct yk_memory_tradeoff *all = NULL;
    int refused = 0;
    int within_splits = 0;
    int within_sizes = 0;
    int whole = 0;
    assert_ok(weigh(INT64_MAX, &all));
    assert_int_equal(all->split_points, POINTS);
    assert_int_equal(all->memory_points, POINTS);
    assert_false(yk_memory_tradeoff_is_cut_short(all));
    for (int64_t jump = 2; whole == 0; jump += 1 + jump / 20) {
        struct yk_memory_tradeoff *some = NULL;
        const yk_status status = weigh(jump, &some);
        if (status == YK_ERROR_STOPPED) {
            assert_non_null(strstr(yk_status_message(), "no point of the curves was complete "
                                                        "within the budget of 1e+03 s"));
            refused++;
            continue;
        }
        assert_ok(status);
        assert_true(has_time(some));
        check_curves(some, all);
        whole += yk_memory_tradeoff_is_cut_short(some) ? 0 : 1;
        within_splits += some->split_points < POINTS ? 1 : 0;
        within_sizes += some->memory_points > 0 && some->memory_points < POINTS ? 1 : 0;
        yk_memory_tradeoff_destroy(some);
    }
    assert_true(refused > 0 && within_splits > 0 && within_sizes > 0);
    yk_memory_tradeoff_destroy(all);
}

/* ---- placements ---- */

/* Memory of 718 MiB is too little for anything. Annealing, which has a clock of its own, does not
 * begin: "pipeline" does not anneal, and "best" not what does not fit. */
static const struct {
    const char *algorithm;
    const char *cluster;
} placings[] = {
    {"pipeline", "1x(2xrtx3090) + 1x(1xrtx4090 + 1xrtx3090) @ 10GbE"},
    {"best", "1x(2xrtx3090:100%:718MiB) + 1x(2xrtx4090:100%:718MiB) @ 10GbE"},
};

/* Returns how often the clock was asked in all. */
static int64_t place(int placing, int64_t jump, bool *out_cut_short)
{
    struct asked asked;
    struct yk_placements *found = NULL;
    struct yk_text words = {0};
    ask("gpt-mini", placings[placing].cluster, 0, &asked);
    asked.ticking.jump = jump;
    const struct yk_placement_request request = {
        .cost_sources = &asked.sources,
        .config = asked.request.config,
        .workload = asked.request.workload,
        .algorithm = placings[placing].algorithm,
        .search = asked.request.search,
    };
    assert_ok(yk_placement_compare_algorithms(&request, &found));
    if (found->winner < 0) {
        assert_ok(yk_placement_find_memory_remedy(&request, &found->deadline, &words));
        assert_true(yk_deadline_has_passed(&found->deadline) ||
                    strstr(yk_text_chars(&words), "that time") == NULL);
    }
    *out_cut_short = found->cut_short;
    assert_true(found->trials > 0);
    yk_text_free(&words);
    yk_placements_destroy(found);
    const int64_t asks = asked.ticking.asks;
    free_asked(&asked);
    return asks;
}

static void a_placement_is_found_in_time_or_not_at_all(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        bool cut_short = true;
        const int64_t all = place(i, INT64_MAX, &cut_short);
        assert_false(cut_short);
        assert_true(all > 100);
        for (int64_t jump = 2; jump < all; jump += 1 + jump / 5) {
            const int64_t asks = place(i, jump, &cut_short);
            assert_true(asks < jump + MOST_PLACING_ASKS_AFTER);
            assert_true(cut_short || i == 1); /* or only the remedies were */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whenever_the_time_is_up_the_search_ends),
        cmocka_unit_test(a_search_for_what_does_not_fit_keeps_to_its_budget),
        cmocka_unit_test(that_nothing_fits_is_said_after_a_complete_search_only),
        cmocka_unit_test(a_counted_search_ends_though_nothing_fits),
        cmocka_unit_test(curves_that_last_too_long_end_with_the_points_so_far),
        cmocka_unit_test(a_placement_is_found_in_time_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
