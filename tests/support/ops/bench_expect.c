#include "support/ops/bench.h"

#include <math.h>

struct error {
    double norm;      /* of the difference, squared */
    double expected;  /* of what is expected, squared */
    double worst;     /* the largest difference; infinite where one is no number */
    double largest;   /* of what is expected */
    int64_t worst_at; /* −1: there is no difference */
};

static struct error error_of(const struct op_array *array, const double *expected, double size)
{
    struct error error = {.worst_at = -1, .largest = size};
    const int64_t count = array->rows * array->columns;
    for (int64_t i = 0; i < count; i++) {
        const double got = array->results[i];
        double difference = fabs(got - expected[i]);
        if (!isfinite(expected[i]) || !isfinite(got)) {
            const bool same = got == expected[i] || (isnan(got) && isnan(expected[i]));
            difference = same ? 0 : (double)INFINITY;
        } else {
            error.expected += expected[i] * expected[i];
            error.largest = fmax(error.largest, fabs(expected[i]));
        }
        error.norm += difference * difference;
        if (difference > error.worst) {
            error.worst = difference;
            error.worst_at = i;
        }
    }
    error.expected = fmax(error.expected, size * size * (double)count);
    return error;
}

void op_expect_within(struct op_bench *bench, struct op_array *array, const char *what,
                      const double *expected, double size, double tolerance)
{
    array->expected = true;
    const struct error error = error_of(array, expected, size);
    if (error.worst_at < 0) {
        return;
    }
    const double norm = sqrt(error.norm / error.expected);
    const double worst = error.worst / error.largest;
    if (array->kind == OP_STORED) {
        bench->worst[array->type] = fmax(bench->worst[array->type], norm);
    }
    /* A single number may be as far off as rounding at the largest one, several times. */
    if (!(norm <= tolerance) || !(worst <= 4 * tolerance)) {
        op_complain(bench,
                    "%s: error in norm %.3g (at most %.3g), largest %.3g (at most %.3g) in row "
                    "%lld, column %lld: %.9g instead of %.9g",
                    what, norm, tolerance, worst, 4 * tolerance,
                    (long long)(error.worst_at / array->columns),
                    (long long)(error.worst_at % array->columns), array->results[error.worst_at],
                    expected[error.worst_at]);
    }
}

/* Results are summed in fp32 and rounded to the type they are stored in. */
double op_tolerance(const struct op_bench *bench, const struct op_array *array)
{
    if (array->kind == OP_DOUBLES) {
        return 1e-12;
    }
    if (bench->tolerance[array->type] > 0) {
        return bench->tolerance[array->type];
    }
    switch (array->type) {
    case YK_PRECISION_BF16:
        return 6e-3;
    case YK_PRECISION_FP16:
        return 1e-3;
    default:
        return 1e-5;
    }
}

void op_expect(struct op_bench *bench, struct op_array *array, const char *what,
               const double *expected, double size)
{
    op_expect_within(bench, array, what, expected, size, op_tolerance(bench, array));
}

void op_expect_exactly(struct op_bench *bench, struct op_array *array, const char *what,
                       const double *expected)
{
    array->expected = true;
    for (int64_t i = 0; i < array->rows * array->columns; i++) {
        const double got = array->results[i];
        const bool same = isnan(expected[i])
                              ? isnan(got)
                              : got == expected[i] && !signbit(got) == !signbit(expected[i]);
        if (!same) {
            op_complain(bench, "%s: row %lld, column %lld is %.17g instead of %.17g, from %.17g",
                        what, (long long)(i / array->columns), (long long)(i % array->columns), got,
                        expected[i], array->values[i]);
            return;
        }
    }
}

void op_expect_anything(struct op_array *array)
{
    array->expected = true;
}
