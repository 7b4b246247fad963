#include "support/ops/run_table.h"

#include <stdlib.h>
#include <string.h>

/* A line at a time: cmocka cuts what is longer than a kilobyte. */
static void print_failures(const struct op_bench *bench, const char *where)
{
    const char *line = yk_text_chars(&bench->failures);
    while (*line) {
        const size_t length = strcspn(line, "\n");
        print_error("%s: %.*s\n", where, (int)length, line);
        line += length + 1;
    }
}

bool op_try(struct op_bench *bench, const struct op_row *row, const char *where)
{
    yk_text_free(&bench->failures);
    memset(bench->worst, 0, sizeof bench->worst);
    bench->case_count = 0;
    bench->passed = 0;
    bench->digest = 0;
    row->run(bench);
    print_message("%s, %s: %lld cases; errors in norm up to %.1e in fp32, %.1e in fp16, "
                  "%.1e in bf16\n",
                  row->name, where, (long long)bench->case_count, bench->worst[YK_PRECISION_FP32],
                  bench->worst[YK_PRECISION_FP16], bench->worst[YK_PRECISION_BF16]);
    print_failures(bench, where);
    return bench->failures.length == 0 && bench->case_count > 0;
}

/* Whether a list of names, a comma between two, has this one. */
static bool lists(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = names; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0) {
            return true;
        }
    }
    return false;
}

int op_try_table(const char *name, CMUnitTestFunction test)
{
    const char *wanted = getenv("YOKE_OP_ROWS");
    struct CMUnitTest tests[OP_TABLE_ROWS];
    size_t count = 0;
    for (int i = 0; i < OP_TABLE_ROWS; i++) {
        if (wanted && !lists(wanted, op_table[i].name)) {
            continue;
        }
        tests[count++] = (struct CMUnitTest){
            .name = op_table[i].name,
            .test_func = test,
            .initial_state = (void *)(uintptr_t)&op_table[i],
        };
    }
    if (count == 0) {
        print_error("YOKE_OP_ROWS=%s: there are no such rows\n", wanted);
        return 1;
    }
    return _cmocka_run_group_tests(name, tests, count, NULL, NULL);
}
