#include "planner/least.h"

#include "milp/milp.h"

#include <math.h>
#include <string.h>

struct leasting {
    struct yk_study *study;
    struct yk_arena *arena;
    int32_t *kinds;      /* one device of each kind */
    int32_t *kind_sizes; /* how many there are */
    int32_t kind_count;
    int32_t *layers;      /* one layer of each shape */
    int32_t *layer_sizes; /* how many there are */
    int32_t layer_count;
};

static yk_status find_kinds(struct leasting *leasting)
{
    const struct yk_study *study = leasting->study;
    const int32_t P = study->cluster->device_count;
    YK_TRY_NEW(leasting->arena, leasting->kinds, P);
    YK_TRY_NEW(leasting->arena, leasting->kind_sizes, P);
    for (int32_t p = 0; p < P; p++) {
        int32_t k = 0;
        if (study->request->left_out && study->request->left_out[p]) {
            continue;
        }
        while (k < leasting->kind_count && yk_prices_kind(study->prices, leasting->kinds[k]) !=
                                               yk_prices_kind(study->prices, p)) {
            k++;
        }
        if (k == leasting->kind_count) {
            leasting->kinds[leasting->kind_count++] = p;
        }
        leasting->kind_sizes[k]++;
    }
    return YK_OK;
}

/* Layers of one shape take the same; a layer measured by its name has a time of its own, so that
 * shapes are trusted only where no device has measured times. */
static yk_status find_layers(struct leasting *leasting)
{
    const struct yk_study *study = leasting->study;
    const struct yk_model *model = study->model;
    bool measured = false;
    for (int32_t p = 0; p < study->cluster->device_count; p++) {
        measured = measured || study->cluster->devices[p].measured_count > 0;
    }
    YK_TRY_NEW(leasting->arena, leasting->layers, model->layer_count);
    YK_TRY_NEW(leasting->arena, leasting->layer_sizes, model->layer_count);
    for (int32_t l = 0; l < model->layer_count; l++) {
        int32_t s = 0;
        while (s < leasting->layer_count &&
               (measured ||
                strcmp(model->layers[leasting->layers[s]].shape, model->layers[l].shape) != 0)) {
            s++;
        }
        if (s == leasting->layer_count) {
            leasting->layers[leasting->layer_count++] = l;
        }
        leasting->layer_sizes[s]++;
    }
    return YK_OK;
}

/* Seconds a sample, at the size of batch that suits the device best. */
static yk_status sample_s(const struct leasting *leasting, int32_t device, int32_t layer,
                          double *out_s)
{
    const int64_t batch = leasting->study->request->workload.batch;
    double least_s = INFINITY;
    for (int64_t samples = 1; samples <= batch; samples++) {
        double seconds = 0;
        YK_TRY(yk_study_layers_s(leasting->study, device, layer, layer, samples, NULL, &seconds));
        least_s = fmin(least_s, seconds / (double)samples);
        /* Every size up to some hundreds, then sparsely: times a sample flatten out. */
        samples += samples / 256;
    }
    double all_s = 0;
    YK_TRY(yk_study_layers_s(leasting->study, device, layer, layer, batch, NULL, &all_s));
    *out_s = fmin(least_s, all_s / (double)batch);
    return YK_OK;
}

/* Column 0 is the time; then the samples of each kind of layer on each kind of device. */
static yk_status pose(const struct leasting *leasting, struct yk_milp *milp)
{
    const double batch = (double)leasting->study->request->workload.batch;
    int32_t column = 0;
    int32_t row = 0;
    YK_TRY(yk_milp_add_column(milp, 0, INFINITY, 1, false, &column));
    for (int32_t s = 0; s < leasting->layer_count; s++) {
        const double samples = batch * leasting->layer_sizes[s];
        YK_TRY(yk_milp_add_row(milp, samples, samples, &row));
    }
    for (int32_t k = 0; k < leasting->kind_count; k++) {
        int32_t busy = 0;
        YK_TRY(yk_milp_add_row(milp, -INFINITY, 0, &busy));
        YK_TRY(yk_milp_add_entry(milp, busy, 0, -leasting->kind_sizes[k]));
        for (int32_t s = 0; s < leasting->layer_count; s++) {
            double seconds = 0;
            YK_TRY(sample_s(leasting, leasting->kinds[k], leasting->layers[s], &seconds));
            YK_TRY(yk_milp_add_column(milp, 0, INFINITY, 0, false, &column));
            YK_TRY(yk_milp_add_entry(milp, s, column, 1));
            YK_TRY(yk_milp_add_entry(milp, busy, column, seconds));
        }
    }
    return YK_OK;
}

static yk_status solve(struct leasting *leasting, double *out_s)
{
    const struct yk_milp_options options = {.relaxed = true, .budget_s = 5};
    struct yk_milp *milp = NULL;
    struct yk_milp_result result;
    YK_TRY(find_kinds(leasting));
    YK_TRY(find_layers(leasting));
    YK_TRY(yk_milp_create(&milp));
    yk_status status = pose(leasting, milp);
    if (status == YK_OK) {
        status = yk_milp_solve(milp, &options, leasting->arena, &result);
    }
    yk_milp_destroy(milp);
    YK_TRY(status);
    *out_s = result.outcome == YK_MILP_OPTIMAL ? result.objective : fmax(0, result.bound);
    return YK_OK;
}

yk_status yk_least_step_s(struct yk_study *study, double *out_s)
{
    struct leasting leasting = {.study = study};
    YK_TRY(yk_arena_create(&leasting.arena));
    const yk_status status = solve(&leasting, out_s);
    yk_arena_destroy(leasting.arena);
    return status;
}
