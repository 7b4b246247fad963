#include "cost/cost.h"

#include "cost/measured.h"
#include "cost/profiled.h"
#include "model/state.h"

#include <math.h>

static double matrix_s(const struct yk_device *device, const struct yk_efficiency *efficiency,
                       const struct yk_work *work)
{
    const double operations = work->operations + work->launches * efficiency->ramp * device->part;
    const double rate =
        device->matrix_flops[work->precision] * efficiency->rate[YK_WORK_MATRIX][work->precision];
    const double refetched_bytes =
        operations / efficiency->reuse * (double)yk_precision_bytes(work->precision);
    return operations / rate + refetched_bytes / device->memory_bytes_per_s;
}

static double attention_s(const struct yk_device *device, const struct yk_efficiency *efficiency,
                          const struct yk_work *work)
{
    const double operations = work->operations + work->launches * efficiency->ramp * device->part;
    return operations / (device->matrix_flops[work->precision] *
                         efficiency->rate[YK_WORK_ATTENTION][work->precision]);
}

double yk_cost_work(const struct yk_device *device, const struct yk_efficiency *efficiencies,
                    const struct yk_work *work)
{
    const struct yk_efficiency *efficiency =
        &(efficiencies ? efficiencies : yk_efficiency_fitted())[device->generation];
    double compute_s = 0;
    switch (work->class) {
    case YK_WORK_MATRIX:
        compute_s = matrix_s(device, efficiency, work);
        break;
    case YK_WORK_ATTENTION:
        compute_s = attention_s(device, efficiency, work);
        break;
    case YK_WORK_VECTOR:
    default:
        compute_s = work->operations /
                    (device->vector_flops * efficiency->rate[YK_WORK_VECTOR][work->precision]);
        break;
    }
    const double memory_s =
        work->bytes /
        (device->memory_bytes_per_s * (work->narrow ? efficiency->narrow : efficiency->memory));
    return fmax(compute_s, memory_s) + work->launches * efficiency->launch_s;
}

const struct yk_work_list *yk_cost_works(const struct yk_layer *layer, enum yk_cost_pass pass)
{
    switch (pass) {
    case YK_COST_FORWARD:
        return &layer->forward;
    case YK_COST_BACKWARD:
        return &layer->backward;
    case YK_COST_UPDATE:
    default:
        return &layer->update;
    }
}

yk_status yk_cost_layer(const struct yk_cost_book *book, int32_t device,
                        const struct yk_model *model, const struct yk_layer *layer,
                        enum yk_cost_pass pass, struct yk_cost_time *out)
{
    const struct yk_device *on = &book->cluster->devices[device];
    const struct yk_work_list *works = yk_cost_works(layer, pass);
    struct yk_cost_time time = {0};
    bool found = false;
    YK_TRY(yk_profiled_find(book, device, model, layer, pass, &time, &found));
    if (!found && !yk_measured_find(on, model, layer, pass, &time)) {
        time = (struct yk_cost_time){0, YK_COST_DATASHEET, YK_EFFICIENCY_MOST_PERCENT / 100.0};
        for (int32_t i = 0; i < works->count; i++) {
            time.seconds += yk_cost_work(on, book->efficiencies, &works->items[i]);
        }
    }
    *out = time;
    return YK_OK;
}

double yk_cost_state_bytes(const struct yk_model *model, const struct yk_layer *layer)
{
    const struct yk_layer_state state = yk_layer_state(model, layer);
    return state.weight_bytes + state.gradient_bytes + state.optimizer_bytes;
}

const char *yk_cost_origin_name(enum yk_cost_origin origin)
{
    static const char *const names[YK_COST_ORIGINS] = {
        [YK_COST_MEASURED] = "measured",
        [YK_COST_INTERPOLATED] = "interpolated",
        [YK_COST_TABLE] = "table",
        [YK_COST_DATASHEET] = "datasheet",
    };
    return names[origin];
}

void yk_cost_describe_origin(enum yk_cost_origin origin, struct yk_text *out)
{
    switch (origin) {
    case YK_COST_MEASURED:
        yk_text_add(out, "measured on this machine");
        break;
    case YK_COST_INTERPOLATED:
        yk_text_add(out, "interpolated from what was measured on this machine");
        break;
    case YK_COST_TABLE:
        yk_text_add(out, "measured, says the cluster file");
        break;
    case YK_COST_DATASHEET:
    case YK_COST_ORIGINS:
    default:
        yk_text_addf(
            out, "datasheet with fitted efficiency, half within %d %%, nine tenths within %d %%",
            YK_EFFICIENCY_ERROR_PERCENT, YK_EFFICIENCY_MOST_PERCENT);
        break;
    }
}
