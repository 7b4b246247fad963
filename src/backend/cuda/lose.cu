#include "backend/cuda/kernels.h"

#include <float.h>

#include "backend/cuda/block_sum.cuh"
#include "backend/cuda/numbers.cuh"
#include "backend/cuda/stretch.cuh"

/*
 * With m the largest logit x of a row, Z = Σ exp(x − m), label t and smoothing s over C classes:
 *   loss     = log Z + m − (1 − s) · x_t − (s / C) · Σ x
 *   gradient = exp(x − m) / Z − s / C, and less 1 − s at the label.
 *
 * A block takes a row and goes through it twice, 16 bytes of a thread at a time: for m and Z, which
 * every thread finds for what it sees, Z relative to the largest so far, and for the gradient. As
 * much of the row as fits stays in shared memory in between; the rest is read again.
 */
enum {
    UNITS = 4, /* times 16 bytes that a thread has under way */
    MOST_THREADS = 1024,
    PAIR_THREADS = 512, /* of a block where two share a processor */
    WARPS = MOST_THREADS / 32,
    RESERVED_BYTES = 2048, /* shared memory of a block for its sums, and what the system keeps */
};

struct row_sum {
    float largest; /* m, at least −FLT_MAX: what is −infinity then has a power of 0 */
    float powers;  /* Z, relative to it */
    float logits;  /* Σ x */
};

/* How a row lies in memory: `wides` times 16 aligned bytes, `head` numbers before them, and `edges`
 * before and behind together, fewer than a warp. */
struct cut {
    int head;
    int wides;
    int edges;
};

/* exp(x) for x up to 0, with 0 for what is below 2^-126. */
static __device__ __forceinline__ float power(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504F));
    return y;
}

template <typename T>
static __device__ __forceinline__ struct cut cut_row(const T *row, int classes)
{
    constexpr int width = yk_wide<T>::count;
    const unsigned beyond = static_cast<unsigned>(reinterpret_cast<uintptr_t>(row) % 16);
    const int head = min(static_cast<int>((16 - beyond) % 16 / sizeof(T)), classes);
    const int wides = (classes - head) / width;
    return {head, wides, classes - wides * width};
}

template <typename T>
static __device__ __forceinline__ void take(const uint4 &words, bool smooth, struct row_sum &sum)
{
    constexpr int width = yk_wide<T>::count;
    float x[width];
    yk_open_wide<T>(words, x);
    float largest = sum.largest;
#pragma unroll
    for (int i = 0; i < width; i++) {
        largest = fmaxf(largest, x[i]);
    }
    float powers = 0.0F;
#pragma unroll
    for (int i = 0; i < width; i++) {
        powers += power(x[i] - largest);
    }
    sum.powers = sum.powers * power(sum.largest - largest) + powers;
    sum.largest = largest;
    if (smooth) {
#pragma unroll
        for (int i = 0; i < width; i++) {
            sum.logits += x[i];
        }
    }
}

/* What the threads of a block saw, put together; known to all of them. */
static __device__ struct row_sum put_together(const struct row_sum &mine)
{
    __shared__ struct row_sum parts[WARPS];
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int warps = static_cast<int>(blockDim.x / 32);
    float largest = yk_warp_most(mine.largest);
    float powers = yk_warp_sum(mine.powers * power(mine.largest - largest));
    float logits = yk_warp_sum(mine.logits);
    if (lane == 0) {
        parts[threadIdx.x / 32] = {largest, powers, logits};
    }
    __syncthreads();
    struct row_sum part = {-FLT_MAX, 0.0F, 0.0F};
    if (lane < warps) {
        part = parts[lane];
    }
    largest = yk_warp_most(part.largest);
    powers = yk_warp_sum(part.powers * power(part.largest - largest));
    logits = yk_warp_sum(part.logits);
    return {largest, powers, logits};
}

/* The first time through: of `wides`, the first `kept` stay in shared memory. */
template <typename T>
static __device__ __forceinline__ void sum_wides(const uint4 *row, int wides, int kept, bool smooth,
                                                 uint4 *shelf, struct row_sum &sum)
{
    const int threads = static_cast<int>(blockDim.x);
    for (int first = static_cast<int>(threadIdx.x); first < wides; first += UNITS * threads) {
        uint4 words[UNITS];
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) {
            const int at = first + unit * threads;
            if (at < wides) {
                words[unit] = at < kept ? __ldcs(row + at) : row[at];
            }
        }
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) {
            const int at = first + unit * threads;
            if (at < wides) {
                take<T>(words[unit], smooth, sum);
            }
            if (at < wides && at < kept) {
                shelf[at] = words[unit];
            }
        }
    }
}

struct gradient {
    float largest;
    float scale; /* factor / Z */
    float even;  /* factor · s / C */
    float label; /* factor · (1 − s) */
};

template <typename T>
static __device__ __forceinline__ uint4 gradient_of(const uint4 &words, int target,
                                                    const struct gradient &gradient)
{
    constexpr int width = yk_wide<T>::count;
    float x[width];
    yk_open_wide<T>(words, x);
#pragma unroll
    for (int i = 0; i < width; i++) {
        x[i] = power(x[i] - gradient.largest) * gradient.scale - gradient.even;
    }
    if (static_cast<unsigned>(target) < static_cast<unsigned>(width)) {
#pragma unroll
        for (int i = 0; i < width; i++) {
            x[i] -= i == target ? gradient.label : 0.0F;
        }
    }
    return yk_close_wide<T>(x);
}

/* The second time: threads take what they took before, so that nothing has to be waited for.
 * `target` counts from the first of the wides. */
template <typename T>
static __device__ __forceinline__ void write_wides(uint4 *row, int wides, int kept, int target,
                                                   const uint4 *shelf,
                                                   const struct gradient &gradient)
{
    constexpr int width = yk_wide<T>::count;
    const int threads = static_cast<int>(blockDim.x);
    for (int first = static_cast<int>(threadIdx.x); first < wides; first += UNITS * threads) {
        uint4 words[UNITS];
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) {
            const int at = first + unit * threads;
            if (at < wides) {
                words[unit] = at < kept ? shelf[at] : row[at];
            }
        }
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) {
            const int at = first + unit * threads;
            if (at < wides) {
                __stcs(row + at, gradient_of<T>(words[unit], target - at * width, gradient));
            }
        }
    }
}

template <typename T> static __device__ void clear_row(T *row, const struct cut &cut)
{
    const int thread = static_cast<int>(threadIdx.x);
    uint4 *wides = reinterpret_cast<uint4 *>(row + cut.head);
    for (int at = thread; at < cut.wides; at += static_cast<int>(blockDim.x)) {
        wides[at] = make_uint4(0, 0, 0, 0);
    }
    if (thread < cut.edges) {
        row[thread < cut.head ? thread : thread + cut.wides * yk_wide<T>::count] =
            yk_store<T>(0.0F);
    }
}

static __device__ float loss_of(const struct yk_lose &op, float label, const struct row_sum &sum)
{
    const double x = static_cast<double>(label);
    double loss = static_cast<double>(logf(sum.powers)) + (static_cast<double>(sum.largest) - x);
    if (op.smoothing != 0.0F) {
        loss += static_cast<double>(op.smoothing) *
                (x - static_cast<double>(sum.logits) / static_cast<double>(op.classes));
    }
    return static_cast<float>(loss);
}

/* `kept` times 16 bytes of shared memory. Blocks have at least a warp, so that edges have a thread
 * each, which keeps its logit. */
template <typename T>
static __global__ void __launch_bounds__(MOST_THREADS) lose_row(struct yk_lose op, int kept)
{
    extern __shared__ uint4 shelf[];
    const int thread = static_cast<int>(threadIdx.x);
    const int classes = static_cast<int>(op.classes);
    const int target = op.targets[blockIdx.x];
    T *row = static_cast<T *>(op.logits) + static_cast<int64_t>(blockIdx.x) * op.stride;
    const struct cut cut = cut_row(row, classes);
    uint4 *wides = reinterpret_cast<uint4 *>(row + cut.head);
    if (target < 0) {
        if (thread == 0) {
            op.row_losses[blockIdx.x] = 0.0F;
        }
        if (op.factor != 0.0F) {
            clear_row(row, cut);
        }
        return;
    }
    const float label = thread == 0 ? yk_load(row[target]) : 0.0F;
    const int edge_at = thread < cut.head ? thread : thread + cut.wides * yk_wide<T>::count;
    struct row_sum sum = {-FLT_MAX, 0.0F, 0.0F};
    float edge = 0.0F;
    if (thread < cut.edges) {
        edge = yk_load(row[edge_at]);
        sum.largest = fmaxf(edge, -FLT_MAX);
        sum.powers = power(edge - sum.largest);
        sum.logits = edge;
    }
    sum_wides<T>(wides, cut.wides, kept, op.smoothing != 0.0F, shelf, sum);
    sum = put_together(sum); /* nothing is written to the row before all of it was read */
    if (thread == 0) {
        op.row_losses[blockIdx.x] = loss_of(op, label, sum);
    }
    if (op.factor == 0.0F) {
        return;
    }
    const struct gradient gradient = {
        sum.largest,
        op.factor / sum.powers,
        op.factor * op.smoothing / static_cast<float>(classes),
        op.factor * (1.0F - op.smoothing),
    };
    write_wides<T>(wides, cut.wides, kept, target - cut.head, shelf, gradient);
    if (thread < cut.edges) {
        const float even = power(edge - sum.largest) * gradient.scale - gradient.even;
        row[edge_at] = yk_store<T>(edge_at == target ? even - gradient.label : even);
    }
}

static __global__ void __launch_bounds__(MOST_THREADS)
    add_losses(int64_t rows, const float *row_losses, double *loss)
{
    double sum = 0;
#pragma unroll 4
    for (int64_t row = threadIdx.x; row < rows; row += MOST_THREADS) {
        sum += static_cast<double>(row_losses[row]);
    }
    sum = yk_block_sum(sum);
    if (threadIdx.x == 0) {
        *loss += sum;
    }
}

struct shape {
    int threads;
    int kept; /* times 16 bytes */
};

/* Two blocks share a processor, one reading while the other writes, if what does not fit into their
 * halves of its shared memory is still in the cache when it is needed again; else one has it all.
 */
static struct shape shape_of(const struct yk_lose *op, const struct yk_cuda_chip *chip,
                             int64_t wides)
{
    const int64_t whole = static_cast<int64_t>(chip->shared_bytes) - RESERVED_BYTES;
    const int64_t half = static_cast<int64_t>(chip->shared_bytes) / 2 - RESERVED_BYTES;
    const int64_t beyond = 16 * wides > half ? 16 * wides - half : 0;
    const bool pair = op->factor == 0.0F || 2 * chip->processors * beyond <=
                                                static_cast<int64_t>(chip->cache_bytes) / 4 * 3;
    const int64_t room = op->factor == 0.0F ? 0 : (pair ? half : whole) / 16;
    const int64_t useful = yk_ceil_div(yk_ceil_div(wides, UNITS), 32) * 32;
    const int64_t most = pair ? PAIR_THREADS : MOST_THREADS;
    const int64_t threads = useful < most ? useful : most;
    return {static_cast<int>(threads < 32 ? 32 : threads),
            static_cast<int>(room < wides ? room : wides)};
}

template <typename T>
static cudaError_t put_rows(cudaStream_t stream, const struct yk_lose *op,
                            const struct yk_cuda_chip *chip)
{
    const struct shape shape = shape_of(op, chip, op->classes / yk_wide<T>::count);
    /* The same every time: other lanes may be at it. */
    cudaError_t error =
        cudaFuncSetAttribute(lose_row<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(chip->shared_bytes) - RESERVED_BYTES);
    if (error == cudaSuccess) {
        error = cudaFuncSetAttribute(lose_row<T>, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared);
    }
    if (error == cudaSuccess) {
        lose_row<T><<<static_cast<unsigned>(op->rows), shape.threads,
                      static_cast<size_t>(shape.kept) * 16, stream>>>(*op, shape.kept);
        error = cudaGetLastError();
    }
    return error;
}

void yk_cuda_lose(struct yk_backend_lane *lane, const struct yk_lose *op)
{
    if (!yk_cuda_sound(lane) || op->rows <= 0) {
        return;
    }
    cudaStream_t stream = yk_cuda_stream(lane);
    cudaError_t error = cudaSuccess;
    yk_with_type(op->type, [&](auto number) {
        error = put_rows<decltype(number)>(stream, op, yk_cuda_chip(lane));
    });
    if (yk_cuda_note(lane, error, "lose")) {
        add_losses<<<1, MOST_THREADS, 0, stream>>>(op->rows, op->row_losses, op->loss);
        yk_cuda_note(lane, cudaGetLastError(), "lose");
    }
}
