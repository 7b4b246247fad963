/*
 * Token order: the rows of a batch sorted by their tokens, those of one token in their own order.
 *
 * A radix sort, least digit first. Rows are cut into tiles, a block each. One kernel counts how
 * often each digit comes in each tile; another finds from that where a tile's rows of each digit
 * begin, and puts them there. Only integers are counted, so the order is the same every time.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_TOKEN_SORT_CUH
#define YK_BACKEND_CUDA_KERNELS_TOKEN_SORT_CUH

#include <stddef.h>
#include <stdint.h>

#include "backend/cuda/kernels/numbers.cuh"

enum {
    YK_TOKEN_SORT_BITS = 9, /* of a digit */
    YK_TOKEN_SORT_DIGITS = 1 << YK_TOKEN_SORT_BITS,
    YK_TOKEN_SORT_THREADS = YK_TOKEN_SORT_DIGITS, /* of a block; each also cares for one digit */
    YK_TOKEN_SORT_WARPS = YK_TOKEN_SORT_THREADS / 32,
    YK_TOKEN_SORT_TILES = 64, /* at most */
};

/* One digit's turn. */
struct yk_token_sort_pass {
    const int32_t *tokens; /* (rows) */
    const int32_t *from;   /* (rows), in the order of the digits before; NULL: as they are */
    int32_t *to;           /* (rows) */
    int32_t *sorted;       /* (rows): tokens in the order of `to` */
    int32_t *counts;       /* (tiles, digits) */
    int32_t rows;
    int32_t tile_rows; /* a multiple of the block's threads */
    int32_t shift;     /* of the digit */
};

/* A row as a warp looks at it: 32 at a time, in order, of the warp's section of the tile. */
struct yk_token_sort_row {
    bool real; /* there is one for this lane */
    int32_t row;
    int32_t token;
    int digit;
    unsigned same; /* lanes with the same digit */
    bool leads;    /* the lowest of them */
};

static __device__ __forceinline__ struct yk_token_sort_row
order_row(const struct yk_token_sort_pass &turn, int at, int end)
{
    struct yk_token_sort_row one = {at < end, 0, 0, 0, 0, false};
    if (one.real) {
        one.row = turn.from ? turn.from[at] : at;
        one.token = turn.tokens[one.row];
        one.digit = one.token >> turn.shift & (YK_TOKEN_SORT_DIGITS - 1);
    }
    one.same = __ballot_sync(0xffffffffU, one.real);
#pragma unroll
    for (int bit = 0; bit < YK_TOKEN_SORT_BITS; bit++) {
        const bool set = (one.digit >> bit & 1) != 0;
        const unsigned with = __ballot_sync(0xffffffffU, set);
        one.same &= set ? with : ~with;
    }
    one.leads = one.real && __ffs(static_cast<int>(one.same)) - 1 == threadIdx.x % 32;
    return one;
}

/* Counts the digits of each warp's section of the block's tile. */
static __device__ __forceinline__ void count_sections(const struct yk_token_sort_pass &turn,
                                                      int (*counts)[YK_TOKEN_SORT_DIGITS])
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int section_rows = turn.tile_rows / YK_TOKEN_SORT_WARPS;
    const int first = static_cast<int>(blockIdx.x) * turn.tile_rows + warp * section_rows;
    const int end = first + section_rows < turn.rows ? first + section_rows : turn.rows;
    for (int i = 0; i < YK_TOKEN_SORT_WARPS; i++) {
        counts[i][threadIdx.x] = 0;
    }
    __syncthreads();
    for (int at = first; at < end; at += 32) {
        const struct yk_token_sort_row one = order_row(turn, at + lane, end);
        if (one.leads) {
            counts[warp][one.digit] += __popc(one.same);
        }
        __syncwarp();
    }
    __syncthreads();
}

static __global__ void __launch_bounds__(YK_TOKEN_SORT_THREADS)
    count_digits(struct yk_token_sort_pass turn)
{
    __shared__ int counts[YK_TOKEN_SORT_WARPS][YK_TOKEN_SORT_DIGITS];
    count_sections(turn, counts);
    int sum = 0;
    for (int i = 0; i < YK_TOKEN_SORT_WARPS; i++) {
        sum += counts[i][threadIdx.x];
    }
    turn.counts[blockIdx.x * YK_TOKEN_SORT_DIGITS + threadIdx.x] = sum;
}

/* The sum of what the threads before this one came with. */
static __device__ __forceinline__ int sum_before(int own, int *warp_sums)
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    int sum = own;
    for (int step = 1; step < 32; step *= 2) {
        const int below = __shfl_up_sync(0xffffffffU, sum, step);
        sum += lane >= step ? below : 0;
    }
    if (lane == 31) {
        warp_sums[warp] = sum;
    }
    __syncthreads();
    sum -= own;
    for (int i = 0; i < warp; i++) {
        sum += warp_sums[i];
    }
    return sum;
}

static __global__ void __launch_bounds__(YK_TOKEN_SORT_THREADS)
    place_rows(struct yk_token_sort_pass turn)
{
    __shared__ int counts[YK_TOKEN_SORT_WARPS]
                         [YK_TOKEN_SORT_DIGITS]; /* then: where the next one goes */
    __shared__ int warp_sums[YK_TOKEN_SORT_WARPS];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int section_rows = turn.tile_rows / YK_TOKEN_SORT_WARPS;
    const int first = static_cast<int>(blockIdx.x) * turn.tile_rows + warp * section_rows;
    const int end = first + section_rows < turn.rows ? first + section_rows : turn.rows;
    count_sections(turn, counts);
    int total = 0;
    int before = 0; /* in tiles before this one */
#pragma unroll 16
    for (int tile = 0; tile < gridDim.x; tile++) {
        const int count = turn.counts[tile * YK_TOKEN_SORT_DIGITS + threadIdx.x];
        total += count;
        before += tile < blockIdx.x ? count : 0;
    }
    int next = sum_before(total, warp_sums) + before;
    for (int i = 0; i < YK_TOKEN_SORT_WARPS; i++) {
        const int count = counts[i][threadIdx.x];
        counts[i][threadIdx.x] = next;
        next += count;
    }
    __syncthreads();
    for (int at = first; at < end; at += 32) {
        const struct yk_token_sort_row one = order_row(turn, at + lane, end);
        if (one.real) {
            const int place = counts[warp][one.digit] + __popc(one.same & ((1U << lane) - 1));
            turn.to[place] = one.row;
            turn.sorted[place] = one.token;
        }
        __syncwarp();
        if (one.leads) {
            counts[warp][one.digit] += __popc(one.same);
        }
        __syncwarp();
    }
}

/* What sorting works in. */
struct yk_token_sort {
    int32_t *orders[2]; /* (rows) each */
    int32_t *sorted;    /* (rows): the tokens, sorted */
    int32_t *counts;    /* (YK_TOKEN_SORT_TILES, YK_TOKEN_SORT_DIGITS) */
};

/* Returns the rows' order, which is one of `room`'s. */
static inline const int32_t *yk_token_sort_run(cudaStream_t stream, const int32_t *tokens,
                                               int32_t rows, int64_t vocabulary,
                                               const struct yk_token_sort *room)
{
    const int32_t tile_rows = static_cast<int32_t>(
        yk_ceil_div(yk_ceil_div(rows, YK_TOKEN_SORT_TILES), YK_TOKEN_SORT_THREADS) *
        YK_TOKEN_SORT_THREADS);
    const unsigned tiles = static_cast<unsigned>(yk_ceil_div(rows, tile_rows));
    struct yk_token_sort_pass turn = {tokens,       nullptr, room->orders[0], room->sorted,
                                      room->counts, rows,    tile_rows,       0};
    for (;;) {
        count_digits<<<tiles, YK_TOKEN_SORT_THREADS, 0, stream>>>(turn);
        place_rows<<<tiles, YK_TOKEN_SORT_THREADS, 0, stream>>>(turn);
        turn.shift += YK_TOKEN_SORT_BITS;
        if ((vocabulary - 1) >> turn.shift <= 0) {
            return turn.to;
        }
        turn.from = turn.to;
        turn.to = turn.to == room->orders[0] ? room->orders[1] : room->orders[0];
    }
}

#endif
