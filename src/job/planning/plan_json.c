#include "job/planning/plan_output.h"

#include "base/json_write.h"
#include "job/planning/plan_times.h"
#include "planner/explain.h"
#include "planner/planned_facts.h"

#include <math.h>

static void add_device(const struct yk_planner_outcome *planned, int32_t rank,
                       struct yk_json_writer *json)
{
    const struct yk_plan *plan = planned->plan;
    const struct yk_sim_rank *simulated = &planned->trial.sim->ranks[rank];
    const struct yk_memory_peak *peak = &planned->trial.peaks[rank];
    const struct yk_plan_member *member = yk_planner_member(plan, rank);
    yk_json_write_begin_row(json, 0);
    yk_json_write_string(json, "name",
                         planned->study->cluster->devices[plan->ranks[rank].device].name);
    yk_json_write_integer(json, "rank", rank);
    yk_json_write_integer(json, "share", member ? member->share : 0);
    yk_json_write_number(json, "part", member ? member->part : 0);
    yk_json_write_number(json, "peak_bytes", peak->bytes);
    yk_json_write_number(json, "limit_bytes", plan->ranks[rank].limit_bytes);
    yk_json_write_number(json, "compute_s", simulated->compute_s);
    yk_json_write_number(json, "exposed_s", simulated->exposed_s);
    yk_json_write_number(json, "idle_s", simulated->idle_s);
    if (simulated->scale < 1) {
        yk_json_write_number(json, "compute_time_factor", simulated->scale);
    }
    yk_json_write_begin_object(json, "memory");
    for (int32_t kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
        yk_json_write_number(json, yk_memory_kind_name((enum yk_memory_kind)kind),
                             peak->by_kind[kind]);
    }
    yk_json_write_end_object(json);
    yk_json_write_end_object(json);
}

static void add_layer(const struct yk_planner_outcome *planned, int32_t layer,
                      struct yk_json_writer *json)
{
    const struct yk_plan *plan = planned->plan;
    const struct yk_plan_group *group = &plan->groups[plan->layers[layer].group];
    yk_json_write_begin_row(json, 0);
    yk_json_write_string(json, "name", planned->study->model->layers[layer].name);
    yk_json_write_string(json, "strategy", yk_plan_strategy_name(yk_plan_strategy(plan, layer)));
    yk_json_write_bool(json, "recompute", plan->layers[layer].recompute);
    yk_json_write_begin_array(json, "devices");
    for (int32_t i = 0; i < group->member_count; i++) {
        const int32_t device = plan->ranks[group->members[i].rank].device;
        yk_json_write_string(json, NULL, planned->study->cluster->devices[device].name);
    }
    yk_json_write_end_array(json);
    yk_json_write_end_object(json);
}

static void add_plan(const struct yk_planner_outcome *planned, struct yk_json_writer *json)
{
    const struct yk_plan *plan = planned->plan;
    const struct yk_mfu mfu = yk_planner_mfu(planned);
    yk_json_write_string(json, "summary", planned->summary);
    yk_json_write_number(json, "tokens_per_s", planned->tokens_per_s);
    yk_json_write_number(json, "mfu", mfu.formula);
    yk_json_write_number(json, "exact_mfu", mfu.exact);
    yk_json_write_integer(json, "micro_batches", plan->micro_batches);
    yk_json_write_string(json, "pipeline", yk_plan_pipeline_name(plan->pipeline));
    yk_json_write_number(json, "block_bytes", plan->block_bytes);
    yk_json_write_number(json, "bucket_bytes", plan->bucket_bytes);
    yk_json_write_begin_array(json, "devices");
    for (int32_t r = 0; r < plan->rank_count; r++) {
        add_device(planned, r, json);
    }
    yk_json_write_end_array(json);
    yk_json_write_begin_array(json, "layers");
    for (int32_t l = 0; l < plan->layer_count; l++) {
        add_layer(planned, l, json);
    }
    yk_json_write_end_array(json);
}

static void add_no_plan(struct yk_json_writer *json)
{
    yk_json_write_begin_array(json, "devices");
    yk_json_write_end_array(json);
    yk_json_write_begin_array(json, "layers");
    yk_json_write_end_array(json);
}

static void add_alternatives(const struct yk_planner_outcome *planned, struct yk_json_writer *json)
{
    yk_json_write_begin_array(json, "alternatives");
    for (int32_t i = 0; i < planned->alternative_count; i++) {
        const struct yk_plan_alternative *row = &planned->alternatives[i];
        yk_json_write_begin_row(json, 0);
        yk_json_write_string(json, "name", row->name);
        yk_json_write_number(json, "step_s", row->step_s);
        yk_json_write_bool(json, "fits", row->fits);
        yk_json_write_string(json, "remark", row->remark);
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
    yk_json_write_line(json, 0);
    yk_json_write_begin_array(json, "leave_one_out");
    for (int32_t i = 0; i < planned->leave_one_out_count; i++) {
        const struct yk_plan_leave_one_out *row = &planned->leave_one_out[i];
        yk_json_write_begin_object(json, NULL);
        yk_json_write_string(json, "name", planned->study->cluster->devices[row->device].name);
        yk_json_write_number(json, "step_s", row->step_s);
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

static void add_context(const struct yk_planner_outcome *planned, struct yk_json_writer *json)
{
    struct yk_text words = {0};
    yk_explain_context(planned->study, planned->plan, &words);
    yk_json_write_string(json, "context_source", yk_text_chars(&words));
    yk_text_free(&words);
}

static void add_headlines(const struct yk_planner_outcome *planned, struct yk_json_writer *json)
{
    const struct yk_plan *plan = planned->plan;
    yk_json_write_string(json, "model", planned->request.config->name);
    yk_json_write_string(json, "cluster", planned->study->cluster->source);
    yk_json_write_number(json, "step_s", plan ? planned->trial.step_s : NAN);
    if (plan) {
        yk_error_band_write_json(&planned->trial.band, json->text);
    }
    yk_json_write_number(json, "bound_s", plan ? planned->bound_s : NAN);
    yk_json_write_string(json, "bottleneck", planned->bottleneck);
    yk_json_write_string(json, "source", planned->source);
    yk_json_write_string(json, "assumption", planned->study->cluster->assumption);
    yk_json_write_number(json, "slowdown",
                         plan                            ? planned->trial.sim->slowdown
                         : planned->request.slowdown > 0 ? planned->request.slowdown
                                                         : YK_SIM_SLOWDOWN);
    yk_json_write_number(json, "search_s", planned->search_s);
    yk_json_write_integer(json, "trials", planned->trials);
    yk_json_write_bool(json, "cut_short", planned->cut_short);
}

yk_status yk_plan_output_json(const struct yk_planner_outcome *planned, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_string(&json, "kind", "planned");
    add_headlines(planned, &json);
    if (planned->plan) {
        add_context(planned, &json);
        add_plan(planned, &json);
        YK_TRY(yk_plan_output_times_json(planned, &json));
    } else {
        add_no_plan(&json);
    }
    add_alternatives(planned, &json);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}
