/*
 * Embedding. The backward pass sorts the rows of a batch by token with a stable radix sort, lowest
 * digit first. The rows are divided into tiles, one block each. One kernel counts each digit in
 * each tile. Another kernel computes from the counts where the rows of each tile and digit start,
 * and writes them there. All counts are integers, so the order is the same in every run.
 */
#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/elements.cuh"
#include "backend/cuda/kernels/row_registers.cuh"

#include <stddef.h>
#include <stdint.h>

/* ---- token sort ---- */

enum {
    SORT_BITS = 9, /* per digit */
    SORT_DIGITS = 1 << SORT_BITS,
    SORT_THREADS = SORT_DIGITS, /* per block; each thread also handles one digit */
    SORT_WARPS = SORT_THREADS / 32,
    SORT_TILES = 64, /* max */
};

/* The arguments of the sort by one digit. */
struct sort_pass {
    const int32_t *tokens; /* (rows) */
    const int32_t *from;   /* (rows), sorted by the lower digits; NULL means: 0, 1, 2, … */
    int32_t *to;           /* (rows) */
    int32_t *sorted;       /* (rows): tokens in the order of `to` */
    int32_t *counts;       /* (tiles, digits) */
    int32_t rows;
    int32_t tile_rows; /* a multiple of the block's threads */
    int32_t shift;     /* of the digit */
};

/* The row of one lane. A warp processes 32 rows of its section of the tile at a time, in order. */
struct sort_row {
    bool real; /* the lane has a row */
    int32_t row;
    int32_t token;
    int digit;
    unsigned same; /* lanes with the same digit */
    bool leads;    /* this lane is the lowest of them */
};

YK_DEVICE_INLINE struct sort_row read_sort_row(const struct sort_pass &pass, int at, int end)
{
    struct sort_row one = {at < end, 0, 0, 0, 0, false};
    if (one.real) {
        one.row = pass.from ? pass.from[at] : at;
        one.token = pass.tokens[one.row];
        one.digit = one.token >> pass.shift & (SORT_DIGITS - 1);
    }
    one.same = __ballot_sync(0xffffffffU, one.real);
#pragma unroll
    for (int bit = 0; bit < SORT_BITS; bit++) {
        const bool set = (one.digit >> bit & 1) != 0;
        const unsigned with = __ballot_sync(0xffffffffU, set);
        one.same &= set ? with : ~with;
    }
    one.leads = one.real && __ffs(static_cast<int>(one.same)) - 1 == threadIdx.x % 32;
    return one;
}

/* Counts the digits of each warp's section of the block's tile. */
YK_DEVICE_INLINE void count_sections(const struct sort_pass &pass, int (*counts)[SORT_DIGITS])
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int section_rows = pass.tile_rows / SORT_WARPS;
    const int first = static_cast<int>(blockIdx.x) * pass.tile_rows + warp * section_rows;
    const int end = first + section_rows < pass.rows ? first + section_rows : pass.rows;
    for (int i = 0; i < SORT_WARPS; i++) {
        counts[i][threadIdx.x] = 0;
    }
    __syncthreads();
    for (int at = first; at < end; at += 32) {
        const struct sort_row one = read_sort_row(pass, at + lane, end);
        if (one.leads) {
            counts[warp][one.digit] += __popc(one.same);
        }
        __syncwarp();
    }
    __syncthreads();
}

static __global__ void __launch_bounds__(SORT_THREADS) count_digits(struct sort_pass pass)
{
    __shared__ int counts[SORT_WARPS][SORT_DIGITS];
    count_sections(pass, counts);
    int sum = 0;
    for (int i = 0; i < SORT_WARPS; i++) {
        sum += counts[i][threadIdx.x];
    }
    pass.counts[blockIdx.x * SORT_DIGITS + threadIdx.x] = sum;
}

/* Exclusive prefix sum over the threads of the block. */
YK_DEVICE_INLINE int sum_before(int own, int *warp_sums)
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

static __global__ void __launch_bounds__(SORT_THREADS) place_rows(struct sort_pass pass)
{
    __shared__ int counts[SORT_WARPS][SORT_DIGITS]; /* then: the position of the next row */
    __shared__ int warp_sums[SORT_WARPS];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int section_rows = pass.tile_rows / SORT_WARPS;
    const int first = static_cast<int>(blockIdx.x) * pass.tile_rows + warp * section_rows;
    const int end = first + section_rows < pass.rows ? first + section_rows : pass.rows;
    count_sections(pass, counts);
    int total = 0;
    int before = 0; /* rows of this digit in earlier tiles */
#pragma unroll 16
    for (int tile = 0; tile < gridDim.x; tile++) {
        const int count = pass.counts[tile * SORT_DIGITS + threadIdx.x];
        total += count;
        before += tile < blockIdx.x ? count : 0;
    }
    int next = sum_before(total, warp_sums) + before;
    for (int i = 0; i < SORT_WARPS; i++) {
        const int count = counts[i][threadIdx.x];
        counts[i][threadIdx.x] = next;
        next += count;
    }
    __syncthreads();
    for (int at = first; at < end; at += 32) {
        const struct sort_row one = read_sort_row(pass, at + lane, end);
        if (one.real) {
            const int place = counts[warp][one.digit] + __popc(one.same & ((1U << lane) - 1));
            pass.to[place] = one.row;
            pass.sorted[place] = one.token;
        }
        __syncwarp();
        if (one.leads) {
            counts[warp][one.digit] += __popc(one.same);
        }
        __syncwarp();
    }
}

/* Scratch memory of the sort. */
struct sort_buffers {
    int32_t *orders[2]; /* (rows) each */
    int32_t *sorted;    /* (rows): the tokens, sorted */
    int32_t *counts;    /* (SORT_TILES, SORT_DIGITS) */
};

/* Returns the sorted order of the rows, which is in one of buffers->orders. */
static inline const int32_t *sort_tokens(cudaStream_t stream, const int32_t *tokens, int32_t rows,
                                         int64_t vocabulary, const struct sort_buffers *buffers)
{
    const int32_t tile_rows = static_cast<int32_t>(
        yk_number_round_up(yk_number_ceil_div(rows, SORT_TILES), SORT_THREADS));
    const unsigned tiles = yk_block_count(rows, tile_rows);
    struct sort_pass pass = {tokens,          nullptr, buffers->orders[0], buffers->sorted,
                             buffers->counts, rows,    tile_rows,          0};
    for (;;) {
        count_digits<<<tiles, SORT_THREADS, 0, stream>>>(pass);
        place_rows<<<tiles, SORT_THREADS, 0, stream>>>(pass);
        pass.shift += SORT_BITS;
        if ((vocabulary - 1) >> pass.shift <= 0) {
            return pass.to;
        }
        pass.from = pass.to;
        pass.to = pass.to == buffers->orders[0] ? buffers->orders[1] : buffers->orders[0];
    }
}

enum {
    EMBEDDING_THREADS = 256, /* one warp per row */
    EMBEDDING_NUMBERS = 8,   /* elements per load */
    SUM_THREADS = 128,       /* max */
    TOGETHER = 4,            /* rows that a thread loads at the same time */
    MIN_SEGMENT_ROWS = 32,
    MAX_SEGMENTS = 2048,
    PARTIAL_BYTES = 32 << 20,
    JOIN_THREADS = 128,
    JOIN_WARPS = JOIN_THREADS / 32,
    JOIN_COLUMNS = 32 * 4, /* a float4 per thread */
};

/* ---- forward ---- */

/* T is the type of the table. */
template <typename T, int N>
static __global__ void __launch_bounds__(EMBEDDING_THREADS)
    embedding_rows(struct yk_embedding_op op)
{
    const int lane = threadIdx.x % 32;
    const int64_t row =
        static_cast<int64_t>(blockIdx.x) * (EMBEDDING_THREADS / 32) + threadIdx.x / 32;
    if (row >= op.rows) {
        return;
    }
    const int64_t token = op.tokens[row];
    const int64_t position = op.positions ? row % op.sequence : 0;
    for (int64_t column = lane * N; column < op.width; column += 32 * N) {
        yk_vector<T, N> positions = yk_vector<T, N>(); /* 0 */
        yk_vector<T, N> shift = yk_vector<T, N>();
        if (op.positions) {
            positions = yk_load_vector<T, N>(op.positions, position * op.width + column);
        }
        if (op.shift) {
            shift = yk_load_vector<T, N>(op.shift, column);
        }
        const yk_vector<T, N> entry = yk_load_vector<T, N>(op.table, token * op.width + column);
        float out[N];
#pragma unroll
        for (int i = 0; i < N; i++) {
            out[i] = op.scale * yk_to_float(entry.numbers[i]) + yk_to_float(positions.numbers[i]) +
                     yk_to_float(shift.numbers[i]);
        }
        yk_typed_store(op.out_type, op.out, row * op.width + column, out);
    }
}

void yk_cuda_embedding(struct yk_backend_lane *lane, const struct yk_embedding_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->rows <= 0 || op->width <= 0) {
        return;
    }
    const cudaStream_t stream = yk_cuda_lane_stream(lane);
    const unsigned grid = yk_block_count(op->rows, EMBEDDING_THREADS / 32);
    /* 8 elements are 16 bytes of a 16-bit type, or 32 bytes of fp32. */
    const bool wide = op->width % EMBEDDING_NUMBERS == 0 &&
                      yk_are_rows_16_byte_aligned<float>(op->table, 0) &&
                      yk_are_rows_16_byte_aligned<float>(op->positions, 0) &&
                      yk_are_rows_16_byte_aligned<float>(op->shift, 0) &&
                      yk_are_rows_16_byte_aligned<float>(op->out, 0);
    yk_dispatch_type(op->table_type, [&](auto number) {
        using T = decltype(number);
        const auto kernel = wide ? embedding_rows<T, EMBEDDING_NUMBERS> : embedding_rows<T, 1>;
        kernel<<<grid, EMBEDDING_THREADS, 0, stream>>>(*op);
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "embedding");
}

/* ---- backward: the table ---- */

/* The sorted rows are divided into segments of equal length. A run is the rows of one token. A run
 * within one segment is summed and added to the table. A run in several segments has a partial sum
 * per segment in scratch memory: the TAIL of its first segment, and the HEAD of each later one.
 * join_segments() then adds the TAIL and the HEADs to the table. */
enum {
    HEAD,
    TAIL,
    ENDS,
};

struct segments {
    const int32_t *order;  /* (rows), sorted by token */
    const int32_t *sorted; /* (rows): their tokens */
    float *partials;       /* (segments, ENDS, pitch) */
    int64_t pitch;         /* the width, rounded up to a multiple of 4 */
    int32_t rows;
    int32_t segment_rows;
    int32_t count;
};

/* Stores the sum of rows `first` to `last` of the order, when a run or the segment ends. */
template <int N>
YK_DEVICE_INLINE void finish_run(const struct yk_embedding_backward_op &op,
                                 const struct segments &segments, int first, int last,
                                 int64_t column, const float (&sum)[N])
{
    const int segment = blockIdx.x;
    const int32_t token = segments.sorted[last];
    const bool came = first > 0 && first == segment * segments.segment_rows &&
                      segments.sorted[first - 1] == token;
    const bool goes = last + 1 < segments.rows && segments.sorted[last + 1] == token;
    if (came || goes) {
        const int64_t end = segment * ENDS + (came ? HEAD : TAIL);
        yk_typed_store_as<float>(segments.partials, end * segments.pitch + column, sum);
        return;
    }
    float entry[N];
    yk_typed_load(op.table_type, op.d_table, token * op.width + column, entry);
#pragma unroll
    for (int i = 0; i < N; i++) {
        entry[i] += op.scale * sum[i];
    }
    yk_typed_store(op.table_type, op.d_table, token * op.width + column, entry);
}

/* T is the type of d_out. A block sums one segment, a thread N columns of it. */
template <typename T, int N>
static __global__ void __launch_bounds__(SUM_THREADS)
    sum_segments(struct yk_embedding_backward_op op, struct segments segments)
{
    const int64_t column = (static_cast<int64_t>(blockIdx.y) * blockDim.x + threadIdx.x) * N;
    const int begin = static_cast<int>(blockIdx.x) * segments.segment_rows;
    const int end = segments.rows - begin < segments.segment_rows ? segments.rows
                                                                  : begin + segments.segment_rows;
    if (column >= op.width) {
        return;
    }
    float sum[N] = {};
    int first = begin; /* of the run */
    for (int at = begin; at < end; at += TOGETHER) {
        yk_vector<T, N> rows[TOGETHER];
#pragma unroll
        for (int i = 0; i < TOGETHER; i++) {
            if (at + i < end) {
                rows[i] =
                    yk_load_vector<T, N>(op.d_out, segments.order[at + i] * op.width + column);
            }
        }
#pragma unroll
        for (int i = 0; i < TOGETHER; i++) {
            const int last = at + i;
            if (last >= end) {
                continue;
            }
#pragma unroll
            for (int j = 0; j < N; j++) {
                sum[j] += yk_to_float(rows[i].numbers[j]);
            }
            if (last + 1 == end || segments.sorted[last + 1] != segments.sorted[last]) {
                finish_run(op, segments, first, last, column, sum);
                first = last + 1;
#pragma unroll
                for (int j = 0; j < N; j++) {
                    sum[j] = 0;
                }
            }
        }
    }
}

/* Adds 128 columns of the run that starts in segment blockIdx.x and continues, if there is one. */
static __global__ void __launch_bounds__(JOIN_THREADS)
    join_segments(struct yk_embedding_backward_op op, struct segments segments)
{
    __shared__ float4 sums[JOIN_WARPS][32];
    const int lane = threadIdx.x % 32;
    const int pass = threadIdx.x / 32;
    const int segment = blockIdx.x;
    const int begin = segment * segments.segment_rows;
    const int next =
        begin + segments.segment_rows; /* exists, because the last segment has no block */
    const int32_t token = segments.sorted[next];
    if (segments.sorted[next - 1] != token || (begin > 0 && segments.sorted[begin - 1] == token)) {
        return;
    }
    int more = 0; /* further segments of the run */
    for (int found = JOIN_THREADS; found == JOIN_THREADS; more += found) {
        const int other = segment + 1 + more + static_cast<int>(threadIdx.x);
        found = __syncthreads_count(other < segments.count &&
                                    segments.sorted[other * segments.segment_rows] == token);
    }
    const int64_t column = static_cast<int64_t>(blockIdx.y) * JOIN_COLUMNS + lane * 4;
    float4 sum = make_float4(0, 0, 0, 0);
    if (column < op.width) {
#pragma unroll 8
        for (int i = pass; i <= more; i += JOIN_WARPS) {
            const int64_t end = static_cast<int64_t>(segment + i) * ENDS + (i == 0 ? TAIL : HEAD);
            const float4 one = *reinterpret_cast<const float4 *>(segments.partials +
                                                                 end * segments.pitch + column);
            sum = make_float4(sum.x + one.x, sum.y + one.y, sum.z + one.z, sum.w + one.w);
        }
    }
    sums[pass][lane] = sum;
    __syncthreads();
    if (pass > 0) {
        return;
    }
    for (int i = 1; i < JOIN_WARPS; i++) {
        const float4 one = sums[i][lane];
        sum = make_float4(sum.x + one.x, sum.y + one.y, sum.z + one.z, sum.w + one.w);
    }
    float total[4];
    yk_unpack_quarter(sum, total);
    for (int i = 0; i < 4 && column + i < op.width; i++) {
        yk_typed_add_to_element(op.table_type, op.d_table, token * op.width + column + i,
                                op.scale * total[i]);
    }
}

/* Allocates the buffers of sort and sums in scratch memory. Returns false if there is not enough.
 */
static bool carve(struct yk_backend_lane *lane, const struct yk_embedding_backward_op *op,
                  struct sort_buffers *order, struct segments *segments)
{
    const size_t end_bytes = static_cast<size_t>(segments->pitch) * ENDS * sizeof(float);
    int64_t segment_rows = MIN_SEGMENT_ROWS;
    while (segment_rows < op->rows &&
           (yk_number_ceil_div(op->rows, segment_rows) > MAX_SEGMENTS ||
            static_cast<size_t>(yk_number_ceil_div(op->rows, segment_rows)) * end_bytes >
                PARTIAL_BYTES)) {
        segment_rows *= 2;
    }
    const size_t list_bytes = static_cast<size_t>(
        yk_number_round_up(op->rows * static_cast<int64_t>(sizeof(int32_t)), 256));
    const size_t count_bytes = static_cast<size_t>(SORT_TILES) * SORT_DIGITS * sizeof(int32_t);
    segments->rows = static_cast<int32_t>(op->rows);
    segments->segment_rows = static_cast<int32_t>(segment_rows);
    segments->count = static_cast<int32_t>(yk_number_ceil_div(op->rows, segment_rows));
    char *scratch = static_cast<char *>(yk_cuda_lane_get_scratch(
        lane, 3 * list_bytes + count_bytes + static_cast<size_t>(segments->count) * end_bytes));
    if (!scratch) {
        return false;
    }
    order->orders[0] = reinterpret_cast<int32_t *>(scratch);
    order->orders[1] = reinterpret_cast<int32_t *>(scratch + list_bytes);
    order->sorted = reinterpret_cast<int32_t *>(scratch + 2 * list_bytes);
    order->counts = reinterpret_cast<int32_t *>(scratch + 3 * list_bytes);
    segments->sorted = order->sorted;
    segments->partials = reinterpret_cast<float *>(scratch + 3 * list_bytes + count_bytes);
    return true;
}

template <typename T, int N>
static void sum_all(cudaStream_t stream, const struct yk_embedding_backward_op *op,
                    const struct segments *segments)
{
    const int64_t across = yk_number_ceil_div(op->width, N);
    const int64_t threads = across < SUM_THREADS ? yk_number_round_up(across, 32) : SUM_THREADS;
    const dim3 grid(static_cast<unsigned>(segments->count), yk_block_count(across, threads));
    sum_segments<T, N><<<grid, static_cast<unsigned>(threads), 0, stream>>>(*op, *segments);
}

static void add_to_table(struct yk_backend_lane *lane, const struct yk_embedding_backward_op *op)
{
    const cudaStream_t stream = yk_cuda_lane_stream(lane);
    struct sort_buffers order;
    struct segments segments;
    segments.pitch = yk_number_round_up(op->width, 4);
    if (!carve(lane, op, &order, &segments)) {
        return;
    }
    segments.order = sort_tokens(stream, op->tokens, segments.rows, op->vocabulary, &order);
    yk_dispatch_type(op->out_type, [&](auto number) {
        using T = decltype(number);
        constexpr int N = yk_vector_16_bytes<T>::count;
        if (op->width % N == 0 && yk_are_rows_16_byte_aligned<T>(op->d_out, op->width) &&
            yk_are_rows_16_byte_aligned<float>(op->d_table, 0)) {
            sum_all<T, N>(stream, op, &segments);
        } else {
            sum_all<T, 1>(stream, op, &segments);
        }
    });
    if (segments.count > 1) {
        const dim3 grid(static_cast<unsigned>(segments.count - 1),
                        yk_block_count(op->width, JOIN_COLUMNS));
        join_segments<<<grid, JOIN_THREADS, 0, stream>>>(*op, segments);
    }
}

/* ---- backward: the positions ---- */

/* The rows of a position are `sequence` rows apart, so this is a sum over samples, with a sample as
 * one wide row. If the last sample is shorter, its positions and the other ones are two sums. */
static void add_to_positions(struct yk_backend_lane *lane,
                             const struct yk_embedding_backward_op *op)
{
    const int64_t samples = op->rows / op->sequence;
    const int64_t rest = op->rows % op->sequence * op->width;
    const int64_t from_bytes = rest * yk_precision_bytes(op->out_type);
    const int64_t to_bytes = rest * yk_precision_bytes(op->table_type);
    struct yk_sum_rows_op sum = {};
    sum.rows = samples + 1;
    sum.columns = rest;
    sum.from = op->d_out;
    sum.stride = op->sequence * op->width;
    sum.to = op->d_positions;
    sum.from_type = op->out_type;
    sum.to_type = op->table_type;
    yk_cuda_sum_rows(lane, &sum);
    sum.rows = samples;
    sum.columns = sum.stride - rest;
    sum.from = static_cast<const char *>(op->d_out) + from_bytes;
    sum.to = static_cast<char *>(op->d_positions) + to_bytes;
    yk_cuda_sum_rows(lane, &sum);
}

void yk_cuda_embedding_backward(struct yk_backend_lane *lane,
                                const struct yk_embedding_backward_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->rows <= 0 || op->width <= 0) {
        return;
    }
    if (op->d_table) {
        add_to_table(lane, op);
    }
    if (op->d_positions) {
        add_to_positions(lane, op);
    }
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "embedding_backward");
}
