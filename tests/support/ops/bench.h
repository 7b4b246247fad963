/*
 * Op bench: where single ops of a backend are tried out. A case is begun, gets arrays on the device
 * by op_drawn() and its like, puts its op on the lane, takes the results back with op_bench_run()
 * and says what it expects of them.
 *
 * Whatever an op need not touch is not-a-number: outputs before it runs, the gaps between rows and
 * the memory before and behind outputs. After it, everything that nothing was expected of must have
 * the bytes it had. What is wrong is written down in `failures`, a line each, and the case goes on.
 *
 * The bench owns the arrays of a case until it ends. One thread at a time.
 */
#ifndef YK_TESTS_OP_BENCH_H
#define YK_TESTS_OP_BENCH_H

#include "backend/backend.h"
#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    OP_ARRAYS = 16, /* the most that one case has */
};

enum op_kind {
    OP_STORED,  /* fp32, fp16 or bf16 */
    OP_DOUBLES, /* fp64 */
    OP_INDICES, /* int32 */
    OP_BYTES,
};

struct op_array {
    enum op_kind kind;
    enum yk_precision type;
    int64_t rows;
    int64_t columns;
    int64_t stride;
    double *values;  /* (rows, columns) as they were before, exactly as stored; none of bytes */
    double *results; /* the same afterwards: from op_bench_run() on */
    int32_t *indices;
    uint8_t *bytes; /* what goes to the device and what came back, number (0, 0) first */
    uint8_t *back;
    void *device; /* where number (0, 0) is */

    void *memory; /* what was taken of the device */
    uint8_t *image;
    uint8_t *image_back;
    size_t image_bytes;
    size_t front_bytes; /* before number (0, 0) */
    bool expected;
};

struct op_bench {
    const struct yk_backend *backend;
    struct yk_backend_device *device;
    struct yk_backend_lane *lane;
    struct yk_arena *arena; /* of the case */
    struct yk_random random;
    struct yk_text name; /* of the case */
    struct op_array arrays[OP_ARRAYS];
    int32_t array_count;

    /* Errors in norm that are allowed, by type of the result; 0: the table's own. */
    double tolerance[YK_PRECISION_COUNT];
    /* Of a product of fp32 and 16 bits, where more must be allowed than that; 0: no more. */
    double mixed_tolerance;
    /* Of the many products only every so many-th is tried (YOKE_OP_EVERY), none of what other ops
     * leave to products, and matrices are less tall; 0: all. For tools that slow things down. */
    int32_t every;
    int64_t passed; /* products that were tried or not */

    struct yk_text failures;
    int64_t case_count;
    uint64_t digest;                  /* of all bytes that came back */
    double worst[YK_PRECISION_COUNT]; /* the largest error in norm by type of the result */
};

yk_status op_bench_open(const struct yk_backend *backend,
                        const struct yk_backend_device_options *options,
                        struct op_bench *out) YK_MUST_USE;
void op_bench_close(struct op_bench *bench);

void op_bench_begin(struct op_bench *bench, const char *format, ...) YK_PRINTF_LIKE(2, 3);
/* Checks that nothing else was touched and gives the case's memory back. */
void op_bench_end(struct op_bench *bench);

/* ---- arrays ---- */

/* Random numbers in [−size, size), rounded to the type. */
struct op_array *op_drawn(struct op_bench *bench, enum yk_precision type, int64_t rows,
                          int64_t columns, int64_t stride, double size);
/* Not-a-number everywhere: for what is overwritten. */
struct op_array *op_poisoned(struct op_bench *bench, enum yk_precision type, int64_t rows,
                             int64_t columns, int64_t stride);
/* The numbers given, (rows, columns) without gaps, rounded to the type. */
struct op_array *op_given(struct op_bench *bench, enum yk_precision type, int64_t rows,
                          int64_t columns, int64_t stride, const double *values);
struct op_array *op_doubles(struct op_bench *bench, int64_t count, const double *values);
struct op_array *op_poisoned_doubles(struct op_bench *bench, int64_t count);
/* Random integers in [least, bound). */
struct op_array *op_indices(struct op_bench *bench, int64_t count, int32_t min_number,
                            int32_t bound);
/* Bytes; those given, or not-a-number. */
struct op_array *op_bytes(struct op_bench *bench, size_t count, const void *bytes);

/* After the values (indices for integers) were changed: stores them again. */
void op_store(struct op_array *array);

/* Room for numbers of the host until the case ends; zeroed. */
double *op_room(struct op_bench *bench, int64_t count);
/* A copy of an array's values, to be worked on. */
double *op_copy(struct op_bench *bench, const struct op_array *array);
/* Columns `first` to `first + count` of an array's values, without gaps. */
double *op_columns(struct op_bench *bench, const struct op_array *array, int64_t first,
                   int64_t count);

/* Where number `at` of the device's memory is. */
void *op_at(const struct op_array *array, int64_t at);

/* ---- running and comparing ---- */

/* Brings all arrays to the device, before the op is put on the lane. */
void op_bench_upload(struct op_bench *bench);
/* Waits for the lane and brings all arrays back. */
void op_bench_run(struct op_bench *bench);

/* The error in norm that op_expect() allows the array. */
double op_tolerance(const struct op_bench *bench, const struct op_array *array);

/*
 * The results must be near `expected`: the error in norm, and that of the worst number, over those
 * of what is expected. Where terms cancel, `size` says how large a number was before: results count
 * as at least that large; else it is 0.
 */
void op_expect(struct op_bench *bench, struct op_array *array, const char *what,
               const double *expected, double size);
/* The same for a closer or wider error in norm than the type's own. */
void op_expect_within(struct op_bench *bench, struct op_array *array, const char *what,
                      const double *expected, double size, double tolerance);
/* Bit for bit, but that any not-a-number is as good as another. */
void op_expect_exactly(struct op_bench *bench, struct op_array *array, const char *what,
                       const double *expected);
/* The case checks the array itself. */
void op_expect_anything(struct op_array *array);

/* Notes a failure of the case. */
void op_complain(struct op_bench *bench, const char *format, ...) YK_PRINTF_LIKE(2, 3);

#endif
