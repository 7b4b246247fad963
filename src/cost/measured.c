#include "cost/measured.h"

#include "cost/curve.h"

#include <math.h>
#include <string.h>

static double seconds_of(const struct yk_measured_layer *entry, enum yk_cost_pass pass)
{
    switch (pass) {
    case YK_COST_FORWARD:
        return entry->forward_s;
    case YK_COST_BACKWARD:
        return entry->backward_s;
    case YK_COST_UPDATE:
    default:
        return entry->update_s;
    }
}

/* How much the entry says about what it is for; 0 when it is not for this layer. */
static int closeness(const struct yk_measured_layer *entry, const struct yk_model *model,
                     const struct yk_layer *layer, enum yk_cost_pass pass)
{
    const struct yk_workload *workload = &model->workload;
    const bool named = strcmp(entry->layer, layer->name) == 0;
    const bool shaped = strcmp(entry->layer, layer->shape) == 0;
    if ((!named && !shaped && strcmp(entry->layer, layer->kind) != 0) ||
        isnan(seconds_of(entry, pass)) ||
        (entry->model && strcmp(entry->model, model->config->name) != 0) ||
        (entry->precision &&
         strcmp(entry->precision, yk_precision_name(workload->precision)) != 0) ||
        (entry->sequence != 0 && entry->sequence != workload->sequence)) {
        return 0;
    }
    return 1 + (named ? 16 : 0) + (shaped ? 8 : 0) + (entry->model ? 4 : 0) +
           (entry->precision ? 2 : 0) + (entry->sequence != 0 ? 1 : 0);
}

/* The points around `batch` among the entries of that closeness: the nearest on either side, or the
 * batch itself. */
static int32_t neighbours(const struct yk_device *device, const struct yk_model *model,
                          const struct yk_layer *layer, enum yk_cost_pass pass, int closest,
                          struct yk_profile_point points[2])
{
    const double batch = (double)model->workload.batch;
    struct yk_profile_point below = {0};
    struct yk_profile_point above = {.size = INFINITY};
    for (int32_t i = 0; i < device->measured_count; i++) {
        const struct yk_measured_layer *entry = &device->measured[i];
        const double size = (double)entry->batch;
        if (closeness(entry, model, layer, pass) != closest) {
            continue;
        }
        if (size <= batch && size > below.size) {
            below = (struct yk_profile_point){.size = size, .seconds = seconds_of(entry, pass)};
        }
        if (size >= batch && size < above.size) {
            above = (struct yk_profile_point){.size = size, .seconds = seconds_of(entry, pass)};
        }
    }
    int32_t count = 0;
    if (below.size > 0) {
        points[count++] = below;
    }
    if (above.size < INFINITY && above.size > below.size) {
        points[count++] = above;
    }
    return count;
}

bool yk_cost_find_measured(const struct yk_device *device, const struct yk_model *model,
                           const struct yk_layer *layer, enum yk_cost_pass pass,
                           struct yk_cost_time *out)
{
    int closest = 0;
    for (int32_t i = 0; i < device->measured_count; i++) {
        const int close = closeness(&device->measured[i], model, layer, pass);
        closest = close > closest ? close : closest;
    }
    struct yk_profile_point points[2] = {{0}};
    const int32_t count = closest > 0 ? neighbours(device, model, layer, pass, closest, points) : 0;
    if (count == 0) {
        return false;
    }
    /* The optimizer runs once a step, whatever the batch. */
    const struct yk_profile_curve curve = {points, count};
    const struct yk_curve_value value = yk_curve_at(
        &curve, pass == YK_COST_UPDATE ? points[0].size : (double)model->workload.batch);
    *out = (struct yk_cost_time){value.seconds, YK_COST_TABLE,
                                 fmax(value.error, YK_COST_TABLE_PERCENT / 100.0)};
    return true;
}

/* Whether the entry is for this layer, whatever the batch, sequence and precision. */
static bool names_layer(const struct yk_measured_layer *entry, const struct yk_layer *layer)
{
    return strcmp(entry->layer, layer->name) == 0 || strcmp(entry->layer, layer->kind) == 0 ||
           strcmp(entry->layer, layer->shape) == 0;
}

const struct yk_measured_layer *yk_cost_unused_measurement(const struct yk_device *device,
                                                           const struct yk_model *model)
{
    for (int32_t i = 0; i < device->measured_count; i++) {
        const struct yk_measured_layer *entry = &device->measured[i];
        bool used = entry->model && strcmp(entry->model, model->config->name) != 0;
        for (int32_t l = 0; l < model->layer_count && !used; l++) {
            used = names_layer(entry, &model->layers[l]);
        }
        if (!used) {
            return entry;
        }
    }
    return NULL;
}
