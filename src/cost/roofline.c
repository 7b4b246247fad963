#include "cost/roofline.h"

#include <math.h>

/* Matrix products in fp32, tf32, fp16 and bf16, then attention in the same. Precisions that a
 * generation lacks run in fp32 with its efficiency. Vector work reaches half of the peak, since not
 * every instruction is a multiply-add. */
#define RATES(p_fp32, p_tf32, p_fp16, p_bf16, a_fp32, a_tf32, a_fp16, a_bf16)                      \
    {                                                                                              \
        [YK_KERNEL_MATRIX] = {(p_fp32), (p_tf32), (p_fp16), (p_bf16)},                             \
        [YK_KERNEL_ATTENTION] = {(a_fp32), (a_tf32), (a_fp16), (a_bf16)},                          \
        [YK_KERNEL_VECTOR] = {0.5, 0.5, 0.5, 0.5},                                                 \
    }

/* Values shared by all GPUs. The launch time is that of an empty kernel and was not fitted. */
#define GPU(...)                                                                                   \
    {                                                                                              \
        .rate = RATES(__VA_ARGS__), .reuse = 1088, .ramp = 0.97e9, .memory = 0.63, .narrow = 0.63, \
        .launch_s = 4e-6                                                                           \
    }

static const struct yk_device_efficiency fitted[YK_DEVICE_GENERATION_COUNT] = {
    [YK_DEVICE_GENERATION_UNKNOWN] = GPU(0.86, 0.93, 1.00, 1.00, 0.40, 0.29, 0.29, 0.29),
    [YK_DEVICE_GENERATION_PASCAL] = GPU(0.86, 0.86, 0.86, 0.86, 0.40, 0.40, 0.40, 0.40),
    [YK_DEVICE_GENERATION_VOLTA] = GPU(0.93, 0.93, 1.00, 0.93, 0.43, 0.43, 0.29, 0.43),
    [YK_DEVICE_GENERATION_TURING] = GPU(0.86, 0.86, 1.00, 0.86, 0.40, 0.40, 0.29, 0.40),
    [YK_DEVICE_GENERATION_AMPERE] = GPU(0.86, 0.93, 1.00, 1.00, 0.40, 0.29, 0.29, 0.29),
    [YK_DEVICE_GENERATION_ADA] = GPU(0.86, 0.93, 1.00, 1.00, 0.40, 0.29, 0.29, 0.29),
    [YK_DEVICE_GENERATION_HOPPER] = GPU(0.86, 0.77, 0.83, 0.83, 0.40, 0.24, 0.24, 0.24),
    [YK_DEVICE_GENERATION_BLACKWELL] = GPU(0.86, 0.93, 1.00, 1.00, 0.40, 0.29, 0.29, 0.29),
    [YK_DEVICE_GENERATION_CDNA] = GPU(0.86, 0.93, 1.00, 1.00, 0.40, 0.29, 0.29, 0.29),
    /* Not fitted: typical of BLAS libraries on a few cores, whose products need little ramp. 16-bit
     * numbers are converted to fp32 and back: steps of small models on a Neoverse core take 1.16 to
     * 1.37 times as long in bf16 as in fp32, and 1.51 to 1.69 times in fp16. Half the bytes take as
     * much time as all of them. */
    [YK_DEVICE_GENERATION_CPU] =
        {
            .rate = RATES(0.80, 0.80, 0.50, 0.63, 0.40, 0.40, 0.25, 0.31),
            .reuse = 1088,
            .ramp = 1e6,
            .memory = 0.63,
            .narrow = 0.24,
            .launch_s = 2e-6,
        },
};

const struct yk_device_efficiency *yk_roofline_fitted_efficiencies(void)
{
    return fitted;
}

static double matrix_s(const struct yk_device *device,
                       const struct yk_device_efficiency *efficiency,
                       const struct yk_kernel_work *work)
{
    const double operations =
        work->operations + work->launches * efficiency->ramp * device->fraction;
    const double rate =
        device->matrix_flops[work->precision] * efficiency->rate[YK_KERNEL_MATRIX][work->precision];
    const double refetched_bytes =
        operations / efficiency->reuse * (double)yk_precision_bytes(work->precision);
    return operations / rate + refetched_bytes / device->memory_bytes_per_s;
}

static double attention_s(const struct yk_device *device,
                          const struct yk_device_efficiency *efficiency,
                          const struct yk_kernel_work *work)
{
    const double operations =
        work->operations + work->launches * efficiency->ramp * device->fraction;
    return operations / (device->matrix_flops[work->precision] *
                         efficiency->rate[YK_KERNEL_ATTENTION][work->precision]);
}

double yk_roofline_time(const struct yk_device *device,
                        const struct yk_device_efficiency *efficiencies,
                        const struct yk_kernel_work *work)
{
    const struct yk_device_efficiency *efficiency =
        &(efficiencies ? efficiencies : yk_roofline_fitted_efficiencies())[device->generation];
    double compute_s = 0;
    switch (work->class) {
    case YK_KERNEL_MATRIX:
        compute_s = matrix_s(device, efficiency, work);
        break;
    case YK_KERNEL_ATTENTION:
        compute_s = attention_s(device, efficiency, work);
        break;
    case YK_KERNEL_VECTOR:
    default:
        compute_s = work->operations /
                    (device->vector_flops * efficiency->rate[YK_KERNEL_VECTOR][work->precision]);
        break;
    }
    const double memory_s =
        work->bytes /
        (device->memory_bytes_per_s * (work->narrow ? efficiency->narrow : efficiency->memory));
    return fmax(compute_s, memory_s) + work->launches * efficiency->launch_s;
}
