#include "backend/cuda/kernels/rotary.cuh"

#include "backend/cuda/kernels/matrix_grid.cuh"

enum {
    AT_ONCE = 4, /* heads whose loads are under way together */
};

/* (x, y) becomes (x cos − y sin, y cos + x sin); `sign` −1: the inverse. The sign goes with x and
 * y, so that loads need not wait for cos and sin. */
template <typename T, int N>
YK_DEVICE_INLINE void turn(float sign, const float (&cosine)[N], const float (&sine)[N],
                           yk_packed_vector<T, N> &low, yk_packed_vector<T, N> &high)
{
    float x[N];
    float y[N];
    yk_unpack_floats(low, x);
    yk_unpack_floats(high, y);
#pragma unroll
    for (int i = 0; i < N; i++) {
        const float was = x[i];
        x[i] = was * cosine[i] - sign * y[i] * sine[i];
        y[i] = y[i] * cosine[i] + sign * was * sine[i];
    }
    low = yk_pack_floats<T>(x);
    high = yk_pack_floats<T>(y);
}

/* The thread's pairs in every blockDim.y-th head of one row; `row` is where the first head has
 * them. */
template <typename T, int N>
YK_DEVICE_INLINE void turn_row(T *row, int heads, int head_stride, int half, float sign,
                               const float (&cosine)[N], const float (&sine)[N])
{
    const int step = static_cast<int>(blockDim.y);
    for (int first = static_cast<int>(threadIdx.y); first < heads; first += AT_ONCE * step) {
        yk_packed_vector<T, N> low[AT_ONCE];
        yk_packed_vector<T, N> high[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const T *from = row + min(first + i * step, heads - 1) * head_stride;
            low[i] = yk_load_packed_vector<N>(from);
            high[i] = yk_load_packed_vector<N>(from + half);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            if (first + i * step < heads) {
                T *to = row + (first + i * step) * head_stride;
                turn(sign, cosine, sine, low[i], high[i]);
                yk_store_packed_vector<N>(to, low[i]);
                yk_store_packed_vector<N>(to + half, high[i]);
            }
        }
    }
}

/* Threads lie along x over the packs of half of what is rotated of a head, along y over heads and
 * along z over positions; grid.y goes over samples. A row's numbers are fewer than 2^31. */
template <typename T, int N>
static __global__ void __launch_bounds__(YK_ROWS_GRID_MAX_BLOCK_THREADS)
    rotate_rows(struct yk_rotary_op op)
{
    const int half = static_cast<int>(op.rotary_size) / 2;
    const int64_t position = static_cast<int64_t>(blockIdx.x) * blockDim.z + threadIdx.z;
    const float sign = op.inverse ? -1.0F : 1.0F;
    if (position >= op.sequence) {
        return;
    }
    for (int pair = static_cast<int>(threadIdx.x) * N; pair < half;
         pair += static_cast<int>(blockDim.x) * N) {
        float cosine[N];
        float sine[N];
        yk_rotary_load_cos_sin(op.cos_sin + 2 * (position * half + pair), cosine, sine);
        for (int64_t row = blockIdx.y * op.sequence + position; row < op.rows;
             row += gridDim.y * op.sequence) {
            turn_row(static_cast<T *>(op.data) + row * op.stride + pair, static_cast<int>(op.heads),
                     static_cast<int>(op.head_stride), half, sign, cosine, sine);
        }
    }
}

template <typename T, int N>
static void launch(struct yk_backend_lane *lane, const struct yk_rotary_op *op)
{
    const int64_t packs = op->rotary_size / 2 / N;
    const int64_t across = packs < 64 ? packs : 64;
    const int64_t wanted = yk_number_ceil_div(op->heads, AT_ONCE);
    const int64_t room = YK_ROWS_GRID_MAX_BLOCK_THREADS / across;
    const int64_t heads = wanted < room ? wanted : room;
    const int64_t deep = room / heads < 64 ? room / heads : 64; /* a block's z ends at 64 */
    const int64_t samples = yk_number_ceil_div(op->rows, op->sequence);
    const dim3 block(static_cast<unsigned>(across), static_cast<unsigned>(heads),
                     static_cast<unsigned>(deep));
    const dim3 grid(yk_block_count(op->sequence, deep),
                    static_cast<unsigned>(samples < 65535 ? samples : 65535));
    rotate_rows<T, N><<<grid, block, 0, yk_cuda_lane_stream(lane)>>>(*op);
}

void yk_cuda_rotary(struct yk_backend_lane *lane, const struct yk_rotary_op *op)
{
    struct yk_rotary_op whole = *op; /* without the defaults */
    whole.head_stride = op->head_stride > 0 ? op->head_stride : op->head_size;
    whole.rotary_size = op->rotary_size > 0 ? op->rotary_size : op->head_size;
    if (!yk_cuda_lane_is_ok(lane) || op->rows <= 0 || op->heads <= 0 || whole.rotary_size < 2) {
        return;
    }
    yk_dispatch_type(op->type, [&](auto number) {
        using T = decltype(number);
        constexpr int n = yk_vector_16_bytes<T>::count;
        if (whole.rotary_size % (2 * n) == 0 && whole.head_stride % n == 0 &&
            yk_are_rows_16_byte_aligned<T>(op->data, op->stride) &&
            yk_are_rows_16_byte_aligned<float>(op->cos_sin, whole.rotary_size)) {
            launch<T, n>(lane, &whole);
        } else {
            launch<T, 1>(lane, &whole);
        }
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "rotary");
}
