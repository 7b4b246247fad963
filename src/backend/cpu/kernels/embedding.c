#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/fp32_buffer.h"
#include "backend/cpu/parallel.h"

#include <assert.h>
#include <string.h>

/* Adds elements of `from`, from index `at` on, to `sum`. */
static void add_elements(enum yk_precision type, const void *from, int64_t at, int64_t count,
                         float *sum)
{
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    const float *numbers = yk_cpu_fp32_buffer_for_reading(type, from, at, count, scratch);
    for (int64_t i = 0; i < count; i++) {
        sum[i] += numbers[i];
    }
}

/* ---- forward ---- */

static void embed_row(const void *work, int64_t row)
{
    const struct yk_embedding_op *op = work;
    float entry_scratch[YK_CPU_FP32_BUFFER_SIZE];
    float out_scratch[YK_CPU_FP32_BUFFER_SIZE];
    const int64_t token = op->tokens[row];
    assert(token >= 0 && token < op->vocabulary);
    for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->width - first);
        const int64_t out_at = row * op->width + first;
        const float *entry = yk_cpu_fp32_buffer_for_reading(
            op->table_type, op->table, token * op->width + first, count, entry_scratch);
        float *out = yk_cpu_fp32_buffer_for_writing(op->out_type, op->out, out_at, out_scratch);
        for (int64_t i = 0; i < count; i++) {
            out[i] = op->scale * entry[i];
        }
        if (op->positions) {
            add_elements(op->table_type, op->positions, row % op->sequence * op->width + first,
                         count, out);
        }
        if (op->shift) {
            add_elements(op->table_type, op->shift, first, count, out);
        }
        yk_cpu_fp32_buffer_store_back(op->out_type, out, count, op->out, out_at);
    }
}

void yk_cpu_embedding(int threads, const void *op)
{
    const struct yk_embedding_op *embedding = op;
    yk_cpu_parallel_for_rows(threads, embedding->rows, embedding->width, embed_row, op);
}

/* ---- backward ---- */

/* Within a window of rows, the rows with the same token form a chain, in their order. Each chain is
 * summed in fp32 and added to the table once. Chains are independent, so threads may process them
 * in any order. */
enum {
    WINDOW = 1024,      /* rows */
    SLOTS = 4 * WINDOW, /* of the hash table from token to chain; a power of two */
};

struct window {
    const struct yk_embedding_backward_op *op;
    int64_t first; /* row */
    int32_t chain_count;
    int64_t chunk_chains;
    int16_t starts[WINDOW]; /* by chain: its first row, relative to `first` */
    int16_t ends[WINDOW];   /* by chain: its last row */
    int16_t next[WINDOW];   /* by row: the next row of the chain; −1 means: none */
    int16_t slots[SLOTS];   /* chain; −1 means: unused */
};

/* Adds a row to the chain of its token, or starts a chain. */
static void chain_row(struct window *window, int16_t row)
{
    const int32_t *tokens = window->op->tokens + window->first;
    uint32_t slot = (uint32_t)tokens[row] * 0x9e3779b1U >> 20 & (SLOTS - 1);
    window->next[row] = -1;
    while (window->slots[slot] >= 0 && tokens[window->starts[window->slots[slot]]] != tokens[row]) {
        slot = (slot + 1) & (SLOTS - 1);
    }
    const int16_t chain = window->slots[slot];
    if (chain < 0) {
        window->slots[slot] = (int16_t)window->chain_count;
        window->starts[window->chain_count] = row;
        window->ends[window->chain_count] = row;
        window->chain_count++;
    } else {
        window->next[window->ends[chain]] = row;
        window->ends[chain] = row;
    }
}

static void sum_chain(const struct window *window, int64_t chain)
{
    const struct yk_embedding_backward_op *op = window->op;
    const int16_t start = window->starts[chain];
    const int64_t token = op->tokens[window->first + start];
    float sum[YK_CPU_FP32_BUFFER_SIZE];
    assert(token >= 0 && token < op->vocabulary);
    for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->width - first);
        memset(sum, 0, (size_t)count * sizeof *sum);
        for (int16_t row = start; row >= 0; row = window->next[row]) {
            add_elements(op->out_type, op->d_out, (window->first + row) * op->width + first, count,
                         sum);
        }
        yk_cpu_fp32_add_scaled(op->table_type, op->scale, sum, count, op->d_table,
                               token * op->width + first);
    }
}

static void sum_chains(const void *work, int64_t chunk)
{
    const struct window *window = work;
    const int64_t end = yk_number_min(window->chain_count, (chunk + 1) * window->chunk_chains);
    for (int64_t chain = chunk * window->chunk_chains; chain < end; chain++) {
        sum_chain(window, chain);
    }
}

static void add_to_table(int threads, const struct yk_embedding_backward_op *op)
{
    struct window window = {.op = op, .chunk_chains = yk_cpu_rows_per_chunk(op->width)};
    for (window.first = 0; window.first < op->rows; window.first += WINDOW) {
        const int64_t rows = yk_number_min(WINDOW, op->rows - window.first);
        window.chain_count = 0;
        memset(window.slots, 0xff, sizeof window.slots); /* −1 */
        for (int16_t row = 0; row < rows; row++) {
            chain_row(&window, row);
        }
        const int64_t chunks = yk_number_ceil_div(window.chain_count, window.chunk_chains);
        yk_cpu_parallel_for(threads, chunks, sum_chains, &window);
    }
}

/* The rows of a position are `sequence` rows apart. */
static void sum_position(const void *work, int64_t position)
{
    const struct yk_embedding_backward_op *op = work;
    float sum[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->width - first);
        memset(sum, 0, (size_t)count * sizeof *sum);
        for (int64_t row = position; row < op->rows; row += op->sequence) {
            add_elements(op->out_type, op->d_out, row * op->width + first, count, sum);
        }
        yk_cpu_fp32_add_scaled(op->table_type, 1.0F, sum, count, op->d_positions,
                               position * op->width + first);
    }
}

void yk_cpu_embedding_backward(int threads, const void *op)
{
    const struct yk_embedding_backward_op *embedding = op;
    if (embedding->d_table) {
        add_to_table(threads, embedding);
    }
    if (embedding->d_positions) {
        const int64_t positions = yk_number_min(embedding->sequence, embedding->rows);
        yk_cpu_parallel_for_rows(threads, positions, embedding->width, sum_position, op);
    }
}
