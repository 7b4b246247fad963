/*
 * Sharing: work cut into pieces that threads take. How it is cut depends on its size alone, and no
 * piece depends on another, so the result is the same with any number of threads.
 */
#ifndef YK_BACKEND_CPU_SHARE_H
#define YK_BACKEND_CPU_SHARE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* Multiplications that one thread does in the time it takes to wake another. */
    YK_CPU_FEW = 1 << 18,
    /* Numbers in a piece: some ten microseconds of work, more than it costs to wake a thread. */
    YK_CPU_PIECE = 16384,
};

typedef void (*yk_cpu_piece)(const void *work, int64_t piece);

/* Starts the threads that share the calling thread's work, which OpenMP keeps from then on. False
 * where the system refuses so many: refused within a kernel, OpenMP would end the process. */
bool yk_cpu_share_start(int threads);

/* Runs pieces 0 to `pieces` − 1; one piece alone stays on the calling thread. */
void yk_cpu_share(int threads, int64_t pieces, yk_cpu_piece run, const void *work);

/* How many threads are worth while for as many multiplications. */
static inline int yk_cpu_worth(int threads, int64_t multiplications)
{
    return multiplications < YK_CPU_FEW ? 1 : threads;
}

static inline int64_t yk_cpu_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How many pieces of `size` hold `count`. */
static inline int64_t yk_cpu_pieces(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

/* Rows of `width` numbers that make up a piece, at least one. */
static inline int64_t yk_cpu_piece_rows(int64_t width)
{
    return width < YK_CPU_PIECE ? YK_CPU_PIECE / (width > 0 ? width : 1) : 1;
}

#endif
