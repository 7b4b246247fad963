#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/async_copy.cuh"
#include "backend/cuda/kernels/mma.cuh"

/*
 * c = scale · a · bᵀ with few rows of b, such as the inner product of a LoRA adapter. Memory is the
 * limit, and a is read once.
 *
 * A block has a tile of 64 rows of a, and all of k or, if there are few tiles, a share of it. Then
 * a cluster of blocks has a tile. A block goes along k in steps, through a ring of stages in shared
 * memory. Four warps have 16 rows each and one half of a step, four others have the other half.
 * Each block of a cluster gets the sums of all blocks for a part of the rows, in its shared memory,
 * and adds them up, always in the same order.
 */
enum {
    THREADS = 256,
    TILE_ROWS = 64,
    STEP_COLUMNS = 64, /* of a and b */
    CHUNK = 8,         /* elements in 16 bytes */
    ROW_CHUNKS = STEP_COLUMNS / CHUNK,
    COPY_ROWS = THREADS / ROW_CHUNKS, /* of which each thread copies one chunk */
    PRODUCT_ROWS = 16,
    PRODUCT_COLUMNS = 8, /* of c */
    PRODUCT_DEPTH = 16,
    ROW_WARPS = TILE_ROWS / PRODUCT_ROWS, /* with one half of a step */
    WARP_PRODUCTS = STEP_COLUMNS / PRODUCT_DEPTH / 2,
    MAX_STAGES = 8,
    MAX_SHARED_BYTES = 112 << 10, /* two blocks share an SM that has 227 KiB */
    MAX_CLUSTER_BITS = 3,
    MAX_CLUSTER_BLOCKS = 1 << MAX_CLUSTER_BITS, /* more would not be portable */
    SUM_COLUMNS = 4,                            /* that a thread adds up at once */
    MAX_COLUMNS = 96,                           /* of c */
    MIN_DEPTH = 1024,
};
static_assert(ROW_WARPS * 2 * 32 == THREADS, "two warps for each group of rows");
static_assert(MIN_DEPTH / STEP_COLUMNS >= MAX_CLUSTER_BLOCKS, "every block has a step");

template <typename T> struct product {
    const T *a;
    const T *b;
    T *c;
    uint32_t a_stride;
    uint32_t b_stride;
    uint32_t c_stride;
    uint32_t rows;    /* of a */
    uint32_t columns; /* of c */
    uint32_t steps;
    uint32_t cluster_bits; /* a cluster has 2^cluster_bits blocks */
    float scale;
};

/* Shared memory of a block, for N columns of c. Those that c does not have are never stored. */
template <int N> struct shared_layout {
    static constexpr uint32_t stage_chunks = (TILE_ROWS + N) * ROW_CHUNKS;
    static constexpr int64_t stage_bytes = 16 * stage_chunks;
    static constexpr int64_t sum_bytes = sizeof(float) * TILE_ROWS * N;
    static constexpr int64_t max_stages = (MAX_SHARED_BYTES - sum_bytes) / stage_bytes;
    static constexpr int stages =
        max_stages < MAX_STAGES ? static_cast<int>(max_stages) : MAX_STAGES;
    static constexpr int64_t bytes = stages * stage_bytes + sum_bytes;
    static_assert(stages > 2 && sum_bytes <= stages * stage_bytes, "halves fit into the ring");
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define HAS_CLUSTERS 1
#else
#define HAS_CLUSTERS 0
#endif

#if HAS_CLUSTERS

YK_DEVICE_INLINE void cluster_arrive(void)
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

YK_DEVICE_INLINE void cluster_wait(void)
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* Where block `rank` of the cluster has what this block has at `at`. */
YK_DEVICE_INLINE uint32_t address_in_block(const void *at, uint32_t rank)
{
    uint32_t address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(address)
        : "r"(yk_shared_memory_address(at)), "r"(rank));
    return address;
}

YK_DEVICE_INLINE void store_in_cluster(uint32_t address, float first, float second)
{
    asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(first), "f"(second)
                 : "memory");
}

template <typename T, int N> struct tile_share {
    static constexpr int stages = shared_layout<N>::stages;
    static constexpr uint32_t stage_chunks = shared_layout<N>::stage_chunks;
    static constexpr uint32_t a_copies = TILE_ROWS / COPY_ROWS;
    static constexpr uint32_t b_copies = (N + COPY_ROWS - 1) / COPY_ROWS;
    const struct product<T> &in;
    uint4 *ring; /* (stages, TILE_ROWS + N, ROW_CHUNKS) */
    float *sums; /* (blocks, block_rows, N) */
    uint32_t warp;
    uint32_t lane;
    uint32_t tile;
    uint32_t rank; /* of the block in its cluster */
    uint32_t blocks;
    uint32_t block_rows; /* of the tile that the block adds up */
    uint32_t steps;
    const uint4 *a[a_copies]; /* what the thread copies in the first step */
    const uint4 *b[b_copies];
    float products[N / PRODUCT_COLUMNS][4];

    /* Where a chunk of a row is. Chunks of neighbouring rows are in different banks. */
    YK_DEVICE_INLINE uint32_t place_of(uint32_t row, uint32_t chunk)
    {
        return row * ROW_CHUNKS + (chunk ^ row % 8);
    }

    /* Where a sum is. Eight sums of four neighbouring rows are in different banks. */
    YK_DEVICE_INLINE uint32_t place_of_sum(uint32_t row, uint32_t column)
    {
        return row * N + (column ^ (N % 32 == 0 ? row % 4 : row / 2 % 2) * 8);
    }

    /* Beyond the last row of a, that one is repeated. */
    __device__ __forceinline__ void set_addresses(uint32_t first_step)
    {
        const uint32_t row = threadIdx.x / ROW_CHUNKS;
        const uint32_t column = first_step * STEP_COLUMNS + threadIdx.x % ROW_CHUNKS * CHUNK;
#pragma unroll
        for (uint32_t i = 0; i < a_copies; i++) {
            const uint64_t from = min(tile * TILE_ROWS + row + i * COPY_ROWS, in.rows - 1);
            a[i] = reinterpret_cast<const uint4 *>(in.a + from * in.a_stride + column);
        }
#pragma unroll
        for (uint32_t i = 0; i < b_copies; i++) {
            const uint64_t from = min(row + i * COPY_ROWS, in.columns - 1);
            b[i] = reinterpret_cast<const uint4 *>(in.b + from * in.b_stride + column);
        }
    }

    /* Starts the copies of a step, if the block has it. Rows that b does not have are not copied:
     * what is in their place gives columns that c does not have. */
    __device__ __forceinline__ void fetch(uint32_t step, int stage) const
    {
        if (step < steps) {
            const uint32_t row = threadIdx.x / ROW_CHUNKS;
            uint4 *to = ring + static_cast<uint32_t>(stage) * stage_chunks +
                        place_of(row, threadIdx.x % ROW_CHUNKS);
#pragma unroll
            for (uint32_t i = 0; i < a_copies; i++) {
                yk_async_copy_16_bytes(to + i * THREADS, a[i] + step * ROW_CHUNKS);
            }
#pragma unroll
            for (uint32_t i = 0; i < b_copies; i++) {
                if (row + i * COPY_ROWS < in.columns) {
                    yk_async_copy_16_bytes(to + TILE_ROWS * ROW_CHUNKS + i * THREADS,
                                           b[i] + step * ROW_CHUNKS);
                }
            }
        }
        yk_async_copy_commit_group();
    }

    __device__ __forceinline__ void multiply(int stage)
    {
        const uint4 *rows = ring + static_cast<uint32_t>(stage) * stage_chunks;
        const uint32_t a_row = warp % ROW_WARPS * PRODUCT_ROWS + lane % 16;
        const uint32_t b_row = TILE_ROWS + lane / 16 * 8 + lane % 8;
#pragma unroll
        for (uint32_t i = 0; i < WARP_PRODUCTS; i++) {
            const uint32_t chunk = (warp / ROW_WARPS * WARP_PRODUCTS + i) * 2;
            uint32_t a_matrices[4];
            /* Rows 0 to 7 and rows 8 to 15 of a chunk, then of the next chunk. */
            yk_load_four_matrices(
                yk_shared_memory_address(rows + place_of(a_row, chunk + lane / 16)), a_matrices);
#pragma unroll
            for (uint32_t j = 0; j < N / 16; j++) {
                uint32_t b_matrices[4];
                /* Rows 0 to 7 of both chunks, then rows 8 to 15 of both. */
                yk_load_four_matrices(
                    yk_shared_memory_address(rows + place_of(b_row + 16 * j, chunk + lane / 8 % 2)),
                    b_matrices);
                yk_mma<T>(products[2 * j], a_matrices, b_matrices[0], b_matrices[1]);
                yk_mma<T>(products[2 * j + 1], a_matrices, b_matrices[2], b_matrices[3]);
            }
        }
    }

    /* A step is fetched into the stage that was multiplied one step before: all warps have done so
     * when they are here again. Groups of copies beyond the last step are empty. */
    __device__ __forceinline__ void run(void)
    {
#pragma unroll
        for (int i = 0; i < stages - 1; i++) {
            fetch(static_cast<uint32_t>(i), i);
        }
        int stage = 0;
        for (uint32_t step = 0; step < steps; step++) {
            yk_async_copy_wait_group<stages - 2>();
            __syncthreads();
            fetch(step + stages - 1, stage == 0 ? stages - 1 : stage - 1);
            multiply(stage);
            stage = stage == stages - 1 ? 0 : stage + 1;
        }
    }

    /* The first half of the warps gets the sums of both halves. The ring is free then. */
    __device__ __forceinline__ void add_halves(void)
    {
        float4 *halves =
            reinterpret_cast<float4 *>(ring) + threadIdx.x % (ROW_WARPS * 32); /* of a thread */
        __syncthreads();
        if (warp >= ROW_WARPS) {
#pragma unroll
            for (uint32_t i = 0; i < N / PRODUCT_COLUMNS; i++) {
                const float(&from)[4] = products[i];
                halves[i * ROW_WARPS * 32] = make_float4(from[0], from[1], from[2], from[3]);
            }
        }
        __syncthreads();
        if (warp < ROW_WARPS) {
#pragma unroll
            for (uint32_t i = 0; i < N / PRODUCT_COLUMNS; i++) {
                const float4 other = halves[i * ROW_WARPS * 32];
                products[i][0] += other.x;
                products[i][1] += other.y;
                products[i][2] += other.z;
                products[i][3] += other.w;
            }
        }
    }

    /* Stores the sums of each row in the block that adds them up. */
    __device__ __forceinline__ void send_sums(void) const
    {
        if (warp < ROW_WARPS) {
#pragma unroll
            for (uint32_t i = 0; i < 2; i++) {
                const uint32_t row = warp * PRODUCT_ROWS + i * 8 + lane / 4;
                const uint32_t owner = row * blocks / TILE_ROWS;
                const uint32_t to = address_in_block(sums, owner);
                const uint32_t at = rank * block_rows + row - owner * block_rows;
#pragma unroll
                for (uint32_t j = 0; j < N / PRODUCT_COLUMNS; j++) {
                    const uint32_t place = place_of_sum(at, j * PRODUCT_COLUMNS + lane % 4 * 2);
                    store_in_cluster(to + place * static_cast<uint32_t>(sizeof(float)),
                                     products[j][2 * i], products[j][2 * i + 1]);
                }
            }
        }
    }

    /* Adds up the sums of the blocks for some columns of a row. */
    __device__ __forceinline__ void add_up(uint32_t row, uint32_t column,
                                           float (&out)[SUM_COLUMNS]) const
    {
        float4 loaded[MAX_CLUSTER_BLOCKS];
#pragma unroll
        for (uint32_t i = 0; i < MAX_CLUSTER_BLOCKS; i++) {
            loaded[i] = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
            if (i < blocks) {
                loaded[i] = *reinterpret_cast<const float4 *>(
                    sums + place_of_sum(i * block_rows + row, column));
            }
        }
#pragma unroll
        for (uint32_t i = 0; i < MAX_CLUSTER_BLOCKS; i++) {
            out[0] += loaded[i].x;
            out[1] += loaded[i].y;
            out[2] += loaded[i].z;
            out[3] += loaded[i].w;
        }
    }

    __device__ __forceinline__ void store(void) const
    {
        constexpr uint32_t quarters = N / SUM_COLUMNS; /* of a row */
        const uint32_t first = tile * TILE_ROWS + rank * block_rows;
        for (uint32_t i = threadIdx.x; i < block_rows * quarters; i += THREADS) {
            const uint32_t row = i / quarters;
            const uint32_t column = i % quarters * SUM_COLUMNS;
            if (first + row < in.rows && column < in.columns) {
                float out[SUM_COLUMNS] = {};
                add_up(row, column, out);
#pragma unroll
                for (int j = 0; j < SUM_COLUMNS; j++) {
                    out[j] *= in.scale;
                }
                T *to = in.c + static_cast<uint64_t>(first + row) * in.c_stride + column;
                yk_store_packed_vector(to, yk_pack_floats<T>(out));
            }
        }
    }
};

#endif

/* A cluster has the blocks from tile · 2^cluster_bits on. */
template <typename T, int N>
static __global__ void __launch_bounds__(THREADS, 2) narrow_matmul_tiles(struct product<T> in)
{
#if HAS_CLUSTERS
    extern __shared__ uint4 shared[];
    const uint32_t tile = blockIdx.x >> in.cluster_bits;
    const uint32_t rank = blockIdx.x - (tile << in.cluster_bits);
    const uint32_t first_step = in.steps * rank >> in.cluster_bits;
    float *sums = reinterpret_cast<float *>(shared + shared_layout<N>::stages *
                                                         shared_layout<N>::stage_chunks);
    struct tile_share<T, N> share = {
        in, shared, sums
    };
    share.warp = threadIdx.x / 32;
    share.lane = threadIdx.x % 32;
    share.tile = tile;
    share.rank = rank;
    share.blocks = 1U << in.cluster_bits;
    share.block_rows = TILE_ROWS >> in.cluster_bits;
    share.steps = (in.steps * (rank + 1) >> in.cluster_bits) - first_step;
    share.set_addresses(first_step);
    cluster_arrive();
    share.run();
    share.add_halves();
    cluster_wait(); /* shared memory of a block exists once it has started */
    share.send_sums();
    cluster_arrive();
    cluster_wait();
    share.store();
#endif
}

/* Returns false if there is too little shared memory. */
template <typename T, int N>
static bool try_launch(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    const struct yk_cuda_device_properties *properties = yk_cuda_lane_device_properties(lane);
    const int64_t tiles = yk_number_ceil_div(op->m, TILE_ROWS);
    uint32_t bits = 0;
    while (bits < MAX_CLUSTER_BITS && tiles << (bits + 1) <= properties->processors) {
        bits++;
    }
    if (shared_layout<N>::bytes > static_cast<int64_t>(properties->shared_bytes)) {
        return false;
    }
    const struct product<T> in = {
        static_cast<const T *>(op->a), static_cast<const T *>(op->b), static_cast<T *>(op->c),
            static_cast<uint32_t>(op->a_stride), static_cast<uint32_t>(op->b_stride),
            static_cast<uint32_t>(op->c_stride), static_cast<uint32_t>(op->m),
            static_cast<uint32_t>(op->n),
            static_cast<uint32_t>(op->k / STEP_COLUMNS), bits, op->scale
    };
    const auto kernel = narrow_matmul_tiles<T, N>;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 1U << bits;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(tiles << bits));
    config.blockDim = dim3(THREADS);
    config.dynamicSmemBytes = static_cast<size_t>(shared_layout<N>::bytes);
    config.stream = yk_cuda_lane_stream(lane);
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaError_t error = yk_allow_dynamic_shared_memory(reinterpret_cast<const void *>(kernel),
                                                       shared_layout<N>::bytes);
    YK_CUDA_CALL_UNLESS_FAILED(error, cudaLaunchKernelEx(&config, kernel, in));
    yk_cuda_lane_check_cuda_error(lane, error, "matmul");
    return true;
}

template <typename T>
static bool try_type(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    if (!yk_are_rows_16_byte_aligned<T>(op->a, op->a_stride) ||
        !yk_are_rows_16_byte_aligned<T>(op->b, op->b_stride) ||
        !yk_are_rows_16_byte_aligned<T>(op->c, op->c_stride)) {
        return false;
    }
    return op->n <= 16   ? try_launch<T, 16>(lane, op)
           : op->n <= 32 ? try_launch<T, 32>(lane, op)
           : op->n <= 48 ? try_launch<T, 48>(lane, op)
           : op->n <= 64 ? try_launch<T, 64>(lane, op)
                         : try_launch<T, MAX_COLUMNS>(lane, op);
}

/* Whether the op is a plain product of rows of a and rows of b, in one type. */
static bool is_plain(const struct yk_matmul_op *op)
{
    return !op->a_transposed && op->b_transposed && !op->accumulate && !op->bias && !op->add &&
           op->epilogue == YK_EPILOGUE_NONE && op->sums_of == YK_MATMUL_ROW_SUM_NONE &&
           op->split_columns[0] == 0 && op->a_type == op->b_type && op->a_type == op->c_type;
}

static bool is_narrow(const struct yk_matmul_op *op)
{
    return op->m > 0 && op->m <= INT32_MAX && op->n > 0 && op->n <= MAX_COLUMNS &&
           op->n % CHUNK == 0 && op->k >= MIN_DEPTH && op->k <= INT32_MAX &&
           op->k % STEP_COLUMNS == 0 && op->a_stride <= INT32_MAX && op->b_stride <= INT32_MAX &&
           op->c_stride <= INT32_MAX;
}

bool yk_cuda_narrow_matmul_try(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    const struct yk_cuda_device_properties *properties = yk_cuda_lane_device_properties(lane);
    /* On a part of a GPU, a cluster may find no place. */
    if (properties->code_capability < 90 || properties->is_part || !is_plain(op) ||
        !is_narrow(op)) {
        return false;
    }
    return op->a_type == YK_PRECISION_BF16   ? try_type<__nv_bfloat16>(lane, op)
           : op->a_type == YK_PRECISION_FP16 ? try_type<__half>(lane, op)
                                             : false;
}
