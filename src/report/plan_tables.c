#include "report/plan_tables.h"

#include "report/label.h"
#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct column {
    const char *name;
    bool left; /* words, not numbers */
};

/* What is wider than the page can be scrolled by keys, too. */
static void begin_table(const char *label, const struct column *columns, struct yk_text *out)
{
    yk_text_addf(out,
                 "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"%s\"><table>\n"
                 "<thead><tr>",
                 label);
    for (; columns->name; columns++) {
        yk_text_addf(out, "<th scope=\"col\"%s>%s</th>", columns->left ? " class=\"left\"" : "",
                     columns->name);
    }
    yk_text_add(out, "</tr></thead>\n<tbody>\n");
}

static void end_table(struct yk_text *out)
{
    yk_text_add(out, "</tbody>\n</table></div>\n");
}

static void begin_row(const char *name, struct yk_text *out)
{
    yk_text_add(out, "<tr><th scope=\"row\">");
    yk_text_add_xml(out, name);
    yk_text_add(out, "</th>");
}

static void add_words(const char *words, struct yk_text *out)
{
    yk_text_add(out, "<td class=\"left\">");
    yk_text_add_xml(out, words);
    yk_text_add(out, "</td>");
}

static void add_unit(double value, enum yk_unit unit, struct yk_text *out)
{
    char words[YK_UNITS_SIZE];
    yk_label_unit(value, unit, words);
    yk_page_add_cell(words, out);
}

/* The shares, or else the parts, that a rank has in its groups, each number once. */
static void add_membership(const struct yk_plan *plan, int32_t rank, bool shares,
                           struct yk_text *out)
{
    char last[YK_NUMBER_SIZE] = "";
    struct yk_text words = {0};
    for (int32_t g = 0; g < plan->group_count; g++) {
        const struct yk_plan_member *member = yk_plan_member_of(plan, g, rank);
        char number[YK_NUMBER_SIZE];
        if (!member) {
            continue;
        }
        if (shares) {
            yk_label_count(member->share, number);
        } else {
            yk_label_percent(member->part, 1, number);
        }
        if (strcmp(last, number) != 0) {
            yk_text_addf(&words, "%s%s", words.length > 0 ? " / " : "", number);
            memcpy(last, number, sizeof last);
        }
    }
    yk_page_add_cell(words.length > 0 ? yk_text_chars(&words) : "none", out);
    out->failed |= words.failed;
    yk_text_free(&words);
}

static void add_layer_count(const struct yk_plan *plan, int32_t rank, struct yk_text *out)
{
    int32_t count = 0;
    char words[48];
    for (int32_t i = 0; i < plan->layer_count; i++) {
        count += yk_plan_member_of(plan, plan->layers[i].group, rank) != NULL;
    }
    snprintf(words, sizeof words, count == plan->layer_count ? "all %d" : "%d of %d", count,
             plan->layer_count);
    yk_page_add_cell(words, out);
}

/* `part` of `whole`, as a length and in words. */
static void add_meter(double part, double whole, struct yk_text *out)
{
    const bool known = isfinite(part) && whole > 0;
    char words[YK_NUMBER_SIZE] = "\xe2\x80\x93";
    if (known) {
        yk_label_percent(part, whole, words);
    }
    yk_text_addf(out,
                 "<td><span class=\"meter%s\" style=\"--part:%.1f%%\"></span>"
                 "<span class=\"percent\">%s</span></td>",
                 known && part > whole ? " over" : "",
                 known ? 100 * fmin(fmax(part / whole, 0), 1) : 0, words);
}

void yk_plan_table_devices(const struct yk_plan_folds *folds, struct yk_text *out)
{
    static const struct column columns[] = {
        {"device", false}, {"share", false},   {"part", false},
        {"layers", false}, {"compute", false}, {"exposed", false},
        {"idle", false},   {"busy", false},    {NULL, false}};
    const struct yk_plan_result *result = folds->result;
    begin_table("Devices", columns, out);
    for (int32_t f = 0; f < folds->count; f++) {
        const struct yk_plan_fold *fold = &folds->folds[f];
        const struct yk_plan_result_rank *rank = &result->ranks[fold->rank];
        begin_row(fold->name, out);
        add_membership(result->plan, fold->rank, true, out);
        add_membership(result->plan, fold->rank, false, out);
        add_layer_count(result->plan, fold->rank, out);
        add_unit(rank->compute_s, YK_UNIT_SECONDS, out);
        add_unit(rank->exposed_s, YK_UNIT_SECONDS, out);
        add_unit(rank->idle_s, YK_UNIT_SECONDS, out);
        add_meter(rank->compute_s, result->step_s, out);
        yk_text_add(out, "</tr>\n");
    }
    end_table(out);
}

void yk_plan_table_memory(const struct yk_plan_folds *folds, struct yk_text *out)
{
    struct column columns[YK_MEMORY_KIND_COUNT + 5] = {{"device", false}};
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        columns[k + 1].name = yk_memory_kind_name((enum yk_memory_kind)k);
    }
    columns[YK_MEMORY_KIND_COUNT + 1].name = "together";
    columns[YK_MEMORY_KIND_COUNT + 2].name = "limit";
    columns[YK_MEMORY_KIND_COUNT + 3].name = "full";
    begin_table("Memory by device", columns, out);
    for (int32_t f = 0; f < folds->count; f++) {
        const struct yk_plan_fold *fold = &folds->folds[f];
        const struct yk_plan_result_rank *rank = &folds->result->ranks[fold->rank];
        const double limit_bytes = folds->result->plan->ranks[fold->rank].limit_bytes;
        begin_row(fold->name, out);
        for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
            add_unit(rank->peak_by_kind[k], YK_UNIT_BYTES, out);
        }
        add_unit(rank->peak_bytes, YK_UNIT_BYTES, out);
        add_unit(limit_bytes, YK_UNIT_BYTES, out);
        add_meter(rank->peak_bytes, limit_bytes, out);
        yk_text_add(out, "</tr>\n");
    }
    end_table(out);
}

static const char *name_of_rank(const struct yk_plan_result *result, int32_t rank)
{
    return yk_plan_device_of(result, rank)->name;
}

/* The devices of a group: all, a few by name, or from the first to the last. */
static void add_group(const struct yk_plan_result *result, int32_t number, struct yk_text *out)
{
    const struct yk_plan_group *group = &result->plan->groups[number];
    yk_text_add(out, "<td class=\"left\">");
    if (group->member_count == result->plan->rank_count && group->member_count > 1) {
        yk_text_addf(out, "all %d", group->member_count);
    } else if (group->member_count <= 4) {
        for (int32_t m = 0; m < group->member_count; m++) {
            yk_text_add(out, m > 0 ? ", " : "");
            yk_text_add_xml(out, name_of_rank(result, group->members[m].rank));
        }
    } else {
        yk_text_addf(out, "%d: ", group->member_count);
        yk_text_add_xml(out, name_of_rank(result, group->members[0].rank));
        yk_text_add(out, " \xe2\x80\xa6 ");
        yk_text_add_xml(out, name_of_rank(result, group->members[group->member_count - 1].rank));
    }
    yk_text_add(out, "</td>");
}

static bool same_layer(const struct yk_plan *plan, int32_t a, int32_t b)
{
    return plan->layers[a].group == plan->layers[b].group &&
           yk_plan_strategy(plan, a) == yk_plan_strategy(plan, b) &&
           plan->layers[a].recompute == plan->layers[b].recompute;
}

static void add_layers(const struct yk_plan_result *result, int32_t first, int32_t last,
                       struct yk_text *out)
{
    const struct yk_layer *layers = result->model->layers;
    const struct yk_plan *plan = result->plan;
    int64_t parameters = 0;
    char words[YK_NUMBER_SIZE];
    for (int32_t i = first; i <= last; i++) {
        parameters += layers[i].parameters;
    }
    yk_text_add(out, "<tr><th scope=\"row\">");
    yk_text_add_xml(out, layers[first].name);
    if (last > first) {
        yk_text_add(out, " \xe2\x80\xa6 ");
        yk_text_add_xml(out, layers[last].name);
    }
    yk_text_add(out, "</th>");
    yk_label_count(last - first + 1, words);
    yk_page_add_cell(words, out);
    add_words(yk_plan_strategy_name(yk_plan_strategy(plan, first)), out);
    add_group(result, plan->layers[first].group, out);
    add_words(plan->layers[first].recompute ? "yes" : "no", out);
    yk_label_count(parameters, words);
    yk_page_add_cell(words, out);
    yk_text_add(out, "</tr>\n");
}

void yk_plan_table_layers(const struct yk_plan_result *result, struct yk_text *out)
{
    static const struct column columns[] = {
        {"layers", false},   {"count", false},      {"strategy", true}, {"devices", true},
        {"recompute", true}, {"parameters", false}, {NULL, false}};
    begin_table("Layers", columns, out);
    for (int32_t first = 0; first < result->plan->layer_count;) {
        int32_t last = first;
        while (last + 1 < result->plan->layer_count && same_layer(result->plan, first, last + 1)) {
            last++;
        }
        add_layers(result, first, last, out);
        first = last + 1;
    }
    end_table(out);
}

/* How many times the plan's step another step is: "1.14×". */
static void add_ratio(double step_s, double plan_s, struct yk_text *out)
{
    char words[YK_NUMBER_SIZE + 4] = "\xe2\x80\x93";
    if (isfinite(step_s) && isfinite(plan_s) && plan_s > 0) {
        snprintf(words, sizeof words, "%.2f\xc3\x97", step_s / plan_s);
    }
    yk_page_add_cell(words, out);
}

static void add_remark(const char *words, struct yk_text *out)
{
    yk_text_add(out, "<td class=\"remark\">");
    yk_text_add_xml(out, words ? words : "");
    yk_text_add(out, "</td></tr>\n");
}

void yk_plan_table_alternatives(const struct yk_plan_result *result, struct yk_text *out)
{
    static const struct column columns[] = {
        {"plan", false},  {"step", false}, {"against this", false},
        {"memory", true}, {"", true},      {NULL, false}};
    begin_table("Other plans", columns, out);
    yk_text_add(out, "<tr class=\"this\"><th scope=\"row\">this plan</th>");
    add_unit(result->step_s, YK_UNIT_SECONDS, out);
    add_ratio(result->step_s, result->step_s, out);
    yk_text_add(out, "<td class=\"left\">fits</td>");
    add_remark(NULL, out);
    for (int32_t i = 0; i < result->alternative_count; i++) {
        const struct yk_plan_alternative *other = &result->alternatives[i];
        begin_row(other->name, out);
        add_unit(other->step_s, YK_UNIT_SECONDS, out);
        add_ratio(other->step_s, result->step_s, out);
        yk_text_add(out, other->fits ? "<td class=\"left\">fits</td>"
                                     : "<td class=\"left warn\">does not fit</td>");
        add_remark(other->remark, out);
    }
    end_table(out);
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
    char words[YK_NUMBER_SIZE + 16];
    const double more = 100 * (step_s / plan_s - 1);
    add_unit(step_s, YK_UNIT_SECONDS, out);
    if (!isfinite(step_s)) {
        yk_text_add(out, "<td class=\"warn\">nothing fits</td></tr>\n");
        return;
    }
    snprintf(words, sizeof words, "%.1f%% %s", fabs(more), more >= 0 ? "slower" : "faster");
    yk_page_add_cell(isfinite(more) ? words : "\xe2\x80\x93", out);
    yk_text_add(out, "</tr>\n");
}

void yk_plan_table_without(const struct yk_plan_result *result, struct yk_text *out)
{
    static const struct column columns[] = {
        {"without", false}, {"step", false}, {"change", false}, {NULL, false}};
    begin_table("Leaving a device out", columns, out);
    for (int32_t i = 0; i < result->leave_one_out_count; i++) {
        const struct yk_device *device = &result->cluster->devices[result->leave_one_out[i].device];
        int32_t alike = 0;
        bool told = false;
        for (int32_t other = 0; other < result->leave_one_out_count; other++) {
            alike += other == i || same_outcome(result, i, other);
            told |= other < i && same_outcome(result, i, other);
        }
        if (told) {
            continue;
        }
        yk_text_add(out, "<tr><th scope=\"row\">");
        if (alike > 1) {
            yk_text_addf(out, "one of %d ", alike);
            yk_text_add_xml(out, device->type);
        } else {
            yk_text_add_xml(out, device->name);
            yk_text_add(out, device->type ? " " : "");
            yk_text_add_xml(out, device->type ? device->type : "");
        }
        yk_text_add(out, "</th>");
        add_outcome(result->leave_one_out[i].step_s, result->step_s, out);
    }
    end_table(out);
}
