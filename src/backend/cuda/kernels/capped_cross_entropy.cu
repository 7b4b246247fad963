#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/async_copy.cuh"
#include "backend/cuda/kernels/elements.cuh"

/*
 * Cross entropy of bf16 logits z with a soft cap c. With r = 1 / (1 + exp(2 z / c)):
 *   capped logit x = c · tanh(z / c) = c − 2 c r
 *   its slope in z = 1 − tanh²       = 4 (r − r²)
 *   gradient       = factor · exp(x) / Z · slope, with Z = Σ exp(x), and less factor · slope at the
 *                    label.
 * x is between −c and c, and c is small here, so that exp(x) fits into fp32 without the largest x.
 *
 * Special functions are slow: an SM computes 16 per clock cycle, 1/8 of its multiplications. So
 * exp(x) · (r − r²) replaces z in shared memory, rounded to bf16, when Z is summed. Only the factor
 * 4 · factor / Z is missing then. The gradient at the label, a difference, is computed in fp32.
 *
 * A block reads a row, or a part of it, twice, as the kernel in cross_entropy.cu does. A cluster of
 * blocks shares a row that is too long for the shared memory of a block.
 */
enum {
    UNITS = 4, /* times 16 bytes that a thread has under way */
    WIDTH = 8, /* numbers in 16 bytes */
    MAX_THREADS = 1024,
    PAIR_THREADS = 512, /* of a block where two share an SM */
    CLUSTER_BLOCKS = 2, /* more of them wait longer for each other */
    MAX_SUMS = CLUSTER_BLOCKS * MAX_THREADS / 32,
    RESERVED_BYTES = 2048, /* shared memory of a block for its sums, and what the system keeps */
    MAX_EXPONENT = 30, /* of exp(2 z / c), as a power of 2: the product of four is no infinity */
};

#define LOG2_E 1.44269504088896340736F
/* A greater cap: Z may not fit into fp32. A smaller one: 1 / c may not. */
#define MAX_CAP 48.0F
#define MIN_CAP 0.125F

struct soft_cap {
    float rate;       /* exp(2 z / c) = 2^(rate · z) */
    float height;     /* x is height · (1 − 2 r), in units of log 2 */
    __nv_bfloat162 z; /* twice the largest z; tanh of those beyond is 1 */
};

YK_DEVICE_INLINE struct soft_cap soft_cap_of(float cap)
{
    return {2.0F * LOG2_E / cap, cap * LOG2_E,
            __float2bfloat162_rn(MAX_EXPONENT / (2.0F * LOG2_E) * cap)};
}

YK_DEVICE_INLINE float power_of_2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* Replaces four numbers by their inverses, with one division. */
YK_DEVICE_INLINE void invert_four(float *x)
{
    const float low = x[0] * x[1];
    const float high = x[2] * x[3];
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(low * high));
    const float low_inverse = inverse * high;
    const float high_inverse = inverse * low;
    const float inverses[4] = {low_inverse * x[1], low_inverse * x[0], high_inverse * x[3],
                               high_inverse * x[2]};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        x[i] = inverses[i];
    }
}

/* r of each number. */
YK_DEVICE_INLINE void bend(const uint4 &words, const struct soft_cap &soft_cap, float (&r)[WIDTH])
{
    const uint32_t pairs[WIDTH / 2] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int i = 0; i < WIDTH / 2; i++) {
        /* What is not a number stays so. */
        const __nv_bfloat162 z =
            __hmin2_nan(*reinterpret_cast<const __nv_bfloat162 *>(&pairs[i]), soft_cap.z);
        yk_word_converter<__nv_bfloat16>::unpack(*reinterpret_cast<const uint32_t *>(&z),
                                                 r + 2 * i);
    }
#pragma unroll
    for (int i = 0; i < WIDTH; i++) {
        r[i] = 1.0F + power_of_2(r[i] * soft_cap.rate);
    }
    invert_four(r);
    invert_four(r + 4);
}

/* log2 of exp(x). */
YK_DEVICE_INLINE float exponent_of(float r, const struct soft_cap &soft_cap)
{
    return fmaf(r, -2.0F * soft_cap.height, soft_cap.height);
}

/* A quarter of the slope. */
YK_DEVICE_INLINE float slope_of(float r)
{
    return fmaf(-r, r, r);
}

/* Replaces r by exp(x) · (r − r²), and returns the sum of exp(x). */
YK_DEVICE_INLINE float weigh(const struct soft_cap &soft_cap, float (&r)[WIDTH])
{
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < WIDTH; i++) {
        const float power = power_of_2(exponent_of(r[i], soft_cap));
        sum += power;
        r[i] = power * slope_of(r[i]);
    }
    return sum;
}

/* Blocks of a cluster. GPUs without clusters have clusters of one block. */
YK_DEVICE_INLINE int cluster_blocks(void)
{
    unsigned blocks = 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
#endif
    return static_cast<int>(blocks);
}

YK_DEVICE_INLINE int cluster_rank(void)
{
    unsigned rank = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return static_cast<int>(rank);
}

YK_DEVICE_INLINE void cluster_barrier(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\n"
                 "barrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
#else
    __syncthreads();
#endif
}

/* Stores x where block `rank` of the cluster has what this block has at `at`, in shared memory. */
YK_DEVICE_INLINE void store_in_block(float *at, int rank, float x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    uint32_t to;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(to)
        : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(at))), "r"(rank));
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(to), "f"(x) : "memory");
#else
    *at = x;
#endif
}

/* The sum over the threads of a cluster, known to all of them. `parts` must differ the next time,
 * as nobody waits for those who still read. */
static __device__ float sum_over_cluster(float mine, float *parts)
{
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int warps = static_cast<int>(blockDim.x / 32);
    const int blocks = cluster_blocks();
    const float sum = yk_warp_sum(mine);
    if (lane < blocks) {
        store_in_block(parts + cluster_rank() * warps + warp, lane, sum);
    }
    cluster_barrier();
    float total = 0.0F;
    for (int i = lane; i < blocks * warps; i += 32) {
        total += parts[i];
    }
    return yk_warp_sum(total);
}

/* What a block has of each row: `wides` times 16 bytes, from the `begin`-th on. Of them, `kept`
 * stay in shared memory. */
struct share {
    int begin;
    int wides;
    int kept;
};

YK_DEVICE_INLINE struct share share_of(const struct yk_cross_entropy_op &op, int kept)
{
    const int wides = static_cast<int>(op.classes / WIDTH);
    const int blocks = cluster_blocks();
    const int most = (wides + blocks - 1) / blocks;
    const int begin = min(cluster_rank() * most, wides);
    const int mine = min(most, wides - begin);
    return {begin, mine, min(kept, mine)};
}

/* A block's share of a row. */
struct line {
    uint4 *wides;
    int target; /* relative to the share; not in it if another block has it */
    bool bears; /* a loss. If not, nothing of the row is read. */
};

YK_DEVICE_INLINE struct line line_at(const struct yk_cross_entropy_op &op, int64_t number,
                                     const struct share &share, int target)
{
    __nv_bfloat16 *row = static_cast<__nv_bfloat16 *>(op.logits) + number * op.stride;
    return {reinterpret_cast<uint4 *>(row) + share.begin, target - share.begin * WIDTH,
            target >= 0};
}

/* The first time through: Σ exp(x) of what this thread has. `groups` of copies are under way or
 * there, one each time UNITS · THREADS places. The thread with the label gets its r. */
template <int THREADS>
YK_DEVICE_INLINE float sum_line(const struct line &line, const struct share &share,
                                const struct soft_cap &soft_cap, uint4 *shelf, int groups,
                                float *label)
{
    float sum = 0.0F;
    for (int first = static_cast<int>(threadIdx.x); first < share.wides; first += UNITS * THREADS) {
        uint4 words[UNITS];
        const uint4 *from = line.wides + first;
        uint4 *kept = shelf + first;
        yk_async_copy_wait_all_but(--groups);
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) {
            const int at = first + unit * THREADS;
            if (at < share.wides) {
                words[unit] = at < share.kept ? kept[unit * THREADS] : from[unit * THREADS];
            }
        }
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) {
            const int at = first + unit * THREADS;
            if (at < share.wides) {
                const int target = line.target - at * WIDTH;
                float r[WIDTH];
                bend(words[unit], soft_cap, r);
                if (static_cast<unsigned>(target) < WIDTH) {
#pragma unroll
                    for (int i = 0; i < WIDTH; i++) {
                        *label = i == target ? r[i] : *label;
                    }
                }
                sum += weigh(soft_cap, r);
                if (at < share.kept) {
                    kept[unit * THREADS] = yk_pack_floats_to_16_bytes<__nv_bfloat16>(r);
                }
            }
        }
    }
    return sum;
}

static __device__ float loss_of(float sum, float label, const struct soft_cap &soft_cap)
{
    const double distance =
        log2(static_cast<double>(sum)) - static_cast<double>(exponent_of(label, soft_cap));
    return static_cast<float>(distance * 0.69314718055994530942);
}

YK_DEVICE_INLINE float label_gradient(float sum, float label, const struct soft_cap &soft_cap)
{
    const float power = power_of_2(exponent_of(label, soft_cap));
    return 4.0F * slope_of(label) * (power / sum - 1.0F);
}

/* What stands in for the gradient, `weighed` or still logits, times `scale`. */
YK_DEVICE_INLINE uint4 gradient_of(const uint4 &words, bool weighed, float scale,
                                   const struct soft_cap &soft_cap)
{
    float x[WIDTH];
    if (weighed) {
        yk_unpack_16_bytes_to_floats<__nv_bfloat16>(words, x);
    } else {
        bend(words, soft_cap, x);
        weigh(soft_cap, x);
    }
#pragma unroll
    for (int i = 0; i < WIDTH; i++) {
        x[i] *= scale;
    }
    return yk_pack_floats_to_16_bytes<__nv_bfloat16>(x);
}

/* What is written the second time, for UNITS · THREADS places, and copies for the next row. */
template <int THREADS>
YK_DEVICE_INLINE void turn_group(int first, const struct line &line, int wides, int held,
                                 const struct line &next, int fetched, float scale,
                                 const struct soft_cap &soft_cap, uint4 *shelf)
{
    uint4 words[UNITS];
    uint4 *to = line.wides + first;
    uint4 *kept = shelf + first;
    const uint4 *from = next.wides + first;
#pragma unroll
    for (int unit = 0; unit < UNITS; unit++) {
        const int at = first + unit * THREADS;
        words[unit] = make_uint4(0, 0, 0, 0);
        if (line.bears && at < wides) {
            words[unit] = at < held ? kept[unit * THREADS] : to[unit * THREADS];
        }
    }
#pragma unroll
    for (int unit = 0; unit < UNITS; unit++) {
        const int at = first + unit * THREADS;
        if (at < fetched) {
            yk_async_copy_16_bytes(kept + unit * THREADS, from + unit * THREADS);
        }
    }
    yk_async_copy_commit_group();
#pragma unroll
    for (int unit = 0; unit < UNITS; unit++) {
        const int at = first + unit * THREADS;
        if (at < wides) {
            __stcs(to + unit * THREADS,
                   gradient_of(words[unit], at < held || !line.bears, scale, soft_cap));
        }
    }
}

/* The second time: writes the gradient of `wides` places, or zeros in a row without a loss, and
 * asks for the next row. Places that are not kept come first and backwards: the last of them were
 * read last, and are in the cache. Returns the groups of copies. */
template <int THREADS>
YK_DEVICE_INLINE int turn_over(const struct line &line, int wides, const struct line &next,
                               const struct share &share, float scale,
                               const struct soft_cap &soft_cap, uint4 *shelf)
{
    constexpr int step = UNITS * THREADS;
    const int held = line.bears ? share.kept : 0;
    const int fetched = next.bears ? share.kept : 0;
    const int groups = (fetched + step - 1) / step;
    const int all = max((wides + step - 1) / step, groups);
    for (int i = 0; i < all; i++) {
        const int beyond = all - groups;
        const int group = i < beyond ? all - 1 - i : i - beyond;
        turn_group<THREADS>(group * step + static_cast<int>(threadIdx.x), line, wides, held, next,
                            fetched, scale, soft_cap, shelf);
    }
    return groups;
}

/* `kept` times 16 bytes of shared memory, none with a factor of 0. There are no more clusters than
 * rows. */
template <int THREADS>
static __global__ void __launch_bounds__(THREADS, MAX_THREADS / THREADS)
    capped_cross_entropy_rows(struct yk_cross_entropy_op op, int kept)
{
    extern __shared__ uint4 shelf[];
    __shared__ float parts[2][MAX_SUMS];
    const struct soft_cap soft_cap = soft_cap_of(op.softcap);
    const struct share share = share_of(op, kept);
    const int step = static_cast<int>(gridDim.x) / cluster_blocks();
    int64_t number = blockIdx.x / cluster_blocks();
    int turn = 0;
    cluster_barrier(); /* shared memory of a block exists once it has started */
    /* Of nothing before the first row, nothing is written. */
    struct line next = line_at(op, number, share, op.targets[number]);
    int groups = turn_over<THREADS>({nullptr, -1, false}, 0, next, share, 0.0F, soft_cap, shelf);
    for (; number < op.rows; number += step) {
        const int64_t after = number + step;
        const int target = after < op.rows ? op.targets[after] : -1;
        const struct line line = next;
        const bool has_label = line.target >= 0 && line.target < share.wides * WIDTH &&
                               line.target / WIDTH % THREADS == static_cast<int>(threadIdx.x);
        float label = 0.0F;
        float sum = 1.0F;
        if (line.bears) {
            sum = sum_line<THREADS>(line, share, soft_cap, shelf, groups, &label);
            sum = sum_over_cluster(sum, parts[turn++ & 1]);
        }
        if (has_label) {
            op.row_losses[number] = loss_of(sum, label, soft_cap);
        } else if (!line.bears && threadIdx.x == 0 && share.begin == 0) {
            op.row_losses[number] = 0.0F;
        }
        next = line_at(op, after, share, target);
        if (op.factor != 0.0F) {
            groups = turn_over<THREADS>(line, share.wides, next, share, 4.0F * op.factor / sum,
                                        soft_cap, shelf);
            if (has_label) { /* whose thread has just written that place */
                reinterpret_cast<__nv_bfloat16 *>(line.wides)[line.target] =
                    __float2bfloat16_rn(op.factor * label_gradient(sum, label, soft_cap));
            }
        }
    }
}

struct shape {
    int blocks; /* of a cluster */
    bool pair;  /* two blocks share an SM */
    int kept;   /* times 16 bytes */
};

/* Two blocks share an SM, one computing while the other reads and writes, if rows fit into a half
 * of its shared memory. A block with all of it, or a cluster of such blocks, has a longer row, of
 * which the most that fits is kept. */
static struct shape shape_of(const struct yk_cross_entropy_op *op,
                             const struct yk_cuda_device_properties *properties, bool clusters)
{
    const int64_t wides = op->classes / WIDTH;
    const int64_t whole = static_cast<int64_t>(properties->shared_bytes) - RESERVED_BYTES;
    const int64_t half = static_cast<int64_t>(properties->shared_bytes) / 2 - RESERVED_BYTES;
    const bool pair = 16 * wides <= half || op->factor == 0.0F;
    const int64_t blocks = clusters && !pair ? CLUSTER_BLOCKS : 1;
    const int64_t share = yk_number_ceil_div(wides, blocks);
    const int64_t room = op->factor == 0.0F ? 0 : (pair ? half : whole) / 16;
    return {static_cast<int>(blocks), pair, static_cast<int>(yk_number_min(room, share))};
}

/* `launched` is false if there is no place for a cluster. */
template <int THREADS>
static cudaError_t launch_rows(cudaStream_t stream, const struct yk_cross_entropy_op *op,
                               const struct yk_cuda_device_properties *properties,
                               const struct shape &shape, bool *launched)
{
    const auto kernel = capped_cross_entropy_rows<THREADS>;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned>(shape.blocks);
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.blockDim = dim3(THREADS);
    config.dynamicSmemBytes = static_cast<size_t>(shape.kept) * 16;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = shape.blocks > 1 ? 1 : 0;
    int64_t most = properties->processors * (MAX_THREADS / THREADS) / shape.blocks;
    /* The same every time: other lanes may be at it. */
    cudaError_t error = yk_allow_dynamic_shared_memory(
        reinterpret_cast<const void *>(kernel),
        static_cast<int64_t>(properties->shared_bytes) - RESERVED_BYTES);
    if (error == cudaSuccess && shape.blocks > 1) {
        int clusters = 0;
        config.gridDim = dim3(static_cast<unsigned>(shape.blocks));
        error = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
        most = yk_number_min(most, clusters);
    }
    *launched = error == cudaSuccess && most > 0;
    if (*launched) {
        config.gridDim = dim3(static_cast<unsigned>(yk_number_min(op->rows, most) * shape.blocks));
        error = cudaLaunchKernelEx(&config, kernel, *op, shape.kept);
    }
    return error;
}

bool yk_cuda_capped_cross_entropy_try(struct yk_backend_lane *lane,
                                      const struct yk_cross_entropy_op *op)
{
    if (op->type != YK_PRECISION_BF16 || op->smoothing != 0.0F || op->softcap < MIN_CAP ||
        op->softcap > MAX_CAP || op->classes < WIDTH || op->classes % WIDTH != 0 ||
        !yk_are_rows_16_byte_aligned<__nv_bfloat16>(op->logits, op->stride)) {
        return false;
    }
    const struct yk_cuda_device_properties *properties = yk_cuda_lane_device_properties(lane);
    const struct shape shape = shape_of(op, properties, properties->code_capability >= 90);
    bool launched = false;
    const auto launch = shape.pair ? launch_rows<PAIR_THREADS> : launch_rows<MAX_THREADS>;
    const cudaError_t error = launch(yk_cuda_lane_stream(lane), op, properties, shape, &launched);
    yk_cuda_lane_check_cuda_error(lane, error, "cross_entropy");
    return launched || error != cudaSuccess;
}
