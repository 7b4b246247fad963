/*
 * All ops of a GPU against the table of support/op_table.h, twice; the answers must be the same bit
 * for bit. Products once more with streams beside each other. Relative errors in norm that are
 * allowed: 1e-4 where results are fp32 and 1e-2 in 16 bits, and 1e-3 for products of fp32 and 16
 * bits, which are taken in tf32.
 */
#include "gpu/gpu.h"

#include "support/ops/run_table.h"
#include "support/support.h"

#include <string.h>

static const struct yk_backend *backend;

static void open_bench(const struct yk_backend_device_options *options, struct op_bench *out)
{
    assert_ok(op_bench_open(backend, options, out));
    out->tolerance[YK_PRECISION_FP32] = 1e-4;
    out->tolerance[YK_PRECISION_FP16] = 1e-2;
    out->tolerance[YK_PRECISION_BF16] = 1e-2;
    out->mixed_tolerance = 1e-3;
}

static void try_side_by_side(const struct op_row *row)
{
    struct op_bench bench;
    open_bench(&(struct yk_backend_device_options){.side_streams = true}, &bench);
    const bool right = op_try(&bench, row, "side by side");
    op_bench_close(&bench);
    assert_true(right);
}

static void op_answers_as_the_reference_does(void **state)
{
    const struct op_row *row = *state;
    struct op_bench bench;
    open_bench(&(struct yk_backend_device_options){0}, &bench);
    const bool right = op_try(&bench, row, "first time");
    const uint64_t first = bench.digest;
    const bool right_again = op_try(&bench, row, "again");
    const uint64_t again = bench.digest;
    op_bench_close(&bench);
    assert_true(right && right_again);
    if (first != again) {
        fail_msg("%s: the second time does not give what the first gave", row->name);
    }
    if (strcmp(row->name, "matmul") == 0) {
        try_side_by_side(row);
    }
}

int main(void)
{
    const int found = gpu_find(&backend);
    return found != 0 ? found : op_try_table("op on a GPU", op_answers_as_the_reference_does);
}
