#include "backend/cuda/matmul/benchmark.h"

#include "backend/cuda/matmul/algorithm_enqueue.h"
#include "backend/cuda/matmul/benchmark_log.h"

enum {
    TIMED_RUNS = 3,
    MIN_TRIED = 4, /* algorithms, however long that takes */
};

/* After so long, no further algorithm is tried: they come with the likeliest first. */
static const float max_trial_ms = 500;

/* Of what takes this long, one run after the first tells enough. */
static const float long_ms = 10;

/* Of one that takes this much longer than the best the first time, no more is wanted. */
static const float hopeless = 1.5F;

struct trial {
    const struct yk_cublas_call *call;
    cudaEvent_t events[2];
    float best; /* milliseconds; negative: none yet */
    float spent;
};

/* Milliseconds of the fastest of some runs, with what is left to do after it; negative where it
 * does not run. */
static float time_one(const struct yk_matmul_algorithm_context *context,
                      const struct yk_matmul_descriptors *descriptors,
                      const cublasLtMatmulAlgo_t *algorithm, struct trial *trial)
{
    const struct yk_cublas_call *call = trial->call;
    float best = -1;
    for (int i = 0; i <= TIMED_RUNS; i++) {
        float elapsed_ms = 0;
        (void)cudaEventRecord(trial->events[0], call->stream);
        if (yk_matmul_algorithm_enqueue(context, descriptors, algorithm, call) !=
            CUBLAS_STATUS_SUCCESS) {
            (void)cudaGetLastError();
            return -1;
        }
        if (call->rest) {
            call->rest(call);
        }
        (void)cudaEventRecord(trial->events[1], call->stream);
        if (cudaEventSynchronize(trial->events[1]) != cudaSuccess ||
            cudaEventElapsedTime(&elapsed_ms, trial->events[0], trial->events[1]) != cudaSuccess) {
            return -1;
        }
        trial->spent += elapsed_ms;
        if (i == 0 && trial->best >= 0 && elapsed_ms > hopeless * trial->best + 0.1F) {
            return elapsed_ms;
        }
        if (i > 0 && (best < 0 || elapsed_ms < best)) {
            best = elapsed_ms;
        }
        if (i > 0 && elapsed_ms > long_ms) {
            break;
        }
    }
    trial->best = trial->best < 0 || best < trial->best ? best : trial->best;
    return best;
}

/* Whether the algorithm makes the numbers that it should. */
static bool is_correct(const struct yk_matmul_algorithm_context *context,
                       const struct yk_matmul_shape *shape,
                       const struct yk_matmul_descriptors *descriptors,
                       const cublasLtMatmulAlgo_t *algorithm, float milliseconds,
                       const struct yk_cublas_call *call)
{
    static const char *const words[] = {
        [YK_MATMUL_CORRECT] = "right", [YK_MATMUL_WRONG] = "wrong", [YK_MATMUL_UNKNOWN] = "untold"};
    if (!call->end) {
        return true;
    }
    call->begin(call);
    if (yk_matmul_algorithm_enqueue(context, descriptors, algorithm, call) !=
        CUBLAS_STATUS_SUCCESS) {
        (void)cudaGetLastError();
        return false;
    }
    call->rest(call);
    const enum yk_matmul_result result = call->end(call);
    yk_matmul_benchmark_log(shape, algorithm, milliseconds, words[result]);
    if (result != YK_MATMUL_UNKNOWN) {
        yk_cluster_trust_record(context->trust, yk_matmul_algorithm_cluster(algorithm),
                                result == YK_MATMUL_CORRECT);
    }
    return result == YK_MATMUL_CORRECT ||
           (result == YK_MATMUL_UNKNOWN && yk_matmul_algorithm_is_plain(context, algorithm));
}

static int fastest(const float *elapsed_ms, int count)
{
    int best = -1;
    for (int i = 0; i < count; i++) {
        if (elapsed_ms[i] >= 0 && (best < 0 || elapsed_ms[i] < elapsed_ms[best])) {
            best = i;
        }
    }
    return best;
}

float yk_matmul_benchmark(const struct yk_matmul_algorithm_context *context,
                          const struct yk_matmul_shape *shape,
                          const struct yk_matmul_descriptors *descriptors,
                          const cublasLtMatmulAlgo_t *found, int count,
                          const struct yk_cublas_call *call, struct yk_matmul_choice *out)
{
    float elapsed_ms[YK_MATMUL_ALGORITHMS_MAX];
    struct trial trial = {.call = call, .best = -1};
    if (cudaEventCreate(&trial.events[0]) != cudaSuccess) {
        return YK_CUBLAS_NONE_RUNS;
    }
    if (cudaEventCreate(&trial.events[1]) != cudaSuccess) {
        (void)cudaEventDestroy(trial.events[0]);
        return YK_CUBLAS_NONE_RUNS;
    }
    int tried = 0;
    int best = -1;
    bool ran = false;
    while (best < 0 && tried < count) {
        const int first = tried;
        while (tried < count &&
               (trial.best < 0 || trial.spent < max_trial_ms || tried < first + MIN_TRIED)) {
            elapsed_ms[tried] = time_one(context, descriptors, &found[tried], &trial);
            tried++;
        }
        best = fastest(elapsed_ms, tried);
        ran = ran || best >= 0;
        while (best >= 0 &&
               !is_correct(context, shape, descriptors, &found[best], elapsed_ms[best], call)) {
            elapsed_ms[best] = -1;
            best = fastest(elapsed_ms, tried);
        }
    }
    for (int i = 0; i < 2; i++) {
        (void)cudaEventDestroy(trial.events[i]);
    }
    if (best < 0) {
        return ran ? YK_CUBLAS_NONE_CORRECT : YK_CUBLAS_NONE_RUNS;
    }
    out->algorithm = found[best];
    out->exists = 1;
    return elapsed_ms[best];
}
