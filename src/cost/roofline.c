#include "cost/roofline.h"

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

double yk_roofline_time(const struct yk_device *device, const struct yk_efficiency *efficiencies,
                        const struct yk_work *work)
{
    const struct yk_efficiency *efficiency =
        &(efficiencies ? efficiencies : yk_roofline_fitted_efficiency())[device->generation];
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

const struct yk_work_list *yk_roofline_layer_work(const struct yk_layer *layer,
                                                  enum yk_cost_pass pass)
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
