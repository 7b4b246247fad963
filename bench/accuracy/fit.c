#include "accuracy/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FP32,
    TF32,
    HALF,
    ATTENTION_FP32,
    ATTENTION_HALF,
    REUSE,
    RAMP,
    MEMORY,
    SHARED_COUNT,
    PLAIN = SHARED_COUNT,                        /* a factor a generation on fp32 rates */
    TENSOR = PLAIN + YK_DEVICE_GENERATION_COUNT, /* and on tensor rates */
    PARAMETER_COUNT = TENSOR + YK_DEVICE_GENERATION_COUNT,
    MOST_ROUNDS = 120,
};

/* Where the search begins, and where it stays when no measurement says otherwise. */
static const double starts[SHARED_COUNT] = {
    [FP32] = 0.8,           [TF32] = 0.8,   [HALF] = 0.8, [ATTENTION_FP32] = 0.4,
    [ATTENTION_HALF] = 0.4, [REUSE] = 1000, [RAMP] = 1e9, [MEMORY] = 0.8,
};

static const double launch_s = 4e-6; /* an empty kernel; these measurements do not show it */
static const double generation_pull = 1;
static const double start_pull = 0.05;

/* The first generation whose tensor cores know the precision; before, it is computed in fp32. */
static bool has(enum yk_device_generation generation, enum yk_precision precision)
{
    switch (precision) {
    case YK_PRECISION_FP16:
        return generation == YK_DEVICE_GENERATION_UNKNOWN ||
               generation >= YK_DEVICE_GENERATION_VOLTA;
    case YK_PRECISION_TF32:
    case YK_PRECISION_BF16:
        return generation == YK_DEVICE_GENERATION_UNKNOWN ||
               generation >= YK_DEVICE_GENERATION_AMPERE;
    case YK_PRECISION_FP32:
    default:
        return false;
    }
}

static void fill_row(const double *parameters, enum yk_device_generation generation,
                     struct yk_device_efficiency *row)
{
    const double plain = exp(parameters[PLAIN + generation]);
    const double tensor = exp(parameters[TENSOR + generation]);
    for (enum yk_precision p = 0; p < YK_PRECISION_COUNT; p++) {
        const bool on_tensor = has(generation, p);
        const int product = !on_tensor ? FP32 : p == YK_PRECISION_TF32 ? TF32 : HALF;
        const double factor = on_tensor ? tensor : plain;
        row->rate[YK_KERNEL_MATRIX][p] = fmin(1, exp(parameters[product]) * factor);
        row->rate[YK_KERNEL_ATTENTION][p] =
            fmin(1, exp(parameters[on_tensor ? ATTENTION_HALF : ATTENTION_FP32]) * factor);
        row->rate[YK_KERNEL_VECTOR][p] = 0.5;
    }
    row->reuse = exp(parameters[REUSE]);
    row->ramp = exp(parameters[RAMP]);
    row->memory = fmin(1, exp(parameters[MEMORY]));
    row->narrow = row->memory;
    row->launch_s = launch_s;
}

static void fill(const double *parameters, struct yk_device_efficiency *rows)
{
    for (int g = 0; g < YK_DEVICE_GENERATION_COUNT; g++) {
        fill_row(parameters, (enum yk_device_generation)g, &rows[g]);
    }
}

struct problem {
    const struct measurement *measurements;
    size_t count;
    double *weights; /* one a measurement; 0 for those left out */
};

static double loss(const struct problem *problem, const double *parameters)
{
    struct yk_device_efficiency rows[YK_DEVICE_GENERATION_COUNT];
    double sum = 0;
    fill(parameters, rows);
    for (size_t i = 0; i < problem->count; i++) {
        const struct measurement *measurement = &problem->measurements[i];
        if (problem->weights[i] > 0) {
            sum +=
                problem->weights[i] * fabs(log(predict(measurement, rows) / measurement->seconds));
        }
    }
    for (int k = 0; k < PARAMETER_COUNT; k++) {
        sum += k < SHARED_COUNT ? start_pull * fabs(parameters[k] - log(starts[k]))
                                : generation_pull * fabs(parameters[k]);
    }
    return sum;
}

/* Steps along one parameter after another, by smaller steps when none of them helps. */
static double search(const struct problem *problem, double *parameters)
{
    double best = loss(problem, parameters);
    double step = 0.3;
    for (int round = 0; round < MOST_ROUNDS && step > 0.004; round++) {
        bool better = false;
        for (int k = 0; k < PARAMETER_COUNT; k++) {
            for (int sign = -1; sign <= 1; sign += 2) {
                const double before = parameters[k];
                parameters[k] += sign * step;
                const double tried = loss(problem, parameters);
                if (tried < best - 1e-9) {
                    best = tried;
                    better = true;
                    break;
                }
                parameters[k] = before;
            }
        }
        step = better ? step : step / 2;
    }
    return best;
}

/* A source of n rows counts as the square root of n, each row of it alike. */
static void weigh(const struct problem *problem, const char *left_out)
{
    for (size_t i = 0; i < problem->count; i++) {
        const char *source = problem->measurements[i].source;
        int rows = 0;
        for (size_t j = 0; j < problem->count; j++) {
            rows += strcmp(problem->measurements[j].source, source) == 0;
        }
        problem->weights[i] = left_out && strcmp(source, left_out) == 0 ? 0 : 1 / sqrt(rows);
    }
}

void fit_efficiencies(const struct measurement *measurements, size_t count, const char *left_out,
                      struct yk_device_efficiency out[YK_DEVICE_GENERATION_COUNT])
{
    const struct problem problem = {measurements, count, calloc(count, sizeof(double))};
    double best = INFINITY;
    if (!problem.weights) {
        exit(1);
    }
    weigh(&problem, left_out);
    /* Reuse and ramp trade against the rates, and searches end in different valleys. */
    for (int reuse = -1; reuse <= 1; reuse++) {
        for (int ramp = -1; ramp <= 1; ramp++) {
            double parameters[PARAMETER_COUNT] = {0};
            for (int k = 0; k < SHARED_COUNT; k++) {
                parameters[k] = log(starts[k]);
            }
            parameters[REUSE] += reuse;
            parameters[RAMP] += ramp;
            const double found = search(&problem, parameters);
            if (found < best) {
                best = found;
                fill(parameters, out);
            }
        }
    }
    free(problem.weights);
}

void fit_print(const struct yk_device_efficiency *efficiencies)
{
    static const char *const names[YK_DEVICE_GENERATION_COUNT] = {
        "UNKNOWN", "PASCAL", "VOLTA", "TURING", "AMPERE", "ADA", "HOPPER", "BLACKWELL", "CDNA"};
    printf(".reuse = %.0f, .ramp = %.2fe9, .memory = %.2f, .launch_s = %g\n", efficiencies[0].reuse,
           efficiencies[0].ramp / 1e9, efficiencies[0].memory, launch_s);
    for (int g = 0; g < YK_DEVICE_GENERATION_CPU; g++) {
        const double *product = efficiencies[g].rate[YK_KERNEL_MATRIX];
        const double *attention = efficiencies[g].rate[YK_KERNEL_ATTENTION];
        printf("    [YK_DEVICE_GENERATION_%s] =\n"
               "        GPU(%.2f, %.2f, %.2f, %.2f, %.2f, %.2f, %.2f, %.2f),\n",
               names[g], product[0], product[1], product[2], product[3], attention[0], attention[1],
               attention[2], attention[3]);
    }
}
