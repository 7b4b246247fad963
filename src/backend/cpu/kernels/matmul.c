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
struct piece {
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
    const int64_t pieces = (length + most - 1) / most;
    const int64_t piece = (length + pieces - 1) / pieces;
    return smaller((piece + STEP - 1) / STEP * STEP, most);
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

static struct piece find_piece(const struct yk_matmul_op *op, const struct tiles *tiles,
                               int64_t number)
{
    const int64_t tile = number / tiles->parts;
    struct piece piece = {
        .i = tile / tiles->across * tiles->rows,
        .j = tile % tiles->across * tiles->columns,
        .l = number % tiles->parts * tiles->depth,
    };
    piece.rows = smaller(tiles->rows, op->m - piece.i);
    piece.columns = smaller(tiles->columns, op->n - piece.j);
    piece.depth = smaller(tiles->depth, op->k - piece.l);
    return piece;
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
        yk_cpu_numbers_load(type, from, (row + r) * stride + column, columns, buffer + r * columns);
    }
    return (struct operand){buffer, columns};
}

/* c (rows, columns) = scale · op(a) op(b) + start · c for the piece. */
static void multiply(const struct yk_matmul_op *op, const struct piece *piece, float start,
                     struct scratch *scratch, float *c, int64_t c_stride)
{
    const bool whole = yk_precision_bytes(op->a_type) == 4 && yk_precision_bytes(op->b_type) == 4;
    const int64_t chunk = whole ? piece->depth : CHUNK;
    const int64_t i = piece->i;
    const int64_t j = piece->j;
    int64_t done = 0;
    do {
        const int64_t l = piece->l + done;
        const int64_t depth = smaller(chunk, piece->depth - done);
        const struct operand a =
            op->a_transposed
                ? bring(op->a_type, op->a, op->a_stride, l, depth, i, piece->rows, scratch->a)
                : bring(op->a_type, op->a, op->a_stride, i, piece->rows, l, depth, scratch->a);
        const struct operand b =
            op->b_transposed
                ? bring(op->b_type, op->b, op->b_stride, j, piece->columns, l, depth, scratch->b)
                : bring(op->b_type, op->b, op->b_stride, l, depth, j, piece->columns, scratch->b);
        cblas_sgemm(CblasRowMajor, op->a_transposed ? CblasTrans : CblasNoTrans,
                    op->b_transposed ? CblasTrans : CblasNoTrans, (blasint)piece->rows,
                    (blasint)piece->columns, (blasint)depth, op->scale, a.at, (blasint)a.stride,
                    b.at, (blasint)b.stride, done == 0 ? start : 1.0F, c, (blasint)c_stride);
        done += depth;
    } while (done < piece->depth);
}

static void end_tile(const struct yk_matmul_op *op, const struct piece *piece, float *x,
                     int64_t x_stride)
{
    float bias[YK_CPU_EPILOGUE_WIDTH];
    if (op->bias) {
        yk_cpu_numbers_load(op->bias_type, op->bias, piece->j, piece->columns, bias);
    }
    for (int64_t r = 0; r < piece->rows; r++) {
        yk_cpu_epilogue_apply(op, piece->i + r, piece->j, piece->columns, op->bias ? bias : NULL,
                              x + r * x_stride);
    }
}

static void run_tile(const struct yk_matmul_op *op, const struct piece *piece,
                     struct scratch *scratch)
{
    if (yk_precision_bytes(op->c_type) == (int64_t)sizeof(float)) {
        float *c = (float *)op->c + piece->i * op->c_stride + piece->j;
        const bool onto = op->accumulate || op->add == op->c;
        multiply(op, piece, onto ? 1.0F : 0.0F, scratch, c, op->c_stride);
        if (yk_cpu_epilogue_is_needed(op)) {
            end_tile(op, piece, c, op->c_stride);
        }
    } else {
        multiply(op, piece, 0.0F, scratch, scratch->c, piece->columns);
        end_tile(op, piece, scratch->c, piece->columns);
    }
}

static void add_part(const struct yk_matmul_op *op, const struct piece *piece, const float *part)
{
    for (int64_t r = 0; r < piece->rows; r++) {
        float *c = (float *)op->c + (piece->i + r) * op->c_stride + piece->j;
        for (int64_t x = 0; x < piece->columns; x++) {
            c[x] += part[r * piece->columns + x];
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
        const struct piece piece = find_piece(op, tiles, number);
        if (piece.l == 0) {
            run_tile(op, &piece, &scratch);
        } else {
            multiply(op, &piece, 0.0F, &scratch, scratch.c, piece.columns);
        }
#pragma omp ordered
        if (piece.l > 0) {
            add_part(op, &piece, scratch.c);
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
        const struct piece piece = find_piece(matmul, &tiles, number);
        run_tile(matmul, &piece, &scratch);
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
