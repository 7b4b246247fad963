#include "backend/cuda/kernels.h"

#include <float.h>

#include "backend/cuda/kernels/aligned_groups.cuh"
#include "backend/cuda/kernels/async_copy.cuh"
#include "backend/cuda/kernels/elements.cuh"

/*
 * With m the largest logit x of a row, Z = Σ exp(x − m), label t and smoothing s over C classes:
 *   loss     = log Z + m − (1 − s) · x_t − (s / C) · Σ x
 *   gradient = exp(x − m) / Z − s / C, and less 1 − s at the label.
 * With a cap c of logits z, x = c · tanh(z / c), and the gradient of z has the factor 1 − (x / c)².
 * Most capped logits in bf16 have a faster kernel, in capped_cross_entropy.cu.
 *
 * A block goes from row to row, and through each of them twice, 16 bytes of a thread at a time: for
 * m and Z, which every thread finds for what it sees, Z relative to the largest so far, and for the
 * gradient. As much of the row as fits stays in shared memory in between; the rest is read again. A
 * place there that is done with gets what the next row has there, so that memory is read while it
 * is written. Each thread reads, keeps and writes the same places of every row.
 */
enum {
    UNITS = 4, /* times 16 bytes that a thread has under way */
    MAX_THREADS = 1024,
    PAIR_THREADS = 512, /* of a block where two share a processor */
    WARPS = MAX_THREADS / 32,
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
YK_DEVICE_INLINE float power(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504F));
    return y;
}

/* How logits are capped; without CAPPED they are not. */
template <bool CAPPED> struct soft_cap {
    float cap;
    float inverse;
};

/* tanh(z / cap). If T has 16 bits, the error is about 1e-7, not relative to the result: logits are
 * used in exponents. */
template <typename T> YK_DEVICE_INLINE float bend(float z, const struct soft_cap<true> &soft_cap)
{
    if (sizeof(T) == 2) {
        return 1.0F - __fdividef(2.0F, 1.0F + __expf(2.0F * z * soft_cap.inverse));
    }
    return tanhf(z * soft_cap.inverse);
}

template <typename T, bool CAPPED>
YK_DEVICE_INLINE float cap_logit(float z, const struct soft_cap<CAPPED> &soft_cap)
{
    if constexpr (CAPPED) {
        return soft_cap.cap * bend<T>(z, soft_cap);
    } else {
        return z;
    }
}

template <typename T> YK_DEVICE_INLINE struct cut cut_row(const T *row, int classes)
{
    constexpr int width = yk_vector_16_bytes<T>::count;
    const unsigned beyond = static_cast<unsigned>(reinterpret_cast<uintptr_t>(row) % 16);
    const int head = min(static_cast<int>((16 - beyond) % 16 / sizeof(T)), classes);
    const int wides = (classes - head) / width;
    return {head, wides, classes - wides * width};
}

template <typename T, bool CAPPED>
YK_DEVICE_INLINE void add_wide(const uint4 &words, bool smooth,
                               const struct soft_cap<CAPPED> &soft_cap, struct row_sum &sum)
{
    constexpr int width = yk_vector_16_bytes<T>::count;
    float x[width];
    yk_unpack_16_bytes_to_floats<T>(words, x);
    if (CAPPED) {
#pragma unroll
        for (int i = 0; i < width; i++) {
            x[i] = cap_logit<T>(x[i], soft_cap);
        }
    }
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

/* The threads' sums combined, known to all of them. `parts` must differ the next time, as nobody
 * waits for those who still read. */
static __device__ struct row_sum combine(const struct row_sum &mine, struct row_sum *parts)
{
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int warps = static_cast<int>(blockDim.x / 32);
    float largest = yk_warp_max(mine.largest);
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
    largest = yk_warp_max(part.largest);
    powers = yk_warp_sum(part.powers * power(part.largest - largest));
    logits = yk_warp_sum(part.logits);
    return {largest, powers, logits};
}

/* A row, and what a thread has of it beside its places in shared memory. */
template <typename T> struct logit_row {
    T *row;
    struct cut cut;
    int target; /* negative: it bears no loss, and nothing of it is read */
    T edge;     /* of a thread that has one; only taken apart where it is needed */
    T label;    /* the first thread's: the logit of the target */

    __device__ __forceinline__ uint4 *wides() const
    {
        return reinterpret_cast<uint4 *>(row + cut.head);
    }

    __device__ __forceinline__ int edge_at() const
    {
        const int thread = static_cast<int>(threadIdx.x);
        return thread < cut.head ? thread : thread + cut.wides * yk_vector_16_bytes<T>::count;
    }

    /* How many times 16 bytes are fetched. */
    __device__ __forceinline__ int fetched(int kept) const
    {
        return target < 0 ? 0 : min(cut.wides, kept);
    }
};

/* Row `number`, which is only looked at if its target is not negative. */
template <typename T>
YK_DEVICE_INLINE struct logit_row<T> row_at(const struct yk_cross_entropy_op &op, int64_t number,
                                            int target) {
    struct logit_row<T> line;
    line.row = static_cast<T *>(op.logits) + number * op.stride;
    line.cut = cut_row(line.row, static_cast<int>(op.classes));
    line.target = target;
    line.edge = yk_from_float<T>(0.0F);
    line.label = line.edge;
    if (target >= 0 && static_cast<int>(threadIdx.x) < line.cut.edges) {
        line.edge = line.row[line.edge_at()];
    }
    if (target >= 0 && threadIdx.x == 0) {
        line.label = line.row[target];
    }
    return line;
}

/* The first time through; `groups` are under way or there, one each time UNITS · threads places. */
template <typename T, bool CAPPED>
YK_DEVICE_INLINE struct row_sum sum_row(const struct logit_row<T> &line, int kept, bool smooth,
                                        const struct soft_cap<CAPPED> &soft_cap, const uint4 *shelf,
                                        int groups)
{
    const int threads = static_cast<int>(blockDim.x);
    const int wides = line.cut.wides;
    struct row_sum sum = {-FLT_MAX, 0.0F, 0.0F};
    if (static_cast<int>(threadIdx.x) < line.cut.edges) {
        sum.logits = cap_logit<T>(yk_to_float(line.edge), soft_cap);
        sum.largest = fmaxf(sum.logits, -FLT_MAX);
        sum.powers = power(sum.logits - sum.largest);
    }
    for (int first = static_cast<int>(threadIdx.x); first < wides; first += UNITS * threads) {
        uint4 words[UNITS];
        yk_async_copy_wait_all_but(--groups);
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) {
            const int at = first + unit * threads;
            if (at < wides) {
                words[unit] = at < kept ? shelf[at] : line.wides()[at];
            }
        }
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) {
            if (first + unit * threads < wides) {
                add_wide<T>(words[unit], smooth, soft_cap, sum);
            }
        }
    }
    return sum;
}

/* All 0 for a row without a target. */
struct gradient {
    float largest;
    float scale; /* factor / Z */
    float even;  /* factor · s / C */
    float label; /* factor · (1 − s) */
};

template <typename T, bool CAPPED>
YK_DEVICE_INLINE uint4 gradient_of(const uint4 &words, int target, const struct gradient &gradient,
                                   const struct soft_cap<CAPPED> &soft_cap)
{
    constexpr int width = yk_vector_16_bytes<T>::count;
    float x[width];
    float slope[width];
    yk_unpack_16_bytes_to_floats<T>(words, x);
    if constexpr (CAPPED) {
#pragma unroll
        for (int i = 0; i < width; i++) {
            const float bent = bend<T>(x[i], soft_cap);
            x[i] = soft_cap.cap * bent;
            slope[i] = 1.0F - bent * bent;
        }
    }
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
    if constexpr (CAPPED) {
#pragma unroll
        for (int i = 0; i < width; i++) {
            x[i] *= slope[i];
        }
    }
    return yk_pack_floats_to_16_bytes<T>(x);
}

/* The second time: writes the gradient, or zeros in a row without a target, and asks for the next
 * row. Returns the groups of that. */
template <typename T, bool CAPPED>
YK_DEVICE_INLINE int turn_over(const struct logit_row<T> &line, const struct logit_row<T> &next,
                               int kept, const struct gradient &gradient,
                               const struct soft_cap<CAPPED> &soft_cap, uint4 *shelf)
{
    const int threads = static_cast<int>(blockDim.x);
    const int wides = line.cut.wides;
    const int held = line.fetched(kept);
    const int fetched = next.fetched(kept);
    int groups = 0;
    for (int first = static_cast<int>(threadIdx.x); first < max(wides, fetched);
         first += UNITS * threads) {
        uint4 words[UNITS];
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) {
            const int at = first + unit * threads;
            words[unit] = make_uint4(0, 0, 0, 0);
            if (line.target >= 0 && at < wides) {
                words[unit] = at < held ? shelf[at] : line.wides()[at];
            }
        }
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) {
            const int at = first + unit * threads;
            if (at < fetched) {
                yk_async_copy_16_bytes(shelf + at, next.wides() + at);
            }
        }
        yk_async_copy_commit_group();
        groups++;
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) {
            const int at = first + unit * threads;
            if (at < wides) {
                const int target = line.target - line.cut.head - at * yk_vector_16_bytes<T>::count;
                __stcs(line.wides() + at, gradient_of<T>(words[unit], target, gradient, soft_cap));
            }
        }
    }
    if (static_cast<int>(threadIdx.x) < line.cut.edges) {
        const int at = line.edge_at();
        const float x = cap_logit<T>(yk_to_float(line.edge), soft_cap);
        const float even = power(x - gradient.largest) * gradient.scale - gradient.even;
        float d = at == line.target ? even - gradient.label : even;
        if constexpr (CAPPED) {
            d *= 1.0F - x * soft_cap.inverse * (x * soft_cap.inverse);
        }
        line.row[at] = yk_from_float<T>(d);
    }
    return groups;
}

static __device__ float loss_of(const struct yk_cross_entropy_op &op, float label,
                                const struct row_sum &sum)
{
    const double x = static_cast<double>(label);
    double loss = static_cast<double>(logf(sum.powers)) + (static_cast<double>(sum.largest) - x);
    if (op.smoothing != 0.0F) {
        loss += static_cast<double>(op.smoothing) *
                (x - static_cast<double>(sum.logits) / static_cast<double>(op.classes));
    }
    return static_cast<float>(loss);
}

/* `kept` times 16 bytes of shared memory, none with a factor of 0. Blocks have at least a warp, so
 * that edges have a thread each. There are no more blocks than rows. */
template <typename T, bool CAPPED>
static __global__ void __launch_bounds__(MAX_THREADS)
    cross_entropy_rows(struct yk_cross_entropy_op op, int kept)
{
    const struct soft_cap<CAPPED> soft_cap = {
        op.softcap, 1.0F / op.softcap
    };
    extern __shared__ uint4 shelf[];
    __shared__ struct row_sum parts[2][WARPS];
    int64_t number = blockIdx.x;
    int turn = 0;
    /* Of nothing before the first row, nothing is written. */
    auto line = logit_row<T>();
    line.target = -1;
    struct logit_row<T> next = row_at<T>(op, number, op.targets[number]);
    struct gradient gradient = {0.0F, 0.0F, 0.0F, 0.0F};
    int groups = turn_over(line, next, kept, gradient, soft_cap, shelf);
    for (; number < op.rows; number += gridDim.x) {
        const int64_t after = number + gridDim.x;
        const int target = after < op.rows ? op.targets[after] : -1;
        line = next;
        gradient = {0.0F, 0.0F, 0.0F, 0.0F};
        float loss = 0.0F;
        if (line.target >= 0) {
            struct row_sum sum = sum_row(line, kept, op.smoothing != 0.0F, soft_cap, shelf, groups);
            /* Nothing is written to the row before all of it was read. */
            sum = combine(sum, parts[turn++ & 1]);
            gradient = {sum.largest, op.factor / sum.powers,
                        op.factor * op.smoothing / static_cast<float>(op.classes),
                        op.factor * (1.0F - op.smoothing)};
            loss = loss_of(op, cap_logit<T>(yk_to_float(line.label), soft_cap), sum);
        }
        if (threadIdx.x == 0) {
            op.row_losses[number] = loss;
        }
        next = row_at<T>(op, after, target);
        if (op.factor != 0.0F) {
            groups = turn_over(line, next, kept, gradient, soft_cap, shelf);
        }
    }
}

static __global__ void __launch_bounds__(MAX_THREADS)
    add_losses(int64_t rows, const float *row_losses, double *loss)
{
    double sum = 0;
#pragma unroll 4
    for (int64_t row = threadIdx.x; row < rows; row += MAX_THREADS) {
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
static struct shape shape_of(const struct yk_cross_entropy_op *op,
                             const struct yk_cuda_device_properties *properties, int64_t wides)
{
    const int64_t whole = static_cast<int64_t>(properties->shared_bytes) - RESERVED_BYTES;
    const int64_t half = static_cast<int64_t>(properties->shared_bytes) / 2 - RESERVED_BYTES;
    const int64_t beyond = 16 * wides > half ? 16 * wides - half : 0;
    const bool pair =
        op->factor == 0.0F || 2 * properties->processors * beyond <=
                                  static_cast<int64_t>(properties->cache_bytes) / 4 * 3;
    const int64_t room = op->factor == 0.0F ? 0 : (pair ? half : whole) / 16;
    const int64_t useful = yk_number_round_up(yk_number_ceil_div(wides, UNITS), 32);
    const int64_t threads = yk_number_min(useful, pair ? PAIR_THREADS : MAX_THREADS);
    return {static_cast<int>(yk_number_max(threads, 32)),
            static_cast<int>(yk_number_min(room, wides))};
}

template <typename T, bool CAPPED>
static cudaError_t launch_rows(cudaStream_t stream, const struct yk_cross_entropy_op *op,
                               const struct yk_cuda_device_properties *properties)
{
    const struct shape shape = shape_of(op, properties, op->classes / yk_vector_16_bytes<T>::count);
    const auto kernel = cross_entropy_rows<T, CAPPED>;
    /* The same every time: other lanes may be at it. */
    cudaError_t error = yk_allow_dynamic_shared_memory(
        reinterpret_cast<const void *>(kernel),
        static_cast<int64_t>(properties->shared_bytes) - RESERVED_BYTES);
    const size_t bytes = static_cast<size_t>(shape.kept) * 16;
    int together = 0; /* blocks of a processor */
    YK_CUDA_CALL_UNLESS_FAILED(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                                          &together, kernel, shape.threads, bytes));
    if (error == cudaSuccess) {
        const int64_t most =
            static_cast<int64_t>(properties->processors) * (together > 0 ? together : 1);
        const unsigned grid = static_cast<unsigned>(op->rows < most ? op->rows : most);
        kernel<<<grid, shape.threads, bytes, stream>>>(*op, shape.kept);
        error = cudaGetLastError();
    }
    return error;
}

void yk_cuda_cross_entropy(struct yk_backend_lane *lane, const struct yk_cross_entropy_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->rows <= 0) {
        return;
    }
    cudaStream_t stream = yk_cuda_lane_stream(lane);
    cudaError_t error = cudaSuccess;
    if (!yk_cuda_capped_cross_entropy_try(lane, op)) {
        yk_dispatch_type(op->type, [&](auto number) {
            using T = decltype(number);
            const auto launch = op->softcap != 0.0F ? launch_rows<T, true> : launch_rows<T, false>;
            error = launch(stream, op, yk_cuda_lane_device_properties(lane));
        });
    }
    if (yk_cuda_lane_check_cuda_error(lane, error, "cross_entropy")) {
        add_losses<<<1, MAX_THREADS, 0, stream>>>(op->rows, op->row_losses, op->loss);
        yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "cross_entropy");
    }
}
