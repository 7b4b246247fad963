#include "cost/profiled.h"

#include "cost/curve.h"
#include "cost/profile_key.h"
#include "cost/roofline.h"
#include "profile/profile.h"

#include <math.h>

struct wanted {
    const struct yk_cost_book *book;
    const struct yk_device *device;
    const struct yk_work_list *works;
    struct yk_profile_layer layer;
    double tokens;
    bool is_update;
};

/* What was measured at the sequence of `layer` says about as many tokens; seconds are NAN where
 * there is nothing. */
static yk_status read_at(const struct wanted *wanted, int64_t sequence, struct yk_curve_value *out)
{
    struct yk_profile_layer layer = wanted->layer;
    struct yk_profile_curve curve = {0};
    layer.sequence = sequence;
    *out = (struct yk_curve_value){.seconds = NAN};
    YK_TRY(yk_profile_find_layer(wanted->book->profile, &layer, &curve));
    if (curve.count > 0) {
        /* The optimizer runs once a step, whatever the batch. */
        *out = yk_curve_at(&curve, wanted->is_update ? curve.points[0].size
                                                     : wanted->tokens / (double)sequence);
    }
    return YK_OK;
}

/* By the datasheet, with as many tokens in sequences of `ratio` times the length. */
static double datasheet_s(const struct wanted *wanted, double ratio)
{
    double seconds = 0;
    for (int32_t i = 0; i < wanted->works->count; i++) {
        struct yk_work work = wanted->works->items[i];
        work.operations *= work.class == YK_WORK_ATTENTION ? ratio : 1;
        seconds += yk_roofline_time(wanted->device, wanted->book->efficiencies, &work);
    }
    return seconds;
}

static struct yk_cost_time interpolated(double seconds, double error)
{
    return (struct yk_cost_time){seconds, YK_COST_INTERPOLATED, error};
}

/* Nothing tells how the times bend between the two sequences, but they do not leave the two: half
 * of the distance is added to the error. */
static yk_status find_between(const struct wanted *wanted, int64_t below, int64_t above,
                              struct yk_cost_time *out)
{
    struct yk_curve_value shorter;
    struct yk_curve_value longer;
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

/* As far as the datasheet changes the time, it is off as datasheets are. */
static yk_status find_beyond(const struct wanted *wanted, int64_t nearest, struct yk_cost_time *out)
{
    struct yk_curve_value known;
    YK_TRY(read_at(wanted, nearest, &known));
    const double known_s = datasheet_s(wanted, (double)nearest / (double)wanted->layer.sequence);
    const double ratio = known_s > 0 ? datasheet_s(wanted, 1) / known_s : 1;
    *out = interpolated(known.seconds * ratio,
                        known.error + YK_CURVE_FLOOR_PERCENT / 100.0 +
                            YK_EFFICIENCY_P90_ERROR_PERCENT / 100.0 * fabs(1 - 1 / ratio));
    return YK_OK;
}

static yk_status find_elsewhere(const struct wanted *wanted, struct yk_cost_time *out, bool *found)
{
    int64_t below = 0;
    int64_t above = 0;
    YK_TRY(yk_profile_find_sequences(wanted->book->profile, &wanted->layer, &below, &above));
    if (below == 0 && above == 0) {
        return YK_OK;
    }
    *found = true;
    if (wanted->is_update) { /* whatever the sequence, too */
        struct yk_curve_value value;
        YK_TRY(read_at(wanted, below > 0 ? below : above, &value));
        *out = (struct yk_cost_time){value.seconds, YK_COST_MEASURED, value.error};
        return YK_OK;
    }
    return below > 0 && above > 0 ? find_between(wanted, below, above, out)
                                  : find_beyond(wanted, below > 0 ? below : above, out);
}

yk_status yk_cost_find_profiled(const struct yk_cost_book *book, int32_t device,
                                const struct yk_model *model, const struct yk_layer *layer,
                                enum yk_cost_pass pass, struct yk_cost_time *out, bool *found)
{
    static const char *const passes[] = {"forward", "backward", "update"};
    const struct yk_device *on = &book->cluster->devices[device];
    char name[YK_PROFILE_KEY_SIZE];
    *found = false;
    if (!book->profile || !yk_profile_key_device_type(on, name)) {
        return YK_OK;
    }
    const struct wanted wanted = {
        .book = book,
        .device = on,
        .works = yk_roofline_layer_work(layer, pass),
        .layer =
            {
                .device = name,
                .part = yk_profile_key_part(on, book->facts ? &book->facts[device] : NULL),
                .shape = layer->shape,
                .sequence = model->workload.sequence,
                .pass = passes[pass],
            },
        .tokens = (double)model->workload.batch * (double)model->workload.sequence,
        .is_update = pass == YK_COST_UPDATE,
    };
    struct yk_curve_value value;
    YK_TRY(read_at(&wanted, model->workload.sequence, &value));
    if (isnan(value.seconds)) {
        return find_elsewhere(&wanted, out, found);
    }
    *found = true;
    *out = (struct yk_cost_time){
        value.seconds, value.measured ? YK_COST_MEASURED : YK_COST_INTERPOLATED, value.error};
    return YK_OK;
}
