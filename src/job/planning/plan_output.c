#include "job/planning/plan_job.h"

#include "base/json_write.h"
#include "base/text_table.h"
#include "base/units.h"
#include "job/workload.h"
#include "planner/planner.h"
#include "sim/sim.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum {
    WORDS_SIZE = 96
};

/* Adds the largest speed-up of a device while others are idle, if there is any. */
static void add_rest(const struct yk_sim_result *sim, struct yk_text *out)
{
    double lowest = 1;
    for (int32_t rank = 0; rank < sim->program->rank_count; rank++) {
        lowest = fmin(lowest, sim->ranks[rank].compute_time_factor);
    }
    if (lowest < 1) {
        yk_text_addf(out, ", down to %.3g times while others rest", lowest);
    }
}

static void add_headlines(const struct yk_planner_outcome *planned, struct yk_text *out)
{
    const struct yk_mfu mfu = yk_planner_predicted_mfu(planned);
    yk_text_addf(out, "  plan        %s\n", planned->summary);
    yk_text_addf(out, "  step        %s ±%.0f %%, %.0f %s, MFU %.1f %% (exact %.1f)\n",
                 YK_UNITS_FORMAT_TEMPORARY(planned->evaluation.step_s, YK_UNIT_SECONDS),
                 100 * yk_error_band_relative_error(&planned->evaluation.band),
                 planned->tokens_per_s,
                 yk_model_config_throughput_unit(planned->context->model->config)->speed,
                 100 * mfu.formula, 100 * mfu.exact);
    yk_text_addf(out, "  bound       %s, which no plan beats; this one is %.1f %% above\n",
                 YK_UNITS_FORMAT_TEMPORARY(planned->bound_s, YK_UNIT_SECONDS),
                 100 * (planned->evaluation.step_s / planned->bound_s - 1));
    yk_text_addf(out, "  bottleneck  %s\n", planned->bottleneck);
    yk_text_addf(out, "  times       %s; %.3g times as long beside communication", planned->source,
                 planned->evaluation.sim->slowdown);
    add_rest(planned->evaluation.sim, out);
    yk_text_add(out, "\n  context     ");
    yk_explain_append_driver_memory(planned->context, planned->plan, out);
    yk_text_add(out, "\n");
}

/* Adds the number of trials and whether the search was complete; nothing without a search. */
static void add_search(const struct yk_planner_outcome *planned, struct yk_text *out)
{
    const bool searched = planned->evaluation_count > 0 || planned->cut_short;
    if (searched) {
        yk_text_addf(out, "  search      %lld trial%s, %s\n", (long long)planned->evaluation_count,
                     yk_text_plural_suffix(planned->evaluation_count),
                     !planned->cut_short                 ? "complete"
                     : planned->request.search.moves > 0 ? "cut short by the limit of trials"
                                                         : "cut short by the budget");
    }
    if (planned->plan || searched) {
        yk_text_add(out, "\n");
    }
}

/* Whether two ranks share one row: they do the same work with the same times and memory. */
static bool shows_alike(const struct yk_planner_outcome *planned, int32_t a, int32_t b)
{
    const struct yk_sim_rank_result *one = &planned->evaluation.sim->ranks[a];
    const struct yk_sim_rank_result *other = &planned->evaluation.sim->ranks[b];
    const struct yk_plan_group_member *left =
        yk_planner_find_group_member_of_rank(planned->plan, a);
    const struct yk_plan_group_member *right =
        yk_planner_find_group_member_of_rank(planned->plan, b);
    return left && right && left->share == right->share &&
           left->shard_fraction == right->shard_fraction &&
           planned->evaluation.peaks[a].bytes == planned->evaluation.peaks[b].bytes &&
           planned->plan->ranks[a].limit_bytes == planned->plan->ranks[b].limit_bytes &&
           one->compute_s == other->compute_s && one->exposed_s == other->exposed_s;
}

static void name_row(const struct yk_planner_outcome *planned, int32_t first, int32_t last,
                     char *out)
{
    const struct yk_device *devices = planned->context->cluster->devices;
    const struct yk_device *one = &devices[planned->plan->ranks[first].device];
    const struct yk_device *other = &devices[planned->plan->ranks[last].device];
    if (first == last) {
        snprintf(out, WORDS_SIZE, "%s", one->name);
    } else {
        snprintf(out, WORDS_SIZE, "%s … %s (%d)", one->name, other->name, last - first + 1);
    }
}

static void add_device_row(const struct yk_planner_outcome *planned, int32_t first, int32_t last,
                           struct yk_text_table *table)
{
    const struct yk_sim_rank_result *simulated = &planned->evaluation.sim->ranks[first];
    const struct yk_plan_group_member *member =
        yk_planner_find_group_member_of_rank(planned->plan, first);
    const struct yk_device *device =
        &planned->context->cluster->devices[planned->plan->ranks[first].device];
    const double step_s = planned->evaluation.step_s;
    char words[WORDS_SIZE];
    name_row(planned, first, last, words);
    yk_text_table_add_cell(table, "%s", words);
    if (device->type && device->fraction < 1) { /* as a cluster's line has it */
        yk_text_table_add_cell(table, "%s:%.3g%%", device->type, 100 * device->fraction);
    } else {
        yk_text_table_add_cell(table, "%s", device->type ? device->type : "");
    }
    yk_text_table_add_cell(table, "%lld", (long long)(member ? member->share : 0));
    yk_text_table_add_cell(table, "%.3f", member ? member->shard_fraction : 0);
    yk_text_table_add_cell(
        table, "%s",
        YK_UNITS_FORMAT_TEMPORARY(planned->evaluation.peaks[first].bytes, YK_UNIT_BYTES));
    yk_text_table_add_cell(
        table, "%s",
        YK_UNITS_FORMAT_TEMPORARY(planned->plan->ranks[first].limit_bytes, YK_UNIT_BYTES));
    yk_text_table_add_cell(table, "%.1f %%", 100 * simulated->compute_s / step_s);
    yk_text_table_add_cell(table, "%.1f %%", 100 * simulated->exposed_s / step_s);
    yk_text_table_add_cell(table, "%.1f %%", 100 * simulated->idle_s / step_s);
}

static void add_memory_row(const struct yk_planner_outcome *planned, int32_t first, int32_t last,
                           struct yk_text_table *table)
{
    char words[WORDS_SIZE];
    name_row(planned, first, last, words);
    yk_text_table_add_cell(table, "%s", words);
    for (int32_t kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
        yk_text_table_add_cell(
            table, "%s",
            planned->evaluation.peaks[first].by_kind[kind] > 0
                ? YK_UNITS_FORMAT_TEMPORARY(planned->evaluation.peaks[first].by_kind[kind],
                                            YK_UNIT_BYTES)
                : "-");
    }
}

typedef void (*row_writer)(const struct yk_planner_outcome *planned, int32_t first, int32_t last,
                           struct yk_text_table *table);

/* Adds one row per run of consecutive ranks that are alike. */
static yk_status add_ranks(const struct yk_planner_outcome *planned,
                           const struct yk_text_table_column *columns, size_t count,
                           row_writer write, struct yk_text *out)
{
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, count, &table));
    for (int32_t first = 0, last = 0; first < planned->plan->rank_count; first = last + 1) {
        last = first;
        while (last + 1 < planned->plan->rank_count && shows_alike(planned, first, last + 1)) {
            last++;
        }
        write(planned, first, last, table);
    }
    const yk_status status = yk_text_table_write_and_destroy(table, out);
    yk_text_add(out, "\n");
    return status;
}

static yk_status add_devices(const struct yk_planner_outcome *planned, struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"device", YK_TEXT_TABLE_LEFT},   {"type", YK_TEXT_TABLE_LEFT},
        {"share", YK_TEXT_TABLE_RIGHT},   {"part", YK_TEXT_TABLE_RIGHT},
        {"memory", YK_TEXT_TABLE_RIGHT},  {"limit", YK_TEXT_TABLE_RIGHT},
        {"compute", YK_TEXT_TABLE_RIGHT}, {"exposed", YK_TEXT_TABLE_RIGHT},
        {"idle", YK_TEXT_TABLE_RIGHT},
    };
    static const struct yk_text_table_column kinds[] = {
        {"memory of", YK_TEXT_TABLE_LEFT},  {"parameters", YK_TEXT_TABLE_RIGHT},
        {"gathered", YK_TEXT_TABLE_RIGHT},  {"gradients", YK_TEXT_TABLE_RIGHT},
        {"optimizer", YK_TEXT_TABLE_RIGHT}, {"activations", YK_TEXT_TABLE_RIGHT},
        {"buffers", YK_TEXT_TABLE_RIGHT},   {"context", YK_TEXT_TABLE_RIGHT},
    };
    YK_TRY(add_ranks(planned, columns, sizeof columns / sizeof columns[0], add_device_row, out));
    return add_ranks(planned, kinds, sizeof kinds / sizeof kinds[0], add_memory_row, out);
}

static bool is_same(const struct yk_plan *plan, int32_t a, int32_t b)
{
    return plan->layers[a].group == plan->layers[b].group &&
           yk_plan_effective_strategy(plan, a) == yk_plan_effective_strategy(plan, b) &&
           plan->layers[a].recompute == plan->layers[b].recompute;
}

static void name_group(const struct yk_planner_outcome *planned, int32_t group, char *out)
{
    const struct yk_plan_group *members = &planned->plan->groups[group];
    const struct yk_device *devices = planned->context->cluster->devices;
    const struct yk_plan_rank *ranks = planned->plan->ranks;
    const char *first = devices[ranks[members->members[0].rank].device].name;
    const char *last = devices[ranks[members->members[members->member_count - 1].rank].device].name;
    if (members->member_count == 1) {
        snprintf(out, WORDS_SIZE, "%s", first);
    } else {
        snprintf(out, WORDS_SIZE, "%s … %s", first, last);
    }
}

static yk_status add_layers(const struct yk_planner_outcome *planned, struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"layers", YK_TEXT_TABLE_LEFT},
        {"strategy", YK_TEXT_TABLE_LEFT},
        {"on", YK_TEXT_TABLE_LEFT},
        {"", YK_TEXT_TABLE_LEFT},
    };
    const struct yk_plan *plan = planned->plan;
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t first = 0, last = 0; first < plan->layer_count; first = last + 1) {
        struct yk_text words = {0};
        char group[WORDS_SIZE];
        last = first;
        while (last + 1 < plan->layer_count && is_same(plan, first, last + 1)) {
            last++;
        }
        yk_explain_append_layer_names(planned->context->model, first, last, &words);
        name_group(planned, plan->layers[first].group, group);
        yk_text_table_add_cell(table, "%s", yk_text_chars(&words));
        yk_text_table_add_cell(table, "%s",
                               yk_plan_strategy_name(yk_plan_effective_strategy(plan, first)));
        yk_text_table_add_cell(table, "%s", group);
        yk_text_table_add_cell(table, "%s", plan->layers[first].recompute ? "recomputed" : "");
        yk_text_free(&words);
    }
    const yk_status status = yk_text_table_write_and_destroy(table, out);
    yk_text_add(out, "\n");
    return status;
}

static yk_status add_alternatives(const struct yk_planner_outcome *planned, struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"instead", YK_TEXT_TABLE_LEFT},
        {"step", YK_TEXT_TABLE_RIGHT},
        {"longer by", YK_TEXT_TABLE_RIGHT},
        {"", YK_TEXT_TABLE_LEFT},
    };
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = 0; i < planned->alternative_count; i++) {
        const struct yk_plan_alternative *row = &planned->alternatives[i];
        char step[YK_UNITS_BUFFER_SIZE] = "-";
        char more[WORDS_SIZE] = "does not fit";
        if (!isnan(row->step_s)) {
            yk_units_format(row->step_s, YK_UNIT_SECONDS, step);
        }
        if (row->fits) {
            snprintf(more, sizeof more, "%.1f %%",
                     100 * (row->step_s / planned->evaluation.step_s - 1));
        }
        yk_text_table_add_cell(table, "%s", row->name);
        yk_text_table_add_cell(table, "%s", step);
        yk_text_table_add_cell(table, "%s", more);
        yk_text_table_add_cell(table, "%s", row->remark ? row->remark : "");
    }
    return yk_text_table_write_and_destroy(table, out);
}

static void add_leave_one_out(const struct yk_planner_outcome *planned, struct yk_text *out)
{
    for (int32_t i = 0; i < planned->leave_one_out_count; i++) {
        const struct yk_plan_leave_one_out *row = &planned->leave_one_out[i];
        const char *name = planned->context->cluster->devices[row->device].name;
        char step[YK_UNITS_BUFFER_SIZE];
        yk_units_format(row->step_s, YK_UNIT_SECONDS, step);
        yk_text_add(out, i == 0 ? "\n" : "");
        if (isnan(row->step_s)) {
            yk_text_addf(out, "  without %s nothing fits\n", name);
        } else {
            yk_text_addf(out, "  without %s a step takes %s, %.1f %% longer\n", name, step,
                         100 * (row->step_s / planned->evaluation.step_s - 1));
        }
    }
}

yk_status yk_plan_output_write_text(const struct yk_planner_outcome *planned, struct yk_text *out)
{
    yk_workload_write_title(planned->request.config, planned->context->cluster,
                            &planned->request.workload, out);
    yk_text_add(out, "\n");
    if (planned->context->cluster->assumption) {
        yk_text_addf(out, "%s\n", planned->context->cluster->assumption);
    }
    yk_text_add(out, "\n");
    if (planned->plan) {
        add_headlines(planned, out);
    }
    add_search(planned, out);
    if (planned->plan) {
        YK_TRY(add_devices(planned, out));
        YK_TRY(add_layers(planned, out));
    }
    if (planned->alternative_count > 0) {
        YK_TRY(add_alternatives(planned, out));
    }
    add_leave_one_out(planned, out);
    return yk_text_status(out);
}

static bool is_message(const struct yk_sim_op_class *class)
{
    return class->bytes > 0;
}

/* Layer and device of a class of ops; NULL for messages, which have neither. */
static const char *layer_of(const struct yk_planner_outcome *planned,
                            const struct yk_sim_op_class *class)
{
    return is_message(class) || class->layer == YK_LAYER_NONE
               ? NULL
               : planned->context->model->layers[class->layer].name;
}

static const char *device_of(const struct yk_planner_outcome *planned,
                             const struct yk_sim_op_class *class)
{
    const int32_t device = planned->plan->ranks[class->rank].device;
    return is_message(class) ? NULL : planned->context->cluster->devices[device].name;
}

static yk_status add_times(const struct yk_planner_outcome *planned, struct yk_arena *arena,
                           struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"op", YK_TEXT_TABLE_LEFT},       {"of", YK_TEXT_TABLE_LEFT},
        {"on", YK_TEXT_TABLE_LEFT},       {"times", YK_TEXT_TABLE_RIGHT},
        {"samples", YK_TEXT_TABLE_RIGHT}, {"bytes", YK_TEXT_TABLE_RIGHT},
        {"alone", YK_TEXT_TABLE_RIGHT},   {"off by", YK_TEXT_TABLE_RIGHT},
        {"from", YK_TEXT_TABLE_LEFT},
    };
    struct yk_text_table *table = NULL;
    struct yk_sim_op_class *classes = NULL;
    int32_t count = 0;
    YK_TRY(yk_sim_count_op_classes(planned->evaluation.sim, planned->context->costs, arena,
                                   &classes, &count));
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = 0; i < count; i++) {
        const struct yk_sim_op_class *class = &classes[i];
        const char *layer = layer_of(planned, class);
        const char *device = device_of(planned, class);
        yk_text_table_add_cell(table, "%s", yk_op_kind_name(class->kind));
        yk_text_table_add_cell(table, "%s", layer ? layer : "");
        yk_text_table_add_cell(table, "%s", device ? device : "");
        yk_text_table_add_cell(table, "%" PRId64, class->count);
        if (class->samples > 0) {
            yk_text_table_add_cell(table, "%" PRId64, class->samples);
        } else {
            yk_text_table_add_cell(table, "%s", "");
        }
        yk_text_table_add_cell(
            table, "%s",
            is_message(class) ? YK_UNITS_FORMAT_TEMPORARY(class->bytes, YK_UNIT_BYTES) : "");
        yk_text_table_add_cell(table, "%s",
                               YK_UNITS_FORMAT_TEMPORARY(class->time.seconds, YK_UNIT_SECONDS));
        yk_text_table_add_cell(table, "±%.0f %%", 100 * class->time.error);
        yk_text_table_add_cell(table, "%s", yk_cost_origin_name(class->time.origin));
    }
    return yk_text_table_write_and_destroy(table, out);
}

static yk_status write_times(const struct yk_planner_outcome *planned, struct yk_arena *arena,
                             struct yk_json_writer *json)
{
    struct yk_sim_op_class *classes = NULL;
    int32_t count = 0;
    YK_TRY(yk_sim_count_op_classes(planned->evaluation.sim, planned->context->costs, arena,
                                   &classes, &count));
    yk_json_write_begin_array(json, "times");
    for (int32_t i = 0; i < count; i++) {
        const struct yk_sim_op_class *class = &classes[i];
        yk_json_write_begin_object_on_new_line(json, 0);
        yk_json_write_string(json, "op", yk_op_kind_name(class->kind));
        yk_json_write_string(json, "layer", layer_of(planned, class));
        yk_json_write_string(json, "device", device_of(planned, class));
        yk_json_write_integer(json, "count", class->count);
        yk_json_write_integer(json, "samples", class->samples);
        yk_json_write_number(json, "bytes", class->bytes);
        yk_json_write_number(json, "alone_s", class->time.seconds);
        yk_json_write_number(json, "error", class->time.error);
        yk_json_write_string(json, "origin", yk_cost_origin_name(class->time.origin));
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
    return yk_text_status(json->text);
}

yk_status yk_plan_output_write_op_times_text(const struct yk_planner_outcome *planned,
                                             struct yk_text *out)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, add_times(planned, arena, out));
    return YK_OK;
}

static void write_device(const struct yk_planner_outcome *planned, int32_t rank,
                         struct yk_json_writer *json)
{
    const struct yk_plan *plan = planned->plan;
    const struct yk_sim_rank_result *simulated = &planned->evaluation.sim->ranks[rank];
    const struct yk_memory_peak *peak = &planned->evaluation.peaks[rank];
    const struct yk_plan_group_member *member = yk_planner_find_group_member_of_rank(plan, rank);
    yk_json_write_begin_object_on_new_line(json, 0);
    yk_json_write_string(json, "name",
                         planned->context->cluster->devices[plan->ranks[rank].device].name);
    yk_json_write_integer(json, "rank", rank);
    yk_json_write_integer(json, "share", member ? member->share : 0);
    yk_json_write_number(json, "part", member ? member->shard_fraction : 0);
    yk_json_write_number(json, "peak_bytes", peak->bytes);
    yk_json_write_number(json, "limit_bytes", plan->ranks[rank].limit_bytes);
    yk_json_write_number(json, "compute_s", simulated->compute_s);
    yk_json_write_number(json, "exposed_s", simulated->exposed_s);
    yk_json_write_number(json, "idle_s", simulated->idle_s);
    if (simulated->compute_time_factor < 1) {
        yk_json_write_number(json, "compute_time_factor", simulated->compute_time_factor);
    }
    yk_json_write_begin_object(json, "memory");
    for (int32_t kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
        yk_json_write_number(json, yk_memory_kind_name((enum yk_memory_kind)kind),
                             peak->by_kind[kind]);
    }
    yk_json_write_end_object(json);
    yk_json_write_end_object(json);
}

static void write_layer(const struct yk_planner_outcome *planned, int32_t layer,
                        struct yk_json_writer *json)
{
    const struct yk_plan *plan = planned->plan;
    const struct yk_plan_group *group = &plan->groups[plan->layers[layer].group];
    yk_json_write_begin_object_on_new_line(json, 0);
    yk_json_write_string(json, "name", planned->context->model->layers[layer].name);
    yk_json_write_string(json, "strategy",
                         yk_plan_strategy_name(yk_plan_effective_strategy(plan, layer)));
    yk_json_write_bool(json, "recompute", plan->layers[layer].recompute);
    yk_json_write_begin_array(json, "devices");
    for (int32_t i = 0; i < group->member_count; i++) {
        const int32_t device = plan->ranks[group->members[i].rank].device;
        yk_json_write_string(json, NULL, planned->context->cluster->devices[device].name);
    }
    yk_json_write_end_array(json);
    yk_json_write_end_object(json);
}

static void write_plan(const struct yk_planner_outcome *planned, struct yk_json_writer *json)
{
    const struct yk_plan *plan = planned->plan;
    const struct yk_mfu mfu = yk_planner_predicted_mfu(planned);
    yk_json_write_string(json, "summary", planned->summary);
    yk_json_write_number(
        json, yk_model_config_throughput_unit(planned->context->model->config)->speed_member,
        planned->tokens_per_s);
    yk_json_write_number(json, "mfu", mfu.formula);
    yk_json_write_number(json, "exact_mfu", mfu.exact);
    yk_json_write_integer(json, "micro_batches", plan->micro_batches);
    yk_json_write_string(json, "pipeline", yk_plan_pipeline_schedule_name(plan->pipeline));
    yk_json_write_number(json, "block_bytes", plan->block_bytes);
    yk_json_write_number(json, "bucket_bytes", plan->bucket_bytes);
}

static void write_devices_and_layers(const struct yk_planner_outcome *planned,
                                     struct yk_json_writer *json)
{
    const struct yk_plan *plan = planned->plan;
    yk_json_write_begin_array(json, "devices");
    for (int32_t r = 0; plan && r < plan->rank_count; r++) {
        write_device(planned, r, json);
    }
    yk_json_write_end_array(json);
    yk_json_write_begin_array(json, "layers");
    for (int32_t l = 0; plan && l < plan->layer_count; l++) {
        write_layer(planned, l, json);
    }
    yk_json_write_end_array(json);
}

static void write_alternatives(const struct yk_planner_outcome *planned,
                               struct yk_json_writer *json)
{
    yk_json_write_begin_array(json, "alternatives");
    for (int32_t i = 0; i < planned->alternative_count; i++) {
        const struct yk_plan_alternative *row = &planned->alternatives[i];
        yk_json_write_begin_object_on_new_line(json, 0);
        yk_json_write_string(json, "name", row->name);
        yk_json_write_number(json, "step_s", row->step_s);
        yk_json_write_bool(json, "fits", row->fits);
        yk_json_write_string(json, "remark", row->remark);
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
    yk_json_write_newline(json, 0);
    yk_json_write_begin_array(json, "leave_one_out");
    for (int32_t i = 0; i < planned->leave_one_out_count; i++) {
        const struct yk_plan_leave_one_out *row = &planned->leave_one_out[i];
        yk_json_write_begin_object(json, NULL);
        yk_json_write_string(json, "name", planned->context->cluster->devices[row->device].name);
        yk_json_write_number(json, "step_s", row->step_s);
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

static void write_context(const struct yk_planner_outcome *planned, struct yk_json_writer *json)
{
    struct yk_text words = {0};
    yk_explain_append_driver_memory(planned->context, planned->plan, &words);
    yk_json_write_string(json, "context_source", yk_text_chars(&words));
    yk_text_free(&words);
}

static void write_headlines(const struct yk_planner_outcome *planned, struct yk_json_writer *json)
{
    const struct yk_plan *plan = planned->plan;
    yk_json_write_string(json, "model", planned->request.config->name);
    yk_json_write_string(json, "cluster", planned->context->cluster->source);
    yk_json_write_number(json, "step_s", plan ? planned->evaluation.step_s : NAN);
    if (plan) {
        yk_error_band_write_json_members(&planned->evaluation.band, json->text);
    }
    yk_json_write_number(json, "bound_s", plan ? planned->bound_s : NAN);
    yk_json_write_string(json, "bottleneck", planned->bottleneck);
    yk_json_write_string(json, "source", planned->source);
    yk_json_write_string(json, "assumption", planned->context->cluster->assumption);
    yk_json_write_number(json, "slowdown",
                         plan                            ? planned->evaluation.sim->slowdown
                         : planned->request.slowdown > 0 ? planned->request.slowdown
                                                         : YK_SIM_DEFAULT_SLOWDOWN);
    yk_json_write_number(json, "search_s", planned->search_s);
    yk_json_write_integer(json, "trials", planned->evaluation_count);
    yk_json_write_bool(json, "cut_short", planned->cut_short);
}

yk_status yk_plan_output_write_json(const struct yk_planner_outcome *planned, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_yoke_document(&json, "planned");
    write_headlines(planned, &json);
    if (planned->plan) {
        write_context(planned, &json);
        write_plan(planned, &json);
    }
    write_devices_and_layers(planned, &json);
    if (planned->plan) {
        YK_TRY_WITH_TEMPORARY_ARENA(arena, write_times(planned, arena, &json));
    }
    write_alternatives(planned, &json);
    return yk_json_write_end_yoke_document(&json);
}
