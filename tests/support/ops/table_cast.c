#include "support/ops/reference.h"
#include "support/ops/table.h"

#include <math.h>
#include <stddef.h>

static const int64_t counts[] = {1, 3, 7, 17, 65, 130, 1030, 0};
static const int64_t many = 20000; /* enough for threads to share */

/* The case is begun; `from` is its first array. */
static void try_cast(struct op_bench *bench, struct op_array *from, enum yk_precision to_type)
{
    const int64_t count = from->columns;
    struct op_array *to = op_poisoned(bench, to_type, 1, count, count);
    const struct yk_cast_op op = {count, from->device, to->device, from->type, to_type};
    op_bench_upload(bench);
    bench->backend->cast(bench->lane, &op);
    op_bench_run(bench);
    double *expected = op_room(bench, count);
    for (int64_t i = 0; i < count; i++) {
        expected[i] = reference_round(to_type, from->values[i]);
        to->values[i] = from->values[i]; /* what a complaint names */
    }
    op_expect_exactly(bench, to, "to", expected);
    op_bench_end(bench);
}

/* Numbers where rounding is decided: ties, the smallest and the largest of each type, none. */
static struct op_array *place_edges(struct op_bench *bench, enum yk_precision type)
{
    static const double edges[] = {
        0.0,
        1.0,
        0x1.01p0,
        0x1.03p0,
        0x1.0100001p0,
        0x1.00fffep0,
        0x1.002p0,
        0x1.006p0,
        0x1.00200p0,
        0x1.002002p0,
        0x1.001ffep0,
        65504.0,
        65519.0,
        65519.996,
        65520.0,
        70000.0,
        0x1p-14,
        0x1.ffcp-15,
        0x1.ffep-15,
        0x1p-24,
        0x1p-25,
        0x1.000002p-25,
        0x1.8p-24,
        0x1p-26,
        0x1p-126,
        0x1p-133,
        0x1p-134,
        0x1.8p-133,
        0x1p-149,
        0x1.fffffep127,
        0x1.fep127,
        0x1.fefffep127,
        0x1.ffp127,
        0x1.99999ap-4,
        (double)INFINITY,
        (double)NAN,
    };
    enum {
        EDGES = sizeof edges / sizeof *edges
    };
    double both[2 * EDGES];
    for (int i = 0; i < EDGES; i++) {
        both[i] = edges[i];
        both[EDGES + i] = -edges[i];
    }
    const int64_t count = sizeof both / sizeof *both;
    return op_given(bench, type, 1, count, count, both);
}

void op_table_cast(struct op_bench *bench)
{
    for (int i = 0; i < OP_TYPES; i++) {
        for (int j = 0; j < OP_TYPES; j++) {
            const char *from = yk_precision_name(op_types[i]);
            const char *to = yk_precision_name(op_types[j]);
            for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
                op_bench_begin(bench, "cast %lld from %s to %s", (long long)counts[k], from, to);
                try_cast(bench, op_drawn(bench, op_types[i], 1, counts[k], counts[k], 10),
                         op_types[j]);
            }
            op_bench_begin(bench, "cast many from %s to %s", from, to);
            try_cast(bench, op_drawn(bench, op_types[i], 1, many, many, 10), op_types[j]);
            op_bench_begin(bench, "cast edges from %s to %s", from, to);
            try_cast(bench, place_edges(bench, op_types[i]), op_types[j]);
        }
    }
}

static void try_add(struct op_bench *bench, int64_t count, enum yk_precision type)
{
    op_bench_begin(bench, "add %s %lld", yk_precision_name(type), (long long)count);
    struct op_array *from = op_drawn(bench, type, 1, count, count, 1);
    struct op_array *to = op_drawn(bench, type, 1, count, count, 1);
    const struct yk_add_op op = {count, from->device, to->device, type};
    op_bench_upload(bench);
    bench->backend->add(bench->lane, &op);
    op_bench_run(bench);
    double *expected = op_room(bench, count);
    for (int64_t i = 0; i < count; i++) {
        /* Exact in fp32 for numbers of 16 bits of this size: there is one rounding. */
        expected[i] = reference_round(type, from->values[i] + to->values[i]);
    }
    op_expect_exactly(bench, to, "to", expected);
    op_bench_end(bench);
}

void op_table_add(struct op_bench *bench)
{
    for (int j = 0; j < OP_TYPES; j++) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            try_add(bench, counts[i], op_types[j]);
        }
        try_add(bench, many, op_types[j]);
    }
}
