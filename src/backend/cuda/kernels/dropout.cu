#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/matrix_grid.cuh"
#include "backend/cuda/kernels/philox.cuh"

#include <math.h>

enum {
    AT_ONCE = 2, /* groups of a sample that a thread loads at the same time */
};

/* The op as samples of `sample_size` elements. The last sample may be shorter. */
struct drop {
    struct yk_dropout_op op;
    int64_t count; /* of all elements */
    int64_t sample_size;
    int64_t samples;
    uint32_t limit; /* an element is dropped if its random word is below */
    float scale;    /* factor of the other elements, op.scale included */
};

/* The elements that a thread processes together: a multiple of the four words of a counter. Without
 * WIDE, a group may extend beyond the sample. */
template <typename T, bool WIDE> struct group {
    static constexpr int count = WIDE ? yk_vector_16_bytes<T>::count : 4;
    static constexpr int packs = WIDE ? 1 : count;
    yk_packed_vector<T, WIDE ? count : 1> parts[packs];
};

template <typename T, bool WIDE>
YK_DEVICE_INLINE void load_group(const T *from, int64_t there, group<T, WIDE> &out)
{
    if constexpr (WIDE) {
        out.parts[0] = yk_load_packed_vector<group<T, WIDE>::count>(from);
    } else {
#pragma unroll
        for (int i = 0; i < group<T, WIDE>::count; i++) {
            if (i < there) {
                out.parts[i] = yk_load_packed_vector<1>(from + i);
            }
        }
    }
}

/* The dropout factors of a group: 0 or the scale. */
template <int N>
YK_DEVICE_INLINE void find_factors(const struct drop &op, int64_t sample, int64_t place,
                                   float (&factors)[N])
{
#pragma unroll
    for (int i = 0; i < N; i += 4) {
        uint4 words = make_uint4(~0U, ~0U, ~0U, ~0U);
        if (op.limit > 0) {
            const struct yk_dropout_options &dropout = op.op.dropout;
            words = yk_philox_dropout_random_words(dropout.seed, dropout.site,
                                                   dropout.first_sample + sample,
                                                   static_cast<uint64_t>(place) / 4 + i / 4);
        }
        factors[i] = words.x < op.limit ? 0.0F : op.scale;
        factors[i + 1] = words.y < op.limit ? 0.0F : op.scale;
        factors[i + 2] = words.z < op.limit ? 0.0F : op.scale;
        factors[i + 3] = words.w < op.limit ? 0.0F : op.scale;
    }
}

/* to = from · factors + add, for the elements that exist. */
template <typename T, bool WIDE, int N>
YK_DEVICE_INLINE void store_group(const group<T, WIDE> &from, const group<T, WIDE> &add, bool adds,
                                  const float (&factors)[N], int64_t there, T *to)
{
    if constexpr (WIDE) {
        float x[N];
        float y[N];
        yk_unpack_floats(from.parts[0], x);
        yk_unpack_floats(add.parts[0], y);
#pragma unroll
        for (int i = 0; i < N; i++) {
            x[i] = adds ? x[i] * factors[i] + y[i] : x[i] * factors[i];
        }
        yk_store_packed_vector<N>(to, yk_pack_floats<T>(x));
    } else {
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (i < there) {
                const float x = yk_to_float(from.parts[i].words[0]) * factors[i];
                to[i] = yk_from_float<T>(adds ? x + yk_to_float(add.parts[i].words[0]) : x);
            }
        }
    }
}

/* A row of the grid is a sample. Only one thread accesses an element, and it reads before it
 * writes, so `to` may be `from` or `add`. */
template <typename T, bool WIDE>
static __global__ void __launch_bounds__(YK_ROWS_GRID_MAX_BLOCK_THREADS)
    drop_samples(struct drop op)
{
    constexpr int n = group<T, WIDE>::count;
    const T *from = static_cast<const T *>(op.op.from);
    const T *add = static_cast<const T *>(op.op.add);
    T *to = static_cast<T *>(op.op.to);
    const int64_t next = static_cast<int64_t>(gridDim.x) * blockDim.x * n;
    for (int64_t sample = yk_matrix_grid_first_row(); sample < op.samples;
         sample += yk_matrix_grid_row_step()) {
        const int64_t base = sample * op.sample_size;
        const int64_t rest = op.count - base;
        const int64_t size = rest < op.sample_size ? rest : op.sample_size;
        group<T, WIDE> x[AT_ONCE];
        group<T, WIDE> y[AT_ONCE] = {};
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int64_t place = yk_matrix_grid_first_pack() * n + i * next;
            if (place < size) {
                load_group(from + base + place, size - place, x[i]);
                if (add) {
                    load_group(add + base + place, size - place, y[i]);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int64_t place = yk_matrix_grid_first_pack() * n + i * next;
            if (place < size) {
                float factors[n];
                find_factors(op, sample, place, factors);
                store_group(x[i], y[i], add != nullptr, factors, size - place, to + base + place);
            }
        }
    }
}

template <typename T> static void drop_of_type(struct yk_backend_lane *lane, const struct drop *op)
{
    constexpr int n = yk_vector_16_bytes<T>::count;
    const bool wide = op->count % n == 0 &&
                      yk_are_rows_16_byte_aligned<T>(op->op.from, op->sample_size) &&
                      yk_are_rows_16_byte_aligned<T>(op->op.to, op->sample_size) &&
                      yk_are_rows_16_byte_aligned<T>(op->op.add, op->sample_size);
    const int64_t size = op->sample_size < op->count ? op->sample_size : op->count;
    const int64_t groups = yk_number_ceil_div(size, wide ? n : 4);
    const struct yk_matrix_grid grid =
        yk_matrix_grid_make(op->samples, yk_number_ceil_div(groups, AT_ONCE), 1);
    const auto kernel = wide ? drop_samples<T, true> : drop_samples<T, false>;
    kernel<<<grid.grid, grid.block, 0, yk_cuda_lane_stream(lane)>>>(*op);
}

void yk_cuda_dropout(struct yk_backend_lane *lane, const struct yk_dropout_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->rows <= 0 || op->width <= 0) {
        return;
    }
    /* The integer form of word < rate · 2^32. With a rate of 1 everything is dropped. */
    const double limit = ceil(static_cast<double>(op->dropout.rate) * 4294967296.0);
    struct drop drop = {};
    drop.op = *op;
    drop.count = op->rows * op->width;
    drop.sample_size = op->sequence * op->width;
    drop.samples = yk_number_ceil_div(op->rows, op->sequence);
    drop.limit = limit < 4294967296.0 ? static_cast<uint32_t>(limit) : UINT32_MAX;
    drop.scale = op->dropout.rate < 1.0F ? 1.0F / (1.0F - op->dropout.rate) : 0.0F;
    drop.scale *= op->scale != 0.0F ? op->scale : 1.0F;
    yk_dispatch_type(op->type, [&](auto number) { drop_of_type<decltype(number)>(lane, &drop); });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "dropout");
}
