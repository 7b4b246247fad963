#include "cost/layer_costs.h"

#include "base/arena.h"
#include "cost/communication.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Times of one batch size are contiguous, because planners iterate over layers. Row 0, which is no
 * batch size, holds the updates. */
enum {
    UPDATES = 0,
    PASSES = 2, /* forward and backward; updates use only the first */
};

struct kind {
    int32_t device;                      /* the first of its kind */
    int32_t *likes;                      /* (L) the first layer with the same times */
    struct yk_cost_time_estimate **rows; /* (B + 1) of (L, PASSES); NULL until first used */
    struct yk_cost_time_estimate *loads; /* (B + 1); NULL until first used */
};

struct yk_layer_costs {
    struct yk_arena *arena;
    struct yk_cost_sources sources;
    struct yk_model_cache *cache;
    int64_t batch;
    int32_t layer_count;
    int32_t kind_count;
    struct kind *kinds;
    int32_t *kind_of; /* (P) */
    struct yk_error_band band;
};

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* NAN means: not measured; two of them are equal. */
static bool same_time(double a_s, double b_s)
{
    return a_s == b_s || (isnan(a_s) && isnan(b_s));
}

static bool same_measured(const struct yk_measured_layer_time *a,
                          const struct yk_measured_layer_time *b)
{
    return same_text(a->layer, b->layer) && same_text(a->model, b->model) &&
           same_text(a->precision, b->precision) && a->sequence == b->sequence &&
           a->batch == b->batch && same_time(a->forward_s, b->forward_s) &&
           same_time(a->backward_s, b->backward_s) && same_time(a->update_s, b->update_s);
}

/* Whether all properties that yk_cost_layer_time() reads are equal. */
static bool are_alike(const struct yk_device *a, const struct yk_device *b)
{
    bool alike = same_text(a->type, b->type) && a->generation == b->generation &&
                 a->fraction == b->fraction && a->cores == b->cores &&
                 a->memory_bytes_per_s == b->memory_bytes_per_s &&
                 a->vector_flops == b->vector_flops && a->measured_count == b->measured_count;
    for (int precision = 0; alike && precision < YK_PRECISION_COUNT; precision++) {
        alike = a->matrix_flops[precision] == b->matrix_flops[precision];
    }
    for (int32_t i = 0; alike && i < a->measured_count; i++) {
        alike = same_measured(&a->measured[i], &b->measured[i]);
    }
    return alike;
}

/* Times depend on the shape only, unless the device's measured table names the layer. */
static bool is_named(const struct yk_device *device, const struct yk_layer *layer)
{
    for (int32_t i = 0; i < device->measured_count; i++) {
        if (strcmp(device->measured[i].layer, layer->name) == 0) {
            return true;
        }
    }
    return false;
}

static yk_status find_likes(struct yk_layer_costs *costs, struct kind *kind)
{
    const struct yk_device *device = &costs->sources.cluster->devices[kind->device];
    const struct yk_layer *layers = yk_model_cache_get_whole_batch(costs->cache)->layers;
    YK_TRY_NEW(costs->arena, kind->likes, costs->layer_count);
    for (int32_t i = 0; i < costs->layer_count; i++) {
        kind->likes[i] = i;
        if (is_named(device, &layers[i])) {
            continue;
        }
        for (int32_t j = 0; j < i; j++) {
            if (kind->likes[j] == j && strcmp(layers[i].shape, layers[j].shape) == 0 &&
                strcmp(layers[i].kind, layers[j].kind) == 0 && !is_named(device, &layers[j])) {
                kind->likes[i] = j;
                break;
            }
        }
    }
    return YK_OK;
}

static yk_status sort_devices(struct yk_layer_costs *costs)
{
    const struct yk_cluster *cluster = costs->sources.cluster;
    YK_TRY_NEW(costs->arena, costs->kinds, cluster->device_count);
    YK_TRY_NEW(costs->arena, costs->kind_of, cluster->device_count);
    for (int32_t i = 0; i < cluster->device_count; i++) {
        int32_t k = 0;
        while (k < costs->kind_count &&
               !are_alike(&cluster->devices[costs->kinds[k].device], &cluster->devices[i])) {
            k++;
        }
        if (k == costs->kind_count) {
            costs->kinds[costs->kind_count++].device = i;
        }
        costs->kind_of[i] = k;
    }
    return YK_OK;
}

yk_status yk_layer_costs_create(const struct yk_cost_sources *sources, struct yk_model_cache *cache,
                                struct yk_layer_costs **out)
{
    struct yk_layer_costs *costs = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(costs);
    const struct yk_model *whole = yk_model_cache_get_whole_batch(cache);
    costs->sources = *sources;
    costs->cache = cache;
    costs->batch = whole->workload.batch;
    costs->layer_count = whole->layer_count;
    YK_TRY_OR_CLEAN_UP(sort_devices(costs), yk_layer_costs_destroy(costs));
    *out = costs;
    return YK_OK;
}

void yk_layer_costs_destroy(struct yk_layer_costs *costs)
{
    if (costs) {
        yk_arena_destroy(costs->arena);
    }
}

static yk_status open_row(struct yk_layer_costs *costs, struct kind *kind, int64_t number)
{
    struct yk_cost_time_estimate *row = NULL;
    if (!kind->rows) {
        YK_TRY(find_likes(costs, kind));
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
        YK_TRY_NEW(costs->arena, kind->rows, costs->batch + 1);
    }
    YK_TRY_NEW(costs->arena, row, (int64_t)costs->layer_count * PASSES);
    for (int32_t i = 0; i < costs->layer_count * PASSES; i++) {
        row[i].seconds = NAN;
    }
    kind->rows[number] = row;
    return YK_OK;
}

static int32_t place_of(int32_t layer, enum yk_cost_pass pass)
{
    return layer * PASSES + (pass == YK_COST_PASS_BACKWARD ? 1 : 0);
}

static yk_status look_up(struct yk_layer_costs *costs, const struct kind *kind, int64_t samples,
                         int32_t layer, enum yk_cost_pass pass, struct yk_cost_time_estimate *out)
{
    const struct yk_model *model = yk_model_cache_get_whole_batch(costs->cache);
    if (pass != YK_COST_PASS_UPDATE) {
        YK_TRY(yk_model_cache_get(costs->cache, samples, false, &model));
    }
    YK_TRY(
        yk_cost_layer_time(&costs->sources, kind->device, model, &model->layers[layer], pass, out));
    yk_error_band_add_time(&costs->band, out, out->seconds);
    return YK_OK;
}

/* Fills in a missing time, from the first layer with the same times. */
static yk_status fill(struct yk_layer_costs *costs, const struct kind *kind, int64_t number,
                      int32_t layer, enum yk_cost_pass pass)
{
    const int32_t like = kind->likes[layer];
    struct yk_cost_time_estimate *time = &kind->rows[number][place_of(layer, pass)];
    struct yk_cost_time_estimate *first = &kind->rows[number][place_of(like, pass)];
    if (isnan(first->seconds)) {
        struct yk_cost_time_estimate found;
        YK_TRY(look_up(costs, kind, number, like, pass, &found));
        *first = found;
    }
    if (like != layer) {
        *time = *first;
        yk_error_band_add_time(&costs->band, time, time->seconds);
    }
    return YK_OK;
}

yk_status yk_layer_costs_time_estimate(struct yk_layer_costs *costs, int32_t device, int32_t layer,
                                       int64_t samples, enum yk_cost_pass pass,
                                       struct yk_cost_time_estimate *out)
{
    struct kind *kind = &costs->kinds[costs->kind_of[device]];
    const int64_t number = pass == YK_COST_PASS_UPDATE ? UPDATES : samples;
    if (samples == 0 && pass != YK_COST_PASS_UPDATE) {
        *out = (struct yk_cost_time_estimate){0, YK_COST_ORIGIN_DATASHEET, 0};
        return YK_OK;
    }
    if (!kind->rows || !kind->rows[number]) {
        YK_TRY(open_row(costs, kind, number));
    }
    const struct yk_cost_time_estimate *time = &kind->rows[number][place_of(layer, pass)];
    if (isnan(time->seconds)) {
        YK_TRY(fill(costs, kind, number, layer, pass));
    }
    *out = *time;
    return YK_OK;
}

yk_status yk_layer_costs_seconds(struct yk_layer_costs *costs, int32_t device, int32_t layer,
                                 int64_t samples, enum yk_cost_pass pass, double *out_s)
{
    struct yk_cost_time_estimate time;
    YK_TRY(yk_layer_costs_time_estimate(costs, device, layer, samples, pass, &time));
    *out_s = time.seconds;
    return YK_OK;
}

/* Tokens and targets are 4 bytes each. In an encoder–decoder, targets belong to the decoder. An
 * image has a target of its own. */
static double load_bytes(const struct yk_layer_costs *costs, int64_t samples)
{
    const struct yk_workload *workload = &yk_model_cache_get_whole_batch(costs->cache)->workload;
    const int64_t numbers = workload->target_sequence > 0
                                ? workload->sequence + 2 * workload->target_sequence
                                : 2 * workload->sequence;
    const int64_t image_bytes =
        yk_model_config_image_bytes(yk_model_cache_get_whole_batch(costs->cache)->config);
    if (image_bytes > 0) {
        return (double)samples * (double)(image_bytes + (int64_t)sizeof(int32_t));
    }
    return (double)(samples * numbers) * sizeof(int32_t);
}

yk_status yk_layer_costs_input_copy_time(struct yk_layer_costs *costs, int32_t device,
                                         int64_t samples, struct yk_cost_time_estimate *out)
{
    struct kind *kind = &costs->kinds[costs->kind_of[device]];
    if (!kind->loads) {
        YK_TRY_NEW(costs->arena, kind->loads, costs->batch + 1);
        for (int64_t i = 0; i <= costs->batch; i++) {
            kind->loads[i].seconds = NAN;
        }
    }
    if (isnan(kind->loads[samples].seconds)) {
        struct yk_cost_time_estimate found;
        YK_TRY(yk_communication_copy_to_device_time(&costs->sources, kind->device,
                                                    load_bytes(costs, samples), &found));
        kind->loads[samples] = found;
    }
    *out = kind->loads[samples];
    return YK_OK;
}

int32_t yk_layer_costs_device_speed_class(const struct yk_layer_costs *costs, int32_t device)
{
    return costs->kind_of[device];
}

const struct yk_cost_sources *yk_layer_costs_sources(const struct yk_layer_costs *costs)
{
    return &costs->sources;
}

const struct yk_error_band *yk_layer_costs_error_band(const struct yk_layer_costs *costs)
{
    return &costs->band;
}
