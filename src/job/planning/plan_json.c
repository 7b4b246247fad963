#include "job/planning/plan_output.h"

#include "job/planning/plan_times.h"
#include "planner/explain.h"
#include "planner/planned_facts.h"

#include <math.h>

static void add_number(struct yk_text *out, double value)
{
    if (isfinite(value)) {
        yk_text_add_number(out, value);
    } else {
        yk_text_add(out, "null");
    }
}

static void add_key(struct yk_text *out, const char *key)
{
    yk_text_addf(out, ",\"%s\":", key);
}

static void add_words(struct yk_text *out, const char *key, const char *words)
{
    add_key(out, key);
    if (words) {
        yk_text_add_json(out, words);
    } else {
        yk_text_add(out, "null");
    }
}

static void add_value(struct yk_text *out, const char *key, double value)
{
    add_key(out, key);
    add_number(out, value);
}

static void add_device(const struct yk_planned *planned, int32_t rank, struct yk_text *out)
{
    const struct yk_plan *plan = planned->plan;
    const struct yk_sim_rank *simulated = &planned->trial.sim->ranks[rank];
    const struct yk_memory_peak *peak = &planned->trial.peaks[rank];
    const struct yk_plan_member *member = yk_planned_member(plan, rank);
    yk_text_add(out, "{\"name\":");
    yk_text_add_json(out, planned->study->cluster->devices[plan->ranks[rank].device].name);
    yk_text_addf(out, ",\"rank\":%d,\"share\":%lld", rank, (long long)(member ? member->share : 0));
    add_value(out, "part", member ? member->part : 0);
    add_value(out, "peak_bytes", peak->bytes);
    add_value(out, "limit_bytes", plan->ranks[rank].limit_bytes);
    add_value(out, "compute_s", simulated->compute_s);
    add_value(out, "exposed_s", simulated->exposed_s);
    add_value(out, "idle_s", simulated->idle_s);
    if (simulated->scale < 1) {
        add_value(out, "scale", simulated->scale);
    }
    yk_text_add(out, ",\"memory\":{");
    for (int32_t kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
        yk_text_addf(out, "%s\"%s\":", kind > 0 ? "," : "",
                     yk_memory_kind_name((enum yk_memory_kind)kind));
        add_number(out, peak->by_kind[kind]);
    }
    yk_text_add(out, "}}");
}

static void add_layer(const struct yk_planned *planned, int32_t layer, struct yk_text *out)
{
    const struct yk_plan *plan = planned->plan;
    const struct yk_plan_group *group = &plan->groups[plan->layers[layer].group];
    yk_text_add(out, "{\"name\":");
    yk_text_add_json(out, planned->study->model->layers[layer].name);
    add_words(out, "strategy", yk_strategy_name(yk_plan_strategy(plan, layer)));
    yk_text_addf(out, ",\"recompute\":%s,\"devices\":[",
                 plan->layers[layer].recompute ? "true" : "false");
    for (int32_t i = 0; i < group->member_count; i++) {
        const int32_t device = plan->ranks[group->members[i].rank].device;
        yk_text_add(out, i > 0 ? "," : "");
        yk_text_add_json(out, planned->study->cluster->devices[device].name);
    }
    yk_text_add(out, "]}");
}

static void add_plan(const struct yk_planned *planned, struct yk_text *out)
{
    const struct yk_plan *plan = planned->plan;
    add_words(out, "summary", planned->summary);
    add_value(out, "tokens_per_s", planned->tokens_per_s);
    add_value(out, "mfu", yk_planned_mfu(planned).formula);
    add_value(out, "exact_mfu", yk_planned_mfu(planned).exact);
    yk_text_addf(out, ",\"micro_batches\":%d", plan->micro_batches);
    add_words(out, "pipeline", yk_pipeline_name(plan->pipeline));
    add_value(out, "block_bytes", plan->block_bytes);
    add_value(out, "bucket_bytes", plan->bucket_bytes);
    yk_text_add(out, ",\"devices\":[");
    for (int32_t r = 0; r < plan->rank_count; r++) {
        yk_text_add(out, r > 0 ? ",\n" : "\n");
        add_device(planned, r, out);
    }
    yk_text_add(out, "],\"layers\":[");
    for (int32_t l = 0; l < plan->layer_count; l++) {
        yk_text_add(out, l > 0 ? ",\n" : "\n");
        add_layer(planned, l, out);
    }
    yk_text_add(out, "]");
}

static void add_alternatives(const struct yk_planned *planned, struct yk_text *out)
{
    yk_text_add(out, ",\"alternatives\":[");
    for (int32_t i = 0; i < planned->alternative_count; i++) {
        const struct yk_plan_alternative *row = &planned->alternatives[i];
        yk_text_add(out, i > 0 ? ",\n{\"name\":" : "\n{\"name\":");
        yk_text_add_json(out, row->name);
        add_value(out, "step_s", row->step_s);
        yk_text_addf(out, ",\"fits\":%s", row->fits ? "true" : "false");
        add_words(out, "remark", row->remark);
        yk_text_add(out, "}");
    }
    yk_text_add(out, "],\n\"without\":[");
    for (int32_t i = 0; i < planned->without_count; i++) {
        const struct yk_plan_without *row = &planned->without[i];
        yk_text_add(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        yk_text_add_json(out, planned->study->cluster->devices[row->device].name);
        add_value(out, "step_s", row->step_s);
        yk_text_add(out, "}");
    }
    yk_text_add(out, "]");
}

static void add_context(const struct yk_planned *planned, struct yk_text *out)
{
    struct yk_text words = {0};
    yk_explain_context(planned->study, planned->plan, &words);
    add_words(out, "context_source", yk_text_chars(&words));
    yk_text_free(&words);
}

yk_status yk_plan_output_json(const struct yk_planned *planned, struct yk_text *out)
{
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"planned\"");
    add_words(out, "model", planned->request.config->name);
    add_words(out, "cluster", planned->study->cluster->source);
    add_value(out, "step_s", planned->plan ? planned->trial.step_s : NAN);
    if (planned->plan) {
        yk_band_write_json(&planned->trial.band, out);
    }
    add_value(out, "bound_s", planned->plan ? planned->bound_s : NAN);
    add_words(out, "bottleneck", planned->bottleneck);
    add_words(out, "source", planned->source);
    add_words(out, "assumption", planned->study->cluster->assumption);
    add_value(out, "slowdown",
              planned->plan                   ? planned->trial.sim->slowdown
              : planned->request.slowdown > 0 ? planned->request.slowdown
                                              : YK_SIM_SLOWDOWN);
    add_value(out, "search_s", planned->search_s);
    yk_text_addf(out, ",\"trials\":%lld", (long long)planned->trials);
    yk_text_addf(out, ",\"cut_short\":%s", planned->cut_short ? "true" : "false");
    if (planned->plan) {
        add_context(planned, out);
        add_plan(planned, out);
        YK_TRY(yk_plan_times_json(planned, out));
    } else {
        yk_text_add(out, ",\"devices\":[],\"layers\":[]");
    }
    add_alternatives(planned, out);
    yk_text_add(out, "}\n");
    return yk_text_status(out);
}
