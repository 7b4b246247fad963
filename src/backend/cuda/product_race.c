#include "backend/cuda/product_race.h"

#include "backend/cuda/product_put.h"
#include "backend/cuda/product_tell.h"

enum {
    TIMED_RUNS = 3,
    LEAST_TRIED = 4, /* algorithms, however long that takes */
};

/* After so long, no further algorithm is tried: they come with the likeliest first. */
static const float trial_most_ms = 500;

/* Of what takes this long, one run after the first tells enough. */
static const float long_ms = 10;

/* Of one that takes this much longer than the best the first time, no more is wanted. */
static const float hopeless = 1.5F;

struct trial {
    const struct yk_product_call *call;
    cudaEvent_t events[2];
    float best; /* milliseconds; negative: none yet */
    float spent;
};

/* Milliseconds of the fastest of some runs, with what is left to do after it; negative where it
 * does not run. */
static float time_one(const struct yk_product_means *means, const struct yk_product_plan *plan,
                      const cublasLtMatmulAlgo_t *algorithm, struct trial *trial)
{
    const struct yk_product_call *call = trial->call;
    float best = -1;
    for (int i = 0; i <= TIMED_RUNS; i++) {
        float taken = 0;
        (void)cudaEventRecord(trial->events[0], call->stream);
        if (yk_product_put(means, plan, algorithm, call) != CUBLAS_STATUS_SUCCESS) {
            (void)cudaGetLastError();
            return -1;
        }
        if (call->rest) {
            call->rest(call);
        }
        (void)cudaEventRecord(trial->events[1], call->stream);
        if (cudaEventSynchronize(trial->events[1]) != cudaSuccess ||
            cudaEventElapsedTime(&taken, trial->events[0], trial->events[1]) != cudaSuccess) {
            return -1;
        }
        trial->spent += taken;
        if (i == 0 && trial->best >= 0 && taken > hopeless * trial->best + 0.1F) {
            return taken;
        }
        if (i > 0 && (best < 0 || taken < best)) {
            best = taken;
        }
        if (i > 0 && taken > long_ms) {
            break;
        }
    }
    trial->best = trial->best < 0 || best < trial->best ? best : trial->best;
    return best;
}

/* Whether the algorithm makes the numbers that it should. */
static bool is_right(const struct yk_product_means *means, const struct yk_product_shape *shape,
                     const struct yk_product_plan *plan, const cublasLtMatmulAlgo_t *algorithm,
                     float milliseconds, const struct yk_product_call *call)
{
    static const char *const words[] = {
        [YK_PRODUCT_RIGHT] = "right", [YK_PRODUCT_WRONG] = "wrong", [YK_PRODUCT_UNTOLD] = "untold"};
    if (!call->end) {
        return true;
    }
    call->begin(call);
    if (yk_product_put(means, plan, algorithm, call) != CUBLAS_STATUS_SUCCESS) {
        (void)cudaGetLastError();
        return false;
    }
    call->rest(call);
    const enum yk_product_word word = call->end(call);
    yk_product_tell(shape, algorithm, milliseconds, words[word]);
    if (word != YK_PRODUCT_UNTOLD) {
        yk_trust_note(means->trust, yk_product_algorithm_cluster(algorithm),
                      word == YK_PRODUCT_RIGHT);
    }
    return word == YK_PRODUCT_RIGHT ||
           (word == YK_PRODUCT_UNTOLD && yk_product_algorithm_is_plain(means, algorithm));
}

static int fastest(const float *taken, int count)
{
    int best = -1;
    for (int i = 0; i < count; i++) {
        if (taken[i] >= 0 && (best < 0 || taken[i] < taken[best])) {
            best = i;
        }
    }
    return best;
}

float yk_product_race(const struct yk_product_means *means, const struct yk_product_shape *shape,
                      const struct yk_product_plan *plan, const cublasLtMatmulAlgo_t *found,
                      int count, const struct yk_product_call *call, struct yk_product_choice *out)
{
    float taken[YK_PRODUCT_PROPOSALS];
    struct trial trial = {.call = call, .best = -1};
    if (cudaEventCreate(&trial.events[0]) != cudaSuccess) {
        return YK_PRODUCT_NONE_RUNS;
    }
    if (cudaEventCreate(&trial.events[1]) != cudaSuccess) {
        (void)cudaEventDestroy(trial.events[0]);
        return YK_PRODUCT_NONE_RUNS;
    }
    int tried = 0;
    int best = -1;
    bool ran = false;
    while (best < 0 && tried < count) {
        const int first = tried;
        while (tried < count &&
               (trial.best < 0 || trial.spent < trial_most_ms || tried < first + LEAST_TRIED)) {
            taken[tried] = time_one(means, plan, &found[tried], &trial);
            tried++;
        }
        best = fastest(taken, tried);
        ran = ran || best >= 0;
        while (best >= 0 && !is_right(means, shape, plan, &found[best], taken[best], call)) {
            taken[best] = -1;
            best = fastest(taken, tried);
        }
    }
    for (int i = 0; i < 2; i++) {
        (void)cudaEventDestroy(trial.events[i]);
    }
    if (best < 0) {
        return ran ? YK_PRODUCT_NONE_RIGHT : YK_PRODUCT_NONE_RUNS;
    }
    out->algorithm = found[best];
    out->exists = 1;
    return taken[best];
}
