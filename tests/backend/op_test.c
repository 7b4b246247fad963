/*
 * All ops of the CPU against the table of support/op_table.h, with one thread and with three; the
 * answers must be the same bit for bit.
 */
#include "backend/backend.h"
#include "support/ops/run_table.h"
#include "support/support.h"

static uint64_t run_row(const struct op_row *row, int32_t threads, const char *where)
{
    const struct yk_backend_device_options options = {.threads = threads};
    struct op_bench bench;
    assert_ok(op_bench_open(&yk_backend_cpu, &options, &bench));
    const bool right = op_try(&bench, row, where);
    const uint64_t digest = bench.digest;
    op_bench_close(&bench);
    assert_true(right);
    return digest;
}

static void op_answers_as_the_reference_does(void **state)
{
    const struct op_row *row = *state;
    const uint64_t alone = run_row(row, 1, "1 thread");
    const uint64_t shared = run_row(row, 3, "3 threads");
    if (alone != shared) {
        fail_msg("%s: three threads do not give what one gives", row->name);
    }
}

int main(void)
{
    return op_try_table("op", op_answers_as_the_reference_does);
}
