/*
 * Time chart: bars over time in rows, as in a Gantt chart: the tasks of a schedule, or the ops of a
 * plan or a run. The caller fills a struct yk_time_chart; this file draws it as an SVG,
 * web/time_chart.js draws the same bars on a canvas.
 *
 * The record owns nothing. One thread at a time.
 */
#ifndef YK_REPORT_TIME_CHART_H
#define YK_REPORT_TIME_CHART_H

#include "base/arena.h"
#include "report/figure.h"
#include "trace/trace.h"

/* ---- styles of ops (op_style.c) ---- */

/* The style of an op is the kind of op (enum yk_op_kind), or "other". An op of style K has the CSS
 * class op-K of web/palette.css. Every style also has a symbol, so that colour is not the only
 * difference. */
enum {
    YK_OP_STYLE_OTHER = 12, /* equals YK_OP_KIND_COUNT */
    YK_OP_STYLE_COUNT,
};

/* The style of the op called `op`, found by the first word of the name; YK_OP_STYLE_OTHER if that
 * is no kind of op. */
int32_t yk_op_style_find(const char *op);

/* "forward", "all_gather" … "other". */
const char *yk_op_style_name(int32_t kind);

/* One or two characters, for bars that are too short for a name. */
const char *yk_op_style_symbol(int32_t kind);

/* ---- bars ---- */

enum {
    YK_TIME_CHART_TASK_COLOURS = 8 /* CSS classes task-0 … task-7 */
};

struct yk_time_chart_bar {
    double start;
    double end;
    double bytes; /* moved by the op; 0: none */
    const char *label;
    int32_t kind;   /* an op's style, or a task's colour */
    int32_t number; /* index of the task or event in the schedule or trace */
};

struct yk_time_chart_row {
    const char *name;                     /* label to the left of the row: "compute" */
    const struct yk_time_chart_bar *bars; /* sorted by start, then by end */
    int32_t count;
};

struct yk_time_chart_group {
    const char *name; /* heading above the rows; NULL: none */
    const struct yk_time_chart_row *rows;
    int32_t row_count; /* in a group with a name, rows without bars are not drawn */
};

/* An arrow: data that moves from one row of the first group to another. */
struct yk_time_chart_arrow {
    int32_t from; /* index of the row */
    int32_t to;
    double start;
    double end;
};

struct yk_time_chart {
    const char *title;
    bool tasks;           /* bars are tasks, and times have no unit; false: bars are ops, and times
                             are in seconds */
    const char *end_name; /* name of the mark at `end`: "step", "makespan" */
    double span;          /* time across the whole width, from 0 */
    double end;           /* marked with a line; NAN: no mark */
    double bound;         /* lower bound of `end`, marked with a line; NAN: unknown */
    const struct yk_time_chart_group *groups;
    int32_t group_count;
    const struct yk_time_chart_arrow *links;
    int32_t link_count;
};

/* Makes one row for each lane of the first `rank_count` ranks of a trace: out (rank_count, lanes),
 * in the arena. Adds `shift_s` to all times. `out_end_s` is the end of the last bar, at least 0. */
yk_status yk_time_chart_rows_from_trace(const struct yk_trace *trace, int32_t rank_count,
                                        double shift_s, struct yk_arena *arena,
                                        const struct yk_time_chart_row **out,
                                        double *out_end_s) YK_MUST_USE;

/* ---- merging short bars ---- */

/* One bar, or consecutive bars of a row that are too short to be drawn one by one. */
struct yk_time_chart_merged_bar {
    const struct yk_time_chart_bar *first;
    double start;
    double end;
    double busy;                       /* sum of the lengths of the bars */
    double by_kind[YK_OP_STYLE_COUNT]; /* the same sum for each kind */
    int32_t count;                     /* bars */
};

/* Consecutive bars are merged if each is shorter than `min_length`, the gaps between them are
 * shorter than that too, and the result is at most `max_length` long. */
struct yk_time_chart_merge_rule {
    double min_length;
    double max_length;
};

/* Doubles `min_length` until at most `max` merged bars are left; `max_length` is `factor` times
 * `min_length`. */
struct yk_time_chart_merge_rule yk_time_chart_choose_merge_rule(const struct yk_time_chart *chart,
                                                                double min_length, double factor,
                                                                int64_t max);

/* The merged bar that begins with bar `*at` of the row; `*at` advances to the bar after it. */
struct yk_time_chart_merged_bar
yk_time_chart_next_merged_bar(const struct yk_time_chart_row *row,
                              const struct yk_time_chart_merge_rule *merge, int32_t *at);

/* ---- output ---- */

/* Draws the SVG at the width of `frame` and sets its height. */
void yk_time_chart_draw(const struct yk_time_chart *chart, struct yk_figure frame);

/* Adds the interactive chart to a page: zoom buttons, a legend of ops, a canvas with the ARIA label
 * `label` for the script, and the SVG, which is shown if scripts are off. */
void yk_time_chart_add_chart(const struct yk_time_chart *chart, const char *label,
                             struct yk_text *out);

/* How many groups, counted from the first, fit into the CSV of a page. It is at least 1 if there is
 * a group. */
int32_t yk_time_chart_count_csv_groups(const struct yk_time_chart *chart);

/* Adds the CSV cells of a bar: op,start_s,end_s,bytes. */
void yk_time_chart_add_csv_bar(const struct yk_time_chart_bar *bar, struct yk_text *out);

#endif
