/*
 * All ops of the CPU against the table of support/op_table.h, with one thread and with three; the
 * answers must be the same bit for bit.
 */
#include "backend/backend.h"
#include "support/op_table.h"
#include "support/support.h"

#include <stddef.h>
#include <string.h>

static const struct yk_backend *const backend = &yk_backend_cpu;

/* A line at a time: cmocka cuts what is longer than a kilobyte. */
static void print_failures(const struct op_bench *bench, int32_t threads)
{
    const char *line = yk_text_chars(&bench->failures);
    while (*line) {
        const size_t length = strcspn(line, "\n");
        print_error("%d threads: %.*s\n", (int)threads, (int)length, line);
        line += length + 1;
    }
}

static uint64_t run_row(const struct op_row *row, int32_t threads)
{
    const struct yk_backend_options options = {.threads = threads};
    struct op_bench bench;
    assert_ok(op_bench_open(backend, &options, &bench));
    row->run(&bench);
    const uint64_t digest = bench.digest;
    assert_true(bench.case_count > 0);
    const bool wrong = bench.failures.length > 0;
    print_message("%s, %d threads: %lld cases; errors in norm up to %.1e in fp32, %.1e in fp16, "
                  "%.1e in bf16\n",
                  row->name, (int)threads, (long long)bench.case_count,
                  bench.worst[YK_PRECISION_FP32], bench.worst[YK_PRECISION_FP16],
                  bench.worst[YK_PRECISION_BF16]);
    print_failures(&bench, threads);
    op_bench_close(&bench);
    assert_false(wrong);
    return digest;
}

static void op_answers_as_the_reference_does(void **state)
{
    const struct op_row *row = *state;
    const uint64_t alone = run_row(row, 1);
    const uint64_t shared = run_row(row, 3);
    if (alone != shared) {
        fail_msg("%s: three threads do not give what one gives", row->name);
    }
}

int main(void)
{
    struct CMUnitTest tests[OP_TABLE_ROWS];
    for (int i = 0; i < OP_TABLE_ROWS; i++) {
        tests[i] = (struct CMUnitTest){
            .name = op_table[i].name,
            .test_func = op_answers_as_the_reference_does,
            .initial_state = (void *)(uintptr_t)&op_table[i],
        };
    }
    return cmocka_run_group_tests_name("op", tests, NULL, NULL);
}
