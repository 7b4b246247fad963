/*
 * Grouped norm: what the kernels for norms of rows with several short groups share. Such groups are
 * the heads of queries and keys: many groups of 64 to 1024 elements with the same weights. See
 * norm.cu and norm_backward.cu for the formulas.
 *
 * A slot of 8, 16 or 32 lanes of a warp has one group at a time, and a lane 1, 2 or 4 chunks of 16
 * bytes of it. A lane keeps its weights in registers and loads a run of adjacent groups before it
 * uses the first, so that much memory is under way. Slots step over all runs of the op by the
 * number of slots; the step is kept as rows and runs, so that no division is needed in the loop.
 *
 * One launch has the norms of queries and of keys: the first blocks have the one, the others the
 * other. It can also rotate: all groups of a run have the same position, and their angles are
 * loaded once.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_GROUPED_NORM_CUH
#define YK_BACKEND_CUDA_KERNELS_GROUPED_NORM_CUH

#include "backend/cuda/kernels/rotary.cuh"

enum {
    YK_GROUPED_NORM_THREADS = 256,
    YK_GROUPED_NORM_HELD_CHUNKS = 4, /* chunks of x that a lane loads before it uses the first */
};

/* How a group is divided among lanes: a lane holds chunks lane, lane + LANES … of it. */
template <int LANES, int CHUNKS> struct yk_slot_shape {
    static constexpr int lanes = LANES;
    static constexpr int chunks = CHUNKS;
    static constexpr int run_groups = YK_GROUPED_NORM_HELD_CHUNKS / CHUNKS;
    static constexpr int block_slots = YK_GROUPED_NORM_THREADS / LANES;
};

/* A run of groups. The groups of a row have fewer than 2^31 elements. */
struct yk_run_place {
    int64_t row;
    int in_row;
};

/* `number` counts the runs of all rows. */
YK_DEVICE_INLINE struct yk_run_place yk_run_place_of(uint32_t number, int runs)
{
    const uint32_t row = number / static_cast<uint32_t>(runs);
    return {row, static_cast<int>(number - row * static_cast<uint32_t>(runs))};
}

/* `step` is the place of the run that is as far from the first run of the op. */
YK_DEVICE_INLINE void yk_run_place_advance(struct yk_run_place &place,
                                           const struct yk_run_place &step, int runs)
{
    place.row += step.row;
    place.in_row += step.in_row;
    if (place.in_row >= runs) {
        place.in_row -= runs;
        place.row++;
    }
}

/* The norms of queries and keys. OP is struct yk_norm_op or struct yk_norm_backward_op. */
template <typename OP> struct yk_norm_pair {
    OP ops[2];
    unsigned first_blocks; /* blocks that have the first op; the others have the second one */
    unsigned sequence;     /* the position of a row is row mod sequence */
    const float *cos_sin;  /* (sequence, width / 2, 2): cosine and sine */
};

/* The runs of an op that a slot steps over. All of them are the same for all lanes of a slot. */
struct yk_slot_walk {
    int runs; /* of a row */
    struct yk_run_place at;
    struct yk_run_place step;
};

/* Sets `op` to the op of the block. */
template <typename SHAPE, typename OP>
YK_DEVICE_INLINE struct yk_slot_walk yk_slot_walk_begin(const struct yk_norm_pair<OP> &pair,
                                                        const OP **op)
{
    const bool second = blockIdx.x >= pair.first_blocks;
    const unsigned block = second ? blockIdx.x - pair.first_blocks : blockIdx.x;
    const unsigned blocks = second ? gridDim.x - pair.first_blocks : pair.first_blocks;
    const unsigned slot = threadIdx.x / SHAPE::lanes;
    *op = &pair.ops[second ? 1 : 0];
    const int groups = static_cast<int>((*op)->groups);
    const int runs = (groups + SHAPE::run_groups - 1) / SHAPE::run_groups;
    return {runs, yk_run_place_of(block * SHAPE::block_slots + slot, runs),
            yk_run_place_of(blocks * SHAPE::block_slots, runs)};
}

/* Calls f(0), f(1) … f(COUNT − 1). The compiler does not keep arrays in registers that a loop
 * around other loops indexes. */
template <int COUNT, int FIRST = 0, typename F>
__device__ __forceinline__ void yk_grouped_norm_for_each(const F &f)
{
    if constexpr (FIRST < COUNT) {
        f(FIRST);
        yk_grouped_norm_for_each<COUNT, FIRST + 1>(f);
    }
}

/* The sum over the lanes of a slot, known to all of them. */
template <int LANES> YK_DEVICE_INLINE float yk_grouped_norm_slot_sum(float x)
{
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) {
        x += __shfl_xor_sync(0xffffffffU, x, step);
    }
    return x;
}

/* The weights of a lane's columns, plus `offset`; 0 beyond the group. */
template <typename SHAPE, int N>
YK_DEVICE_INLINE void yk_grouped_norm_load_weights(enum yk_precision type, const void *from,
                                                   float offset, int width,
                                                   float (&out)[SHAPE::chunks][N])
{
    const int lane = static_cast<int>(threadIdx.x) % SHAPE::lanes;
    yk_dispatch_type(type, [&](auto number) {
        const auto *weights = static_cast<const decltype(number) *>(from);
#pragma unroll
        for (int i = 0; i < SHAPE::chunks; i++) {
            const int chunk = lane + i * SHAPE::lanes;
            if (chunk * N < width) {
                yk_load_weights(weights, chunk, offset, out[i]);
            } else {
#pragma unroll
                for (int j = 0; j < N; j++) {
                    out[i][j] = 0.0F;
                }
            }
        }
    });
}

/* The chunks of a group that a lane holds. */
template <typename T, typename SHAPE> struct yk_held_group {
    uint4 chunks[SHAPE::chunks];

    /* Chunks that do not exist are 0. */
    __device__ __forceinline__ void load(const void *base, int64_t start, int width)
    {
        constexpr int N = yk_vector_16_bytes<T>::count;
        const T *from = static_cast<const T *>(base) + start;
#pragma unroll
        for (int i = 0; i < SHAPE::chunks; i++) {
            const int first = (static_cast<int>(threadIdx.x) % SHAPE::lanes + i * SHAPE::lanes) * N;
            chunks[i] = make_uint4(0, 0, 0, 0);
            if (first < width) {
                chunks[i] = *reinterpret_cast<const uint4 *>(from + first);
            }
        }
    }

    __device__ __forceinline__ void store(void *base, int64_t start, int width) const
    {
        constexpr int N = yk_vector_16_bytes<T>::count;
        T *to = static_cast<T *>(base) + start;
#pragma unroll
        for (int i = 0; i < SHAPE::chunks; i++) {
            const int first = (static_cast<int>(threadIdx.x) % SHAPE::lanes + i * SHAPE::lanes) * N;
            if (first < width) {
                *reinterpret_cast<uint4 *>(to + first) = chunks[i];
            }
        }
    }
};

/* Cosines and sines of the pairs of which a lane holds elements. With one chunk, the other element
 * of a pair is in another lane; with two, it is in the other chunk. */
template <typename T, typename SHAPE> struct yk_held_angles {
    static constexpr int N = yk_vector_16_bytes<T>::count;
    float cosine[N];
    float sine[N];

    /* `sign` −1: for a rotation by the negative angle. A lane with the first elements of its pairs
     * subtracts the others. */
    __device__ __forceinline__ void load(const float *cos_sin, int64_t position, float sign)
    {
        constexpr int pair_lanes = SHAPE::chunks == 1 ? SHAPE::lanes / 2 : SHAPE::lanes;
        const int lane = static_cast<int>(threadIdx.x) % SHAPE::lanes;
        yk_rotary_load_cos_sin(cos_sin + 2 * N * (position * pair_lanes + lane % pair_lanes),
                               cosine, sine);
#pragma unroll
        for (int i = 0; i < N; i++) {
            sine[i] *= SHAPE::chunks == 1 && lane < pair_lanes ? -sign : sign;
        }
    }

    /* Rotates a group, which must have all of its chunks. All lanes of the warp call it. */
    __device__ __forceinline__ void rotate(struct yk_held_group<T, SHAPE> &group) const
    {
        static_assert(SHAPE::chunks <= 2, "a chunk is paired with one other");
        uint4 others[SHAPE::chunks];
        if constexpr (SHAPE::chunks == 1) {
            const uint4 own = group.chunks[0];
            others[0] = make_uint4(__shfl_xor_sync(0xffffffffU, own.x, SHAPE::lanes / 2),
                                   __shfl_xor_sync(0xffffffffU, own.y, SHAPE::lanes / 2),
                                   __shfl_xor_sync(0xffffffffU, own.z, SHAPE::lanes / 2),
                                   __shfl_xor_sync(0xffffffffU, own.w, SHAPE::lanes / 2));
        } else {
            others[0] = group.chunks[1];
            others[1] = group.chunks[0];
        }
#pragma unroll
        for (int i = 0; i < SHAPE::chunks; i++) {
            constexpr bool both = SHAPE::chunks == 2; /* elements of a pair are in this lane */
            float x[N];
            float other[N];
            yk_unpack_16_bytes_to_floats<T>(group.chunks[i], x);
            yk_unpack_16_bytes_to_floats<T>(others[i], other);
#pragma unroll
            for (int j = 0; j < N; j++) {
                x[j] = x[j] * cosine[j] + other[j] * (both && i == 0 ? -sine[j] : sine[j]);
            }
            group.chunks[i] = yk_pack_floats_to_16_bytes<T>(x);
        }
    }
};

/* ---- launch ---- */

/* Calls f with the shape for groups of `chunks` chunks. Returns false if there is none. */
template <typename F> static bool yk_grouped_norm_dispatch_shape(int64_t chunks, F f)
{
    if (chunks <= 8) {
        f(yk_slot_shape<8, 1>());
    } else if (chunks <= 16) {
        f(yk_slot_shape<16, 1>());
    } else if (chunks <= 32) {
        f(yk_slot_shape<16, 2>());
    } else if (chunks <= 64) {
        f(yk_slot_shape<32, 2>());
    } else if (chunks <= 128) {
        f(yk_slot_shape<32, 4>());
    } else {
        return false;
    }
    return true;
}

/* Calls f with the shape for the groups of a pair, and with std::true_type if they are rotated.
 * Returns false if there is no shape. */
template <typename T, typename OP, typename F>
static bool yk_norm_pair_dispatch(const struct yk_norm_pair<OP> *pair, F f)
{
    constexpr int n = yk_vector_16_bytes<T>::count;
    return yk_grouped_norm_dispatch_shape(pair->ops[0].width / n, [&](auto shape) {
        if constexpr (decltype(shape)::chunks <= 2) {
            if (pair->cos_sin) {
                f(shape, std::true_type());
                return;
            }
        }
        f(shape, std::false_type());
    });
}

/* Returns whether the kernels rotate groups of `width` elements of type T: all chunks of the shape
 * must exist, and all of a group must be rotated. */
template <typename T> static bool yk_grouped_norm_can_rotate(int64_t width)
{
    bool can = false;
    constexpr int n = yk_vector_16_bytes<T>::count;
    (void)yk_grouped_norm_dispatch_shape(width / n, [&](auto shape) {
        using SHAPE = decltype(shape);
        can = SHAPE::chunks <= 2 && width == SHAPE::lanes * SHAPE::chunks * n;
    });
    return can;
}

/* Returns whether the op rotates the groups of two matrices and nothing else. The second matrix
 * follows the first one in every row. */
template <typename T>
static bool yk_grouped_norm_is_rotation_of(const struct yk_rotary_op *rotary, int64_t rows,
                                           int64_t width, const void *first, int64_t first_groups,
                                           const void *second, int64_t second_groups,
                                           int64_t stride)
{
    return rotary->rows == rows && rows <= UINT32_MAX && rotary->sequence <= UINT32_MAX &&
           rotary->heads == first_groups + second_groups && rotary->head_size == width &&
           (rotary->head_stride == 0 || rotary->head_stride == width) &&
           (rotary->rotary_size == 0 || rotary->rotary_size == width) && rotary->stride == stride &&
           rotary->data == first &&
           static_cast<const T *>(first) + first_groups * width == second &&
           yk_are_rows_16_byte_aligned<float>(rotary->cos_sin, width) &&
           yk_grouped_norm_can_rotate<T>(width);
}

/* Calls f with a number of the type of all matrices and with the pair of two ops. `rotary` has no
 * cos_sin if nothing is rotated. Returns what f returns, and false if types differ. */
template <typename OP, typename F>
static bool yk_norm_pair_try(const OP *first, const OP *second, const struct yk_rotary_op *rotary,
                             F f)
{
    const enum yk_precision type = first->x_type;
    bool done = false;
    if (first->y_type == type && second->x_type == type && second->y_type == type &&
        (!rotary->cos_sin || rotary->type == type)) {
        yk_dispatch_type(type, [&](auto number) {
            struct yk_norm_pair<OP> pair = {
                {*first, *second}, 0, static_cast<unsigned>(rotary->sequence), rotary->cos_sin
            };
            done = f(number, &pair);
        });
    }
    return done;
}

/* The same with one op: the second one has no rows. */
template <typename OP, typename F> static bool yk_norm_pair_try_one(const OP *op, F f)
{
    OP none = *op;
    none.rows = 0;
    const struct yk_rotary_op no_rotation = {};
    return yk_norm_pair_try(op, &none, &no_rotation, f);
}

/* Sets first_blocks and returns the number of blocks: no more than run at the same time, nor than
 * have work for all of their lanes. Without rows, the second op has no blocks. */
template <typename SHAPE, typename OP>
static unsigned yk_norm_pair_grid(struct yk_norm_pair<OP> *pair, int64_t max_blocks)
{
    int64_t needed[2];
    for (int i = 0; i < 2; i++) {
        const int64_t runs = yk_number_ceil_div(pair->ops[i].groups, SHAPE::run_groups);
        needed[i] = yk_number_ceil_div(pair->ops[i].rows * runs, SHAPE::block_slots);
    }
    const int64_t all = needed[0] + needed[1];
    max_blocks = yk_number_max(max_blocks, 2);
    if (all > max_blocks) {
        const int64_t first = yk_number_max(max_blocks * needed[0] / all, 1);
        needed[0] = needed[1] > 0 ? yk_number_min(first, max_blocks - 1) : max_blocks;
    }
    pair->first_blocks = static_cast<unsigned>(needed[0]);
    return static_cast<unsigned>(yk_number_min(all, max_blocks));
}

#endif
