#include "support/reports/example_plan.h"

#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GIB 0x1p30

const double fixture_plan_slot_s = 0.01;

enum {
    DEVICES_PER_NODE = 8
};

static void *allocate(struct yk_arena *arena, int64_t count, size_t size)
{
    void *allocated = yk_arena_allocate(arena, (size_t)count, size);
    assert_non_null(allocated);
    return allocated;
}

static const char *named(struct yk_arena *arena, const char *before, const char *word,
                         int32_t number)
{
    char name[256];
    const int length = snprintf(name, sizeof name, "%s%s%d", before ? before : "", word, number);
    const char *copy = yk_arena_copy_text(arena, name, (size_t)length);
    assert_non_null(copy);
    return copy;
}

double fixture_plan_speed(const struct fixture_plan_options *options, int32_t rank)
{
    if (options->all_different) {
        return 1 - 0.4 * rank / options->ranks;
    }
    return rank < (options->ranks + 1) / 2 ? 1 : 0.8;
}

static const struct yk_cluster *make_cluster(const struct fixture_plan_options *options,
                                             struct yk_arena *arena)
{
    const int32_t count = options->ranks + options->spare_devices;
    struct yk_cluster *cluster = allocate(arena, 1, sizeof *cluster);
    struct yk_device *devices = allocate(arena, count, sizeof *devices);
    struct yk_link *links = allocate(arena, (int64_t)count * count, sizeof *links);
    for (int32_t d = 0; d < count; d++) {
        const bool large = d < (options->ranks + 1) / 2;
        devices[d] = (struct yk_device){
            .name = named(arena, options->name, "gpu", d),
            .type = large ? "rtx6000ada" : "rtx3090",
            .fraction = 1,
            .memory_bytes = (large ? 48 : 24) * GIB,
            .node = d / DEVICES_PER_NODE,
        };
    }
    for (int32_t i = 0; i < count * count; i++) {
        const bool near = devices[i / count].node == devices[i % count].node;
        links[i] = (struct yk_link){.latency_s = 1e-5, .bytes_per_s = near ? 32e9 : 3e9};
    }
    *cluster = (struct yk_cluster){
        .source = "made by hand",
        .device_count = count,
        .node_count = (count - 1) / DEVICES_PER_NODE + 1,
        .devices = devices,
        .links = links,
    };
    return cluster;
}

static const struct yk_model *make_model(const struct fixture_plan_options *options,
                                         struct yk_arena *arena)
{
    struct yk_model *model = allocate(arena, 1, sizeof *model);
    struct yk_model_config *config = allocate(arena, 1, sizeof *config);
    struct yk_layer *layers = allocate(arena, options->layers, sizeof *layers);
    if (options->images) {
        config->image.height = 224;
        config->image.width = 160;
        config->image.patch_height = 16;
    }
    for (int32_t i = 0; i < options->layers; i++) {
        layers[i].name = named(arena, options->name, "layer ", i);
        layers[i].parameters = 1000000;
    }
    model->layer_count = options->layers;
    model->layers = layers;
    model->config = config;
    return model;
}

static struct yk_plan *make_plan(const struct fixture_plan_options *options, struct yk_arena *arena)
{
    struct yk_plan *plan = NULL;
    assert_ok(yk_plan_create(arena, options->ranks, 1, options->layers, &plan));
    struct yk_plan_group_member *members = allocate(arena, options->ranks, sizeof *members);
    for (int32_t r = 0; r < options->ranks; r++) {
        const bool large = r < (options->ranks + 1) / 2;
        plan->ranks[r] = (struct yk_plan_rank){.device = r, .limit_bytes = (large ? 44 : 22) * GIB};
        members[r] = (struct yk_plan_group_member){
            .rank = r,
            .share = large ? 4 : 2,
            .shard_fraction = 1.0 / options->ranks,
        };
    }
    plan->groups[0] = (struct yk_plan_group){.members = members, .member_count = options->ranks};
    for (int32_t i = 0; i < options->layers; i++) {
        plan->layers[i].strategy =
            i < options->layers / 2 ? YK_SHARDING_KEPT_AFTER_FORWARD : YK_SHARDING_FULLY_SHARDED;
        plan->layers[i].recompute = i >= options->layers / 2;
    }
    plan->workload = (struct yk_workload){
        .batch = 64,
        .sequence = 1024,
        .precision = YK_PRECISION_BF16,
    };
    plan->micro_batches = 1;
    plan->prefetch = 1;
    plan->block_bytes = 4 * 0x1p20;
    plan->bucket_bytes = 25 * 0x1p20;
    return plan;
}

/* Where one rank's events go. */
struct writer {
    const struct fixture_plan_options *options;
    struct yk_trace *trace;
    int32_t rank;
};

static void add_event(const struct writer *writer, enum yk_lane lane, const char *word,
                      int32_t layer, double start_s, double length_s, double bytes)
{
    char op[256];
    const char *name = writer->options->name;
    snprintf(op, sizeof op, "%s%s%slayer %d", word, *word ? " " : "", name ? name : "", layer);
    assert_ok(yk_trace_add_event(writer->trace,
                                 &(struct yk_trace_event){
                                     .rank = writer->rank,
                                     .lane = lane,
                                     .op = op,
                                     .start_s = start_s,
                                     .end_s = start_s + length_s,
                                     .bytes = bytes,
                                 },
                                 NULL));
}

static void add_events(const struct writer *writer, double speed)
{
    const int32_t layers = writer->options->layers;
    const double slot_s = fixture_plan_slot_s;
    add_event(writer, YK_LANE_COPY, "load", 0, 0, slot_s / 4, 1e6);
    for (int32_t i = 0; i < layers; i++) {
        const double at_s = i * slot_s;
        add_event(writer, YK_LANE_COMPUTE, "forward", i, at_s, speed * slot_s, 0);
        add_event(writer, YK_LANE_COMPUTE, "release", i, at_s + speed * slot_s, 0, 0);
        if (i + 1 < layers) {
            add_event(writer, YK_LANE_COMM, "all_gather", i + 1, at_s, slot_s / 2, 2e6);
        }
    }
    for (int32_t i = 0; i < layers; i++) {
        const double at_s = (layers + 2 * i) * slot_s;
        add_event(writer, YK_LANE_COMPUTE, "backward", layers - 1 - i, at_s, 2 * speed * slot_s, 0);
        add_event(writer, YK_LANE_COMM, "reduce_scatter", layers - 1 - i, at_s, slot_s, 2e6);
    }
    add_event(writer, YK_LANE_COMPUTE, "update", 0, 3 * layers * slot_s, speed * slot_s, 0);
}

static void add_memory(const struct fixture_plan_options *options, struct yk_arena *arena,
                       double limit_bytes, struct yk_plan_result_rank *rank)
{
    const int32_t layers = options->layers;
    struct yk_memory_timeline_point *moments =
        allocate(arena, 2 * (int64_t)layers + 1, sizeof *moments);
    for (int32_t i = 0; i <= 2 * layers; i++) {
        const double slots = i <= layers ? i : layers + 2 * (i - layers);
        const double kept = i <= layers ? i : 2 * layers - i;
        double *bytes = moments[i].bytes;
        moments[i].at_s = slots * fixture_plan_slot_s;
        bytes[YK_MEMORY_PARAMETERS] = 0.1 * limit_bytes;
        bytes[YK_MEMORY_GATHERED] = (i % 2 ? 0.05 : 0.1) * limit_bytes;
        bytes[YK_MEMORY_GRADIENTS] = i > layers ? 0.05 * limit_bytes : 0;
        bytes[YK_MEMORY_OPTIMIZER] = 0.2 * limit_bytes;
        bytes[YK_MEMORY_ACTIVATIONS] = 0.4 * limit_bytes * kept / layers;
        bytes[YK_MEMORY_BUFFERS] = 0.03 * limit_bytes;
        bytes[YK_MEMORY_CONTEXT] = 0.02 * limit_bytes;
    }
    memcpy(rank->peak_by_kind, moments[layers].bytes, sizeof rank->peak_by_kind);
    rank->peak_bytes = 0.9 * limit_bytes;
    rank->memory_timeline = moments;
    rank->moment_count = 2 * layers + 1;
}

static void add_rank(struct fixture_plan *fixture, const struct fixture_plan_options *options,
                     int32_t r)
{
    const double step_s = fixture->report.step_s;
    const double compute_s = fixture_plan_speed(options, r) * step_s;
    const struct writer writer = {.options = options, .trace = fixture->trace, .rank = r};
    assert_ok(yk_trace_add_rank(fixture->trace, fixture->report.cluster->devices[r].name));
    add_events(&writer, fixture_plan_speed(options, r));
    fixture->ranks[r] = (struct yk_plan_result_rank){
        .compute_s = compute_s,
        .exposed_s = (step_s - compute_s) / 4,
        .idle_s = 3 * (step_s - compute_s) / 4,
    };
    add_memory(options, fixture->arena, fixture->plan->ranks[r].limit_bytes, &fixture->ranks[r]);
}

struct fixture_plan fixture_plan_make(const struct fixture_plan_options *options)
{
    struct fixture_plan fixture = {0};
    assert_ok(yk_arena_create(&fixture.arena));
    assert_ok(yk_trace_create(&fixture.trace));
    fixture.plan = make_plan(options, fixture.arena);
    fixture.ranks = allocate(fixture.arena, options->ranks, sizeof *fixture.ranks);
    fixture.report = (struct yk_plan_result){
        .plan = fixture.plan,
        .model = make_model(options, fixture.arena),
        .cluster = make_cluster(options, fixture.arena),
        .trace = fixture.trace,
        .step_s = (3 * options->layers + 1) * fixture_plan_slot_s,
        .bound_s = 3 * options->layers * fixture_plan_slot_s * 0.95,
        .tokens_per_s = 64 * 1024 / ((3 * options->layers + 1) * fixture_plan_slot_s),
        .mfu = 0.391,
        .exact_mfu = 0.3644,
        .title = "A plan made by hand",
        .summary = "64 samples go to the devices by their measured speed; the first half of the "
                   "layers keep what they gathered, the others gather again and recompute.",
        .bottleneck = "Compute on gpu0 fills the whole step; the others wait for it a fifth of "
                      "the time.",
        .source = "Times were made up for this page.",
        .ranks = fixture.ranks,
    };
    for (int32_t r = 0; r < options->ranks; r++) {
        add_rank(&fixture, options, r);
    }
    return fixture;
}

void fixture_plan_free(struct fixture_plan *fixture)
{
    yk_trace_destroy(fixture->trace);
    yk_arena_destroy(fixture->arena);
}

static const struct yk_plan_tradeoff_chart *make_tradeoffs(const struct fixture_plan *fixture)
{
    enum {
        POINTS = 12
    };
    static const char *const names[] = {"strategies first", "order first"};
    const double step_s = fixture->report.step_s;
    struct yk_plan_tradeoff_chart *tradeoffs = allocate(fixture->arena, 2, sizeof *tradeoffs);
    for (int t = 0; t < 2; t++) {
        struct yk_plan_chart_curve *curves = allocate(fixture->arena, 2 - t, sizeof *curves);
        for (int c = 0; c < 2 - t; c++) {
            double *x = allocate(fixture->arena, POINTS, sizeof *x);
            double *y = allocate(fixture->arena, POINTS, sizeof *y);
            for (int i = 0; i < POINTS; i++) {
                x[i] = t == 0 ? i / 11.0 : 16 + 4 * i;
                y[i] = step_s *
                       (t == 0 ? 1 + 0.4 * pow(x[i] - 0.45, 2) + 0.02 * c : 0.97 + 1.5 / x[i]);
            }
            y[t == 0 ? POINTS - 1 : 0] = NAN;
            curves[c] = (struct yk_plan_chart_curve){names[c], x, y, POINTS};
        }
        tradeoffs[t] = (struct yk_plan_tradeoff_chart){
            .title = t == 0 ? "Memory for scheduling or for strategies" : "Step against memory",
            .definition =
                t == 0 ? "x is the part of the memory left over by state that is reserved for "
                         "gathering ahead; the rest keeps parameters resident."
                       : "x is the memory of every rtx3090 in GiB; everything else stays.",
            .x_label = t == 0 ? "part reserved for scheduling" : "memory of an rtx3090, GiB",
            .curves = curves,
            .curve_count = 2 - t,
            .chosen_x = t == 0 ? 5 / 11.0 : 24,
            .chosen_s = step_s * (t == 0 ? 1 : 0.97 + 1.5 / 24),
            .joint_s = t == 0 ? 0.99 * step_s : NAN,
            .bound_s = fixture->report.bound_s,
        };
    }
    return tradeoffs;
}

void fixture_plan_add_choices(struct fixture_plan *fixture)
{
    const double step_s = fixture->report.step_s;
    struct yk_plan_alternative *others = allocate(fixture->arena, 4, sizeof *others);
    others[0] =
        (struct yk_plan_alternative){"even data-parallel", "32 samples each", 1.14 * step_s, true};
    others[1] = (struct yk_plan_alternative){"by datasheet", NULL, 1.64 * step_s, true};
    others[2] = (struct yk_plan_alternative){
        "replicated", "gpu1 lacks 3.1GiB: keep the last 8 layers sharded", 0.93 * step_s, false};
    others[3] = (struct yk_plan_alternative){"placement", "no stage fits gpu1", NAN, false};
    fixture->report.alternatives = others;
    fixture->report.alternative_count = 4;
    struct yk_plan_leave_one_out *leave_one_out =
        allocate(fixture->arena, fixture->plan->rank_count, sizeof *leave_one_out);
    for (int32_t r = 0; r < fixture->plan->rank_count; r++) {
        leave_one_out[r] = (struct yk_plan_leave_one_out){r, r == 0 ? NAN : 1.2 * step_s};
    }
    fixture->report.leave_one_out = leave_one_out;
    fixture->report.leave_one_out_count = fixture->plan->rank_count;
    fixture->report.tradeoffs = make_tradeoffs(fixture);
    fixture->report.tradeoff_count = 2;
}
