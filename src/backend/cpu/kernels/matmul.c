/*
 * The output is cut into tiles by its shape alone; each tile is one thread's work from the product
 * to the ending, so that the result is the same for any number of threads. OpenBLAS multiplies, on
 * one thread. Numbers of 16 bits are brought to fp32 chunk by chunk of k.
 *
 * Small outputs of long sums, gradients of weights, have too few tiles to share. Their k is cut
 * into parts as well, and parts are added to the output in order.
 *
 * A thread needs sizeof(struct scratch), 704 KiB, of its stack.
 */
#include "backend/cpu/kernels/epilogue.h"
#include "backend/cpu/kernels/kernels.h"
#include "backend/cpu/math/numbers.h"
#include "backend/cpu/parallel.h"

#include <cblas.h>

enum {
    TILE_ROWS = 256, /* the most; measured: larger ones are no faster */
    TILE_COLUMNS = YK_CPU_EPILOGUE_WIDTH,
    CHUNK = 128,   /* of k, where numbers are converted */
    STEP = 16,     /* tiles are multiples of it: the width of the product's inner kernel */
    SMALLEST = 64, /* below, more time goes into packing than is won */
    ENOUGH = 8,    /* tiles, for threads to share */
    LONG = 512,    /* k of a part: adding it up costs little beside it */
};

struct tiles {
    int64_t rows; /* of one tile */
    int64_t columns;
    int64_t depth;
    int64_t down; /* how many */
    int64_t across;
    int64_t parts;
};

/* One tile, and of its sums those from `l`. */
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

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* `length` cut into equal pieces of at most `most`, rounded up to whole steps. */
static int64_t cut(int64_t length, int64_t most)
{
    const int64_t blocks = (length + most - 1) / most;
    const int64_t block = (length + blocks - 1) / blocks;
    return smaller((block + STEP - 1) / STEP * STEP, most);
}

static struct tiles cut_tiles(int64_t m, int64_t n, int64_t k, int64_t rows, int64_t columns)
{
    struct tiles tiles = {.rows = cut(m, rows), .columns = cut(n, columns), .depth = k, .parts = 1};
    tiles.down = (m + tiles.rows - 1) / tiles.rows;
    tiles.across = (n + tiles.columns - 1) / tiles.columns;
    return tiles;
}

static struct tiles choose_tiles(const struct yk_matmul_op *op)
{
    int64_t rows = TILE_ROWS;
    int64_t columns = TILE_COLUMNS;
    struct tiles tiles = cut_tiles(op->m, op->n, op->k, rows, columns);
    const int64_t parts = smaller(op->k / LONG, ENOUGH / (tiles.down * tiles.across));
    if (parts > 1 && yk_precision_bytes(op->c_type) == 4 && !yk_cpu_epilogue_is_needed(op)) {
        tiles.depth = cut(op->k, (op->k + parts - 1) / parts);
        tiles.parts = (op->k + tiles.depth - 1) / tiles.depth;
        return tiles;
    }
    while (tiles.down * tiles.across < ENOUGH &&
           (tiles.rows > SMALLEST || tiles.columns > SMALLEST)) {
        if (tiles.rows > tiles.columns) {
            rows = (tiles.rows / 2 + STEP - 1) / STEP * STEP;
        } else {
            columns = (tiles.columns / 2 + STEP - 1) / STEP * STEP;
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
    block.rows = smaller(tiles->rows, op->m - block.i);
    block.columns = smaller(tiles->columns, op->n - block.j);
    block.depth = smaller(tiles->depth, op->k - block.l);
    return block;
}

/* The part of a matrix, `rows` from `row` and `columns` from `column` as it is stored, in fp32:
 * where it is, or brought to `buffer`. */
static struct operand load(enum yk_precision type, const void *from, int64_t stride, int64_t row,
                           int64_t rows, int64_t column, int64_t columns, float *buffer)
{
    if (yk_precision_bytes(type) == (int64_t)sizeof(float)) {
        return (struct operand){(const float *)from + row * stride + column, stride};
    }
    for (int64_t r = 0; r < rows; r++) {
        yk_cpu_numbers_load(type, from, (row + r) * stride + column, columns, buffer + r * columns);
    }
    return (struct operand){buffer, columns};
}

/* c (rows, columns) = scale · op(a) op(b) + start · c for the piece. */
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
        const int64_t depth = smaller(chunk, block->depth - done);
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
    float bias[YK_CPU_EPILOGUE_WIDTH];
    if (op->bias) {
        yk_cpu_numbers_load(op->bias_type, op->bias, block->j, block->columns, bias);
    }
    for (int64_t r = 0; r < block->rows; r++) {
        yk_cpu_epilogue_apply(op, block->i + r, block->j, block->columns, op->bias ? bias : NULL,
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
        if (yk_cpu_epilogue_is_needed(op)) {
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
        for (int64_t x = 0; x < block->columns; x++) {
            c[x] += part[r * block->columns + x];
        }
    }
}

/* The first part of a tile goes to c at once, the others one after the other. */
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
    threads = yk_cpu_parallel_threads(threads, matmul->m * matmul->n * matmul->k);
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
    if (matmul->sums_of != YK_SUMS_OF_NONE) {
        const struct yk_sum_rows_op sums = yk_ops_matmul_sums(matmul);
        yk_cpu_sum_rows(threads, &sums);
    }
}
