/* Patches of images, and the tokens that they become. */
#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/elements.cuh"

enum {
    ROW_THREADS = 128,
    PIXELS = 8, /* pixels that a thread converts at a time, if lines are long and aligned enough */
};

/* ---- patches ---- */

/* Where a row of patches begins in the pixels; NULL means: the row of a class token. */
YK_DEVICE_INLINE const uint8_t *find_patch(const struct yk_patchify_op &op, int64_t row)
{
    const int across = static_cast<int>(op.width / op.patch_width);
    const int64_t rows = 1 + op.height / op.patch_height * across;
    const int64_t image = row / rows;
    const int patch = static_cast<int>(row - image * rows) - 1;
    if (patch < 0) {
        return nullptr;
    }
    const int64_t y = patch / across * op.patch_height;
    const int64_t x = patch % across * op.patch_width;
    return op.pixels + (image * op.channels * op.height + y) * op.width + x;
}

/* Writes N elements of a row, from element `at` on, which are in one line of the patch. */
template <typename T, int N>
YK_DEVICE_INLINE void convert_pixels(const struct yk_patchify_op &op, const uint8_t *patch, int at,
                                     T *out)
{
    float x[N] = {};
    if (patch) {
        const int line_size = static_cast<int>(op.patch_width);
        const int lines = static_cast<int>(op.patch_height);
        const int line = at / line_size;
        const int channel = line / lines;
        const int64_t place = (static_cast<int64_t>(channel) * op.height + line % lines) * op.width;
        const uint8_t *from = patch + place + at % line_size;
        const auto bytes = yk_load_vector<uint8_t, N>(from, 0);
#pragma unroll
        for (int i = 0; i < N; i++) {
            x[i] = op.scale[channel] * static_cast<float>(bytes.numbers[i]) + op.shift[channel];
        }
    }
    if constexpr (N == 1) {
        out[at] = yk_from_float<T>(x[0]);
    } else {
        yk_store_packed_vector<N>(out + at, yk_pack_floats<T>(x));
    }
}

/* A block for each row. */
template <typename T, int N>
static __global__ void __launch_bounds__(ROW_THREADS) cut_rows(struct yk_patchify_op op)
{
    const int elements = static_cast<int>(op.channels * op.patch_height * op.patch_width);
    const int64_t row = blockIdx.x;
    const uint8_t *patch = find_patch(op, row);
    T *out = static_cast<T *>(op.out) + row * elements;
    for (int at = static_cast<int>(threadIdx.x) * N; at < elements; at += ROW_THREADS * N) {
        convert_pixels<T, N>(op, patch, at, out);
    }
}

/* Whether all lines of patches begin at multiples of PIXELS bytes, and so do rows of the result. */
template <typename T> static bool has_aligned_lines(const struct yk_patchify_op *op)
{
    return op->patch_width % PIXELS == 0 && op->width % PIXELS == 0 &&
           reinterpret_cast<uintptr_t>(op->pixels) % PIXELS == 0 &&
           yk_are_rows_16_byte_aligned<T>(op->out, PIXELS);
}

void yk_cuda_patches_cut(struct yk_backend_lane *lane, const struct yk_patchify_op *op)
{
    const int64_t rows = op->batch * (1 + yk_ops_patch_count(op));
    if (!yk_cuda_lane_is_ok(lane) || rows <= 0) {
        return;
    }
    cudaStream_t stream = yk_cuda_lane_stream(lane);
    yk_dispatch_type(op->type, [&](auto number) {
        using T = decltype(number);
        const auto kernel = has_aligned_lines<T>(op) ? cut_rows<T, PIXELS> : cut_rows<T, 1>;
        kernel<<<static_cast<unsigned>(rows), ROW_THREADS, 0, stream>>>(*op);
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "patchify");
}

/* ---- tokens ---- */

template <typename W, typename T, int N>
static __global__ void __launch_bounds__(ROW_THREADS) place_rows(struct yk_patch_tokens_op op)
{
    const int64_t row = blockIdx.x;
    const int64_t t = row % op.sequence;
    const int width = static_cast<int>(op.width);
    const W *position = static_cast<const W *>(op.positions) + t * width;
    const W *other = static_cast<const W *>(t == 0 ? op.class_token : op.bias);
    T *out = static_cast<T *>(op.out) + row * width;
    for (int at = static_cast<int>(threadIdx.x) * N; at < width; at += ROW_THREADS * N) {
        if constexpr (N == 1) {
            out[at] = yk_from_float<T>(yk_to_float(position[at]) + yk_to_float(other[at]));
        } else {
            float x[N];
            float y[N];
            yk_unpack_floats(yk_load_packed_vector<N>(position + at), x);
            yk_unpack_floats(yk_load_packed_vector<N>(other + at), y);
#pragma unroll
            for (int i = 0; i < N; i++) {
                x[i] += y[i];
            }
            yk_store_packed_vector<N>(out + at, yk_pack_floats<T>(x));
        }
    }
}

template <typename W, typename T> static bool has_aligned_rows(const struct yk_patch_tokens_op *op)
{
    return yk_are_rows_16_byte_aligned<T>(op->out, op->width) &&
           yk_are_rows_16_byte_aligned<W>(op->positions, op->width) &&
           yk_are_rows_16_byte_aligned<W>(op->class_token, op->width) &&
           yk_are_rows_16_byte_aligned<W>(op->bias, op->width);
}

void yk_cuda_patches_place_tokens(struct yk_backend_lane *lane, const struct yk_patch_tokens_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->rows <= 0) {
        return;
    }
    cudaStream_t stream = yk_cuda_lane_stream(lane);
    yk_dispatch_type(op->weight_type, [&](auto weight) {
        yk_dispatch_type(op->out_type, [&](auto number) {
            using W = decltype(weight);
            using T = decltype(number);
            constexpr int N = 16 / static_cast<int>(sizeof(W) < sizeof(T) ? sizeof(T) : sizeof(W));
            const auto kernel =
                has_aligned_rows<W, T>(op) ? place_rows<W, T, N> : place_rows<W, T, 1>;
            kernel<<<static_cast<unsigned>(op->rows), ROW_THREADS, 0, stream>>>(*op);
        });
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "patch_tokens");
}
