#include "report/plan_draw.h"
#include "report/plan_report.h"

static struct yk_figure frame_for(struct yk_text *out, double width)
{
    return (struct yk_figure){.width = width, .alone = true, .out = out};
}

/* Draws with the result's folds, and gives them back. */
static yk_status draw_folds(const struct yk_plan_result *result,
                            void (*draw)(const struct yk_plan_folds *folds, struct yk_figure frame),
                            struct yk_figure frame)
{
    struct yk_arena *arena = NULL;
    struct yk_plan_folds folds;
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_plan_folds_make(result, arena, &folds);
    if (status == YK_OK) {
        draw(&folds, frame);
        status = yk_text_status(frame.out);
    }
    yk_arena_destroy(arena);
    return status;
}

yk_status yk_plan_figure_lanes(const struct yk_plan_result *result, struct yk_text *out)
{
    return draw_folds(result, yk_plan_draw_lanes, frame_for(out, YK_FIGURE_ALONE_WIDTH));
}

yk_status yk_plan_figure_bars(const struct yk_plan_result *result, struct yk_text *out)
{
    return draw_folds(result, yk_plan_draw_bars, frame_for(out, 760));
}

static yk_status draw_rank(const struct yk_plan_result *result, int32_t rank,
                           struct yk_arena *arena, struct yk_text *out)
{
    struct yk_plan_folds folds;
    struct yk_plan_fold fold = {.rank = rank};
    YK_TRY(yk_plan_folds_make(result, arena, &folds));
    YK_TRY(yk_plan_device_name(yk_plan_device_of(result, rank), arena, &fold.name));
    return yk_plan_draw_memory(&folds, &fold, frame_for(out, YK_FIGURE_ALONE_WIDTH));
}

yk_status yk_plan_figure_memory(const struct yk_plan_result *result, int32_t rank,
                                struct yk_text *out)
{
    struct yk_arena *arena = NULL;
    if (rank < 0 || rank >= result->plan->rank_count) {
        return yk_fail(YK_ERROR_INPUT, "a plan of %d ranks has no rank %d to draw",
                       result->plan->rank_count, rank);
    }
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = draw_rank(result, rank, arena, out);
    yk_arena_destroy(arena);
    return status;
}

yk_status yk_plan_figure_cluster(const struct yk_plan_result *result, struct yk_text *out)
{
    return yk_plan_draw_cluster(result, frame_for(out, 760));
}

yk_status yk_plan_figure_tradeoff(const struct yk_plan_tradeoff *tradeoff, struct yk_text *out)
{
    yk_plan_draw_tradeoff(tradeoff, frame_for(out, 760));
    return yk_text_status(out);
}
