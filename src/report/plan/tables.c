#include "report/label.h"
#include "report/page.h"
#include "report/plan/charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_text_cell(const char *text, struct yk_text *out)
{
    yk_page_add_escaped_text_between("<td class=\"left\">", text, "</td>", out);
}

/* Adds a cell with the shares of a rank in its groups, or its parts if `shares` is false. Equal
 * consecutive numbers are listed once. */
static void add_membership(const struct yk_plan *plan, int32_t rank, bool shares,
                           struct yk_text *out)
{
    char last[YK_NUMBER_BUFFER_SIZE] = "";
    struct yk_text text = {0};
    for (int32_t g = 0; g < plan->group_count; g++) {
        const struct yk_plan_group_member *member = yk_equal_ranks_find_group_member(plan, g, rank);
        if (!member) {
            continue;
        }
        const char *number =
            shares ? YK_LABEL_COUNT(member->share) : YK_LABEL_PERCENT(member->shard_fraction, 1);
        if (strcmp(last, number) != 0) {
            yk_text_addf(&text, "%s%s", text.length > 0 ? " / " : "", number);
            snprintf(last, sizeof last, "%s", number);
        }
    }
    yk_page_add_cell(text.length > 0 ? yk_text_chars(&text) : "none", out);
    out->failed |= text.failed;
    yk_text_free(&text);
}

static void add_layer_count(const struct yk_plan *plan, int32_t rank, struct yk_text *out)
{
    int32_t count = 0;
    char text[48];
    for (int32_t i = 0; i < plan->layer_count; i++) {
        count += yk_equal_ranks_find_group_member(plan, plan->layers[i].group, rank) != NULL;
    }
    snprintf(text, sizeof text, count == plan->layer_count ? "all %d" : "%d of %d", count,
             plan->layer_count);
    yk_page_add_cell(text, out);
}

/* ---- devices: who does what part of the work, and how its time is spent ---- */

static yk_status add_devices(const void *subject, struct yk_text *out)
{
    const struct yk_equal_ranks_sets *sets = subject;
    static const struct yk_page_column columns[] = {
        {"device", false}, {"share", false},   {"part", false},
        {"layers", false}, {"compute", false}, {"exposed", false},
        {"idle", false},   {"busy", false},    {NULL, false}};
    const struct yk_plan_result *result = sets->result;
    yk_page_begin_table("Devices", columns, out);
    for (int32_t f = 0; f < sets->count; f++) {
        const struct yk_equal_ranks_set *set = &sets->all[f];
        const struct yk_plan_result_rank *rank = &result->ranks[set->rank];
        yk_page_begin_named_row(set->name, out);
        add_membership(result->plan, set->rank, true, out);
        add_membership(result->plan, set->rank, false, out);
        add_layer_count(result->plan, set->rank, out);
        yk_page_add_unit_cell(rank->compute_s, YK_UNIT_SECONDS, out);
        yk_page_add_unit_cell(rank->exposed_s, YK_UNIT_SECONDS, out);
        yk_page_add_unit_cell(rank->idle_s, YK_UNIT_SECONDS, out);
        yk_page_add_percent_cell(rank->compute_s, result->step_s, out);
        yk_text_add(out, "</tr>\n");
    }
    yk_page_end_table(out);
    return YK_OK;
}

static const char *name_of_rank(const struct yk_plan_result *result, int32_t rank)
{
    return yk_equal_ranks_device_of_rank(result, rank)->name;
}

/* Adds a cell with the devices of a group: "all N", up to four names, or the first and the last. */
static void add_group(const struct yk_plan_result *result, int32_t number, struct yk_text *out)
{
    const struct yk_plan_group *group = &result->plan->groups[number];
    yk_text_add(out, "<td class=\"left\">");
    if (group->member_count == result->plan->rank_count && group->member_count > 1) {
        yk_text_addf(out, "all %d", group->member_count);
    } else if (group->member_count <= 4) {
        for (int32_t m = 0; m < group->member_count; m++) {
            yk_text_add(out, m > 0 ? ", " : "");
            yk_text_add_xml_escaped(out, name_of_rank(result, group->members[m].rank));
        }
    } else {
        yk_text_addf(out, "%d: ", group->member_count);
        yk_text_add_xml_escaped(out, name_of_rank(result, group->members[0].rank));
        yk_text_add(out, " \xe2\x80\xa6 ");
        yk_text_add_xml_escaped(out,
                                name_of_rank(result, group->members[group->member_count - 1].rank));
    }
    yk_text_add(out, "</td>");
}

static bool same_layer(const struct yk_plan *plan, int32_t a, int32_t b)
{
    return plan->layers[a].group == plan->layers[b].group &&
           yk_plan_effective_strategy(plan, a) == yk_plan_effective_strategy(plan, b) &&
           plan->layers[a].recompute == plan->layers[b].recompute;
}

static void add_layer_row(const struct yk_plan_result *result, int32_t first, int32_t last,
                          struct yk_text *out)
{
    const struct yk_layer *layers = result->model->layers;
    const struct yk_plan *plan = result->plan;
    int64_t parameters = 0;
    for (int32_t i = first; i <= last; i++) {
        parameters += layers[i].parameters;
    }
    yk_text_add(out, "<tr><th scope=\"row\">");
    yk_text_add_xml_escaped(out, layers[first].name);
    if (last > first) {
        yk_text_add(out, " \xe2\x80\xa6 ");
        yk_text_add_xml_escaped(out, layers[last].name);
    }
    yk_text_add(out, "</th>");
    yk_page_add_cell(YK_LABEL_COUNT(last - first + 1), out);
    add_text_cell(yk_plan_strategy_name(yk_plan_effective_strategy(plan, first)), out);
    add_group(result, plan->layers[first].group, out);
    add_text_cell(plan->layers[first].recompute ? "yes" : "no", out);
    yk_page_add_cell(YK_LABEL_COUNT(parameters), out);
    yk_text_add(out, "</tr>\n");
}

/* What the plan decides besides its layers, in a sentence. */
static void add_options(const struct yk_plan *plan, const struct yk_model_config *config,
                        struct yk_text *out)
{
    yk_text_add(out, "<p class=\"note\">");
    yk_model_append_batch(config, &plan->workload, out);
    yk_text_addf(
        out,
        " in %s, %d micro-batch%s (%s%s)%s; "
        "blocks of %s, buckets of %s; ",
        yk_precision_name(plan->workload.precision), plan->micro_batches,
        plan->micro_batches == 1 ? "" : "es", yk_plan_pipeline_schedule_name(plan->pipeline),
        plan->no_sync ? ", gradients reduced once" : "", plan->clip ? ", gradients clipped" : "",
        YK_LABEL_WITH_UNIT(plan->block_bytes, YK_UNIT_BYTES),
        YK_LABEL_WITH_UNIT(plan->bucket_bytes, YK_UNIT_BYTES));
    if (plan->transfer_count > 0) {
        yk_text_addf(out, "%d transfers in an order of their own.</p>\n", plan->transfer_count);
    } else {
        yk_text_addf(out, "gathers go %d ahead.</p>\n", plan->prefetch);
    }
}

static yk_status add_layers(const void *subject, struct yk_text *out)
{
    const struct yk_equal_ranks_sets *sets = subject;
    const struct yk_plan_result *result = sets->result;
    static const struct yk_page_column columns[] = {
        {"layers", false},   {"count", false},      {"strategy", true}, {"devices", true},
        {"recompute", true}, {"parameters", false}, {NULL, false}};
    yk_page_begin_table("Layers", columns, out);
    for (int32_t first = 0; first < result->plan->layer_count;) {
        int32_t last = first;
        while (last + 1 < result->plan->layer_count && same_layer(result->plan, first, last + 1)) {
            last++;
        }
        add_layer_row(result, first, last, out);
        first = last + 1;
    }
    yk_page_end_table(out);
    add_options(result->plan, result->model->config, out);
    return YK_OK;
}

/* How many times the plan's step another step is: "1.14×". */
static void add_ratio(double step_s, double plan_s, struct yk_text *out)
{
    char text[YK_NUMBER_BUFFER_SIZE + 4] = "\xe2\x80\x93";
    if (isfinite(step_s) && isfinite(plan_s) && plan_s > 0) {
        snprintf(text, sizeof text, "%.2f\xc3\x97", step_s / plan_s);
    }
    yk_page_add_cell(text, out);
}

static void add_remark(const char *text, struct yk_text *out)
{
    yk_page_add_escaped_text_between("<td class=\"remark\">", text ? text : "", "</td></tr>\n",
                                     out);
}

static yk_status add_alternatives(const void *subject, struct yk_text *out)
{
    const struct yk_equal_ranks_sets *sets = subject;
    const struct yk_plan_result *result = sets->result;
    static const struct yk_page_column columns[] = {
        {"plan", false},  {"step", false}, {"against this", false},
        {"memory", true}, {"", true},      {NULL, false}};
    yk_page_begin_table("Other plans", columns, out);
    yk_text_add(out, "<tr class=\"this\"><th scope=\"row\">this plan</th>");
    yk_page_add_unit_cell(result->step_s, YK_UNIT_SECONDS, out);
    add_ratio(result->step_s, result->step_s, out);
    yk_text_add(out, "<td class=\"left\">fits</td>");
    add_remark(NULL, out);
    for (int32_t i = 0; i < result->alternative_count; i++) {
        const struct yk_plan_alternative *other = &result->alternatives[i];
        yk_page_begin_named_row(other->name, out);
        yk_page_add_unit_cell(other->step_s, YK_UNIT_SECONDS, out);
        add_ratio(other->step_s, result->step_s, out);
        yk_text_add(out, other->fits ? "<td class=\"left\">fits</td>"
                                     : "<td class=\"left warn\">does not fit</td>");
        add_remark(other->remark, out);
    }
    yk_page_end_table(out);
    return YK_OK;
}

static bool same_outcome(const struct yk_plan_result *result, int32_t a, int32_t b)
{
    const struct yk_plan_leave_one_out *one = &result->leave_one_out[a];
    const struct yk_plan_leave_one_out *other = &result->leave_one_out[b];
    const char *type = result->cluster->devices[one->device].type;
    const char *other_type = result->cluster->devices[other->device].type;
    const bool same_step =
        isfinite(one->step_s) ? one->step_s == other->step_s : !isfinite(other->step_s);
    return same_step && type && other_type && strcmp(type, other_type) == 0;
}

static void add_outcome(double step_s, double plan_s, struct yk_text *out)
{
    char text[YK_NUMBER_BUFFER_SIZE + 16];
    const double more = 100 * (step_s / plan_s - 1);
    yk_page_add_unit_cell(step_s, YK_UNIT_SECONDS, out);
    if (!isfinite(step_s)) {
        yk_text_add(out, "<td class=\"warn\">nothing fits</td></tr>\n");
        return;
    }
    snprintf(text, sizeof text, "%.1f%% %s", fabs(more), more >= 0 ? "slower" : "faster");
    yk_page_add_cell(isfinite(more) ? text : "\xe2\x80\x93", out);
    yk_text_add(out, "</tr>\n");
}

static yk_status add_leave_one_out(const void *subject, struct yk_text *out)
{
    const struct yk_equal_ranks_sets *sets = subject;
    const struct yk_plan_result *result = sets->result;
    static const struct yk_page_column columns[] = {
        {"left out", false}, {"step", false}, {"change", false}, {NULL, false}};
    yk_page_begin_table("Leaving a device out", columns, out);
    for (int32_t i = 0; i < result->leave_one_out_count; i++) {
        const struct yk_device *device = &result->cluster->devices[result->leave_one_out[i].device];
        int32_t alike = 0;
        bool listed = false;
        for (int32_t other = 0; other < result->leave_one_out_count; other++) {
            alike += other == i || same_outcome(result, i, other);
            listed |= other < i && same_outcome(result, i, other);
        }
        if (listed) {
            continue;
        }
        yk_text_add(out, "<tr><th scope=\"row\">");
        if (alike > 1) {
            yk_text_addf(out, "one of %d ", alike);
            yk_text_add_xml_escaped(out, device->type);
        } else {
            yk_text_add_xml_escaped(out, device->name);
            yk_text_add(out, device->type ? " " : "");
            yk_text_add_xml_escaped(out, device->type ? device->type : "");
        }
        yk_text_add(out, "</th>");
        add_outcome(result->leave_one_out[i].step_s, result->step_s, out);
    }
    yk_page_end_table(out);
    return YK_OK;
}

static bool has_alternatives(const void *subject)
{
    const struct yk_equal_ranks_sets *sets = subject;
    return sets->result->alternative_count > 0;
}

static bool has_leave_one_out(const void *subject)
{
    const struct yk_equal_ranks_sets *sets = subject;
    return sets->result->leave_one_out_count > 0;
}

const struct yk_chart yk_plan_chart_devices = {.title = "Devices", .add_html = add_devices};
const struct yk_chart yk_plan_chart_layers = {.title = "Layers", .add_html = add_layers};
const struct yk_chart yk_plan_chart_alternatives = {
    .title = "Other plans",
    .row_class = "pair uneven",
    .applies = has_alternatives,
    .add_html = add_alternatives,
};
const struct yk_chart yk_plan_chart_leave_one_out = {
    .title = "Leaving a device out",
    .row_class = "pair uneven",
    .applies = has_leave_one_out,
    .add_html = add_leave_one_out,
};
