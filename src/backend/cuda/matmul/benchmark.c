#include "backend/cuda/matmul/cublas.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- log ---- */

enum {
    LINE_SIZE = 256,
};

/* Appends a line per checked algorithm to the file that YOKE_TELL_PRODUCTS names. */
static void log_trial(const struct yk_matmul_shape *shape, const cublasLtMatmulAlgo_t *algorithm,
                      float milliseconds, const char *result)
{
    const char *path = getenv("YOKE_TELL_PRODUCTS");
    char line[LINE_SIZE];
    if (!path || !*path) {
        return;
    }
    (void)snprintf(
        line, sizeof line,
        "product %" PRId64 " x %" PRId64 " x %" PRId64
        "%s%s: algorithm %d, tile %d, stages %d, cluster %d, splits %d, %g ms: %s\n",
        shape->m, shape->n, shape->k, shape->a_transposed ? ", a transposed" : "",
        shape->b_transposed ? ", b transposed" : "",
        (int)yk_matmul_algorithm_attribute(algorithm, CUBLASLT_ALGO_CONFIG_ID),
        (int)yk_matmul_algorithm_attribute(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID),
        (int)yk_matmul_algorithm_attribute(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID),
        (int)yk_matmul_algorithm_attribute(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID),
        (int)yk_matmul_algorithm_attribute(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM),
        (double)milliseconds, result);
    yk_matmul_cache_append_line_to_file(path, line, strlen(line));
}

/* ---- benchmark ---- */

enum {
    TIMED_RUNS = 3,
    MIN_TRIED = 4, /* algorithms to time, even after max_trial_ms */
};

/* Time limit of a benchmark. The likely fastest algorithms come first. */
static const float max_trial_ms = 500;

/* A matmul that takes longer is timed only once. */
static const float long_ms = 10;

/* An algorithm whose first run takes this many times the best time is not timed again. */
static const float hopeless = 1.5F;

struct trial {
    const struct yk_cublas_context *context;
    const struct yk_matmul_descriptors *descriptors;
    const struct yk_cublas_matmul_arguments *arguments;
    cudaEvent_t events[2];
    float best;  /* milliseconds; negative means: none yet */
    float spent; /* milliseconds */
};

/* Returns false if the algorithm does not run. */
static bool enqueue(const struct trial *trial, const cublasLtMatmulAlgo_t *algorithm)
{
    if (yk_matmul_algorithm_enqueue_matmul(trial->context, trial->descriptors, algorithm,
                                           trial->arguments) != CUBLAS_STATUS_SUCCESS) {
        (void)cudaGetLastError();
        return false;
    }
    return true;
}

/* Returns the milliseconds of the fastest run, with the parts that are not fused. Returns -1 if the
 * algorithm does not run. */
static float time_one(struct trial *trial, const cublasLtMatmulAlgo_t *algorithm)
{
    const struct yk_cublas_matmul_arguments *arguments = trial->arguments;
    float best = -1;
    for (int i = 0; i <= TIMED_RUNS; i++) {
        float elapsed_ms = 0;
        (void)cudaEventRecord(trial->events[0], arguments->stream);
        if (!enqueue(trial, algorithm)) {
            return -1;
        }
        if (arguments->rest) {
            arguments->rest(arguments);
        }
        (void)cudaEventRecord(trial->events[1], arguments->stream);
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

/* Whether the output of the algorithm is correct. */
static bool is_correct(const struct trial *trial, const cublasLtMatmulAlgo_t *algorithm,
                       float milliseconds)
{
    const struct yk_cublas_matmul_arguments *arguments = trial->arguments;
    static const char *const words[] = {[YK_MATMUL_CHECK_CORRECT] = "right",
                                        [YK_MATMUL_CHECK_WRONG] = "wrong",
                                        [YK_MATMUL_CHECK_UNDECIDED] = "untold"};
    if (!arguments->end) {
        return true;
    }
    arguments->begin(arguments);
    if (!enqueue(trial, algorithm)) {
        return false;
    }
    arguments->rest(arguments);
    const enum yk_matmul_check_result result = arguments->end(arguments);
    log_trial(&trial->descriptors->shape, algorithm, milliseconds, words[result]);
    if (result != YK_MATMUL_CHECK_UNDECIDED) {
        yk_block_cluster_checks_add_result(trial->context->checks,
                                           yk_matmul_algorithm_cluster_size(algorithm),
                                           result == YK_MATMUL_CHECK_CORRECT);
    }
    return result == YK_MATMUL_CHECK_CORRECT ||
           (result == YK_MATMUL_CHECK_UNDECIDED &&
            yk_matmul_algorithm_needs_no_check(trial->context, algorithm));
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

float yk_matmul_benchmark_algorithms(const struct yk_cublas_context *context,
                                     const struct yk_matmul_descriptors *descriptors,
                                     const cublasLtMatmulAlgo_t *found, int count,
                                     const struct yk_cublas_matmul_arguments *arguments,
                                     struct yk_matmul_algorithm_choice *out)
{
    float elapsed_ms[YK_MATMUL_MAX_ALGORITHMS];
    struct trial trial = {
        .context = context, .descriptors = descriptors, .arguments = arguments, .best = -1};
    if (cudaEventCreate(&trial.events[0]) != cudaSuccess) {
        return YK_CUBLAS_NO_ALGORITHM_RUNS;
    }
    if (cudaEventCreate(&trial.events[1]) != cudaSuccess) {
        (void)cudaEventDestroy(trial.events[0]);
        return YK_CUBLAS_NO_ALGORITHM_RUNS;
    }
    int tried = 0;
    int best = -1;
    bool ran = false;
    while (best < 0 && tried < count) {
        const int first = tried;
        while (tried < count &&
               (trial.best < 0 || trial.spent < max_trial_ms || tried < first + MIN_TRIED)) {
            elapsed_ms[tried] = time_one(&trial, &found[tried]);
            tried++;
        }
        best = fastest(elapsed_ms, tried);
        ran = ran || best >= 0;
        while (best >= 0 && !is_correct(&trial, &found[best], elapsed_ms[best])) {
            elapsed_ms[best] = -1;
            best = fastest(elapsed_ms, tried);
        }
    }
    for (int i = 0; i < 2; i++) {
        (void)cudaEventDestroy(trial.events[i]);
    }
    if (best < 0) {
        return ran ? YK_CUBLAS_NO_ALGORITHM_CORRECT : YK_CUBLAS_NO_ALGORITHM_RUNS;
    }
    out->algorithm = found[best];
    out->exists = 1;
    return elapsed_ms[best];
}
