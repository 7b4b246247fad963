/*
 * All ops of a GPU against the table of support/op_table.h, twice; the answers must be the same bit
 * for bit. Relative errors in norm that are allowed: 1e-4 where results are fp32 and 1e-2 in 16
 * bits, and 1e-3 for products of fp32 and 16 bits, which are taken in tf32.
 */
#include "gpu/gpu.h"

#include "support/op_try.h"
#include "support/support.h"

static const struct yk_backend *backend;

static void op_answers_as_the_reference_does(void **state)
{
    const struct op_row *row = *state;
    const struct yk_backend_options options = {0};
    struct op_bench bench;
    assert_ok(op_bench_open(backend, &options, &bench));
    bench.tolerance[YK_PRECISION_FP32] = 1e-4;
    bench.tolerance[YK_PRECISION_FP16] = 1e-2;
    bench.tolerance[YK_PRECISION_BF16] = 1e-2;
    bench.mixed_tolerance = 1e-3;
    const bool right = op_try(&bench, row, "first time");
    const uint64_t first = bench.digest;
    const bool right_again = op_try(&bench, row, "again");
    const uint64_t again = bench.digest;
    op_bench_close(&bench);
    assert_true(right && right_again);
    if (first != again) {
        fail_msg("%s: the second time does not give what the first gave", row->name);
    }
}

int main(void)
{
    const int found = gpu_find(&backend);
    return found != 0 ? found : op_try_table("op on a GPU", op_answers_as_the_reference_does);
}
