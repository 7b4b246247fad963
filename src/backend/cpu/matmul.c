/*
 * The output is cut into tiles by its shape alone; each tile is one thread's work from the product
 * to the ending, so that the result is the same for any number of threads. OpenBLAS multiplies, on
 * one thread. Numbers of 16 bits are brought to fp32 chunk by chunk of k; then a thread needs
 * sizeof(struct scratch), 704 KiB, of its stack.
 */
#include "backend/cpu/ending.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/numbers.h"

#include <cblas.h>

enum {
    TILE_ROWS = 256, /* the most; measured: larger ones are no faster */
    TILE_COLUMNS = YK_CPU_ENDING_WIDTH,
    CHUNK = 128,   /* of k, where numbers are converted */
    STEP = 16,     /* tiles are multiples of it: the width of the product's inner kernel */
    SMALLEST = 64, /* below, more time goes into packing than is won */
    ENOUGH = 8,    /* tiles, for threads to share */
};

struct tiles {
    int64_t rows; /* of one tile */
    int64_t columns;
    int64_t down; /* how many */
    int64_t across;
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
    const int64_t pieces = (length + most - 1) / most;
    const int64_t piece = (length + pieces - 1) / pieces;
    return smaller((piece + STEP - 1) / STEP * STEP, most);
}

static struct tiles cut_tiles(int64_t m, int64_t n)
{
    struct tiles tiles;
    int64_t rows = TILE_ROWS;
    int64_t columns = TILE_COLUMNS;
    for (;;) {
        tiles.rows = cut(m, rows);
        tiles.columns = cut(n, columns);
        tiles.down = (m + tiles.rows - 1) / tiles.rows;
        tiles.across = (n + tiles.columns - 1) / tiles.columns;
        if (tiles.down * tiles.across >= ENOUGH ||
            (tiles.rows <= SMALLEST && tiles.columns <= SMALLEST)) {
            return tiles;
        }
        if (tiles.rows > tiles.columns) {
            rows = (tiles.rows / 2 + STEP - 1) / STEP * STEP;
        } else {
            columns = (tiles.columns / 2 + STEP - 1) / STEP * STEP;
        }
    }
}

/* The part of a matrix, `rows` from `row` and `columns` from `column` as it is stored, in fp32:
 * where it is, or brought to `buffer`. */
static struct operand bring(enum yk_precision type, const void *from, int64_t stride, int64_t row,
                            int64_t rows, int64_t column, int64_t columns, float *buffer)
{
    if (yk_precision_bytes(type) == (int64_t)sizeof(float)) {
        return (struct operand){(const float *)from + row * stride + column, stride};
    }
    for (int64_t r = 0; r < rows; r++) {
        yk_cpu_load(type, from, (row + r) * stride + column, columns, buffer + r * columns);
    }
    return (struct operand){buffer, columns};
}

/* c (rows, columns) = scale · op(a) op(b) + start · c for the tile at (i, j). */
static void multiply(const struct yk_matmul *op, int64_t i, int64_t rows, int64_t j,
                     int64_t columns, float start, struct scratch *scratch, float *c,
                     int64_t c_stride)
{
    const bool whole = yk_precision_bytes(op->a_type) == 4 && yk_precision_bytes(op->b_type) == 4;
    const int64_t chunk = whole && op->k > 0 ? op->k : CHUNK;
    int64_t l = 0;
    do {
        const int64_t depth = smaller(chunk, op->k - l);
        const struct operand a =
            op->a_transposed
                ? bring(op->a_type, op->a, op->a_stride, l, depth, i, rows, scratch->a)
                : bring(op->a_type, op->a, op->a_stride, i, rows, l, depth, scratch->a);
        const struct operand b =
            op->b_transposed
                ? bring(op->b_type, op->b, op->b_stride, j, columns, l, depth, scratch->b)
                : bring(op->b_type, op->b, op->b_stride, l, depth, j, columns, scratch->b);
        cblas_sgemm(CblasRowMajor, op->a_transposed ? CblasTrans : CblasNoTrans,
                    op->b_transposed ? CblasTrans : CblasNoTrans, (blasint)rows, (blasint)columns,
                    (blasint)depth, op->scale, a.at, (blasint)a.stride, b.at, (blasint)b.stride,
                    l == 0 ? start : 1.0F, c, (blasint)c_stride);
        l += depth;
    } while (l < op->k);
}

static void end_tile(const struct yk_matmul *op, int64_t i, int64_t rows, int64_t j,
                     int64_t columns, float *x, int64_t x_stride)
{
    float bias[YK_CPU_ENDING_WIDTH];
    if (op->bias) {
        yk_cpu_load(op->bias_type, op->bias, j, columns, bias);
    }
    for (int64_t r = 0; r < rows; r++) {
        yk_cpu_end(op, i + r, j, columns, op->bias ? bias : NULL, x + r * x_stride);
    }
}

static void run_tile(const struct yk_matmul *op, const struct tiles *tiles, int64_t tile)
{
    struct scratch scratch;
    const int64_t i = tile / tiles->across * tiles->rows;
    const int64_t j = tile % tiles->across * tiles->columns;
    const int64_t rows = smaller(tiles->rows, op->m - i);
    const int64_t columns = smaller(tiles->columns, op->n - j);
    if (yk_precision_bytes(op->c_type) == (int64_t)sizeof(float)) {
        float *c = (float *)op->c + i * op->c_stride + j;
        const bool onto = op->accumulate || op->add == op->c;
        multiply(op, i, rows, j, columns, onto ? 1.0F : 0.0F, &scratch, c, op->c_stride);
        if (yk_cpu_ending_needed(op)) {
            end_tile(op, i, rows, j, columns, c, op->c_stride);
        }
    } else {
        multiply(op, i, rows, j, columns, 0.0F, &scratch, scratch.c, columns);
        end_tile(op, i, rows, j, columns, scratch.c, columns);
    }
}

void yk_cpu_matmul(int threads, const void *op)
{
    (void)threads;
    const struct yk_matmul *matmul = op;
    const struct tiles tiles = cut_tiles(matmul->m, matmul->n);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t tile = 0; tile < tiles.down * tiles.across; tile++) {
        run_tile(matmul, &tiles, tile);
    }
}
