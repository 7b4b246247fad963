/* Attention by built-in kernels: chooses between tensor cores and SIMT, and prepares the backward
 * pass. */
#include "backend/cuda/attention/attention.cuh"

#include <math.h>

enum {
    THREADS = 256,
    SHARERS = 8, /* threads per row */
    MIN_TENSOR_HEAD = 64,
    MAX_TENSOR_HEAD = 256,
    MAX_TENSOR_CAP = 1000, /* the kernels for tensor cores compute tanh with an error of 2e-7 */
};

/* products (B, heads, T) = the sum of out ∘ d_out over a head. Eight threads share a row of a head.
 * With WIDE, they load 16 bytes at a time. */
template <typename T, bool WIDE>
static __global__ void __launch_bounds__(THREADS)
    find_products(const struct yk_attention_op op, const void *d_out, float *products)
{
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x) / SHARERS;
    const int part = threadIdx.x % SHARERS;
    const int64_t row =
        i /
        op.heads; /* i is in the order (B, T, heads), so that threads read neighbouring memory */
    const int64_t head = i % op.heads;
    const int size = static_cast<int>(op.head_size);
    float product = 0;
    if (row < op.batch * op.queries) {
        const int64_t place = row * op.out_stride + head * size;
        const T *a = static_cast<const T *>(op.out) + place;
        const T *b = static_cast<const T *>(d_out) + place;
        if (WIDE) {
            constexpr int count = yk_vector_16_bytes<T>::count;
            for (int c = part * count; c < size; c += SHARERS * count) {
                const yk_vector_16_bytes<T> left = yk_load_vector<T, count>(a, c);
                const yk_vector_16_bytes<T> right = yk_load_vector<T, count>(b, c);
#pragma unroll
                for (int j = 0; j < count; j++) {
                    product =
                        fmaf(yk_to_float(left.numbers[j]), yk_to_float(right.numbers[j]), product);
                }
            }
        } else {
            for (int c = part; c < size; c += SHARERS) {
                product = fmaf(yk_to_float(a[c]), yk_to_float(b[c]), product);
            }
        }
    }
    for (int step = SHARERS / 2; step > 0; step /= 2) {
        product += __shfl_xor_sync(0xffffffffU, product, step);
    }
    if (part == 0 && row < op.batch * op.queries) {
        products[(row / op.queries * op.heads + head) * op.queries + row % op.queries] = product;
    }
}

static void launch_products(struct yk_backend_lane *lane, const struct yk_attention_backward_op *op,
                            float *products)
{
    const struct yk_attention_op *forward = &op->forward;
    const int64_t rows = forward->batch * forward->queries * forward->heads;
    const unsigned blocks = yk_block_count(rows * SHARERS, THREADS);
    const cudaStream_t stream = yk_cuda_lane_stream(lane);
    if (blocks == 0) {
        return;
    }
    yk_dispatch_type(forward->type, [&](auto number) {
        using T = decltype(number);
        const bool wide = yk_are_rows_16_byte_aligned<T>(forward->out, forward->out_stride) &&
                          yk_are_rows_16_byte_aligned<T>(op->d_out, forward->out_stride) &&
                          yk_are_rows_16_byte_aligned<T>(nullptr, forward->head_size);
        const auto kernel = wide ? find_products<T, true> : find_products<T, false>;
        kernel<<<blocks, THREADS, 0, stream>>>(*forward, op->d_out, products);
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "attention_backward");
}

static struct yk_attention_forward_kernel_arguments task_of(const struct yk_attention_op *op)
{
    const double bound = ceil(static_cast<double>(op->dropout.rate) * 0x1p32);
    const bool is_capped = op->softcap > 0;
    struct yk_attention_forward_kernel_arguments arguments = {};
    arguments.op = *op;
    arguments.op.head_stride = op->head_stride ? op->head_stride : op->head_size;
    /* The largest distances are S − 1 to a key before the query and T − 1 to one after it. */
    if (op->window < 0 || op->window >= (op->queries > op->keys ? op->queries : op->keys)) {
        arguments.op.window = 0;
    }
    arguments.power_scale = (is_capped ? op->softcap : op->scale) * YK_LOG2_E;
    arguments.cap_scale = is_capped ? op->scale / op->softcap : 0;
    arguments.below = bound < 0x1p32 ? static_cast<uint32_t>(bound) : UINT32_MAX;
    arguments.kept = op->dropout.rate < 1.0F ? 1.0F / (1.0F - op->dropout.rate) : 0.0F;
    return arguments;
}

static bool is_wide(const void *base, int64_t stride)
{
    return yk_are_rows_16_byte_aligned<__half>(base, stride);
}

static bool suits_tensor(const struct yk_backend_lane *lane, const struct yk_attention_op *op)
{
    const struct yk_cuda_device_properties *properties = yk_cuda_lane_device_properties(lane);
    const bool type = op->type == YK_PRECISION_FP16 || op->type == YK_PRECISION_BF16;
    const bool size = op->head_size >= MIN_TENSOR_HEAD && op->head_size <= MAX_TENSOR_HEAD;
    return type && properties->code_capability >= 80 && size && op->scale > 0 &&
           op->softcap <= MAX_TENSOR_CAP && is_wide(nullptr, op->head_size) &&
           is_wide(nullptr, op->head_stride) && is_wide(op->q, op->q_stride) &&
           is_wide(op->k, op->k_stride) && is_wide(op->v, op->v_stride) &&
           is_wide(op->out, op->out_stride);
}

static bool suits_tensor_backward(const struct yk_backend_lane *lane,
                                  const struct yk_attention_backward_op *op)
{
    return suits_tensor(lane, &op->forward) && is_wide(op->d_out, 0) &&
           is_wide(op->dq, op->dq_stride) && is_wide(op->dk, op->dk_stride) &&
           is_wide(op->dv, op->dv_stride);
}

void yk_cuda_attention_builtin_forward(struct yk_backend_lane *lane,
                                       const struct yk_attention_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->batch * op->heads * op->queries * op->head_size == 0) {
        return;
    }
    const struct yk_attention_forward_kernel_arguments arguments = task_of(op);
    if (suits_tensor(lane, op)) {
        yk_cuda_attention_tensor_core_forward(lane, &arguments);
    } else {
        yk_cuda_attention_simt_forward(lane, &arguments);
    }
}

void yk_cuda_attention_builtin_backward(struct yk_backend_lane *lane,
                                        const struct yk_attention_backward_op *op)
{
    const struct yk_attention_op *forward = &op->forward;
    const int64_t rows = forward->batch * forward->heads * forward->queries;
    const int64_t kv_rows = forward->batch * forward->kv_heads * forward->keys;
    if (!yk_cuda_lane_is_ok(lane) || rows + kv_rows == 0 || forward->head_size == 0) {
        return;
    }
    float *products = static_cast<float *>(
        yk_cuda_lane_get_scratch(lane, static_cast<size_t>(rows > 0 ? rows : 1) * sizeof(float)));
    if (!products) {
        return;
    }
    launch_products(lane, op, products);
    const struct yk_attention_backward_kernel_arguments arguments = {task_of(forward), *op,
                                                                     products};
    if (suits_tensor_backward(lane, op)) {
        yk_cuda_attention_tensor_core_backward(lane, &arguments);
    } else {
        yk_cuda_attention_simt_backward(lane, &arguments);
    }
}

bool yk_cuda_attention_builtin_clear_key_gradients(struct yk_backend_lane *lane,
                                                   const struct yk_attention_backward_op *op)
{
    const struct yk_attention_op *forward = &op->forward;
    const size_t number = (size_t)yk_precision_bytes(forward->type);
    const size_t head = (size_t)forward->head_size * number;
    const size_t rows = (size_t)(forward->batch * forward->keys);
    /* Adjacent heads are cleared together. */
    const bool adjacent = !forward->head_stride || forward->head_stride == forward->head_size;
    const size_t width = adjacent ? (size_t)forward->kv_heads * head : head;
    const size_t step = (size_t)forward->head_stride * number;
    const int64_t count = adjacent ? 1 : forward->kv_heads;
    cudaStream_t stream = yk_cuda_lane_stream(lane);
    cudaError_t error = cudaSuccess;
    for (int64_t i = 0; i < count && rows > 0 && width > 0; i++) {
        YK_CUDA_CALL_UNLESS_FAILED(error, cudaMemset2DAsync((char *)op->dk + (size_t)i * step,
                                                            (size_t)op->dk_stride * number, 0,
                                                            width, rows, stream));
        YK_CUDA_CALL_UNLESS_FAILED(error, cudaMemset2DAsync((char *)op->dv + (size_t)i * step,
                                                            (size_t)op->dv_stride * number, 0,
                                                            width, rows, stream));
    }
    return yk_cuda_lane_check_cuda_error(lane, error, "attention_backward");
}
