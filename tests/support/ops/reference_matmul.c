#include "support/ops/reference.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* Hendrycks and Gimpel 2016: x · P(X ≤ x), with P by tanh, or exactly. */
static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
}

static double gelu_slope(double x)
{
    const double t = tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x));
    const double inner_slope = sqrt(2 / pi) * (1 + 3 * 0.044715 * x * x);
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner_slope;
}

static double gelu_erf(double x)
{
    return 0.5 * x * (1 + erf(x / sqrt(2)));
}

static double gelu_erf_slope(double x)
{
    return 0.5 * (1 + erf(x / sqrt(2))) + x * exp(-0.5 * x * x) / sqrt(2 * pi);
}

/* Elfwing et al. 2017. */
static double silu(double x)
{
    return x / (1 + exp(-x));
}

static double silu_slope(double x)
{
    const double gate = 1 / (1 + exp(-x));
    return gate + x * gate * (1 - gate);
}

double reference_activation(enum yk_activation activation, double x)
{
    switch (activation) {
    case YK_ACTIVATION_GELU_TANH:
        return gelu(x);
    case YK_ACTIVATION_GELU:
        return gelu_erf(x);
    case YK_ACTIVATION_RELU:
        return x > 0 ? x : 0;
    case YK_ACTIVATION_RELU_SQUARED:
        return x > 0 ? x * x : 0;
    case YK_ACTIVATION_SILU:
        return silu(x);
    default:
        return tanh(x);
    }
}

double reference_activation_slope(enum yk_activation activation, double x)
{
    switch (activation) {
    case YK_ACTIVATION_GELU_TANH:
        return gelu_slope(x);
    case YK_ACTIVATION_GELU:
        return gelu_erf_slope(x);
    case YK_ACTIVATION_RELU:
        return x > 0 ? 1 : 0;
    case YK_ACTIVATION_RELU_SQUARED:
        return x > 0 ? 2 * x : 0;
    case YK_ACTIVATION_SILU:
        return silu_slope(x);
    default:
        return 1 - tanh(x) * tanh(x);
    }
}

double reference_epilogue(enum yk_matmul_epilogue epilogue, double x, double aux)
{
    switch (epilogue) {
    case YK_EPILOGUE_GELU:
        return reference_activation(YK_ACTIVATION_GELU_TANH, x);
    case YK_EPILOGUE_GELU_ERF:
        return reference_activation(YK_ACTIVATION_GELU, x);
    case YK_EPILOGUE_RELU:
        return reference_activation(YK_ACTIVATION_RELU, x);
    case YK_EPILOGUE_RELU_SQUARED:
        return reference_activation(YK_ACTIVATION_RELU_SQUARED, x);
    case YK_EPILOGUE_SILU:
        return reference_activation(YK_ACTIVATION_SILU, x);
    case YK_EPILOGUE_GELU_BACKWARD:
        return x * reference_activation_slope(YK_ACTIVATION_GELU_TANH, aux);
    case YK_EPILOGUE_GELU_ERF_BACKWARD:
        return x * reference_activation_slope(YK_ACTIVATION_GELU, aux);
    case YK_EPILOGUE_RELU_BACKWARD:
        return x * reference_activation_slope(YK_ACTIVATION_RELU, aux);
    case YK_EPILOGUE_RELU_SQUARED_BACKWARD:
        return x * reference_activation_slope(YK_ACTIVATION_RELU_SQUARED, aux);
    case YK_EPILOGUE_SILU_BACKWARD:
        return x * reference_activation_slope(YK_ACTIVATION_SILU, aux);
    default:
        return x;
    }
}

enum {
    COLUMNS = 64, /* that are summed up side by side */
};

static void multiply(const struct yk_matmul_op *op, const struct reference_matmul *numbers,
                     int64_t row, int64_t first, int64_t count, double out[COLUMNS])
{
    for (int64_t j = 0; j < count; j++) {
        out[j] = 0;
    }
    for (int64_t i = 0; i < op->k; i++) {
        const double a = numbers->a[op->a_transposed ? i * op->m + row : row * op->k + i];
        const double *b = numbers->b + (op->b_transposed ? first * op->k + i : i * op->n + first);
        for (int64_t j = 0; j < count; j++) {
            out[j] += a * b[op->b_transposed ? j * op->k : j];
        }
    }
}

static void end_product(const struct yk_matmul_op *op, const struct reference_matmul *numbers,
                        int64_t row, int64_t column, double product)
{
    const int64_t at = row * op->n + column;
    if (op->accumulate) {
        numbers->c[at] += product;
        return;
    }
    const double x = product + (numbers->bias ? numbers->bias[column] : 0) +
                     (numbers->add ? numbers->add[at] : 0);
    if (numbers->inner) {
        numbers->inner[at] = x;
    }
    numbers->c[at] = reference_epilogue(op->epilogue, x, numbers->aux ? numbers->aux[at] : 0);
}

void reference_matmul(const struct yk_matmul_op *op, const struct reference_matmul *numbers)
{
    for (int64_t i = 0; i < op->m; i++) {
        for (int64_t first = 0; first < op->n; first += COLUMNS) {
            const int64_t count = op->n - first < COLUMNS ? op->n - first : COLUMNS;
            double products[COLUMNS];
            multiply(op, numbers, i, first, count, products);
            for (int64_t j = 0; j < count; j++) {
                end_product(op, numbers, i, first + j, (double)op->scale * products[j]);
            }
        }
    }
}

void reference_matmul_sums(const struct yk_matmul_op *op, const double *from, double *sums)
{
    const int64_t rows = op->sums_of == YK_MATMUL_ROW_SUM_C ? op->m : op->k;
    const int64_t columns = op->sums_of == YK_MATMUL_ROW_SUM_A ? op->m : op->n;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            sums[j] += from[i * columns + j];
        }
    }
}
