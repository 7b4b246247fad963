/*
 * Matmul: the output is divided into tiles, which depend only on its shape. One thread computes a
 * tile, from the product (by OpenBLAS, on one thread) to the epilogue. The result is therefore the
 * same for every number of threads. 16-bit elements are converted to fp32 in chunks of k. A small
 * output with a large k (a gradient of weights) has too few tiles. Its k is then divided into parts
 * as well, which are added in order. A thread needs sizeof(struct scratch), 704 KiB, of stack.
 */
#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/activation.h"
#include "backend/cpu/math/fp32_buffer.h"
#include "backend/cpu/parallel.h"

#include <assert.h>
#include <cblas.h>
#include <stdbool.h>

/* ---- epilogue ---- */

enum {
    EPILOGUE_WIDTH = 384 /* max elements of a row per call of apply_epilogue() */
};

static void add_to(float *x, const float *added, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        x[i] += added[i];
    }
}

struct activation {
    enum yk_activation function;
    bool backward; /* multiply by the derivative of the function at aux */
};

/* What an epilogue other than YK_EPILOGUE_NONE computes. */
static struct activation activation_of(enum yk_matmul_epilogue epilogue)
{
    static const struct activation activations[] = {
        [YK_EPILOGUE_GELU] = {YK_ACTIVATION_GELU_TANH, false},
        [YK_EPILOGUE_GELU_ERF] = {YK_ACTIVATION_GELU, false},
        [YK_EPILOGUE_RELU] = {YK_ACTIVATION_RELU, false},
        [YK_EPILOGUE_RELU_SQUARED] = {YK_ACTIVATION_RELU_SQUARED, false},
        [YK_EPILOGUE_SILU] = {YK_ACTIVATION_SILU, false},
        [YK_EPILOGUE_GELU_BACKWARD] = {YK_ACTIVATION_GELU_TANH, true},
        [YK_EPILOGUE_GELU_ERF_BACKWARD] = {YK_ACTIVATION_GELU, true},
        [YK_EPILOGUE_RELU_BACKWARD] = {YK_ACTIVATION_RELU, true},
        [YK_EPILOGUE_RELU_SQUARED_BACKWARD] = {YK_ACTIVATION_RELU_SQUARED, true},
        [YK_EPILOGUE_SILU_BACKWARD] = {YK_ACTIVATION_SILU, true},
    };
    return activations[epilogue];
}

/* Applies the epilogue to elements of x. A backward epilogue reads aux from element `aux_place` on;
 * the others store x there, if aux exists. `buffer` has space for `count` elements. */
static void activate(const struct yk_matmul_op *op, int64_t aux_place, int64_t count, float *buffer,
                     float *x)
{
    if (op->epilogue == YK_EPILOGUE_NONE) {
        return;
    }
    const struct activation activation = activation_of(op->epilogue);
    if (activation.backward) {
        const float *aux =
            yk_cpu_fp32_buffer_for_reading(op->c_type, op->aux, aux_place, count, buffer);
        yk_cpu_activation_multiply_by_derivative(activation.function, x, aux, count);
        return;
    }
    if (op->aux && op->epilogue != YK_EPILOGUE_RELU) {
        yk_cpu_convert_array_from_fp32(op->c_type, x, count, op->aux, aux_place);
    }
    yk_cpu_activation_apply(activation.function, x, count);
}

/* Whether an fp32 product in c needs bias, add or an epilogue. */
static bool needs_epilogue(const struct yk_matmul_op *op)
{
    return !op->accumulate &&
           (op->bias || (op->add && op->add != op->c) || op->epilogue != YK_EPILOGUE_NONE);
}

/* Applies bias, add and epilogue to `count` elements of row i from column j on, and stores them in
 * c. `x` holds the product; it may be in c itself. `bias` has the bias of these columns, or is
 * NULL. */
static void apply_epilogue(const struct yk_matmul_op *op, int64_t i, int64_t j, int64_t count,
                           const float *bias, float *x)
{
    float buffer[EPILOGUE_WIDTH];
    assert(count <= EPILOGUE_WIDTH);
    const int64_t place = i * op->c_stride + j;
    const bool in_place = x == (float *)op->c + place;
    if (op->accumulate) {
        if (!in_place) {
            add_to(x, yk_cpu_fp32_buffer_for_reading(op->c_type, op->c, place, count, buffer),
                   count);
        }
    } else {
        if (bias) {
            add_to(x, bias, count);
        }
        if (op->add && !(in_place && op->add == op->c)) {
            add_to(x,
                   yk_cpu_fp32_buffer_for_reading(op->c_type, op->add, i * op->add_stride + j,
                                                  count, buffer),
                   count);
        }
        activate(op, i * op->aux_stride + j, count, buffer, x);
    }
    if (!in_place) {
        yk_cpu_convert_array_from_fp32(op->c_type, x, count, op->c, place);
    }
}

/* ---- product ---- */

enum {
    TILE_ROWS = 256, /* max; larger tiles were not faster */
    TILE_COLUMNS = EPILOGUE_WIDTH,
    CHUNK = 128,   /* of k, if elements are converted */
    STEP = 16,     /* tiles are multiples of the width of OpenBLAS's inner kernel */
    SMALLEST = 64, /* in smaller tiles, packing takes too much of the time */
    ENOUGH = 8,    /* tiles to share among threads */
    LONG = 512,    /* least k of a part, so that adding parts costs little */
};

struct tiles {
    int64_t rows; /* per tile */
    int64_t columns;
    int64_t depth;  /* k per part */
    int64_t down;   /* number of tiles in a column */
    int64_t across; /* number of tiles in a row */
    int64_t parts;  /* of k */
};

/* One part of a tile: rows from i, columns from j, terms of k from l on. */
struct block {
    int64_t i;
    int64_t j;
    int64_t l;
    int64_t rows;
    int64_t columns;
    int64_t depth;
};

struct scratch {
    float a[TILE_ROWS * CHUNK];
    float b[TILE_COLUMNS * CHUNK];
    float c[TILE_ROWS * TILE_COLUMNS];
};

struct operand {
    const float *at;
    int64_t stride;
};

/* The size of equal blocks of at most `most`, rounded up to a multiple of STEP. */
static int64_t cut(int64_t length, int64_t most)
{
    const int64_t blocks = yk_number_ceil_div(length, most);
    const int64_t block = yk_number_ceil_div(length, blocks);
    return yk_number_min(yk_number_round_up(block, STEP), most);
}

static struct tiles cut_tiles(int64_t m, int64_t n, int64_t k, int64_t rows, int64_t columns)
{
    struct tiles tiles = {.rows = cut(m, rows), .columns = cut(n, columns), .depth = k, .parts = 1};
    tiles.down = yk_number_ceil_div(m, tiles.rows);
    tiles.across = yk_number_ceil_div(n, tiles.columns);
    return tiles;
}

static struct tiles choose_tiles(const struct yk_matmul_op *op)
{
    int64_t rows = TILE_ROWS;
    int64_t columns = TILE_COLUMNS;
    struct tiles tiles = cut_tiles(op->m, op->n, op->k, rows, columns);
    const int64_t parts = yk_number_min(op->k / LONG, ENOUGH / (tiles.down * tiles.across));
    if (parts > 1 && yk_precision_bytes(op->c_type) == 4 && !needs_epilogue(op)) {
        tiles.depth = cut(op->k, yk_number_ceil_div(op->k, parts));
        tiles.parts = yk_number_ceil_div(op->k, tiles.depth);
        return tiles;
    }
    while (tiles.down * tiles.across < ENOUGH &&
           (tiles.rows > SMALLEST || tiles.columns > SMALLEST)) {
        if (tiles.rows > tiles.columns) {
            rows = yk_number_round_up(tiles.rows / 2, STEP);
        } else {
            columns = yk_number_round_up(tiles.columns / 2, STEP);
        }
        tiles = cut_tiles(op->m, op->n, op->k, rows, columns);
    }
    return tiles;
}

static struct block find_block(const struct yk_matmul_op *op, const struct tiles *tiles,
                               int64_t number)
{
    const int64_t tile = number / tiles->parts;
    struct block block = {
        .i = tile / tiles->across * tiles->rows,
        .j = tile % tiles->across * tiles->columns,
        .l = number % tiles->parts * tiles->depth,
    };
    block.rows = yk_number_min(tiles->rows, op->m - block.i);
    block.columns = yk_number_min(tiles->columns, op->n - block.j);
    block.depth = yk_number_min(tiles->depth, op->k - block.l);
    return block;
}

/* A block of a matrix as fp32: in place, or converted in `buffer`. */
static struct operand load(enum yk_precision type, const void *from, int64_t stride, int64_t row,
                           int64_t rows, int64_t column, int64_t columns, float *buffer)
{
    if (yk_precision_bytes(type) == (int64_t)sizeof(float)) {
        return (struct operand){(const float *)from + row * stride + column, stride};
    }
    for (int64_t r = 0; r < rows; r++) {
        yk_cpu_convert_array_to_fp32(type, from, (row + r) * stride + column, columns,
                                     buffer + r * columns);
    }
    return (struct operand){buffer, columns};
}

/* c (rows, columns) = scale · op(a) op(b) + start · c for the block. */
static void multiply(const struct yk_matmul_op *op, const struct block *block, float start,
                     struct scratch *scratch, float *c, int64_t c_stride)
{
    const bool whole = yk_precision_bytes(op->a_type) == 4 && yk_precision_bytes(op->b_type) == 4;
    const int64_t chunk = whole ? block->depth : CHUNK;
    const int64_t i = block->i;
    const int64_t j = block->j;
    int64_t done = 0;
    do {
        const int64_t l = block->l + done;
        const int64_t depth = yk_number_min(chunk, block->depth - done);
        const struct operand a =
            op->a_transposed
                ? load(op->a_type, op->a, op->a_stride, l, depth, i, block->rows, scratch->a)
                : load(op->a_type, op->a, op->a_stride, i, block->rows, l, depth, scratch->a);
        const struct operand b =
            op->b_transposed
                ? load(op->b_type, op->b, op->b_stride, j, block->columns, l, depth, scratch->b)
                : load(op->b_type, op->b, op->b_stride, l, depth, j, block->columns, scratch->b);
        cblas_sgemm(CblasRowMajor, op->a_transposed ? CblasTrans : CblasNoTrans,
                    op->b_transposed ? CblasTrans : CblasNoTrans, (blasint)block->rows,
                    (blasint)block->columns, (blasint)depth, op->scale, a.at, (blasint)a.stride,
                    b.at, (blasint)b.stride, done == 0 ? start : 1.0F, c, (blasint)c_stride);
        done += depth;
    } while (done < block->depth);
}

static void end_tile(const struct yk_matmul_op *op, const struct block *block, float *x,
                     int64_t x_stride)
{
    float bias[EPILOGUE_WIDTH];
    if (op->bias) {
        yk_cpu_convert_array_to_fp32(op->bias_type, op->bias, block->j, block->columns, bias);
    }
    for (int64_t r = 0; r < block->rows; r++) {
        apply_epilogue(op, block->i + r, block->j, block->columns, op->bias ? bias : NULL,
                       x + r * x_stride);
    }
}

static void run_tile(const struct yk_matmul_op *op, const struct block *block,
                     struct scratch *scratch)
{
    if (yk_precision_bytes(op->c_type) == (int64_t)sizeof(float)) {
        float *c = (float *)op->c + block->i * op->c_stride + block->j;
        const bool onto = op->accumulate || op->add == op->c;
        multiply(op, block, onto ? 1.0F : 0.0F, scratch, c, op->c_stride);
        if (needs_epilogue(op)) {
            end_tile(op, block, c, op->c_stride);
        }
    } else {
        multiply(op, block, 0.0F, scratch, scratch->c, block->columns);
        end_tile(op, block, scratch->c, block->columns);
    }
}

static void add_part(const struct yk_matmul_op *op, const struct block *block, const float *part)
{
    for (int64_t r = 0; r < block->rows; r++) {
        float *c = (float *)op->c + (block->i + r) * op->c_stride + block->j;
        add_to(c, part + r * block->columns, block->columns);
    }
}

/* The first part of a tile is computed in c. The others are added in order. */
static void run_parts(int threads, const struct yk_matmul_op *op, const struct tiles *tiles)
{
    (void)threads;
    const int64_t count = tiles->down * tiles->across * tiles->parts;
#pragma omp parallel for num_threads(threads) schedule(dynamic) ordered
    for (int64_t number = 0; number < count; number++) {
        struct scratch scratch;
        const struct block block = find_block(op, tiles, number);
        if (block.l == 0) {
            run_tile(op, &block, &scratch);
        } else {
            multiply(op, &block, 0.0F, &scratch, scratch.c, block.columns);
        }
#pragma omp ordered
        if (block.l > 0) {
            add_part(op, &block, scratch.c);
        }
    }
}

static void multiply_all(int threads, const struct yk_matmul_op *matmul)
{
    const struct tiles tiles = choose_tiles(matmul);
    threads = yk_cpu_parallel_choose_thread_count(threads, matmul->m * matmul->n * matmul->k);
    (void)threads;
    if (tiles.parts > 1) {
        run_parts(threads, matmul, &tiles);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t number = 0; number < tiles.down * tiles.across; number++) {
        struct scratch scratch;
        const struct block block = find_block(matmul, &tiles, number);
        run_tile(matmul, &block, &scratch);
    }
}

void yk_cpu_matmul(int threads, const void *op)
{
    const struct yk_matmul_op *matmul = op;
    if (matmul->m > 0 && matmul->n > 0) {
        multiply_all(threads, matmul);
    }
    if (matmul->sums_of != YK_MATMUL_ROW_SUM_NONE) {
        const struct yk_sum_rows_op sums = yk_ops_make_sum_rows_op_of_matmul(matmul);
        yk_cpu_sum_rows(threads, &sums);
    }
}
