#include "cost/cost.h"

#include "cost/curve.h"
#include "cost/profile_key.h"
#include "cost/roofline.h"
#include "model/model.h"
#include "profile/profile.h"

#include <math.h>
#include <string.h>

/* Assumed 90 % error of the cluster file's table, which was measured on a similar machine. */
static const double table_error = 0.05;

static const struct yk_kernel_work_list *works_of(const struct yk_layer *layer,
                                                  enum yk_cost_pass pass)
{
    const struct yk_kernel_work_list *const works[] = {
        [YK_COST_PASS_FORWARD] = &layer->forward,
        [YK_COST_PASS_BACKWARD] = &layer->backward,
        [YK_COST_PASS_UPDATE] = &layer->update,
    };
    return works[pass];
}

/*
 * A lookup in the profile: the curve measured at the layer's sequence length, or else those at
 * other lengths. A layer takes a + b·BT + c·BT² for B samples of T tokens, where c is due to
 * attention. At a constant number of tokens BT this is linear in T. So times between two measured
 * lengths are interpolated linearly. Beyond them, the time at the nearest length is scaled by the
 * ratio of the datasheet times at the two lengths.
 */
struct wanted {
    const struct yk_cost_sources *sources;
    const struct yk_device *device;
    const struct yk_kernel_work_list *works;
    struct yk_profile_layer_key layer;
    double tokens;
    bool is_update;
};

/* The measured time at another sequence length for the same number of tokens; NAN seconds mean: not
 * measured. */
static yk_status read_at(const struct wanted *wanted, int64_t sequence,
                         struct yk_curve_estimate *out)
{
    struct yk_profile_layer_key layer = wanted->layer;
    struct yk_profile_curve curve = {0};
    layer.sequence = sequence;
    *out = (struct yk_curve_estimate){.seconds = NAN};
    YK_TRY(yk_profile_find_layer_times(wanted->sources->profile, &layer, &curve));
    if (curve.count > 0) {
        /* The optimizer runs once a step, whatever the batch. */
        *out = yk_curve_interpolate(&curve, wanted->is_update ? curve.points[0].size
                                                              : wanted->tokens / (double)sequence);
    }
    return YK_OK;
}

/* The datasheet time of the same number of tokens in sequences `ratio` times as long. */
static double datasheet_s(const struct wanted *wanted, double ratio)
{
    double seconds = 0;
    for (int32_t i = 0; i < wanted->works->count; i++) {
        struct yk_kernel_work work = wanted->works->items[i];
        work.operations *= work.class == YK_KERNEL_ATTENTION ? ratio : 1;
        seconds += yk_roofline_time(wanted->device, wanted->sources->efficiencies, &work);
    }
    return seconds;
}

static struct yk_cost_time_estimate interpolated(double seconds, double error)
{
    return (struct yk_cost_time_estimate){seconds, YK_COST_ORIGIN_INTERPOLATED, error};
}

/* The times between two sequence lengths may not be linear, but they stay between both ends: half
 * of their distance is added to the error. */
static yk_status find_between(const struct wanted *wanted, int64_t below, int64_t above,
                              struct yk_cost_time_estimate *out)
{
    struct yk_curve_estimate shorter;
    struct yk_curve_estimate longer;
    YK_TRY(read_at(wanted, below, &shorter));
    YK_TRY(read_at(wanted, above, &longer));
    const double along = (double)(wanted->layer.sequence - below) / (double)(above - below);
    const double shorter_s = (1 - along) * shorter.seconds;
    const double longer_s = along * longer.seconds;
    const double off_s = shorter_s * shorter.error + longer_s * longer.error +
                         fabs(longer.seconds - shorter.seconds) / 2;
    *out = interpolated(shorter_s + longer_s, off_s / (shorter_s + longer_s));
    return YK_OK;
}

/* The datasheet's error applies to the part of the time that the datasheet adds. */
static yk_status find_beyond(const struct wanted *wanted, int64_t nearest,
                             struct yk_cost_time_estimate *out)
{
    struct yk_curve_estimate known;
    YK_TRY(read_at(wanted, nearest, &known));
    const double known_s = datasheet_s(wanted, (double)nearest / (double)wanted->layer.sequence);
    const double ratio = known_s > 0 ? datasheet_s(wanted, 1) / known_s : 1;
    *out = interpolated(known.seconds * ratio,
                        known.error + YK_CURVE_MIN_ERROR_PERCENT / 100.0 +
                            YK_ROOFLINE_P90_ERROR_PERCENT / 100.0 * fabs(1 - 1 / ratio));
    return YK_OK;
}

static yk_status find_elsewhere(const struct wanted *wanted, struct yk_cost_time_estimate *out,
                                bool *found)
{
    int64_t below = 0;
    int64_t above = 0;
    YK_TRY(yk_profile_find_nearest_sequence_lengths(wanted->sources->profile, &wanted->layer,
                                                    &below, &above));
    if (below == 0 && above == 0) {
        return YK_OK;
    }
    *found = true;
    if (wanted->is_update) { /* independent of the sequence length */
        struct yk_curve_estimate value;
        YK_TRY(read_at(wanted, below > 0 ? below : above, &value));
        *out = (struct yk_cost_time_estimate){value.seconds, YK_COST_ORIGIN_MEASURED, value.error};
        return YK_OK;
    }
    return below > 0 && above > 0 ? find_between(wanted, below, above, out)
                                  : find_beyond(wanted, below > 0 ? below : above, out);
}

/* `*found` is false if the profile has no usable measurement. */
static yk_status find_profiled(const struct yk_cost_sources *sources, int32_t device,
                               const struct yk_model *model, const struct yk_layer *layer,
                               enum yk_cost_pass pass, struct yk_cost_time_estimate *out,
                               bool *found)
{
    static const char *const passes[] = {"forward", "backward", "update"};
    const struct yk_device *on = &sources->cluster->devices[device];
    char name[YK_PROFILE_KEY_SIZE];
    *found = false;
    if (!sources->profile || !yk_profile_key_format_device_type(on, name)) {
        return YK_OK;
    }
    const struct wanted wanted = {
        .sources = sources,
        .device = on,
        .works = works_of(layer, pass),
        .layer =
            {
                .device = name,
                .part = yk_profile_key_measured_fraction(
                    on, sources->measurements ? &sources->measurements[device] : NULL),
                .shape = layer->shape,
                .sequence = model->workload.sequence,
                .pass = passes[pass],
            },
        .tokens = (double)model->workload.batch * (double)model->workload.sequence,
        .is_update = pass == YK_COST_PASS_UPDATE,
    };
    struct yk_curve_estimate value;
    YK_TRY(read_at(&wanted, model->workload.sequence, &value));
    if (isnan(value.seconds)) {
        return find_elsewhere(&wanted, out, found);
    }
    *found = true;
    *out = (struct yk_cost_time_estimate){
        value.seconds, value.measured ? YK_COST_ORIGIN_MEASURED : YK_COST_ORIGIN_INTERPOLATED,
        value.error};
    return YK_OK;
}

static double seconds_of(const struct yk_measured_layer_time *entry, enum yk_cost_pass pass)
{
    return pass == YK_COST_PASS_FORWARD    ? entry->forward_s
           : pass == YK_COST_PASS_BACKWARD ? entry->backward_s
                                           : entry->update_s;
}

/* Whether the entry matches the layer at some batch, sequence and precision. */
static bool names_layer(const struct yk_measured_layer_time *entry, const struct yk_layer *layer)
{
    return strcmp(entry->layer, layer->name) == 0 || strcmp(entry->layer, layer->kind) == 0 ||
           strcmp(entry->layer, layer->shape) == 0;
}

/* How specifically the entry matches the layer; 0 means: not at all. */
static int closeness(const struct yk_measured_layer_time *entry, const struct yk_model *model,
                     const struct yk_layer *layer, enum yk_cost_pass pass)
{
    const struct yk_workload *workload = &model->workload;
    const bool named = strcmp(entry->layer, layer->name) == 0;
    const bool shaped = strcmp(entry->layer, layer->shape) == 0;
    if (!names_layer(entry, layer) || isnan(seconds_of(entry, pass)) ||
        (entry->model && strcmp(entry->model, model->config->name) != 0) ||
        (entry->precision &&
         strcmp(entry->precision, yk_precision_name(workload->precision)) != 0) ||
        (entry->sequence != 0 && entry->sequence != workload->sequence)) {
        return 0;
    }
    return 1 + (named ? 16 : 0) + (shaped ? 8 : 0) + (entry->model ? 4 : 0) +
           (entry->precision ? 2 : 0) + (entry->sequence != 0 ? 1 : 0);
}

/* The entries of closeness `closest` with the nearest batch sizes on either side, or with the exact
 * batch size. Returns their number. */
static int32_t neighbours(const struct yk_device *device, const struct yk_model *model,
                          const struct yk_layer *layer, enum yk_cost_pass pass, int closest,
                          struct yk_profile_point points[2])
{
    const double batch = (double)model->workload.batch;
    struct yk_profile_point below = {0};
    struct yk_profile_point above = {.size = INFINITY};
    for (int32_t i = 0; i < device->measured_count; i++) {
        const struct yk_measured_layer_time *entry = &device->measured[i];
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

/*
 * A lookup in the device's measured table, interpolated between batch sizes. The most specific
 * entries win: the layer's name before its kind, then model, precision and sequence. Returns false
 * if no entry matches.
 */
static bool find_measured(const struct yk_device *device, const struct yk_model *model,
                          const struct yk_layer *layer, enum yk_cost_pass pass,
                          struct yk_cost_time_estimate *out)
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
    const struct yk_curve_estimate value = yk_curve_interpolate(
        &curve, pass == YK_COST_PASS_UPDATE ? points[0].size : (double)model->workload.batch);
    *out = (struct yk_cost_time_estimate){value.seconds, YK_COST_ORIGIN_CLUSTER_FILE,
                                          fmax(value.error, table_error)};
    return true;
}

const struct yk_measured_layer_time *yk_cost_find_unused_measurement(const struct yk_device *device,
                                                                     const struct yk_model *model)
{
    for (int32_t i = 0; i < device->measured_count; i++) {
        const struct yk_measured_layer_time *entry = &device->measured[i];
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

yk_status yk_cost_layer_time(const struct yk_cost_sources *sources, int32_t device,
                             const struct yk_model *model, const struct yk_layer *layer,
                             enum yk_cost_pass pass, struct yk_cost_time_estimate *out)
{
    const struct yk_device *on = &sources->cluster->devices[device];
    const struct yk_kernel_work_list *works = works_of(layer, pass);
    struct yk_cost_time_estimate time = {0};
    bool found = false;
    YK_TRY(find_profiled(sources, device, model, layer, pass, &time, &found));
    if (!found && !find_measured(on, model, layer, pass, &time)) {
        time = (struct yk_cost_time_estimate){0, YK_COST_ORIGIN_DATASHEET,
                                              YK_ROOFLINE_P90_ERROR_PERCENT / 100.0};
        for (int32_t i = 0; i < works->count; i++) {
            time.seconds += yk_roofline_time(on, sources->efficiencies, &works->items[i]);
        }
    }
    *out = time;
    return YK_OK;
}

double yk_cost_layer_state_bytes(const struct yk_model *model, const struct yk_layer *layer)
{
    const struct yk_model_layer_state_bytes state = yk_model_layer_state_bytes(model, layer);
    return state.weight_bytes + state.gradient_bytes + state.optimizer_bytes;
}

const char *yk_cost_origin_name(enum yk_cost_origin origin)
{
    static const char *const names[YK_COST_ORIGIN_COUNT] = {
        [YK_COST_ORIGIN_MEASURED] = "measured",
        [YK_COST_ORIGIN_INTERPOLATED] = "interpolated",
        [YK_COST_ORIGIN_CLUSTER_FILE] = "table",
        [YK_COST_ORIGIN_DATASHEET] = "datasheet",
    };
    return names[origin];
}

void yk_cost_describe_origin(enum yk_cost_origin origin, struct yk_text *out)
{
    static const char *const texts[YK_COST_ORIGIN_DATASHEET] = {
        [YK_COST_ORIGIN_MEASURED] = "measured on this machine",
        [YK_COST_ORIGIN_INTERPOLATED] = "interpolated from what was measured on this machine",
        [YK_COST_ORIGIN_CLUSTER_FILE] = "measured, says the cluster file",
    };
    if (origin < YK_COST_ORIGIN_DATASHEET) {
        yk_text_add(out, texts[origin]);
        return;
    }
    yk_text_addf(out,
                 "datasheet with fitted efficiency, half within %d %%, nine tenths within %d %%",
                 YK_ROOFLINE_MEDIAN_ERROR_PERCENT, YK_ROOFLINE_P90_ERROR_PERCENT);
}
