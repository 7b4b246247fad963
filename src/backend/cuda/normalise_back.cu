#include "backend/cuda/kernels.h"

#include "backend/cuda/partials.cuh"

/*
 * With n = (x − mean) · rstd and g = dy · weight:
 *   dx       = add + rstd · (g − mean(g) − n · mean(g · n)), RMS without mean(g),
 *   d_weight = the sum over rows of dy · n, d_bias that of dy
 * (Ba, Kiros and Hinton 2016; Zhang and Sennrich 2019).
 *
 * Rows are held in registers as in the forward op, and each thread keeps the sums of its columns
 * there as well while its team goes from row to row. A block's sums go to scratch, (blocks, 2,
 * width), and are added up by a kernel of their own. dx may be dy or add: a thread reads what it
 * needs of a place before it writes there.
 *
 * Rows that cannot be held go the slow way: the columns first, then the rows, number by number.
 */
enum {
    SUM_HELD = 3,   /* chunks a thread holds with the sums of their columns, if it can be */
    SUM_BLOCKS = 2, /* of an SM then */
    FEW_BLOCKS = 3, /* where it holds fewer chunks, or keeps no sums */
    SLOW_BLOCKS = 8,
    SHARED_BYTES = 48 << 10,  /* what every chip gives without being asked */
    COLUMN_LANES = 32,        /* columns of a block of the slow way */
    COLUMN_TURNS = 8,         /* its threads that share a column's rows */
    PARTIAL_BYTES = 32 << 20, /* of the slow way, at most */
    PARTIAL_GROUPS = 64,      /* of rows */
};

/* What is summed over a row: g and g · n. */
enum {
    G,
    GN,
    ROW_SUMS,
};

/* Keeps the compiler from holding what it made of the numbers, fp32 of twice the size and more, for
 * the next time: to make it again is cheaper than to have no registers left. */
template <typename T> static __device__ __forceinline__ void forget(yk_wide<T> &wide)
{
    uint4 &words = reinterpret_cast<uint4 &>(wide);
    asm volatile("" : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w));
}

/* Where a thread stands: it holds chunks place, place + step … below `chunks` of its team's row. */
struct stand {
    int chunks;
    int place;
    int step;
    int team;
    int teams; /* of the block */
};

/* Sums over the rows a thread has seen, of the columns it holds. */
template <typename T, int HELD> struct column_sums {
    float weight[HELD][yk_wide<T>::count];
    float bias[HELD][yk_wide<T>::count];
};

/* Adds a chunk's share to the sums of its row and, with SUMS, of its columns. */
template <typename T, bool SUMS>
static __device__ __forceinline__ void
sum_chunk(const yk_wide<T> &x, const yk_wide<T> &dy, float mean, float rstd, const float4 *weights,
          int chunks, float (&row)[ROW_SUMS], float (&d_weight)[yk_wide<T>::count],
          float (&d_bias)[yk_wide<T>::count])
{
#pragma unroll
    for (int quarter = 0; quarter < yk_wide<T>::count / 4; quarter++) {
        float weight[4];
        yk_four(weights[quarter * chunks], weight);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float n = (yk_load(x.numbers[4 * quarter + i]) - mean) * rstd;
            const float d = yk_load(dy.numbers[4 * quarter + i]);
            const float g = d * weight[i];
            row[G] += g;
            row[GN] += g * n;
            if (SUMS) {
                d_weight[4 * quarter + i] += d * n;
                d_bias[4 * quarter + i] += d;
            }
        }
    }
}

/* dx of a chunk. */
template <typename T>
static __device__ __forceinline__ yk_wide<T>
pass_chunk(const yk_wide<T> &x, const yk_wide<T> &dy, const yk_wide<T> &add, float mean, float rstd,
           const float4 *weights, int chunks, float g_mean, float gn_mean)
{
    yk_wide<T> dx;
#pragma unroll
    for (int quarter = 0; quarter < yk_wide<T>::count / 4; quarter++) {
        float weight[4];
        yk_four(weights[quarter * chunks], weight);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int at = 4 * quarter + i;
            const float n = (yk_load(x.numbers[at]) - mean) * rstd;
            const float g = yk_load(dy.numbers[at]) * weight[i];
            dx.numbers[at] =
                yk_store<T>(yk_load(add.numbers[at]) + rstd * (g - g_mean - n * gn_mean));
        }
    }
    return dx;
}

/* One row of every team: dx, and the row's share of the columns' sums. */
template <typename T, int HELD, bool SUMS>
static __device__ __forceinline__ void
back_row(const struct yk_normalise_back &op, int64_t row, const struct stand &stand,
         const float4 *weights, float (*room)[ROW_SUMS], struct column_sums<T, HELD> &sums)
{
    constexpr int N = yk_wide<T>::count;
    const bool real = row < op.rows;
    const int count = real ? stand.chunks : 0;
    const int64_t start = row * op.width;
    const float mean = real && op.mean ? op.mean[row] : 0.0F;
    const float rstd = real ? op.rstd[row] : 0.0F;
    yk_wide<T> x[HELD];
    yk_wide<T> dy[HELD];
    yk_wide<T> add[HELD];
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int chunk = stand.place + i * stand.step;
        if (chunk < count) {
            x[i] = yk_load_wide(static_cast<const T *>(op.x) + start + chunk * N);
            dy[i] = yk_load_wide(static_cast<const T *>(op.dy) + start + chunk * N);
        }
    }
    float row_sums[ROW_SUMS] = {0, 0};
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int chunk = stand.place + i * stand.step;
        if (chunk < count) {
            sum_chunk<T, SUMS>(x[i], dy[i], mean, rstd, weights + chunk, stand.chunks, row_sums,
                               sums.weight[i], sums.bias[i]);
        }
    }
    /* On its way while the team adds up. */
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int chunk = stand.place + i * stand.step;
        add[i] = yk_wide<T>();
        if (op.add && chunk < count) {
            add[i] = yk_load_wide(static_cast<const T *>(op.add) + start + chunk * N);
        }
    }
    yk_team_sums(row_sums, stand.step / 32, room);
    const float g_mean = op.mean ? row_sums[G] / static_cast<float>(op.width) : 0.0F;
    const float gn_mean = row_sums[GN] / static_cast<float>(op.width);
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int chunk = stand.place + i * stand.step;
        if (chunk < count) {
            forget(x[i]);
            forget(dy[i]);
            yk_store_wide(static_cast<T *>(op.dx) + start + chunk * N,
                          pass_chunk<T>(x[i], dy[i], add[i], mean, rstd, weights + chunk,
                                        stand.chunks, g_mean, gn_mean));
        }
    }
}

/* Adds up one of the sums of the block's teams, one team after the other, in shared memory that is
 * free by now, and leaves it in scratch at `to` (width). */
template <typename T, int HELD>
static __device__ __forceinline__ void leave(const float (&sums)[HELD][yk_wide<T>::count],
                                             const struct stand &stand, float4 *shared, float *to)
{
    constexpr int N = yk_wide<T>::count;
    for (int team = 0; team < stand.teams; team++) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            const int chunk = stand.place + i * stand.step;
            if (team != stand.team || chunk >= stand.chunks) {
                continue;
            }
#pragma unroll
            for (int quarter = 0; quarter < N / 4; quarter++) {
                float4 *between = shared + quarter * stand.chunks + chunk;
                float4 *end = reinterpret_cast<float4 *>(to + chunk * N) + quarter;
                const float *own = sums[i] + 4 * quarter;
                float4 total = make_float4(own[0], own[1], own[2], own[3]);
                if (team > 0) {
                    const float4 before = *between;
                    total = make_float4(before.x + total.x, before.y + total.y, before.z + total.z,
                                        before.w + total.w);
                }
                *(team + 1 < stand.teams ? between : end) = total;
            }
        }
    }
}

template <int HELD, bool SUMS> constexpr int blocks_of_processor()
{
    return SUMS && HELD >= SUM_HELD ? SUM_BLOCKS : FEW_BLOCKS;
}

/* x, dy and dx are of type T. The block's teams go from row to row together. */
template <typename T, int HELD, bool SUMS>
static __global__ void __launch_bounds__(YK_TEAM_THREADS, blocks_of_processor<HELD, SUMS>())
    hold_rows(struct yk_normalise_back op, int team_warps, float *partials)
{
    extern __shared__ float4 shared[]; /* (width) weights */
    __shared__ float room[2][YK_TEAM_WARPS][ROW_SUMS];
    const int width = static_cast<int>(op.width);
    const int threads = team_warps * 32;
    const struct stand stand = {width / yk_wide<T>::count, static_cast<int>(threadIdx.x) % threads,
                                threads, static_cast<int>(threadIdx.x) / threads,
                                YK_TEAM_THREADS / threads};
    auto sums = column_sums<T, HELD>(); /* all 0 */
    yk_stage<yk_wide<T>::count>(op.weight_type, op.weight, width, shared);
    __syncthreads();
    for (int turn = 0;; turn++) {
        const int64_t block = static_cast<int64_t>(turn) * gridDim.x + blockIdx.x;
        if (block * stand.teams >= op.rows) {
            break;
        }
        back_row<T, HELD, SUMS>(op, block * stand.teams + stand.team, stand, shared, room[turn & 1],
                                sums);
    }
    if (SUMS) {
        float *to = partials + static_cast<int64_t>(blockIdx.x) * 2 * width;
        leave<T, HELD>(sums.weight, stand, shared, to);
        if (op.d_bias) {
            leave<T, HELD>(sums.bias, stand, shared, to + width);
        }
    }
}

/* The slow way's sums of columns: a block takes 32 of them, and the rows of group blockIdx.y. */
static __global__ void __launch_bounds__(COLUMN_LANES *COLUMN_TURNS)
    walk_columns(struct yk_normalise_back op, int64_t group_rows, float *partials)
{
    __shared__ float sums[2][COLUMN_TURNS][COLUMN_LANES];
    const int lane = threadIdx.x % COLUMN_LANES;
    const int turn = threadIdx.x / COLUMN_LANES;
    const int64_t column = static_cast<int64_t>(blockIdx.x) * COLUMN_LANES + lane;
    const int64_t first = blockIdx.y * group_rows;
    const int64_t end = first + group_rows < op.rows ? first + group_rows : op.rows;
    float weight_sum = 0;
    float bias_sum = 0;
    if (column < op.width) {
        for (int64_t row = first + turn; row < end; row += COLUMN_TURNS) {
            const int64_t at = row * op.width + column;
            const float mean = op.mean ? op.mean[row] : 0.0F;
            const float d = yk_typed_one(op.y_type, op.dy, at);
            weight_sum += d * ((yk_typed_one(op.x_type, op.x, at) - mean) * op.rstd[row]);
            bias_sum += d;
        }
    }
    sums[0][turn][lane] = weight_sum;
    sums[1][turn][lane] = bias_sum;
    __syncthreads();
    if (turn < 2 && column < op.width) {
        float total = 0;
        for (int i = 0; i < COLUMN_TURNS; i++) {
            total += sums[turn][i][lane];
        }
        partials[(blockIdx.y * 2 + turn) * op.width + column] = total;
    }
}

/* The slow way's dx: a block a row, whose threads are one team. */
static __global__ void __launch_bounds__(YK_TEAM_THREADS) walk_rows(struct yk_normalise_back op)
{
    __shared__ float room[2][YK_TEAM_WARPS][ROW_SUMS];
    int turn = 0;
    for (int64_t row = blockIdx.x; row < op.rows; row += gridDim.x) {
        const int64_t start = row * op.width;
        const float mean = op.mean ? op.mean[row] : 0.0F;
        const float rstd = op.rstd[row];
        float sums[ROW_SUMS] = {0, 0};
        for (int64_t i = threadIdx.x; i < op.width; i += YK_TEAM_THREADS) {
            const float n = (yk_typed_one(op.x_type, op.x, start + i) - mean) * rstd;
            const float g = yk_typed_one(op.y_type, op.dy, start + i) *
                            yk_typed_one(op.weight_type, op.weight, i);
            sums[G] += g;
            sums[GN] += g * n;
        }
        yk_team_sums(sums, YK_TEAM_WARPS, room[turn++ & 1]);
        const float g_mean = op.mean ? sums[G] / static_cast<float>(op.width) : 0.0F;
        const float gn_mean = sums[GN] / static_cast<float>(op.width);
        for (int64_t i = threadIdx.x; i < op.width; i += YK_TEAM_THREADS) {
            const float n = (yk_typed_one(op.x_type, op.x, start + i) - mean) * rstd;
            const float g = yk_typed_one(op.y_type, op.dy, start + i) *
                            yk_typed_one(op.weight_type, op.weight, i);
            const float add = op.add ? yk_typed_one(op.x_type, op.add, start + i) : 0.0F;
            const float dx[1] = {add + rstd * (g - g_mean - n * gn_mean)};
            yk_typed_put(op.x_type, op.dx, start + i, dx);
        }
    }
}

static void add_up(struct yk_backend_lane *lane, const struct yk_normalise_back *op,
                   const float *partials, int64_t groups)
{
    const struct yk_partials sums = {
        partials,       op->width, static_cast<int32_t>(groups), 2, {op->d_weight, op->d_bias},
        op->weight_type};
    yk_add_partials(yk_cuda_stream(lane), &sums);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void back_slowly(struct yk_backend_lane *lane, const struct yk_normalise_back *op)
{
    const cudaStream_t stream = yk_cuda_stream(lane);
    if (op->d_weight || op->d_bias) {
        const int64_t bytes = op->width * 2 * static_cast<int64_t>(sizeof(float));
        const int64_t room = PARTIAL_BYTES / bytes > 0 ? PARTIAL_BYTES / bytes : 1;
        const int64_t most = least(yk_ceil_div(op->rows, COLUMN_TURNS), PARTIAL_GROUPS);
        const int64_t group_rows = yk_ceil_div(op->rows, least(most, room));
        const int64_t groups = yk_ceil_div(op->rows, group_rows);
        float *partials =
            static_cast<float *>(yk_cuda_scratch(lane, static_cast<size_t>(groups * bytes)));
        if (!partials) {
            return;
        }
        const dim3 grid(static_cast<unsigned>(yk_ceil_div(op->width, COLUMN_LANES)),
                        static_cast<unsigned>(groups));
        walk_columns<<<grid, COLUMN_LANES * COLUMN_TURNS, 0, stream>>>(*op, group_rows, partials);
        add_up(lane, op, partials, groups);
    }
    const int64_t grid = least(op->rows, yk_cuda_chip(lane)->processors * SLOW_BLOCKS);
    walk_rows<<<static_cast<unsigned>(grid), YK_TEAM_THREADS, 0, stream>>>(*op);
}

template <typename T, int HELD, bool SUMS>
static void hold(struct yk_backend_lane *lane, const struct yk_normalise_back *op, int team_warps)
{
    const int64_t blocks = yk_ceil_div(op->rows, YK_TEAM_WARPS / team_warps);
    const int64_t most = yk_cuda_chip(lane)->processors * blocks_of_processor<HELD, SUMS>();
    const unsigned grid = static_cast<unsigned>(least(blocks, most));
    const size_t bytes = static_cast<size_t>(op->width) * sizeof(float);
    float *partials = nullptr;
    if (SUMS) {
        partials = static_cast<float *>(yk_cuda_scratch(lane, grid * 2 * bytes));
        if (!partials) {
            return;
        }
    }
    hold_rows<T, HELD, SUMS>
        <<<grid, YK_TEAM_THREADS, bytes, yk_cuda_stream(lane)>>>(*op, team_warps, partials);
    if (SUMS) {
        add_up(lane, op, partials, grid);
    }
}

template <typename T>
static void back_held(struct yk_backend_lane *lane, const struct yk_normalise_back *op)
{
    const int64_t chunks = op->width / yk_wide<T>::count;
    if (!op->d_weight && !op->d_bias) {
        hold<T, YK_TEAM_HELD, false>(lane, op, yk_team_warps(chunks, YK_TEAM_HELD));
    } else if (chunks > YK_TEAM_THREADS * SUM_HELD) {
        hold<T, YK_TEAM_HELD, true>(lane, op, YK_TEAM_WARPS);
    } else {
        const int team_warps = yk_team_warps(chunks, SUM_HELD);
        if (chunks > team_warps * 32 * (SUM_HELD - 1)) {
            hold<T, SUM_HELD, true>(lane, op, team_warps);
        } else {
            hold<T, SUM_HELD - 1, true>(lane, op, team_warps);
        }
    }
}

void yk_cuda_normalise_back(struct yk_backend_lane *lane, const struct yk_normalise_back *op)
{
    if (!yk_cuda_sound(lane) || op->rows <= 0 || op->width <= 0) {
        return;
    }
    bool held = false;
    if (op->x_type == op->y_type &&
        op->width * static_cast<int64_t>(sizeof(float)) <= SHARED_BYTES) {
        yk_with_type(op->x_type, [&](auto number) {
            using T = decltype(number);
            held = yk_is_wide<T>(op->x, op->width) && yk_is_wide<T>(op->dy, op->width) &&
                   yk_is_wide<T>(op->dx, op->width) && yk_is_wide<T>(op->add, op->width) &&
                   op->width / yk_wide<T>::count <= YK_TEAM_CHUNKS;
            if (held) {
                back_held<T>(lane, op);
            }
        });
    }
    if (!held) {
        back_slowly(lane, op);
    }
    yk_cuda_note(lane, cudaGetLastError(), "normalise_back");
}
