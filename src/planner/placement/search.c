/* Pipeline and best: the best candidate of every number of micro-batches, then improved: a pipeline
 * by moving its cuts, the best by annealing. */
#include "base/text.h"
#include "base/units.h"
#include "planner/placement/candidates.h"
#include "planner/placement/context.h"
#include "sched/bound/bound.h"
#include "sched/search/anneal.h"

#include <math.h>

enum {
    MAX_MICRO_BATCHES = 64,
};

/* Of the budget, when the search for a pipeline, alone or before others, and that of the best's
 * other candidates end at the latest, and what is for annealing. */
static const double pipeline_alone_part = 0.9;
static const double pipeline_part = 0.5;
static const double candidates_part = 0.75;
static const double annealing_part = 0.25;

/* All small numbers, then ever fewer, and the batch itself: one sample each. */
static bool is_worth_trying(const struct yk_placement_context *context, int32_t micro_batches)
{
    static const int32_t larger[] = {8, 10, 12, 16, 20, 24, 32, 48, 64};
    const int64_t batch = context->request->workload.batch;
    if (context->request->micro_batches > 0 || micro_batches <= 6 || micro_batches == batch) {
        return context->request->micro_batches > 0 || micro_batches <= batch;
    }
    for (size_t i = 0; i < sizeof larger / sizeof larger[0]; i++) {
        if (micro_batches == larger[i]) {
            return micro_batches < batch;
        }
    }
    return false;
}

/* Keeps the candidates if their best is the best so far: what fits before what does not. */
static void keep_better(struct yk_placement_best_candidate *choice,
                        struct yk_candidates *candidates)
{
    const struct yk_candidates *before = &choice->candidates;
    const bool fits = candidates->fit.fits;
    bool better = before->step == NULL;
    if (!better && fits != before->fit.fits) {
        better = fits;
    } else if (!better) {
        better = fits ? candidates->step_s < before->step_s
                      : candidates->fit.missing_bytes < before->fit.missing_bytes;
    }
    if (candidates->on_all_s < choice->on_all_s) {
        choice->on_all_s = candidates->on_all_s;
        choice->on_all_micro_batches = candidates->step->micro_batch_count;
    }
    if (better) {
        yk_candidates_free(&choice->candidates);
        choice->candidates = *candidates;
    } else {
        yk_candidates_free(candidates);
    }
}

/* What other ways have found for the same step. */
static yk_status consider_others(const struct yk_placement_context *context,
                                 struct yk_candidates *candidates)
{
    for (int32_t i = 0; i < context->out->count; i++) {
        const struct yk_placement *placement = &context->out->placements[i];
        if (placement->step == candidates->step && placement->schedule && !placement->divided) {
            YK_TRY(yk_candidates_consider(candidates, placement->schedule));
        }
    }
    return YK_OK;
}

typedef yk_status (*filler)(struct yk_candidates *candidates);

/* Whether to make do with what was found: the step of so many micro-batches could not be made and
 * looked at, which takes about as long again, in the time that is left. */
static bool is_too_long(const struct yk_placement_context *context, int32_t micro_batches)
{
    const double now_s = yk_deadline_now_s(&context->deadline.clock);
    return now_s + 2 * micro_batches * context->micro_batch_s > context->deadline.at_s;
}

/* Lets `fill` propose for every number of micro-batches, and keeps the best. */
static yk_status search_micro_batches(struct yk_placement_context *context, filler fill,
                                      struct yk_placement_best_candidate *choice)
{
    const struct yk_scheduler_options *search = &context->request->search;
    const int32_t given = context->request->micro_batches;
    /* One, then from many to few: many are what keeps many devices busy. */
    for (int32_t k = 0; k < (given > 0 ? 1 : MAX_MICRO_BATCHES); k++) {
        const int32_t M = given > 0 ? given : (k == 0 ? 1 : MAX_MICRO_BATCHES + 1 - k);
        if (!is_worth_trying(context, M)) {
            continue;
        }
        if (choice->candidates.step && search->stop && atomic_load(search->stop)) {
            return YK_OK;
        }
        if (choice->candidates.step && is_too_long(context, M)) {
            context->out->cut_short = true;
            continue;
        }
        const struct yk_step_graph *step = NULL;
        struct yk_candidates candidates;
        YK_TRY(yk_placement_context_step_graph(context, M, &step));
        YK_TRY(yk_candidates_create(step, &context->deadline, &candidates));
        yk_status status = fill(&candidates);
        context->out->trials += candidates.trials;
        context->out->cut_short |= yk_deadline_has_passed(&context->deadline);
        if (status == YK_OK) {
            status = consider_others(context, &candidates);
        }
        if (status != YK_OK) {
            yk_candidates_free(&candidates);
            return status;
        }
        if (isfinite(candidates.step_s)) {
            keep_better(choice, &candidates);
        } else {
            yk_candidates_free(&candidates);
        }
        if (search->progress) {
            search->progress(search->progress_user, "best", (double)k / MAX_MICRO_BATCHES);
        }
    }
    return YK_OK;
}

/* Why the best leaves devices out: what all of them together would take. */
static yk_status explain(struct yk_placement_context *context,
                         const struct yk_placement_best_candidate *choice)
{
    const struct yk_step_graph *step = choice->candidates.step;
    const int32_t P = step->graph->device_count;
    const int32_t used = yk_schedule_count_devices(choice->candidates.best);
    if (used == P || !choice->candidates.fit.fits) {
        return YK_OK;
    }
    struct yk_text note = {0};
    yk_text_addf(&note, "%d of %d devices stay idle: ", P - used, P);
    if (used == 1 && context->request->workload.batch == 1) {
        yk_text_add(&note, "one sample goes through the layers one after the other; ");
    } else if (used == 1 && context->request->micro_batches == 1) {
        yk_text_add(&note, "one micro-batch goes through the layers one after the other (leave out "
                           "--micro-batches to let best choose); ");
    }
    if (isinf(choice->on_all_s)) {
        yk_text_add(&note, "no way was found that uses all of them and fits");
    } else {
        char time[YK_UNITS_SIZE];
        yk_units_format(choice->on_all_s, YK_UNIT_SECONDS, time);
        yk_text_addf(
            &note,
            "the best way found that uses all of them takes %s (%d micro-batch%s), %.1f %% "
            "longer",
            time, choice->on_all_micro_batches, choice->on_all_micro_batches == 1 ? "" : "es",
            100 * (choice->on_all_s / choice->candidates.step_s - 1));
    }
    const yk_status status = yk_text_status(&note);
    if (status == YK_OK) {
        context->out->note = yk_arena_copy_text(context->out->arena, note.bytes, note.length);
    }
    yk_text_free(&note);
    YK_TRY(status);
    return context->out->note ? YK_OK : yk_fail_out_of_memory();
}

/* Annealing does not see the ports: its result counts only where it is better with them. */
static yk_status anneal(struct yk_placement_context *context, struct yk_candidates *candidates)
{
    const struct yk_scheduler_options *search = &context->request->search;
    const double left_s = context->deadline.at_s - yk_deadline_now_s(&context->deadline.clock);
    int64_t bound = 0;
    if (!candidates->fit.fits || left_s <= 0) {
        return YK_OK;
    }
    YK_TRY(yk_bound_compute(candidates->step->graph, &bound));
    yk_schedule_copy(candidates->best, candidates->trial);
    YK_TRY(yk_anneal_run(search, fmin(left_s, annealing_part * search->budget_s), bound,
                         candidates->trial));
    return yk_candidates_consider(candidates, candidates->trial);
}

/* Makes a copy of the choice's best schedule the placement's. */
static yk_status copy_best(struct yk_placement_context *context,
                           const struct yk_placement_best_candidate *choice,
                           struct yk_placement *placement)
{
    struct yk_schedule *schedule = NULL;
    placement->step = choice->candidates.step;
    YK_TRY(yk_schedule_create(placement->step->graph, &schedule));
    yk_schedule_copy(choice->candidates.best, schedule);
    return yk_placement_context_finish(context, schedule, placement);
}

static yk_status search_pipeline(struct yk_placement_context *context, double part)
{
    struct yk_placement_best_candidate *choice = &context->pipeline;
    if (choice->candidates.step) {
        return YK_OK;
    }
    *choice = (struct yk_placement_best_candidate){.on_all_s = INFINITY};
    yk_placement_context_begin_phase(context, part);
    YK_TRY(search_micro_batches(context, yk_candidates_add_undivided, choice));
    const int64_t before = choice->candidates.trials;
    YK_TRY(yk_candidates_refine(&choice->candidates));
    context->out->trials += choice->candidates.trials - before;
    context->out->cut_short |= yk_deadline_has_passed(&context->deadline);
    return YK_OK;
}

yk_status yk_placement_search_pipeline(struct yk_placement_context *context,
                                       struct yk_placement *placement)
{
    YK_TRY(search_pipeline(context,
                           context->request->algorithm ? pipeline_alone_part : pipeline_part));
    return copy_best(context, &context->pipeline, placement);
}

static yk_status fill_divided(struct yk_candidates *candidates)
{
    YK_TRY(yk_candidates_add_divided(candidates));
    return yk_candidates_add_nodes(candidates);
}

/* Everything that best does once the pipeline, its first candidate, is known. */
static yk_status search(struct yk_placement_context *context,
                        struct yk_placement_best_candidate *choice, struct yk_placement *placement)
{
    const struct yk_candidates *pipeline = &context->pipeline.candidates;
    yk_placement_context_begin_phase(context, candidates_part);
    YK_TRY(yk_candidates_create(pipeline->step, &context->deadline, &choice->candidates));
    YK_TRY(yk_candidates_consider(&choice->candidates, pipeline->best));
    YK_TRY(search_micro_batches(context, fill_divided, choice));
    yk_placement_context_begin_phase(context, 1);
    YK_TRY(anneal(context, &choice->candidates));
    YK_TRY(explain(context, choice));
    return copy_best(context, choice, placement);
}

yk_status yk_placement_search_best(struct yk_placement_context *context,
                                   struct yk_placement *placement)
{
    YK_TRY(search_pipeline(context, pipeline_part));
    struct yk_placement_best_candidate choice = context->pipeline;
    choice.candidates = (struct yk_candidates){0};
    const yk_status status = search(context, &choice, placement);
    yk_candidates_free(&choice.candidates);
    return status;
}
