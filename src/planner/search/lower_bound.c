/*
 * Lower bound of the step time of any plan: a linear program over kinds of layers and kinds of
 * devices, in which work can be divided arbitrarily and communication is free.
 *
 * Some devices are faster while others are idle (sim/idle_speedup.h). The total work is convex in
 * the busy time of each device, so the optimum is at a choice of busy devices. The program is
 * solved for every choice, and the bound is the smallest result.
 */
#include "planner/search/search.h"

#include "milp/milp.h"
#include "sim/idle_speedup.h"

#include <math.h>
#include <string.h>

/* Up to this many choices of busy devices are tried; beyond that, all devices count as fast as if
 * the others were idle. */
enum {
    MAX_CHOICES = 256
};

struct bounding {
    struct yk_search_context *context;
    struct yk_arena *arena;
    int32_t *kinds;      /* one device of each kind */
    int32_t *kind_sizes; /* how many there are */
    int32_t *at_work;    /* of these */
    double *scales;      /* of what a kind takes, with these at work */
    double *sample_s;    /* (kinds, layers) seconds per sample, at the best batch size */
    int32_t kind_count;
    int32_t *layers;      /* one layer of each shape */
    int32_t *layer_sizes; /* how many there are */
    int32_t layer_count;
};

static yk_status find_kinds(struct bounding *bounding)
{
    const struct yk_search_context *context = bounding->context;
    const int32_t P = context->cluster->device_count;
    YK_TRY_NEW(bounding->arena, bounding->kinds, P);
    YK_TRY_NEW(bounding->arena, bounding->kind_sizes, P);
    YK_TRY_NEW(bounding->arena, bounding->at_work, P);
    YK_TRY_NEW(bounding->arena, bounding->scales, P);
    for (int32_t p = 0; p < P; p++) {
        int32_t k = 0;
        if (yk_search_context_excludes_device(context, p)) {
            continue;
        }
        while (k < bounding->kind_count &&
               yk_layer_costs_device_speed_class(context->costs, bounding->kinds[k]) !=
                   yk_layer_costs_device_speed_class(context->costs, p)) {
            k++;
        }
        if (k == bounding->kind_count) {
            bounding->kinds[bounding->kind_count++] = p;
        }
        bounding->kind_sizes[k]++;
    }
    return YK_OK;
}

/* Layers of one shape have equal times, unless a device has measured times, which may be given by
 * name. */
static yk_status find_layers(struct bounding *bounding)
{
    const struct yk_search_context *context = bounding->context;
    const struct yk_model *model = context->model;
    bool measured = false;
    for (int32_t p = 0; p < context->cluster->device_count; p++) {
        measured = measured || context->cluster->devices[p].measured_count > 0;
    }
    YK_TRY_NEW(bounding->arena, bounding->layers, model->layer_count);
    YK_TRY_NEW(bounding->arena, bounding->layer_sizes, model->layer_count);
    for (int32_t l = 0; l < model->layer_count; l++) {
        int32_t s = 0;
        while (s < bounding->layer_count &&
               (measured ||
                strcmp(model->layers[bounding->layers[s]].shape, model->layers[l].shape) != 0)) {
            s++;
        }
        if (s == bounding->layer_count) {
            bounding->layers[bounding->layer_count++] = l;
        }
        bounding->layer_sizes[s]++;
    }
    return YK_OK;
}

static yk_status find_sample_s(const struct bounding *bounding, int32_t device, int32_t layer,
                               double *out_s)
{
    const int64_t batch = bounding->context->request->workload.batch;
    double min_s = INFINITY;
    for (int64_t samples = 1; samples <= batch; samples++) {
        double seconds = 0;
        YK_TRY(yk_search_context_layer_compute_s(bounding->context, device, layer, samples, false,
                                                 &seconds));
        min_s = fmin(min_s, seconds / (double)samples);
        /* Every size up to 256, then fewer, since times per sample flatten out. */
        samples += samples / 256;
    }
    double all_s = 0;
    YK_TRY(
        yk_search_context_layer_compute_s(bounding->context, device, layer, batch, false, &all_s));
    *out_s = fmin(min_s, all_s / (double)batch);
    return YK_OK;
}

static yk_status find_times(struct bounding *bounding)
{
    YK_TRY_NEW(bounding->arena, bounding->sample_s,
               (int64_t)bounding->kind_count * bounding->layer_count);
    double *next_s = bounding->sample_s;
    for (int32_t k = 0; k < bounding->kind_count; k++) {
        for (int32_t s = 0; s < bounding->layer_count; s++) {
            YK_TRY(find_sample_s(bounding, bounding->kinds[k], bounding->layers[s], next_s++));
        }
    }
    return YK_OK;
}

/* Column 0 is the time; then the samples of each kind of layer on each kind of device. */
static yk_status build_program(const struct bounding *bounding, struct yk_milp *milp)
{
    const double batch = (double)bounding->context->request->workload.batch;
    int32_t column = 0;
    int32_t row = 0;
    YK_TRY(yk_milp_add_column(milp, 0, INFINITY, 1, false, &column));
    for (int32_t s = 0; s < bounding->layer_count; s++) {
        const double samples = batch * bounding->layer_sizes[s];
        YK_TRY(yk_milp_add_row(milp, samples, samples, &row));
    }
    for (int32_t k = 0; k < bounding->kind_count; k++) {
        int32_t busy = 0;
        YK_TRY(yk_milp_add_row(milp, -INFINITY, 0, &busy));
        YK_TRY(yk_milp_add_coefficient(milp, busy, 0, -bounding->at_work[k]));
        for (int32_t s = 0; s < bounding->layer_count; s++) {
            const double seconds =
                bounding->scales[k] * bounding->sample_s[(int64_t)k * bounding->layer_count + s];
            YK_TRY(yk_milp_add_column(milp, 0, INFINITY, 0, false, &column));
            YK_TRY(yk_milp_add_coefficient(milp, s, column, 1));
            YK_TRY(yk_milp_add_coefficient(milp, busy, column, seconds));
        }
    }
    return YK_OK;
}

static yk_status solve(const struct bounding *bounding, double *out_s)
{
    const struct yk_milp_options options = {.relaxed = true, .budget_s = 1};
    struct yk_milp *milp = NULL;
    struct yk_milp_result result;
    YK_TRY(yk_milp_create(&milp));
    yk_status status = build_program(bounding, milp);
    YK_IF_OK(yk_milp_solve(milp, &options, bounding->arena, &result));
    yk_milp_destroy(milp);
    YK_TRY(status);
    *out_s = result.outcome == YK_MILP_OPTIMAL ? result.objective : fmax(0, result.bound);
    return YK_OK;
}

/* The number of choices; 1 if no device is faster while others are idle. */
static int64_t count_choices(const struct bounding *bounding)
{
    int64_t count = 1;
    bool crowded = false;
    for (int32_t k = 0; k < bounding->kind_count; k++) {
        count *= count <= MAX_CHOICES ? bounding->kind_sizes[k] + 1 : 1;
        crowded = crowded || yk_sim_idle_speedup_time_factor(bounding->context->cluster,
                                                             bounding->context->measurements,
                                                             bounding->kinds[k], 0) < 1;
    }
    return crowded ? count - 1 : 1;
}

/* Sets `at_work`; in choice 0 all devices are busy. */
static void choose(struct bounding *bounding, int64_t choice)
{
    for (int32_t k = 0; k < bounding->kind_count; k++) {
        const int32_t sizes = bounding->kind_sizes[k] + 1;
        bounding->at_work[k] = bounding->kind_sizes[k] - (int32_t)(choice % sizes);
        choice /= sizes;
    }
}

static void find_scales(struct bounding *bounding, bool others_idle)
{
    const struct yk_cluster *cluster = bounding->context->cluster;
    double busy = 0;
    for (int32_t k = 0; k < bounding->kind_count; k++) {
        busy += bounding->at_work[k] * cluster->devices[bounding->kinds[k]].fraction;
    }
    for (int32_t k = 0; k < bounding->kind_count; k++) {
        const int32_t own = bounding->kinds[k];
        bounding->scales[k] = yk_sim_idle_speedup_time_factor(
            cluster, bounding->context->measurements, own,
            others_idle ? 0 : busy - cluster->devices[own].fraction);
    }
}

static yk_status find_bound(struct bounding *bounding, struct yk_arena *arena, double *out_s)
{
    bounding->arena = arena;
    YK_TRY(find_kinds(bounding));
    YK_TRY(find_layers(bounding));
    YK_TRY(find_times(bounding));
    const int64_t choices = count_choices(bounding);
    bool too_many = choices > MAX_CHOICES;
    *out_s = INFINITY;
    for (int64_t choice = 0; choice < (too_many ? 1 : choices); choice++) {
        double min_s = 0;
        if (choice > 0 && yk_deadline_has_passed(&bounding->context->deadline)) {
            too_many = true; /* no time left for all choices */
            choice = 0;
        }
        choose(bounding, choice);
        find_scales(bounding, too_many);
        YK_TRY(solve(bounding, &min_s));
        *out_s = fmin(*out_s, min_s);
    }
    return YK_OK;
}

yk_status yk_lower_bound_of_step_s(struct yk_search_context *context, double *out_s)
{
    struct bounding bounding = {.context = context};
    YK_TRY_WITH_TEMPORARY_ARENA(arena, find_bound(&bounding, arena, out_s));
    return YK_OK;
}
