/* The pictures of a run, each alone. */
#include "report/plan_draw.h"
#include "report/run_counters.h"
#include "report/run_curves.h"
#include "report/run_draw.h"
#include "report/run_lanes.h"
#include "report/run_report.h"

enum {
    SMALL_WIDTH = 760
};

static struct yk_figure frame(double width, struct yk_text *out)
{
    return (struct yk_figure){.width = width, .alone = true, .out = out};
}

/* Makes and gives back what `draw` needs. */
static yk_status with_arena(const struct yk_run_report *report, struct yk_text *out,
                            yk_status (*draw)(const struct yk_run_report *report,
                                              struct yk_arena *arena, struct yk_text *out))
{
    YK_TRY_IN_ARENA(arena, draw(report, arena, out));
    return YK_OK;
}

static yk_status make_lanes(const struct yk_run_report *report, struct yk_arena *arena,
                            struct yk_run_lanes *out)
{
    struct yk_run_ranks ranks;
    YK_TRY(yk_run_ranks_make(report, arena, &ranks));
    return yk_run_lanes_make(report, &ranks, arena, out);
}

static yk_status draw_lanes(const struct yk_run_report *report, struct yk_arena *arena,
                            struct yk_text *out)
{
    struct yk_run_lanes lanes;
    YK_TRY(make_lanes(report, arena, &lanes));
    yk_plan_draw_lanes(&lanes.folds, frame(YK_FIGURE_ALONE_WIDTH, out));
    return yk_text_status(out);
}

static yk_status draw_counters(const struct yk_run_report *report, struct yk_arena *arena,
                               struct yk_text *out)
{
    struct yk_run_lanes lanes;
    YK_TRY(make_lanes(report, arena, &lanes));
    yk_run_draw_counters(report, &lanes, !yk_run_counters_has_lines(report, &lanes),
                         frame(YK_FIGURE_ALONE_WIDTH, out));
    return yk_text_status(out);
}

static yk_status draw_loss(const struct yk_run_report *report, struct yk_arena *arena,
                           struct yk_text *out)
{
    struct yk_run_curves curves;
    YK_TRY(yk_run_curves_make(report, arena, &curves));
    yk_run_draw_loss(report, &curves, frame(SMALL_WIDTH, out));
    return yk_text_status(out);
}

static yk_status draw_ranks(const struct yk_run_report *report, struct yk_arena *arena,
                            struct yk_text *out)
{
    struct yk_run_ranks ranks;
    struct yk_run_curves curves;
    YK_TRY(yk_run_ranks_make(report, arena, &ranks));
    YK_TRY(yk_run_curves_make(report, arena, &curves));
    return yk_run_draw_ranks(report, &curves, &ranks, arena, frame(YK_FIGURE_ALONE_WIDTH, out));
}

yk_status yk_run_figure_lanes(const struct yk_run_report *report, struct yk_text *out)
{
    return with_arena(report, out, draw_lanes);
}

bool yk_run_report_has_counters(const struct yk_run_report *report)
{
    return report->counters && report->counters->count > 0;
}

yk_status yk_run_figure_counters(const struct yk_run_report *report, struct yk_text *out)
{
    return with_arena(report, out, draw_counters);
}

yk_status yk_run_figure_loss(const struct yk_run_report *report, struct yk_text *out)
{
    return with_arena(report, out, draw_loss);
}

yk_status yk_run_figure_ranks(const struct yk_run_report *report, struct yk_text *out)
{
    return with_arena(report, out, draw_ranks);
}

yk_status yk_run_figure_memory(const struct yk_run_report *report, struct yk_text *out)
{
    yk_run_draw_memory(report, frame(SMALL_WIDTH, out));
    return yk_text_status(out);
}
