#include "export/export.h"
#include "library/library.h"
#include "planner/placement/placement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double usual_budget_s = 4;

struct yoke_placements {
    struct yk_library_result_inputs context;
    struct yk_placements *found;
    struct yoke_placements_info info;
    struct yoke_placement *placements;
};

static struct yoke_placement record(const struct yk_placement *placement)
{
    const bool fits = placement->schedule && placement->fit.fits;
    const bool misfits = placement->schedule && !placement->fit.fits;
    return (struct yoke_placement){
        .name = placement->name,
        .refusal = placement->refusal,
        .remark = placement->remark,
        .step_s = placement->step_s,
        .bound_s = placement->bound_s,
        .fits = fits,
        .missing_device = misfits ? placement->fit.device : -1,
        .missing_bytes = misfits ? placement->fit.missing_bytes : 0,
        .micro_batches = placement->step->micro_batch_count,
        .divided = placement->divided,
        .peak_bytes = placement->peak_bytes,
    };
}

static yk_status fill(struct yoke_placements *handle)
{
    const struct yk_placements *found = handle->found;
    struct yk_text words = {0};
    const char *source = NULL;
    YK_TRY_NEW(found->arena, handle->placements, found->count);
    for (int32_t i = 0; i < found->count; i++) {
        handle->placements[i] = record(&found->placements[i]);
    }
    yk_error_band_describe_origins(&found->steps[0]->band, &words);
    YK_TRY(yk_text_move_to_arena(&words, found->arena, &source));
    handle->info = (struct yoke_placements_info){
        .count = found->count,
        .winner = found->winner,
        .note = found->note,
        .source = source,
        .trials = found->trials,
        .cut_short = found->cut_short,
    };
    return YK_OK;
}

static yk_status compare(struct yoke_placements *handle)
{
    const struct yoke_request *given = handle->context.request;
    struct yk_placement_request request = {
        .cost_sources = &handle->context.sources,
        .config = given->model->config,
        .workload = given->model->workload,
        .micro_batches = given->micro_batches,
        .map = given->map,
        .algorithm = given->algorithm,
    };
    if (request.algorithm && strcmp(request.algorithm, "map") == 0 && !request.map) {
        return yk_fail(YK_ERROR_USAGE, "the way of placing \"map\" needs a map to follow");
    }
    YK_TRY(yk_library_convert_search_options(&given->search, usual_budget_s, &request.search));
    YK_TRY(yk_placement_compare_algorithms(&request, &handle->found));
    return fill(handle);
}

yoke_status yoke_placements_find(const yoke_request *request, yoke_placements **out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(request, out);
    yoke_placements *handle = calloc(1, sizeof *handle);
    yk_status status =
        handle ? yk_library_result_inputs_open(request, &handle->context) : yk_fail_out_of_memory();
    YK_IF_OK(compare(handle));
    YK_LIBRARY_TRY_OR_CLEANUP(status, yoke_placements_destroy(handle));
    *out = handle;
    return YOKE_OK;
}

void yoke_placements_destroy(yoke_placements *placements)
{
    if (placements) {
        yk_placements_destroy(placements->found);
        yk_library_result_inputs_close(&placements->context);
        free(placements);
    }
}

const struct yoke_placements_info *yoke_placements_info(const yoke_placements *placements)
{
    return &placements->info;
}

const struct yoke_placement *yoke_placements_at(const yoke_placements *placements, int32_t number)
{
    return YK_LIBRARY_ELEMENT_OR_NULL(placements->placements, placements->info.count, number);
}

int32_t yoke_placements_device(const yoke_placements *placements, int32_t number, int32_t layer,
                               int32_t micro_batch)
{
    if (!yoke_placements_at(placements, number)) {
        return -1;
    }
    const struct yk_placement *placement = &placements->found->placements[number];
    const struct yk_step_graph *step = placement->step;
    if (!placement->devices || layer < 0 || layer >= step->layer_count || micro_batch < 0 ||
        micro_batch >= step->micro_batch_count) {
        return -1;
    }
    return placement->devices[micro_batch * step->layer_count + layer];
}

/* Finds placement `number`. Fails if it has no schedule. */
static yk_status get(const yoke_placements *placements, int32_t number,
                     const struct yk_placement **out)
{
    const struct yoke_placement *known = yoke_placements_at(placements, number);
    if (!known) {
        return yk_fail(YK_ERROR_USAGE, "there is no placement %d; there are %d, from 0 on", number,
                       placements->info.count);
    }
    if (known->refusal) {
        return yk_fail(YK_ERROR_USAGE, "the placement \"%s\" has no step: %s", known->name,
                       known->refusal);
    }
    *out = &placements->found->placements[number];
    return YK_OK;
}

static yk_status write(const yoke_placements *placements, int32_t number,
                       enum yoke_schedule_form form, struct yk_text *out)
{
    const struct yk_placement *placement = NULL;
    YK_TRY(get(placements, number, &placement));
    const struct yk_schedule_report report = {
        .schedule = placement->schedule,
        .algorithm = placement->name,
        .source = placements->context.request->model->info.name,
        .lower_bound = llround(placement->bound_s * placement->step->graph->ticks_per_unit),
        .kinds = placement->step->kinds,
    };
    return yk_library_write_schedule(&report, form, out);
}

yoke_status yoke_placements_write(yoke_placements *placements, int32_t number,
                                  enum yoke_schedule_form form, char **out)
{
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(placements, out);
    return yk_library_return_text_or_free(write(placements, number, form, &text), &text, out);
}

static yk_status write_map(const yoke_placements *placements, int32_t number, struct yk_text *out)
{
    const struct yk_placement *placement = NULL;
    YK_TRY(get(placements, number, &placement));
    return yk_export_accelerate_device_map(placement->map, out);
}

yoke_status yoke_placements_device_map(const yoke_placements *placements, int32_t number,
                                       char **out)
{
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(placements, out);
    return yk_library_return_text_or_free(write_map(placements, number, &text), &text, out);
}
