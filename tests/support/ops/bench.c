#include "support/ops/bench.h"

#include "base/hash.h"
#include "support/ops/reference.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#endif

enum {
    FRONT_BYTES = 64, /* keeps number (0, 0) as aligned as the device's memory is */
    BACK_BYTES = 64,
#ifdef SANITIZED
    /* What is read ends with its last number, so that the sanitizer sees who reads on. */
    READ_BACK_BYTES = 0,
#else
    READ_BACK_BYTES = 64,
#endif
};

/* ---- the bench ---- */

yk_status op_bench_open(const struct yk_backend *backend,
                        const struct yk_backend_device_options *options, struct op_bench *out)
{
    const char *every = getenv("YOKE_OP_EVERY");
    *out = (struct op_bench){
        .backend = backend,
        .every = every ? (int32_t)strtol(every, NULL, 10) : 0,
    };
    YK_TRY(backend->open(options, &out->device));
    const yk_status status = backend->lane_create(out->device, "op", &out->lane);
    if (status != YK_OK) {
        backend->close(out->device);
    }
    return status;
}

void op_bench_close(struct op_bench *bench)
{
    bench->backend->lane_destroy(bench->lane);
    bench->backend->close(bench->device);
    yk_text_free(&bench->name);
    yk_text_free(&bench->failures);
}

void op_bench_begin(struct op_bench *bench, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bench->name.length = 0;
    yk_text_addv(&bench->name, format, arguments);
    va_end(arguments);
    assert_ok(yk_arena_create(&bench->arena));
    bench->array_count = 0;
    bench->case_count++;
    /* A case draws the same numbers whichever came before it. */
    bench->random =
        yk_random_from_seed(yk_hash_bytes(yk_text_chars(&bench->name), bench->name.length));
}

void op_complain(struct op_bench *bench, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    yk_text_addf(&bench->failures, "%s: ", yk_text_chars(&bench->name));
    yk_text_addv(&bench->failures, format, arguments);
    yk_text_add(&bench->failures, "\n");
    va_end(arguments);
}

static int64_t number_bytes(const struct op_array *array)
{
    switch (array->kind) {
    case OP_DOUBLES:
        return 8;
    case OP_INDICES:
        return 4;
    case OP_BYTES:
        return 1;
    default:
        return yk_precision_bytes(array->type);
    }
}

/* Where the numbers end in whose row the byte lies; the byte itself if it lies around them. */
static size_t end_of_numbers(const struct op_array *array, size_t byte)
{
    const size_t row_bytes = (size_t)(array->stride * number_bytes(array));
    if (byte < array->front_bytes || row_bytes == 0) {
        return byte;
    }
    const size_t row = (byte - array->front_bytes) / row_bytes;
    const size_t end =
        array->front_bytes + row * row_bytes + (size_t)(array->columns * number_bytes(array));
    return row < (size_t)array->rows && byte < end ? end : byte;
}

static void check_untouched(struct op_bench *bench, const struct op_array *array)
{
    if (memcmp(array->image, array->image_back, array->image_bytes) == 0) {
        return;
    }
    for (size_t i = 0; i < array->image_bytes; i++) {
        const size_t end = end_of_numbers(array, i);
        if (array->expected && end > i) {
            i = end - 1;
            continue;
        }
        if (array->image[i] == array->image_back[i]) {
            continue;
        }
        const int64_t at = ((int64_t)i - (int64_t)array->front_bytes) / number_bytes(array);
        op_complain(bench, "array %d (%lld x %lld, stride %lld) was written to at number %lld, %s",
                    (int)(array - bench->arrays), (long long)array->rows, (long long)array->columns,
                    (long long)array->stride, (long long)at,
                    end > i ? "which is only read" : "outside of its rows");
        return;
    }
}

void op_bench_end(struct op_bench *bench)
{
    for (int32_t i = 0; i < bench->array_count; i++) {
        check_untouched(bench, &bench->arrays[i]);
        bench->backend->free(bench->device, bench->arrays[i].memory);
    }
    yk_arena_destroy(bench->arena);
    bench->arena = NULL;
}

/* ---- arrays ---- */

static void *room(struct op_bench *bench, size_t count, size_t size)
{
    void *memory = yk_arena_allocate(bench->arena, count + 1, size);
    assert_non_null(memory);
    return memory;
}

double *op_room(struct op_bench *bench, int64_t count)
{
    return room(bench, (size_t)count, sizeof(double));
}

/* 0x7fff as two bytes is not a number in fp16 and bf16, repeated in fp32 and fp64. */
static void poison(uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bytes[i] = i % 2 == 0 ? 0xff : 0x7f;
    }
}

static struct op_array *new_array(struct op_bench *bench, struct op_array shape, size_t back_bytes)
{
    assert_true(bench->array_count < OP_ARRAYS);
    assert_true(shape.stride >= shape.columns);
    struct op_array *array = &bench->arrays[bench->array_count++];
    *array = shape;
    const int64_t reach = shape.rows > 0 ? (shape.rows - 1) * shape.stride + shape.columns : 0;
    array->front_bytes = FRONT_BYTES;
    array->image_bytes = FRONT_BYTES + (size_t)(reach * number_bytes(array)) + back_bytes;
    array->image = room(bench, array->image_bytes, 1);
    array->image_back = room(bench, array->image_bytes, 1);
    poison(array->image, array->image_bytes);
    array->bytes = array->image + FRONT_BYTES;
    array->back = array->image_back + FRONT_BYTES;
    if (array->kind == OP_INDICES) {
        array->indices = room(bench, (size_t)shape.rows * (size_t)shape.columns, sizeof(int32_t));
    } else if (array->kind != OP_BYTES) {
        array->values = op_room(bench, shape.rows * shape.columns);
        array->results = op_room(bench, shape.rows * shape.columns);
    }
    assert_ok(bench->backend->allocate(bench->device, array->image_bytes, &array->memory));
    array->device = (uint8_t *)array->memory + FRONT_BYTES;
    return array;
}

static void store_row(struct op_array *array, int64_t row)
{
    const int64_t first = row * array->columns;
    for (int64_t i = 0; i < array->columns; i++) {
        const int64_t at = row * array->stride + i;
        if (array->kind == OP_STORED) {
            reference_store(array->type, array->values[first + i], array->bytes, at);
            array->values[first + i] = reference_load(array->type, array->bytes, at);
        } else if (array->kind == OP_DOUBLES) {
            memcpy(array->bytes + at * 8, &array->values[first + i], 8);
        } else {
            memcpy(array->bytes + at * 4, &array->indices[first + i], 4);
        }
    }
}

void op_store(struct op_array *array)
{
    for (int64_t i = 0; i < array->rows; i++) {
        store_row(array, i);
    }
}

struct op_array *op_drawn(struct op_bench *bench, enum yk_precision type, int64_t rows,
                          int64_t columns, int64_t stride, double size)
{
    double *values = op_room(bench, rows * columns);
    for (int64_t i = 0; i < rows * columns; i++) {
        values[i] = size * (2 * yk_random_uniform(&bench->random) - 1);
    }
    return op_given(bench, type, rows, columns, stride, values);
}

struct op_array *op_given(struct op_bench *bench, enum yk_precision type, int64_t rows,
                          int64_t columns, int64_t stride, const double *values)
{
    const struct op_array shape = {
        .kind = OP_STORED, .type = type, .rows = rows, .columns = columns, .stride = stride};
    struct op_array *array = new_array(bench, shape, READ_BACK_BYTES);
    memcpy(array->values, values, (size_t)(rows * columns) * sizeof *values);
    op_store(array);
    return array;
}

struct op_array *op_poisoned(struct op_bench *bench, enum yk_precision type, int64_t rows,
                             int64_t columns, int64_t stride)
{
    const struct op_array shape = {
        .kind = OP_STORED, .type = type, .rows = rows, .columns = columns, .stride = stride};
    return new_array(bench, shape, BACK_BYTES);
}

struct op_array *op_doubles(struct op_bench *bench, int64_t count, const double *values)
{
    struct op_array *array = op_poisoned_doubles(bench, count);
    memcpy(array->values, values, (size_t)count * sizeof *values);
    op_store(array);
    return array;
}

struct op_array *op_poisoned_doubles(struct op_bench *bench, int64_t count)
{
    const struct op_array shape = {
        .kind = OP_DOUBLES, .rows = 1, .columns = count, .stride = count};
    return new_array(bench, shape, BACK_BYTES);
}

struct op_array *op_indices(struct op_bench *bench, int64_t count, int32_t min_number,
                            int32_t bound)
{
    const struct op_array shape = {
        .kind = OP_INDICES, .rows = 1, .columns = count, .stride = count};
    struct op_array *array = new_array(bench, shape, READ_BACK_BYTES);
    for (int64_t i = 0; i < count; i++) {
        array->indices[i] =
            min_number + (int32_t)yk_random_below(&bench->random, bound - min_number);
    }
    op_store(array);
    return array;
}

struct op_array *op_bytes(struct op_bench *bench, size_t count, const void *bytes)
{
    const int64_t columns = (int64_t)count;
    const struct op_array shape = {
        .kind = OP_BYTES, .rows = 1, .columns = columns, .stride = columns};
    struct op_array *array = new_array(bench, shape, BACK_BYTES);
    if (bytes) {
        memcpy(array->bytes, bytes, count);
    }
    return array;
}

double *op_columns(struct op_bench *bench, const struct op_array *array, int64_t first,
                   int64_t count)
{
    double *values = op_room(bench, array->rows * count);
    for (int64_t i = 0; i < array->rows; i++) {
        memcpy(values + i * count, array->values + i * array->columns + first,
               (size_t)count * sizeof *values);
    }
    return values;
}

double *op_copy(struct op_bench *bench, const struct op_array *array)
{
    return op_columns(bench, array, 0, array->columns);
}

void *op_at(const struct op_array *array, int64_t at)
{
    return (uint8_t *)array->device + at * number_bytes(array);
}

/* ---- running ---- */

void op_bench_upload(struct op_bench *bench)
{
    for (int32_t i = 0; i < bench->array_count; i++) {
        const struct op_array *array = &bench->arrays[i];
        bench->backend->copy(bench->lane, array->memory, array->image, array->image_bytes);
    }
}

static void load_row(struct op_array *array, int64_t row)
{
    double *results = array->results + row * array->columns;
    if (array->kind == OP_DOUBLES) {
        memcpy(results, array->back + row * array->stride * 8, (size_t)array->columns * 8);
        return;
    }
    for (int64_t i = 0; i < array->columns; i++) {
        results[i] = reference_load(array->type, array->back, row * array->stride + i);
    }
}

static void load_results(struct op_array *array)
{
    for (int64_t i = 0; i < array->rows && array->results; i++) {
        load_row(array, i);
    }
}

void op_bench_run(struct op_bench *bench)
{
    for (int32_t i = 0; i < bench->array_count; i++) {
        const struct op_array *array = &bench->arrays[i];
        bench->backend->copy(bench->lane, array->image_back, array->memory, array->image_bytes);
    }
    if (bench->backend->lane_synchronize(bench->lane) != YK_OK) {
        op_complain(bench, "%s", yk_status_message());
    }
    for (int32_t i = 0; i < bench->array_count; i++) {
        struct op_array *array = &bench->arrays[i];
        load_results(array);
        bench->digest = bench->digest * 0x9e3779b97f4a7c15U +
                        yk_hash_bytes(array->image_back, array->image_bytes);
    }
}
