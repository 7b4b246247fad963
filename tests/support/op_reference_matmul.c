#include "support/op_reference.h"

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

double reference_ending(enum yk_ending ending, double x, double aux)
{
    switch (ending) {
    case YK_ENDING_GELU:
        return gelu(x);
    case YK_ENDING_GELU_ERF:
        return gelu_erf(x);
    case YK_ENDING_RELU:
        return x > 0 ? x : 0;
    case YK_ENDING_SILU:
        return silu(x);
    case YK_ENDING_GELU_BACK:
        return x * gelu_slope(aux);
    case YK_ENDING_GELU_ERF_BACK:
        return x * gelu_erf_slope(aux);
    case YK_ENDING_RELU_BACK:
        return aux > 0 ? x : 0;
    case YK_ENDING_SILU_BACK:
        return x * silu_slope(aux);
    default:
        return x;
    }
}

static double product_at(const struct yk_matmul *op, const struct reference_matmul *numbers,
                         int64_t row, int64_t column)
{
    const double *a = op->a_transposed ? numbers->a + row : numbers->a + row * op->k;
    const double *b = op->b_transposed ? numbers->b + column * op->k : numbers->b + column;
    const int64_t a_step = op->a_transposed ? op->m : 1;
    const int64_t b_step = op->b_transposed ? 1 : op->n;
    double sum = 0;
    for (int64_t i = 0; i < op->k; i++) {
        sum += a[i * a_step] * b[i * b_step];
    }
    return (double)op->scale * sum;
}

void reference_matmul(const struct yk_matmul *op, const struct reference_matmul *numbers)
{
    for (int64_t i = 0; i < op->m; i++) {
        for (int64_t j = 0; j < op->n; j++) {
            const int64_t at = i * op->n + j;
            const double product = product_at(op, numbers, i, j);
            if (op->accumulate) {
                numbers->c[at] += product;
                continue;
            }
            const double x = product + (numbers->bias ? numbers->bias[j] : 0) +
                             (numbers->add ? numbers->add[at] : 0);
            if (numbers->inner) {
                numbers->inner[at] = x;
            }
            numbers->c[at] = reference_ending(op->ending, x, numbers->aux ? numbers->aux[at] : 0);
        }
    }
}
