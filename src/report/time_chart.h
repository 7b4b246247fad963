/*
 * Time chart: rows of bars over time, as in a Gantt chart. The bars are the tasks of a schedule, or
 * the ops of a plan or a run. The caller fills a struct yk_time_chart. time_chart.c draws it as an
 * SVG picture, and web/time_chart.js draws the same bars on a canvas.
 *
 * The struct owns nothing. Only one thread at a time may use a time chart.
 */
#ifndef YK_REPORT_TIME_CHART_H
#define YK_REPORT_TIME_CHART_H

#include "base/arena.h"
#include "report/figure.h"
#include "trace/trace.h"

/* ---- styles of ops (op_style.c) ---- */

/* The style of an op says how it is drawn. It is the kind of the op (enum yk_op_kind), or
 * YK_OP_STYLE_OTHER. An op of style NAME has the CSS class op-NAME of web/palette.css. Every style
 * also has a symbol, so that colour is not the only difference. */
enum {
    YK_OP_STYLE_OTHER = 12, /* equals YK_OP_KIND_COUNT */
    YK_OP_STYLE_COUNT,
};

/* Returns the style of the op with the name `op`. The first word of the name is the kind of op.
 * Returns YK_OP_STYLE_OTHER if no kind has this name. */
int32_t yk_op_style_find_by_op_name(const char *op);

/* Returns the name of a style: "forward", "all_gather" … "other". */
const char *yk_op_style_name(int32_t kind);

/* Returns the symbol of a style, for bars that are too short for a name. */
const char *yk_op_style_symbol(int32_t kind);

/* ---- bars ---- */

enum {
    YK_TIME_CHART_TASK_COLOUR_COUNT = 8 /* CSS classes task-0 … task-7 */
};

struct yk_time_chart_bar {
    double start;
    double end;
    double bytes; /* number of bytes that the op moves; 0 means: none */
    const char *label;
    int32_t kind;   /* the style of an op, or the number of a task's colour (0 to
                       YK_TIME_CHART_TASK_COLOUR_COUNT − 1) */
    int32_t number; /* index of the task in the schedule, or of the event in the trace */
};

struct yk_time_chart_row {
    const char *name;                     /* label to the left of the row: "compute" */
    const struct yk_time_chart_bar *bars; /* sorted by start, then by end */
    int32_t count;
};

struct yk_time_chart_group {
    const char *name; /* heading above the rows; NULL means: none */
    const struct yk_time_chart_row *rows;
    int32_t row_count; /* if the group has a name, rows without bars are not drawn */
};

/* An arrow for data that moves from one row to another. Both rows are in the first group. */
struct yk_time_chart_arrow {
    int32_t from; /* index of the row where the arrow starts */
    int32_t to;   /* index of the row where the arrow ends */
    double start;
    double end;
};

struct yk_time_chart {
    const char *title;
    bool tasks;           /* true means: bars are tasks, and times have no unit; false means: bars
                             are ops, and times are in seconds */
    const char *end_name; /* name of the mark at `end`: "step", "makespan" */
    double span;          /* time across the whole width, from 0 */
    double end;           /* time that is marked with a line; NAN means: no mark */
    double bound;         /* lower bound of `end`, marked with a line; NAN means: unknown */
    const struct yk_time_chart_group *groups;
    int32_t group_count;
    const struct yk_time_chart_arrow *links;
    int32_t link_count;
};

/* Makes one row for each lane of the first `rank_count` ranks of a trace. Lane l of rank r is
 * row r · YK_LANE_COUNT + l of `*out`. The rows live in the arena. Adds `shift_s` to all times.
 * Sets `*out_end_s` to the end of the last bar, or to 0 if this end is negative or there are no
 * bars. */
yk_status yk_time_chart_make_rows_from_trace(const struct yk_trace *trace, int32_t rank_count,
                                             double shift_s, struct yk_arena *arena,
                                             const struct yk_time_chart_row **out,
                                             double *out_end_s) YK_MUST_USE;

/* ---- merging short bars ---- */

/* One bar, or consecutive bars of a row that are too short to be drawn separately. */
struct yk_time_chart_merged_bar {
    const struct yk_time_chart_bar *first;
    double start;
    double end;
    double busy;                       /* sum of the lengths of the bars */
    double by_kind[YK_OP_STYLE_COUNT]; /* sum of the lengths of the bars of each kind */
    int32_t count;                     /* number of bars */
};

/* Consecutive bars are merged if each bar and each gap between them is shorter than `min_length`,
 * and the merged bar is at most `max_length` long. */
struct yk_time_chart_merge_rule {
    double min_length;
    double max_length;
};

/* Chooses a rule that leaves at most `max` bars; a merged bar counts as one bar. The function
 * begins with the argument `min_length` and doubles it until there are at most `max` bars. It gives
 * up when `min_length` is twice as long as the chart, and returns that rule. The `max_length` of
 * the rule is `factor` times its `min_length`. */
struct yk_time_chart_merge_rule yk_time_chart_choose_merge_rule(const struct yk_time_chart *chart,
                                                                double min_length, double factor,
                                                                int64_t max);

/* Returns the merged bar that begins with bar `*at` of the row, and sets `*at` to the index of the
 * first bar after the merged bar. */
struct yk_time_chart_merged_bar
yk_time_chart_next_merged_bar(const struct yk_time_chart_row *row,
                              const struct yk_time_chart_merge_rule *merge, int32_t *at);

/* ---- output ---- */

/* Draws the SVG picture with the width frame.width. The function itself chooses the height of the
 * picture. */
void yk_time_chart_draw_svg(const struct yk_time_chart *chart, struct yk_figure frame);

/* Adds the interactive chart to a page: zoom buttons, a legend of ops, a canvas on which the script
 * draws, and the SVG picture, which is shown if scripts are disabled. `label` is the ARIA label of
 * the canvas.
 */
void yk_time_chart_add_to_page(const struct yk_time_chart *chart, const char *label,
                               struct yk_text *out);

/* Returns how many groups, counted from the first, fit into the CSV table of a page. Returns at
 * least 1 if there is a group. */
int32_t yk_time_chart_count_groups_in_csv(const struct yk_time_chart *chart);

/* Adds the CSV cells of a bar: op,start_s,end_s,bytes. */
void yk_time_chart_add_bar_csv_cells(const struct yk_time_chart_bar *bar, struct yk_text *out);

#endif
