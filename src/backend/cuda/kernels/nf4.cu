#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/aligned_groups.cuh"
#include "backend/cuda/kernels/elements.cuh"
#include "backend/nf4_codebook.h"

static __device__ const float yk_nf4_values[YK_NF4_VALUE_COUNT] = {YK_NF4_VALUE_CODEBOOK};
static __constant__ const float yk_nf4_bounds[YK_NF4_VALUE_COUNT - 1] = {YK_NF4_VALUE_MIDPOINTS};
static __device__ const float yk_nf4_scale_values[YK_NF4_SCALE_VALUE_COUNT] = {
    YK_NF4_SCALE_CODEBOOK};

/* Blocks whose scales are stored together make a group. A thread takes eight numbers, the codes of
 * which are four bytes, and eight neighbouring threads take a block. */
enum {
    GROUP = YK_NF4_BLOCK_SIZE * YK_NF4_SCALE_BLOCK_SIZE, /* numbers */
    THREADS = 256,
    EIGHT = 8,
    SHARERS = YK_NF4_BLOCK_SIZE / EIGHT, /* threads of a block of numbers */
    GROUP_UNITS = GROUP / (THREADS * EIGHT),
    PART_UNITS = 4,
    PART = PART_UNITS * THREADS * EIGHT, /* numbers that threads decode together, half a group */
    PART_BLOCKS = PART / YK_NF4_BLOCK_SIZE,
};

static_assert(GROUP % PART == 0, "a part lies in one group");
static_assert(PART_BLOCKS + YK_NF4_VALUE_COUNT <= THREADS, "each has a thread in dequantise_part");
static_assert(static_cast<int>(THREADS) == static_cast<int>(YK_NF4_SCALE_BLOCK_SIZE),
              "a block's scale has a thread in quantise_scales");

/* What numbers are multiplied by to lie within ±1; 0 where all are, or next to it. */
YK_DEVICE_INLINE float inverse(float scale)
{
    const float whole = __fdiv_rn(1.0F, scale > 0.0F ? scale : 1.0F);
    return scale > 0.0F && isfinite(whole) ? whole : 0.0F;
}

/* The largest absolute value among `lanes` neighbouring threads, known to all of them; as whole
 * numbers, among which what is not a number is the largest. */
YK_DEVICE_INLINE uint32_t largest_of(uint32_t bits, int lanes)
{
    for (int step = lanes / 2; step > 0; step /= 2) {
        bits = max(bits, __shfl_xor_sync(0xffffffffU, bits, step));
    }
    return bits;
}

YK_DEVICE_INLINE uint32_t size_of(float x)
{
    return __float_as_uint(x) & 0x7fffffffU;
}

YK_DEVICE_INLINE uint32_t code_of(float scaled)
{
    uint32_t code = 0;
#pragma unroll
    for (int bound = 0; bound < YK_NF4_VALUE_COUNT - 1; bound++) {
        code += scaled > yk_nf4_bounds[bound] ? 1 : 0;
    }
    return code;
}

/* Codes of the numbers from `at` on, and the scale of their block. What lies beyond the last number
 * counts as 0. */
template <typename T>
static __device__ float quantise_eight(const struct yk_quantise_op &op, int64_t at)
{
    const T *from = static_cast<const T *>(op.from);
    float x[EIGHT];
    uint32_t largest = 0;
#pragma unroll
    for (int i = 0; i < EIGHT; i++) {
        x[i] = at + i < op.count ? yk_to_float(from[at + i]) : 0.0F;
        largest = max(largest, size_of(x[i]));
    }
    const float scale = __uint_as_float(largest_of(largest, SHARERS));
    const float unit = inverse(scale);
#pragma unroll
    for (int i = 0; i < EIGHT; i += 2) {
        if (at + i < op.count) {
            op.to.codes[(at + i) / 2] =
                static_cast<uint8_t>(code_of(x[i] * unit) << 4 | code_of(x[i + 1] * unit));
        }
    }
    return scale;
}

/* A group's codes; the scales of its blocks and their sum go to memory of the op. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    quantise_group(struct yk_quantise_op op, double *sums, float *scales)
{
    const int thread = static_cast<int>(threadIdx.x);
    const int64_t start = static_cast<int64_t>(blockIdx.x) * GROUP;
    double sum = 0;
    for (int unit = 0; unit < GROUP_UNITS; unit++) {
        const int64_t at = start + static_cast<int64_t>(unit * THREADS + thread) * EIGHT;
        const float scale = quantise_eight<T>(op, at);
        if (thread % SHARERS == 0 && at < op.count) {
            scales[at / YK_NF4_BLOCK_SIZE] = scale;
            sum += static_cast<double>(scale);
        }
    }
    sum = yk_block_sum(sum);
    if (thread == 0) {
        sums[blockIdx.x] = sum;
    }
}

static __global__ void __launch_bounds__(THREADS)
    find_mean(const double *sums, int64_t groups, int64_t blocks, float *mean)
{
    double sum = 0;
    for (int64_t group = threadIdx.x; group < groups; group += THREADS) {
        sum += sums[group];
    }
    sum = yk_block_sum(sum);
    if (threadIdx.x == 0) {
        *mean = blocks > 0 ? static_cast<float>(sum / static_cast<double>(blocks)) : 0.0F;
    }
}

/* The scales of a group, one of each thread. */
static __global__ void __launch_bounds__(THREADS)
    quantise_scales(struct yk_nf4_tensor to, int64_t blocks, const float *scales)
{
    __shared__ float values[YK_NF4_SCALE_VALUE_COUNT];
    __shared__ uint32_t parts[THREADS / 32];
    const int thread = static_cast<int>(threadIdx.x);
    const int64_t block = static_cast<int64_t>(blockIdx.x) * YK_NF4_SCALE_BLOCK_SIZE + thread;
    const float away = block < blocks ? scales[block] - *to.mean : 0.0F;
    const uint32_t part = largest_of(size_of(away), 32);
    values[thread] = yk_nf4_scale_values[thread];
    if (thread % 32 == 0) {
        parts[thread / 32] = part;
    }
    __syncthreads();
    uint32_t bits = 0;
    for (int i = 0; i < THREADS / 32; i++) {
        bits = max(bits, parts[i]);
    }
    const float largest = __uint_as_float(bits);
    if (thread == 0) {
        to.scale_scales[blockIdx.x] = largest;
    }
    if (block < blocks) {
        to.scales[block] = yk_nf4_find_nearest_scale_code(values, away * inverse(largest));
    }
}

void yk_cuda_nf4_quantise(struct yk_backend_lane *lane, const struct yk_quantise_op *op)
{
    if (!yk_cuda_lane_is_ok(lane)) {
        return;
    }
    cudaStream_t stream = yk_cuda_lane_stream(lane);
    const int64_t groups = yk_number_ceil_div(op->count, GROUP);
    const int64_t blocks = yk_number_ceil_div(op->count, YK_NF4_BLOCK_SIZE);
    const size_t bytes =
        static_cast<size_t>(groups) * sizeof(double) + static_cast<size_t>(blocks) * sizeof(float);
    double *sums = static_cast<double *>(yk_cuda_lane_get_scratch(lane, bytes > 0 ? bytes : 1));
    if (!sums) {
        return;
    }
    float *scales = reinterpret_cast<float *>(sums + groups);
    if (groups > 0) {
        yk_dispatch_type(op->type, [&](auto number) {
            using T = decltype(number);
            quantise_group<T>
                <<<static_cast<unsigned>(groups), THREADS, 0, stream>>>(*op, sums, scales);
        });
    }
    find_mean<<<1, THREADS, 0, stream>>>(sums, groups, blocks, op->to.mean);
    if (groups > 0) {
        quantise_scales<<<static_cast<unsigned>(groups), THREADS, 0, stream>>>(op->to, blocks,
                                                                               scales);
    }
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "quantise");
}

/* Of the codes in a word, which as bytes have the earlier number in the high four bits. The 16
 * values lie in as many banks: threads never wait for each other. */
template <typename T>
YK_DEVICE_INLINE void decode_eight(uint32_t codes, const float *values, float scale, T *to)
{
    constexpr int width = yk_vector_16_bytes<T>::count;
    float x[EIGHT];
#pragma unroll
    for (int i = 0; i < EIGHT; i += 2) {
        x[i] = values[codes >> (4 * i + 4) & 15U] * scale;
        x[i + 1] = values[codes >> (4 * i) & 15U] * scale;
    }
#pragma unroll
    for (int i = 0; i < EIGHT; i += width) {
        *reinterpret_cast<uint4 *>(to + i) = yk_pack_floats_to_16_bytes<T>(x + i);
    }
}

template <typename T>
static __device__ void decode_some(const uint8_t *codes, const float *values, float scale,
                                   int count, T *to)
{
    for (int i = 0; i < count; i++) {
        const int code = i % 2 == 0 ? codes[i / 2] >> 4 : codes[i / 2] & 15;
        to[i] = yk_from_float<T>(values[code] * scale);
    }
}

/* Part of a group. `wide` says that four codes and eight numbers are aligned. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    dequantise_part(struct yk_dequantise_op op, bool wide)
{
    __shared__ float scales[PART_BLOCKS];
    __shared__ float values[YK_NF4_VALUE_COUNT];
    const int thread = static_cast<int>(threadIdx.x);
    const int64_t start = static_cast<int64_t>(blockIdx.x) * PART;
    const uint32_t *words = reinterpret_cast<const uint32_t *>(op.from.codes + start / 2);
    const int count = static_cast<int>(min(op.count - start, static_cast<int64_t>(PART)));
    const int whole = wide ? count / EIGHT : 0;
    uint32_t codes[PART_UNITS];
#pragma unroll
    for (int unit = 0; unit < PART_UNITS; unit++) {
        const int at = unit * THREADS + thread;
        codes[unit] = at < whole ? __ldcs(words + at) : 0;
    }
    if (thread < PART_BLOCKS && thread * YK_NF4_BLOCK_SIZE < count) {
        const uint8_t code = op.from.scales[start / YK_NF4_BLOCK_SIZE + thread];
        scales[thread] =
            fmaf(yk_nf4_scale_values[code], op.from.scale_scales[start / GROUP], *op.from.mean);
    } else if (thread >= PART_BLOCKS && thread < PART_BLOCKS + YK_NF4_VALUE_COUNT) {
        values[thread - PART_BLOCKS] = yk_nf4_values[thread - PART_BLOCKS];
    }
    __syncthreads();
    T *to = static_cast<T *>(op.to) + start;
#pragma unroll
    for (int unit = 0; unit < PART_UNITS; unit++) {
        const int at = unit * THREADS + thread;
        if (at < whole) {
            decode_eight(codes[unit], values, scales[at / SHARERS], to + at * EIGHT);
        } else if (at * EIGHT < count) {
            decode_some(op.from.codes + start / 2 + at * (EIGHT / 2), values, scales[at / SHARERS],
                        min(count - at * EIGHT, static_cast<int>(EIGHT)), to + at * EIGHT);
        }
    }
}

void yk_cuda_nf4_dequantise_on_lane(struct yk_backend_lane *lane, const struct yk_dequantise_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->count <= 0) {
        return;
    }
    cudaStream_t stream = yk_cuda_lane_stream(lane);
    const unsigned parts = yk_block_count(op->count, PART);
    const bool wide = reinterpret_cast<uintptr_t>(op->from.codes) % 4 == 0 &&
                      reinterpret_cast<uintptr_t>(op->to) % 16 == 0;
    yk_dispatch_type(op->type, [&](auto number) {
        using T = decltype(number);
        dequantise_part<T><<<parts, THREADS, 0, stream>>>(*op, wide);
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "dequantise");
}
