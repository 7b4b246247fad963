/*
 * Lanes: bars over time in rows: the tasks of a schedule, the ops of a plan, of a run. Whoever has
 * them fills one record; it is drawn as an SVG here and on a canvas by web/lanes.js.
 *
 * The record points at what others own. One thread at a time.
 */
#ifndef YK_REPORT_LANES_H
#define YK_REPORT_LANES_H

#include "base/arena.h"
#include "report/figure.h"
#include "report/op_style.h"
#include "trace/trace.h"

enum {
    YK_LANES_TASK_COLOURS = 8 /* classes task-0 … task-7 */
};

struct yk_lanes_bar {
    double start;
    double end;
    double bytes; /* that it moves; 0: none */
    const char *label;
    int32_t kind;   /* of an op (op_style.h); the colour of a task */
    int32_t number; /* of the task or event among all */
};

struct yk_lanes_row {
    const char *name;                /* the label at its left: "compute" */
    const struct yk_lanes_bar *bars; /* by start, then by end */
    int32_t count;
};

struct yk_lanes_group {
    const char *name; /* what stands above its rows; NULL: nothing */
    const struct yk_lanes_row *rows;
    int32_t row_count; /* rows without bars are left out where the group has a name */
};

/* Data on its way between two rows of the first group. */
struct yk_lanes_link {
    int32_t from;
    int32_t to;
    double start;
    double end;
};

struct yk_lanes {
    const char *title;
    bool tasks;           /* of a schedule, times without a unit; else ops, times in seconds */
    const char *end_name; /* "step", "makespan" */
    double span;          /* time across the width */
    double end;           /* marked with a line; NAN: not */
    double bound;         /* the least it could be, marked likewise; NAN: not known */
    const struct yk_lanes_group *groups;
    int32_t group_count;
    const struct yk_lanes_link *links;
    int32_t link_count;
};

/* Rows of the first `rank_count` ranks of a trace, (ranks, lanes), in the arena, with `shift_s`
 * added to all times; `out_end_s` is the end of the last event in them. */
yk_status yk_lanes_from_trace(const struct yk_trace *trace, int32_t rank_count, double shift_s,
                              struct yk_arena *arena, const struct yk_lanes_row **out,
                              double *out_end_s) YK_MUST_USE;

/* Copies a text into the arena, as the name of a row or a group, and frees it. */
yk_status yk_lanes_keep_name(struct yk_text *text, struct yk_arena *arena,
                             const char **out) YK_MUST_USE;

/* One bar, or several neighbours that are too short to be drawn apart. */
struct yk_lanes_run {
    const struct yk_lanes_bar *first;
    double start;
    double end;
    double busy; /* time that its bars take together */
    double by_kind[YK_OP_STYLE_COUNT];
    int32_t count;
};

/* Which neighbours become one: those under `min_length`, with less than that between them, up to
 * `max_length`. */
struct yk_lanes_merge {
    double min_length;
    double max_length;
};

/* The shortest `min_length` from the given one on, by doubling, that leaves at most `max` runs;
 * `max_length` is `factor` times that. */
struct yk_lanes_merge yk_lanes_merge_for(const struct yk_lanes *lanes, double min_length,
                                         double factor, int64_t max);

/* The next run of a row, of its bars from `*at` on, which moves on. */
struct yk_lanes_run yk_lanes_next_run(const struct yk_lanes_row *row,
                                      const struct yk_lanes_merge *merge, int32_t *at);

/* The picture at the frame's width; it sets its height itself. */
void yk_lanes_draw(const struct yk_lanes *lanes, struct yk_figure frame);

/* The rows as a chart in a page: buttons that zoom, a legend of ops, a place for the script's
 * canvas with `label`, and the picture for where no script runs. */
void yk_lanes_add_chart(const struct yk_lanes *lanes, const char *label, struct yk_text *out);

/* How many groups, from the first, have no more bars than a page should hold. */
int32_t yk_lanes_count_written(const struct yk_lanes *lanes);

/* As CSV: op,start_s,end_s,bytes. */
void yk_lanes_add_csv(const struct yk_lanes_bar *bar, struct yk_text *out);

#endif
