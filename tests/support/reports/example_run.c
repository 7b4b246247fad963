#include "support/reports/example_run.h"

#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    NAME_SIZE = 128
};

static void *allocate(struct yk_arena *arena, size_t count, size_t size)
{
    void *allocated = yk_arena_allocate(arena, count, size);
    assert_non_null(allocated);
    return allocated;
}

static const char *name(struct yk_arena *arena, const struct fixture_run_options *options,
                        const char *words)
{
    char text[NAME_SIZE];
    snprintf(text, sizeof text, "%s%s", options->name ? options->name : "", words);
    const char *kept = yk_arena_copy_text(arena, text, strlen(text));
    assert_non_null(kept);
    return kept;
}

static void add_op(struct yk_trace *trace, int32_t rank, enum yk_lane lane, const char *op,
                   double *at_s, double length_s)
{
    const struct yk_trace_event event = {rank, lane, op, *at_s, *at_s + length_s, 0};
    assert_ok(yk_trace_add_event(trace, &event, NULL));
    *at_s += length_s;
}

static void add_rank(struct yk_trace *trace, const struct fixture_run_options *options,
                     int32_t rank, double slowness)
{
    const char *prefix = options->name ? options->name : "";
    char op[NAME_SIZE];
    double at_s = 0;
    snprintf(op, sizeof op, "%scpu%d", prefix, (int)rank);
    assert_ok(yk_trace_add_rank(trace, op));
    add_op(trace, rank, YK_LANE_COPY, "load", &at_s, 0.001 * slowness);
    for (int32_t l = 0; l < options->layers; l++) {
        snprintf(op, sizeof op, "forward %slayer %d", prefix, (int)l);
        add_op(trace, rank, YK_LANE_COMPUTE, op, &at_s, 0.002 * slowness);
    }
    for (int32_t l = options->layers - 1; l >= 0; l--) {
        snprintf(op, sizeof op, "backward %slayer %d", prefix, (int)l);
        add_op(trace, rank, YK_LANE_COMPUTE, op, &at_s, 0.004 * slowness);
    }
    add_op(trace, rank, YK_LANE_COMPUTE, "update", &at_s, 0.001 * slowness);
    if (slowness > 1) {
        add_op(trace, rank, YK_LANE_COMPUTE, "release", &at_s, 0.0001);
    }
}

static void add_steps(struct fixture_run *fixture, const struct fixture_run_options *options)
{
    struct yk_run_report_evaluation *evaluations = allocate(fixture->arena, 4, sizeof *evaluations);
    fixture->steps = allocate(fixture->arena, (size_t)options->steps + 1, sizeof *fixture->steps);
    for (int32_t i = 0; i < options->steps; i++) {
        fixture->steps[i] = (struct yk_run_report_step){
            .step = i + 1,
            .loss = 4 - 2.0 * (i + 1) / options->steps,
            .norm = 1,
            .lr = (i + 1) / 1000.0,
            .seconds = 0.01,
            .units_per_s = 6400,
        };
    }
    for (int32_t i = 0; i < 4; i++) {
        const int32_t step = options->steps * (i + 1) / 4;
        evaluations[i].step = step;
        evaluations[i].loss = 4.25 - 2.0 * step / options->steps;
        evaluations[i].accuracy = options->images ? 0.25 * (i + 1) : NAN;
    }
    fixture->report.steps = fixture->steps;
    fixture->report.step_count = options->steps;
    fixture->report.step_goal = options->steps;
    fixture->report.evaluations = evaluations;
    fixture->report.evaluation_count = options->steps >= 4 ? 4 : 0;
    fixture->report.measured_step_s = 0.01;
}

static void add_ranks(struct fixture_run *fixture, const struct fixture_run_options *options)
{
    double *seconds = allocate(fixture->arena, (size_t)options->ranks, sizeof *seconds);
    double *shares = allocate(fixture->arena, (size_t)options->ranks, sizeof *shares);
    struct yk_run_report_rebalancing *change = allocate(fixture->arena, 1, sizeof *change);
    for (int32_t r = 0; r < options->ranks; r++) {
        seconds[r] = (5 + r) / 1000.0;
        shares[r] = r + 1;
    }
    for (int32_t i = 0; i < options->steps; i++) {
        fixture->steps[i].ranks_s = seconds;
        fixture->steps[i].rank_count = options->ranks;
    }
    *change = (struct yk_run_report_rebalancing){
        .step = options->steps / 2, .shares = shares, .share_count = options->ranks};
    fixture->report.rebalancings = change;
    fixture->report.rebalancing_count = 1;
}

static void add_memory(struct fixture_run *fixture, const struct fixture_run_options *options)
{
    fixture->memory = allocate(fixture->arena, (size_t)options->ranks + 1, sizeof *fixture->memory);
    for (int32_t r = 0; r < options->ranks; r++) {
        fixture->memory[r] = (struct yk_run_report_memory){
            .device = yk_trace_rank_device_name(fixture->predicted, r),
            .limit_bytes = 64 * 0x1p20,
            .measured_bytes = 40 * 0x1p20,
        };
        for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
            fixture->memory[r].predicted_by_kind[k] = (k + 1) * 0x1p20;
        }
    }
    fixture->report.memory = fixture->memory;
    fixture->report.memory_count = options->ranks;
}

struct fixture_run fixture_run_make(const struct fixture_run_options *options)
{
    struct fixture_run fixture = {0};
    struct yk_run_report_option *listed = NULL;
    assert_ok(yk_arena_create(&fixture.arena));
    assert_ok(yk_trace_create(&fixture.predicted));
    assert_ok(yk_trace_create(&fixture.measured));
    for (int32_t r = 0; r < options->ranks; r++) {
        add_rank(fixture.predicted, options, r, 1);
        add_rank(fixture.measured, options, r, 1.5);
    }
    listed = allocate(fixture.arena, 2, sizeof *listed);
    listed[0].name = name(fixture.arena, options, "batch");
    listed[0].value = "12";
    listed[1].name = name(fixture.arena, options, "data");
    listed[1].value = name(fixture.arena, options, "text.txt");
    fixture.report = (struct yk_run_report){
        .title = name(fixture.arena, options, "A run made by hand"),
        .model = "97,296 parameters in fp32.",
        .data = "Trained on text.txt.",
        .options = listed,
        .option_count = 2,
        .unit = options->images ? &yk_throughput_unit_image : NULL,
        .unit_mfu = 0.0625e-3, /* 40 % at 6,400 tokens/s */
        .unit_exact_mfu = 0.05e-3,
        .predicted_step_s = (2 + 6 * options->layers) / 1000.0,
        .predicted = fixture.predicted,
        .measured = fixture.measured,
        .sample = name(fixture.arena, options, "Once upon a time\nthere was a <yoke> & two oxen."),
        .checkpoint = "runs/hand/checkpoints/step-00000100",
    };
    add_steps(&fixture, options);
    if (options->ranks_over_steps) {
        add_ranks(&fixture, options);
    }
    add_memory(&fixture, options);
    return fixture;
}

void fixture_run_free(struct fixture_run *fixture)
{
    yk_trace_destroy(fixture->predicted);
    yk_trace_destroy(fixture->measured);
    yk_arena_destroy(fixture->arena);
}
