#include "report/run/lanes.h"

#include "report/csv.h"
#include "report/run/charts.h"
#include "trace/trace.h"

#include <math.h>
#include <string.h>

/* Traces in files are kept to the nanosecond. */
static const double SAME_S = 1.5e-9;

/* The lanes of both traces. */
struct traces {
    const struct yk_run_ranks *ranks;
    const struct yk_trace *traces[YK_RUN_TRACE_COUNT];
    const struct yk_time_chart_row *lanes[YK_RUN_TRACE_COUNT]; /* (ranks, lanes) each */
    double end_s;                                              /* of the last event */
    double shift_s; /* that has been added to their times */
    int32_t rank_count;
    int32_t *first_of; /* (ranks) the first that does the same */
    int32_t *shown;    /* (ranks) of such a first one: the rank that stands for all of them */
    int32_t *alike;    /* (ranks) of such a first one: how many ranks do the same */
};

/* The first op of either trace is at 0, unless it is later. */
static yk_status sort(const struct yk_run_report *report, struct yk_arena *arena,
                      struct traces *out)
{
    out->traces[YK_RUN_TRACE_PREDICTED] = report->predicted;
    out->traces[YK_RUN_TRACE_MEASURED] = report->measured;
    for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
        if (out->traces[t]) {
            const int32_t count = yk_trace_rank_count(out->traces[t]);
            out->rank_count = count > out->rank_count ? count : out->rank_count;
            out->shift_s =
                fmax(out->shift_s, -yk_trace_breakdown_first_event_start_s(out->traces[t]));
        }
    }
    for (int t = 0; t < YK_RUN_TRACE_COUNT && out->rank_count > 0; t++) {
        double end_s = 0;
        if (out->traces[t]) {
            YK_TRY(yk_time_chart_make_rows_from_trace(out->traces[t], out->rank_count, out->shift_s,
                                                      arena, &out->lanes[t], &end_s));
            out->end_s = fmax(out->end_s, end_s);
        }
    }
    return YK_OK;
}

static bool same_lane(const struct yk_time_chart_row *a, const struct yk_time_chart_row *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (int32_t i = 0; i < a->count; i++) {
        if (fabs(a->bars[i].start - b->bars[i].start) > SAME_S ||
            fabs(a->bars[i].end - b->bars[i].end) > SAME_S ||
            strcmp(a->bars[i].label, b->bars[i].label) != 0) {
            return false;
        }
    }
    return true;
}

static bool same_rank(const struct traces *both, int32_t a, int32_t b)
{
    const struct yk_time_chart_row *lanes = both->lanes[YK_RUN_TRACE_PREDICTED];
    for (int32_t l = 0; l < YK_LANE_COUNT; l++) {
        if (!same_lane(&lanes[a * YK_LANE_COUNT + l], &lanes[b * YK_LANE_COUNT + l])) {
            return false;
        }
    }
    return true;
}

static yk_status merge(struct yk_arena *arena, struct traces *both)
{
    const bool merges =
        both->rank_count > YK_RUN_LANES_MAX_UNMERGED_RANKS && both->lanes[YK_RUN_TRACE_PREDICTED];
    YK_TRY_NEW(arena, both->first_of, (int64_t)both->rank_count + 1);
    YK_TRY_NEW(arena, both->shown, (int64_t)both->rank_count + 1);
    YK_TRY_NEW(arena, both->alike, (int64_t)both->rank_count + 1);
    for (int32_t r = 0; r < both->rank_count; r++) {
        int32_t first = merges ? 0 : r;
        while (first < r && (both->first_of[first] != first || !same_rank(both, first, r))) {
            first++;
        }
        both->first_of[r] = first;
        both->alike[first]++;
        if (first == r || both->ranks->ranks[r].measured.compute_s >
                              both->ranks->ranks[both->shown[first]].measured.compute_s) {
            both->shown[first] = r;
        }
    }
    return YK_OK;
}

static yk_status fill_lane(const struct traces *both, int32_t first, int32_t lane,
                           struct yk_arena *arena, struct yk_run_lane *out)
{
    const int32_t rank = both->shown[first];
    struct yk_text text = {0};
    *out = (struct yk_run_lane){
        .rank = rank,
        .count = both->alike[first],
        .lane = yk_trace_lane_name((enum yk_lane)lane),
    };
    for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
        if (both->lanes[t]) {
            out->rows[t] = both->lanes[t][rank * YK_LANE_COUNT + lane];
        }
        out->rows[t].name = t == YK_RUN_TRACE_PREDICTED ? "predicted" : "measured";
    }
    yk_equal_ranks_write_rank_ranges(both->first_of, both->rank_count, first, &text);
    YK_TRY(yk_text_move_to_arena(&text, arena, &out->numbers));
    yk_text_add(&text, both->ranks->ranks[rank].device);
    if (out->count > 1) {
        yk_text_addf(&text,
                     both->traces[YK_RUN_TRACE_MEASURED] ? ", slowest of ranks %s"
                                                         : ", as all of ranks %s",
                     out->numbers);
    }
    YK_TRY(yk_text_move_to_arena(&text, arena, &out->device));
    yk_text_addf(&text, "%s, %s", out->device, out->lane);
    return yk_text_move_to_arena(&text, arena, &out->name);
}

yk_status yk_run_lanes_make(const struct yk_run_report *report, const struct yk_run_ranks *ranks,
                            struct yk_arena *arena, struct yk_run_lanes *out)
{
    struct traces both = {.ranks = ranks};
    struct yk_run_lane *all = NULL;
    struct yk_time_chart_group *groups = NULL;
    struct yk_text title = {0};
    int32_t count = 0;
    YK_TRY(sort(report, arena, &both));
    YK_TRY(merge(arena, &both));
    YK_TRY_NEW(arena, all, (int64_t)both.rank_count * YK_LANE_COUNT + 1);
    YK_TRY_NEW(arena, groups, (int64_t)both.rank_count * YK_LANE_COUNT + 1);
    *out = (struct yk_run_lanes){.all = all, .shift_s = both.shift_s};
    for (int32_t i = 0; i < both.rank_count * YK_LANE_COUNT; i++) {
        const int32_t rank = i / YK_LANE_COUNT;
        if (both.first_of[rank] == rank) {
            YK_TRY(fill_lane(&both, rank, i % YK_LANE_COUNT, arena, &all[count]));
            out->merged |= both.alike[rank] > 1;
            count += all[count].rows[0].count > 0 || all[count].rows[1].count > 0;
        }
    }
    for (int32_t i = 0; i < count; i++) {
        groups[i] = (struct yk_time_chart_group){all[i].name, all[i].rows, YK_RUN_TRACE_COUNT};
    }
    out->chart = (struct yk_time_chart){
        .span = both.end_s,
        .end = NAN,
        .bound = NAN,
        .groups = groups,
        .group_count = count,
    };
    yk_text_addf(&title, "Ops over time: %s", report->title);
    return yk_text_move_to_arena(&title, arena, &out->chart.title);
}

void yk_run_lanes_sum_op_kind_times(const struct yk_run_report *report,
                                    struct yk_run_op_kind_times out[YK_OP_STYLE_COUNT])
{
    const struct yk_trace *traces[YK_RUN_TRACE_COUNT] = {report->predicted, report->measured};
    for (int32_t k = 0; k < YK_OP_STYLE_COUNT; k++) {
        out[k] = (struct yk_run_op_kind_times){0};
    }
    for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
        for (int32_t i = 0; traces[t] && i < yk_trace_event_count(traces[t]); i++) {
            const struct yk_trace_event *event = yk_trace_event_at(traces[t], i);
            struct yk_run_op_kind_times *kind = &out[yk_op_style_find_by_op_name(event->op)];
            kind->count[t]++;
            kind->seconds[t] += event->end_s - event->start_s;
        }
    }
    /* Traces are kept to the nanosecond: what is finer is the noise of differences. */
    for (int32_t k = 0; k < YK_OP_STYLE_COUNT; k++) {
        for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
            out[k].seconds[t] = round(out[k].seconds[t] * 1e9) / 1e9;
        }
    }
}

/* ---- the chart ---- */

static const char *heading(const void *subject)
{
    const struct yk_run_page_data *page = subject;
    return !page->report->measured    ? "One step, predicted"
           : !page->report->predicted ? "One step, measured"
                                      : "One step, predicted and measured";
}

static bool applies(const void *subject)
{
    const struct yk_run_page_data *page = subject;
    return page->lanes.chart.group_count > 0;
}

static yk_status draw(const void *subject, struct yk_figure frame)
{
    const struct yk_run_page_data *page = subject;
    yk_time_chart_draw_svg(&page->lanes.chart, frame);
    return YK_OK;
}

static yk_status add(const void *subject, struct yk_text *out)
{
    const struct yk_run_page_data *page = subject;
    const int32_t written = yk_time_chart_count_groups_in_csv(&page->lanes.chart);
    yk_time_chart_add_to_page(&page->lanes.chart,
                              "Ops of every lane over time, as predicted and as measured", out);
    yk_text_add(out,
                "<p class=\"note live\" hidden>What was measured is the last step. Point at an "
                "op, tap it, or use the arrow keys: where the other row has it, too, both are "
                "framed. Ctrl and the wheel zoom, so do two fingers; dragging moves.</p>\n");
    if (page->lanes.merged) {
        yk_text_add(out, "<p class=\"note\">Ranks that were predicted to do the same at the "
                         "same times are shown once, by the one that computed longest; the "
                         "trace files have them all.</p>\n");
    }
    if (written < page->lanes.chart.group_count) {
        yk_text_add(out, "<p class=\"note\">Further lanes have too many ops for this page; "
                         "the trace files have them all.</p>\n");
    }
    return YK_OK;
}

static yk_status write_csv(const void *subject, struct yk_text *out)
{
    const struct yk_run_page_data *page = subject;
    const struct yk_run_lanes *lanes = &page->lanes;
    const int32_t count = yk_time_chart_count_groups_in_csv(&lanes->chart);
    yk_text_add(out, "ranks,device,lane,op,start_s,end_s,bytes,trace\n");
    for (int32_t g = 0; g < count; g++) {
        const struct yk_run_lane *lane = &lanes->all[g];
        for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
            for (int32_t i = 0; i < lane->rows[t].count; i++) {
                yk_csv_add_text(out, lane->numbers);
                yk_csv_add_text(out, lane->device);
                yk_csv_add_text(out, lane->lane);
                yk_time_chart_add_bar_csv_cells(&lane->rows[t].bars[i], out);
                yk_csv_add_text(out, lane->rows[t].name);
                yk_csv_end_row(out);
            }
        }
    }
    return YK_OK;
}

const struct yk_chart yk_run_chart_lanes = {
    .name = "lanes",
    .heading = heading,
    .applies = applies,
    .draw = draw,
    .file_width = YK_FIGURE_FULL_WIDTH,
    .add_html = add,
    .csv_name = "lanes",
    .write_csv = write_csv,
};
