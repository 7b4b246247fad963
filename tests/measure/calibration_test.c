#include "support/plans/one_group_plan.h"
#include "support/support.h"

#include "cost/communication.h"
#include "measure/calibration.h"

#include <math.h>
#include <string.h>

/* A run of two ranks, made up: what every sort of op takes alone is known, and how much of its time
 * each op spent beside another lane. */
enum {
    RANKS = 2,
    STEPS = 9,
};

static const double compute_slowdown = 1.25;
static const double message_slowdown = 2;
static const double clearing_s = 0.5;
static const char link_name[] = "cpu:1-cpu:1 within a node";

struct made_run {
    struct made_plan made;
    struct yk_model_cache *cache;
    struct yk_program *program;
    struct yk_profile *profile;
    struct yk_cost_sources sources;
    struct yk_layer_costs *costs;
    struct yk_sim_result *sim;
    struct yk_op_times spent;
    struct yk_calibration calibration;
};

/* Alone. Updates are of whole layers. */
static double alone_s(const struct yk_program *program, const struct yk_op *op)
{
    const struct yk_model *model = yk_model_cache_get_whole_batch(program->cache);
    switch (op->kind) {
    case YK_OP_FORWARD:
        return (double)op->samples + (double)strlen(model->layers[op->layer].kind);
    case YK_OP_BACKWARD:
        return 2 * ((double)op->samples + (double)strlen(model->layers[op->layer].kind));
    case YK_OP_UPDATE:
        return 3 + (double)strlen(model->layers[program->layers[op->layer].weights_owner].kind);
    case YK_OP_RELEASE:
    case YK_OP_LOAD:
        return 0;
    default:
        return op->bytes * 1e-3 + 1;
    }
}

/* The first block has messages beside it throughout, the second never, others for a part. */
static double part_overlapped(const struct yk_op *op)
{
    static const double parts[] = {0.5, 1, 0, 0.05};
    return op->kind == YK_OP_AGREE || op->kind == YK_OP_UPDATE ? 0
           : op->match != YK_OP_NO_MATCH                       ? 1
                                                               : parts[op->layer % 4];
}

static yk_status fill_op(const struct made_run *run, const struct yk_op *op,
                         struct yk_op_times_op *out)
{
    struct yk_text name = {0};
    const double slowdown = op->match != YK_OP_NO_MATCH ? message_slowdown : compute_slowdown;
    const double overlap = op->layer >= 0 ? part_overlapped(op) : 0;
    double seconds = alone_s(run->program, op);
    if (op->kind == YK_OP_BACKWARD && op->micro_batch == 0 &&
        run->program->plan->micro_batches > 1) {
        seconds += clearing_s;
    }
    seconds *= op->kind == YK_OP_UPDATE ? 1.0 / RANKS : 1;
    seconds /= 1 - overlap + overlap / slowdown;
    yk_op_describe(run->program, op, &name);
    *out = (struct yk_op_times_op){
        .op = yk_arena_copy_text(run->made.arena, yk_text_chars(&name), name.length),
        .seconds = seconds,
        .low_s = 0.9 * seconds,
        .high_s = 1.1 * seconds,
        .overlap = overlap,
    };
    yk_text_free(&name);
    return out->op ? YK_OK : yk_fail_out_of_memory();
}

static yk_status fill_spent(struct made_run *run)
{
    run->spent = (struct yk_op_times){.steps = STEPS, .rank_count = RANKS};
    YK_TRY_NEW(run->made.arena, run->spent.ranks, RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        const struct yk_op_list *list = &run->program->ranks[r];
        struct yk_op_times_rank *rank = &run->spent.ranks[r];
        *rank = (struct yk_op_times_rank){.device = "cpu", .versions = "v1"};
        rank->op_count = list->op_count;
        YK_TRY_NEW(run->made.arena, rank->ops, list->op_count);
        for (int32_t i = 0; i < list->op_count; i++) {
            YK_TRY(fill_op(run, &list->ops[i], &rank->ops[i]));
        }
    }
    return YK_OK;
}

static void begin(struct made_run *run, int32_t micro_batches, bool knows_messages)
{
    static const int64_t shares[RANKS] = {4, 4};
    const struct yk_sim_options options = {0};
    *run = (struct made_run){0};
    made_plan_begin(&run->made, "gpt-nano", "2xcpu:1", shares, YK_SHARDING_FULLY_SHARDED);
    run->made.plan->micro_batches = micro_batches;
    assert_ok(
        yk_model_cache_create(run->made.model->config, &run->made.plan->workload, &run->cache));
    assert_ok(yk_program_compile(run->made.plan, run->made.cluster, run->cache, &run->program));
    assert_ok(yk_profile_open_or_create(":memory:", &run->profile));
    if (knows_messages) {
        const struct yk_profile_fact_key fact = {link_name, YK_PROFILE_FACT_MESSAGE_SLOWDOWN};
        const struct yk_profile_measurement made = {
            .value = message_slowdown, .samples = 1, .versions = "v0"};
        assert_ok(yk_profile_add_fact(run->profile, &fact, &made));
    }
    run->sources = (struct yk_cost_sources){.cluster = run->made.cluster, .profile = run->profile};
    assert_ok(yk_layer_costs_create(&run->sources, run->cache, &run->costs));
    assert_ok(yk_sim_run(run->program, run->costs, &options, &run->sim));
    assert_ok(fill_spent(run));
}

static yk_status calibrate(struct made_run *run)
{
    const struct yk_calibration_request request = {run->program, run->sim, &run->sources,
                                                   &run->spent};
    return yk_calibration_compute(&request, run->made.arena, &run->calibration);
}

static void end(struct made_run *run)
{
    yk_calibration_free(&run->calibration);
    yk_sim_result_destroy(run->sim);
    yk_layer_costs_destroy(run->costs);
    yk_profile_close(run->profile);
    yk_program_destroy(run->program);
    yk_model_cache_destroy(run->cache);
    made_plan_end(&run->made);
}

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-9 * fabs(expected))) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

static double fact_of(const struct made_run *run, const char *name)
{
    const struct yk_profile_fact_key fact = {link_name, name};
    double value = NAN;
    assert_ok(yk_profile_find_fact_value(run->profile, &fact, &value));
    return value;
}

/* What the profile that was calibrated says of an op. */
static double reported_s(const struct made_run *run, struct yk_layer_costs *costs,
                         const struct yk_op *op)
{
    static const int32_t devices[RANKS] = {0, 1};
    static const struct yk_ring_devices all = {devices, RANKS};
    struct yk_cost_time_estimate time = {0};
    double seconds = NAN;
    switch (op->kind) {
    case YK_OP_FORWARD:
        assert_ok(yk_layer_costs_seconds(costs, 0, op->layer, op->samples, YK_COST_PASS_FORWARD,
                                         &seconds));
        return seconds;
    case YK_OP_BACKWARD:
        assert_ok(yk_layer_costs_seconds(costs, 0, op->layer, op->samples, YK_COST_PASS_BACKWARD,
                                         &seconds));
        return seconds;
    case YK_OP_UPDATE:
        assert_ok(yk_layer_costs_seconds(costs, 0, run->program->layers[op->layer].weights_owner, 0,
                                         YK_COST_PASS_UPDATE, &seconds));
        return seconds;
    case YK_OP_ALL_GATHER:
    case YK_OP_REDUCE_SCATTER:
        assert_ok(yk_communication_collective_time(
            &run->sources,
            op->kind == YK_OP_ALL_GATHER ? YK_COLLECTIVE_ALL_GATHER : YK_COLLECTIVE_REDUCE_SCATTER,
            &all, op->bytes, 0, &time));
        return time.seconds;
    default:
        return NAN;
    }
}

static void assert_reported(struct made_run *run, double more_update_s)
{
    struct yk_layer_costs *costs = NULL;
    assert_ok(yk_profiler_write_unsaved_rows(&run->calibration.rows, run->profile));
    assert_ok(yk_layer_costs_create(&run->sources, run->cache, &costs));
    for (int32_t i = 0; i < run->program->ranks[0].op_count; i++) {
        const struct yk_op *op = &run->program->ranks[0].ops[i];
        const double reported = reported_s(run, costs, op);
        if (!isnan(reported)) {
            assert_near(reported,
                        alone_s(run->program, op) + (op->kind == YK_OP_UPDATE ? more_update_s : 0));
        }
    }
    yk_layer_costs_destroy(costs);
}

static void the_profile_gets_the_times_of_ops_alone(void **state)
{
    (void)state;
    struct made_run run;
    begin(&run, 1, true);
    assert_ok(calibrate(&run));
    assert_int_equal(run.calibration.skipped_message_classes, 0);
    assert_true(run.calibration.estimated_compute);
    assert_false(run.calibration.estimated_message);
    assert_near(run.calibration.compute_slowdown, compute_slowdown);
    assert_reported(&run, 0);
    assert_near(fact_of(&run, YK_PROFILE_FACT_COMPUTE_SLOWDOWN), compute_slowdown);
    assert_near(fact_of(&run, YK_PROFILE_FACT_MESSAGE_SLOWDOWN), message_slowdown);
    end(&run);
}

/* Times of a profile are those with all others at work. */
static void what_was_fast_since_others_idled_is_reported_as_if_they_worked(void **state)
{
    (void)state;
    static const double scale = 0.75;
    struct made_run run;
    begin(&run, 1, true);
    for (int32_t r = 0; r < RANKS; r++) {
        run.sim->ranks[r].compute_time_factor = scale;
        for (int32_t i = 0; i < run.spent.ranks[r].op_count; i++) {
            struct yk_op_times_op *op = &run.spent.ranks[r].ops[i];
            op->seconds *= run.program->ranks[r].ops[i].match == YK_OP_NO_MATCH ? scale : 1;
        }
    }
    assert_ok(calibrate(&run));
    assert_reported(&run, 0);
    end(&run);
}

static void clearing_gradients_is_part_of_the_update(void **state)
{
    (void)state;
    struct made_run run;
    begin(&run, 2, true);
    assert_ok(calibrate(&run));
    assert_reported(&run, clearing_s);
    end(&run);
}

static void overlapped_messages_stay_out_where_nothing_is_known(void **state)
{
    (void)state;
    struct made_run run;
    begin(&run, 1, false);
    assert_ok(calibrate(&run));
    assert_true(isnan(run.calibration.message_slowdown));
    assert_true(run.calibration.skipped_message_classes > 0);
    assert_true(run.calibration.rows.layer_count > 0);
    for (int32_t i = 0; i < run.calibration.rows.link_count; i++) {
        assert_string_equal(run.calibration.rows.links[i].link.collective, "all_reduce");
    }
    end(&run);
}

static void differences_come_by_what_they_do_to_a_step(void **state)
{
    (void)state;
    struct made_run run;
    double before_s = INFINITY;
    int32_t ops = 0;
    begin(&run, 1, true);
    assert_ok(calibrate(&run));
    for (int32_t i = 0; i < run.calibration.class_count; i++) {
        const struct yk_calibration_op_class *class = &run.calibration.classes[i];
        assert_near(class->difference_s, class->times * (class->measured_s - class->predicted_s));
        assert_true(fabs(class->difference_s) <= before_s);
        assert_int_equal(class->count, RANKS * class->times);
        before_s = fabs(class->difference_s);
        ops += class->times;
        if (class->kind == YK_OP_FORWARD && strcmp(class->layer, "gpt-block") == 0) {
            assert_int_equal(class->times, 3);
            assert_near(class->spread, 0.1);
        }
    }
    for (int32_t i = 0; i < run.program->ranks[0].op_count; i++) {
        const enum yk_op_kind kind = run.program->ranks[0].ops[i].kind;
        ops -= kind == YK_OP_LOAD || kind == YK_OP_RELEASE ? 0 : 1;
    }
    assert_int_equal(ops, 0);
    end(&run);
}

static void times_of_another_program_are_refused(void **state)
{
    (void)state;
    struct made_run run;
    begin(&run, 1, true);
    run.spent.ranks[1].ops[0].op = "something";
    assert_int_equal(calibrate(&run), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "\"something\" was measured"));
    run.spent.ranks[1].op_count--;
    assert_int_equal(calibrate(&run), YK_ERROR_INPUT);
    run.spent.rank_count--;
    assert_fails(calibrate(&run), YK_ERROR_INPUT,
                 "the plan has 2 ranks, and 1 were measured: these are times of another plan");
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_profile_gets_the_times_of_ops_alone),
        cmocka_unit_test(what_was_fast_since_others_idled_is_reported_as_if_they_worked),
        cmocka_unit_test(clearing_gradients_is_part_of_the_update),
        cmocka_unit_test(overlapped_messages_stay_out_where_nothing_is_known),
        cmocka_unit_test(differences_come_by_what_they_do_to_a_step),
        cmocka_unit_test(times_of_another_program_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
