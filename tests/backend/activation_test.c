/* Activations and the tanh that they share with capped scores, against the functions of the C
 * library in double precision. */
#include "support/support.h"

#include "backend/cpu/math/activation.h"
#include "backend/cpu/math/simd.h"
#include "support/ops/reference.h"

#include <math.h>

static void tanh_is_near_that_of_the_library(void **state)
{
    (void)state;
    double worst = 0;
    for (int i = -400000; i <= 400000; i++) {
        const float x = (float)i * 3e-5F;
        const double expected = tanh((double)x);
        const double error = fabs((double)yk_cpu_tanh(x) - expected);
        worst = fmax(worst, x == 0 ? error : error / fabs(expected));
    }
    if (!(worst <= 3e-7)) {
        fail_msg("the relative error is up to %.3g", worst);
    }
}

static void tanh_keeps_small_numbers_and_signs(void **state)
{
    (void)state;
    static const float small[] = {1e-30F, -1e-30F, 1e-10F, -3e-5F, 0x1p-126F};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        const double x = (double)small[i];
        assert_true(fabs((double)yk_cpu_tanh(small[i]) - x) <= 3e-7 * fabs(x));
    }
    assert_true(yk_cpu_tanh(0.0F) == 0 && !signbit(yk_cpu_tanh(0.0F)));
    assert_true(signbit(yk_cpu_tanh(-0.0F)));
    assert_true(yk_cpu_tanh(INFINITY) == 1.0F && yk_cpu_tanh(-INFINITY) == -1.0F);
    assert_true(yk_cpu_tanh(1e30F) == 1.0F);
    assert_true(isnan(yk_cpu_tanh(NAN)));
}

enum {
    COUNT = 4001, /* not a multiple of a vector */
};

static void activations_and_derivatives_are_those_of_the_reference(void **state)
{
    (void)state;
    static float x[COUNT];
    static float value[COUNT];
    static float slope[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const int centred = i - COUNT / 2;
        x[i] = (float)centred * 0.01F;
    }
    for (int a = YK_ACTIVATION_GELU_TANH; a <= YK_ACTIVATION_TANH; a++) {
        const enum yk_activation activation = (enum yk_activation)a;
        for (int i = 0; i < COUNT; i++) {
            value[i] = x[i];
            slope[i] = 1;
        }
        yk_cpu_activation_apply(activation, value, COUNT);
        yk_cpu_activation_multiply_by_derivative(activation, slope, x, COUNT);
        for (int i = 0; i < COUNT; i++) {
            const double at = (double)x[i];
            const double size = 1 + fabs(reference_activation(activation, at));
            const double bound = 1e-6 * size;
            assert_true(fabs((double)value[i] - reference_activation(activation, at)) <= bound);
            assert_true(fabs((double)slope[i] - reference_activation_slope(activation, at)) <=
                        bound);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tanh_is_near_that_of_the_library),
        cmocka_unit_test(tanh_keeps_small_numbers_and_signs),
        cmocka_unit_test(activations_and_derivatives_are_those_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
