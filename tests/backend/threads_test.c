#include "support/support.h"

#include "backend/backend.h"

/*
 * Products and attention give the same bits with any number of threads: shapes with several tiles
 * of work, some not whole, in all types.
 */
static const int32_t thread_counts[] = {1, 2, 3, 5};
static const enum yk_precision types[] = {YK_PRECISION_FP32, YK_PRECISION_FP16, YK_PRECISION_BF16};

enum {
    THREAD_COUNTS = sizeof thread_counts / sizeof thread_counts[0],
    TYPES = sizeof types / sizeof types[0],
};

static const struct yk_backend *const backend = &yk_backend_cpu;

/* The memory of one run: a stretch that is filled with drawn numbers, and one for answers. */
struct run {
    struct yk_backend_device *device;
    struct yk_backend_lane *lane;
    enum yk_precision type;
    char *given; /* fp32 drawn numbers, then cast to the type */
    char *answers;
    size_t answer_bytes;
};

static void open_run(int32_t threads, enum yk_precision type, int64_t given, size_t answer_bytes,
                     struct run *run)
{
    const struct yk_backend_device_options options = {.threads = threads};
    float *drawn = NULL;
    uint32_t state = 12345;
    *run = (struct run){.type = type, .answer_bytes = answer_bytes};
    assert_ok(backend->open(&options, &run->device));
    assert_ok(backend->lane_create(run->device, "compute", &run->lane));
    const size_t bytes = (size_t)given * sizeof *drawn;
    assert_ok(backend->allocate(run->device, bytes, (void **)&drawn));
    assert_ok(backend->allocate(run->device, bytes, (void **)&run->given));
    assert_ok(backend->allocate(run->device, answer_bytes, (void **)&run->answers));
    for (int64_t i = 0; i < given; i++) {
        state = state * 1664525U + 1013904223U; /* Numerical Recipes' generator */
        drawn[i] = (float)(state >> 8) * 0x1p-23F - 1.0F;
    }
    const struct yk_cast_op cast = {
        .count = given, .from = drawn, .to = run->given, .to_type = type};
    backend->cast(run->lane, &cast);
    assert_ok(backend->lane_synchronize(run->lane));
    backend->free(run->device, drawn);
}

static void close_run(struct run *run)
{
    backend->free(run->device, run->given);
    backend->free(run->device, run->answers);
    backend->lane_destroy(run->lane);
    backend->close(run->device);
}

/* Number `at` of what was given. */
static void *given_at(const struct run *run, int64_t at)
{
    return run->given + at * yk_precision_bytes(run->type);
}

static void *answer_at(const struct run *run, int64_t at)
{
    return run->answers + at * yk_precision_bytes(run->type);
}

/* Runs `enqueue` with every number of threads and compares what it leaves in answers. */
static void assert_same_bits(enum yk_precision type, int64_t given, size_t answer_bytes,
                             void (*enqueue)(const struct run *run, const void *shape),
                             const void *shape)
{
    struct run alone;
    open_run(thread_counts[0], type, given, answer_bytes, &alone);
    enqueue(&alone, shape);
    assert_ok(backend->lane_synchronize(alone.lane));
    for (int i = 1; i < THREAD_COUNTS; i++) {
        struct run shared;
        open_run(thread_counts[i], type, given, answer_bytes, &shared);
        enqueue(&shared, shape);
        assert_ok(backend->lane_synchronize(shared.lane));
        assert_memory_equal(shared.answers, alone.answers, answer_bytes);
        close_run(&shared);
    }
    close_run(&alone);
}

struct product {
    int64_t m;
    int64_t n;
    int64_t k;
    bool a_transposed;
    bool b_transposed;
    enum yk_matmul_epilogue epilogue;
};

static void enqueue_product(const struct run *run, const void *shape)
{
    const struct product *product = shape;
    const int64_t a_count = product->m * product->k;
    const int64_t b_count = product->k * product->n;
    const struct yk_matmul_op op = {
        .m = product->m,
        .n = product->n,
        .k = product->k,
        .a = given_at(run, 0),
        .b = given_at(run, a_count),
        .c = answer_at(run, 0),
        .a_stride = product->a_transposed ? product->m : product->k,
        .b_stride = product->b_transposed ? product->k : product->n,
        .c_stride = product->n,
        .a_transposed = product->a_transposed,
        .b_transposed = product->b_transposed,
        .a_type = run->type,
        .b_type = run->type,
        .c_type = run->type,
        .bias_type = run->type,
        .scale = 1,
        .bias = product->epilogue == YK_EPILOGUE_NONE ? NULL : given_at(run, a_count + b_count),
        .epilogue = product->epilogue,
        .aux = answer_at(run, product->m * product->n),
        .aux_stride = product->n,
    };
    backend->matmul(run->lane, &op);
}

static void product_is_the_same_with_any_number_of_threads(void **state)
{
    (void)state;
    const struct product products[] = {
        {300, 200, 100, false, true, YK_EPILOGUE_GELU},
        {96, 400, 513, true, false, YK_EPILOGUE_NONE},
        {80, 120, 3001, true, false, YK_EPILOGUE_NONE}, /* sums so long that they are cut */
        {700, 33, 64, false, false, YK_EPILOGUE_GELU_BACKWARD},
        {17, 1000, 40, true, true, YK_EPILOGUE_RELU},
        {1, 1, 1, false, false, YK_EPILOGUE_NONE},
    };
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        for (int type = 0; type < TYPES; type++) {
            const struct product *product = &products[i];
            const int64_t given = product->m * product->k + product->k * product->n + product->n;
            const int64_t answers = 2 * product->m * product->n;
            assert_same_bits(types[type], given,
                             (size_t)(answers * yk_precision_bytes(types[type])), enqueue_product,
                             product);
        }
    }
}

struct attention {
    int64_t batch;
    int64_t queries;
    int64_t keys;
    int64_t heads;
    int64_t kv_heads;
    int64_t head_size;
    bool causal;
    float rate;
};

static int64_t query_numbers(const struct attention *attention)
{
    return attention->batch * attention->queries * attention->heads * attention->head_size;
}

static int64_t key_numbers(const struct attention *attention)
{
    return attention->batch * attention->keys * attention->kv_heads * attention->head_size;
}

/* Answers: sums in fp32, then out, dq, dk and dv. */
static void enqueue_attention(const struct run *run, const void *shape)
{
    const struct attention *attention = shape;
    const int64_t q_count = query_numbers(attention);
    const int64_t k_count = key_numbers(attention);
    const int64_t sums = attention->batch * attention->queries * attention->heads *
                         (int64_t)sizeof(float) / yk_precision_bytes(run->type);
    struct yk_attention_backward_op op = {
        .forward =
            {
                .batch = attention->batch,
                .queries = attention->queries,
                .keys = attention->keys,
                .heads = attention->heads,
                .kv_heads = attention->kv_heads,
                .head_size = attention->head_size,
                .q = given_at(run, 0),
                .k = given_at(run, q_count),
                .v = given_at(run, q_count + k_count),
                .out = answer_at(run, sums),
                .log_sum_exp = answer_at(run, 0),
                .q_stride = attention->heads * attention->head_size,
                .k_stride = attention->kv_heads * attention->head_size,
                .v_stride = attention->kv_heads * attention->head_size,
                .out_stride = attention->heads * attention->head_size,
                .type = run->type,
                .scale = 0.25F,
                .causal = attention->causal,
                .dropout = {.rate = attention->rate, .seed = 42, .site = 7},
            },
        .d_out = given_at(run, q_count + 2 * k_count),
        .dq = answer_at(run, sums + q_count),
        .dk = answer_at(run, sums + 2 * q_count),
        .dv = answer_at(run, sums + 2 * q_count + k_count),
    };
    op.dq_stride = op.forward.q_stride;
    op.dk_stride = op.forward.k_stride;
    op.dv_stride = op.forward.v_stride;
    backend->attention(run->lane, &op.forward);
    backend->attention_backward(run->lane, &op);
}

static void attention_is_the_same_with_any_number_of_threads(void **state)
{
    (void)state;
    const struct attention attentions[] = {
        {3, 37, 37, 4, 4, 16, true, 0},   /* heads enough to share */
        {1, 150, 150, 2, 1, 24, true, 0}, /* several tiles of keys, two heads share them */
        {2, 40, 150, 4, 4, 16, false, 0}, /* several tiles of keys, heads enough */
        {2, 50, 50, 3, 3, 8, true, 0.2F},
    };
    for (size_t i = 0; i < sizeof attentions / sizeof attentions[0]; i++) {
        for (int type = 0; type < TYPES; type++) {
            const struct attention *attention = &attentions[i];
            const int64_t q_count = query_numbers(attention);
            const int64_t k_count = key_numbers(attention);
            const int64_t answers = 2 * q_count + 2 * k_count;
            const size_t sums_bytes =
                (size_t)(attention->batch * attention->queries * attention->heads) * sizeof(float);
            assert_same_bits(types[type], 2 * q_count + 2 * k_count,
                             sums_bytes + (size_t)(answers * yk_precision_bytes(types[type])),
                             enqueue_attention, attention);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product_is_the_same_with_any_number_of_threads),
        cmocka_unit_test(attention_is_the_same_with_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
