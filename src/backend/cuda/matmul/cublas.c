#include "backend/cuda/matmul/cublas.h"

#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"
#include "base/hash.h"
#include "base/number.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ORIGIN_SIZE = 400,
    PLANS = 2048, /* hash table size; at half of it, all entries are discarded */
};

struct entry {
    struct yk_matmul_shape shape;
    struct yk_matmul_descriptors descriptors;
    struct yk_matmul_algorithm_choice choice;
    bool used;
};

struct yk_cublas {
    struct yk_backend_device *device;
    struct yk_cublas_context context;
    struct yk_block_cluster_checks checks;
    struct yk_matmul_cache *cache;
    pthread_mutex_t lock;
    struct entry *entry; /* hash table of (PLANS) entries, open addressing */
    int32_t entry_count;
};

/* ---- create and destroy ---- */

yk_status yk_cublas_create(struct yk_backend_device *device, const char *path,
                           struct yk_cublas **out)
{
    char origin[ORIGIN_SIZE];
    struct yk_cublas *cublas = calloc(1, sizeof *cublas);
    YK_TRY_ALLOCATED(cublas);
    /* The fastest algorithm depends on the number of SMs. */
    (void)snprintf(origin, sizeof origin,
                   "yoke products 8, %s, %d SMs and %d, cuBLASLt %zu, shapes of %zu bytes",
                   device->name, (int)device->properties.processors, (int)device->properties.spare,
                   cublasLtGetVersion(), sizeof(struct yk_matmul_shape));
    cublas->device = device;
    cublas->context.checks = &cublas->checks;
    cublas->context.workspace_bytes = YK_CUBLAS_WORKSPACE_BYTES;
    cublas->context.part_processors =
        device->properties.is_part ? device->properties.processors + device->properties.spare : 0;
    cublas->context.target_processors =
        device->properties.spare > 0 ? device->properties.processors : 0;
    (void)pthread_mutex_init(&cublas->lock, NULL);
    yk_status status = YK_OK;
    if (cublasLtCreate(&cublas->context.library) != CUBLAS_STATUS_SUCCESS) {
        status = yk_fail(YK_ERROR_SYSTEM, "GPU %d (%s): cuBLASLt cannot be started",
                         (int)device->number, device->name);
    }
    cublas->entry = calloc(PLANS, sizeof *cublas->entry);
    if (status == YK_OK && !cublas->entry) {
        status = yk_fail_out_of_memory();
    }
    YK_IF_OK(yk_matmul_cache_open(path, origin, &cublas->cache));
    YK_TRY_OR_CLEAN_UP(status, yk_cublas_destroy(cublas));
    *out = cublas;
    return YK_OK;
}

static void clear_entries(struct yk_cublas *cublas)
{
    for (int32_t i = 0; cublas->entry && i < PLANS; i++) {
        if (cublas->entry[i].used) {
            yk_matmul_shape_destroy_descriptors(&cublas->entry[i].descriptors);
            cublas->entry[i].used = false;
        }
    }
    cublas->entry_count = 0;
}

void yk_cublas_destroy(struct yk_cublas *cublas)
{
    if (cublas) {
        clear_entries(cublas);
        free(cublas->entry);
        yk_matmul_cache_close(cublas->cache);
        if (cublas->context.library) {
            (void)cublasLtDestroy(cublas->context.library);
        }
        (void)pthread_mutex_destroy(&cublas->lock);
        free(cublas);
    }
}

float yk_cublas_find_fastest_algorithm(struct yk_cublas *cublas,
                                       const struct yk_matmul_shape *shape,
                                       const struct yk_cublas_matmul_arguments *arguments,
                                       struct yk_matmul_algorithm_choice *out)
{
    cublasLtMatmulAlgo_t found[YK_MATMUL_MAX_ALGORITHMS];
    struct yk_matmul_descriptors descriptors;
    *out = (struct yk_matmul_algorithm_choice){0};
    if (yk_matmul_shape_create_descriptors(shape, cublas->context.target_processors,
                                           &descriptors) != CUBLAS_STATUS_SUCCESS) {
        return YK_CUBLAS_NO_ALGORITHM_RUNS;
    }
    int count =
        yk_matmul_algorithm_set_epilogue_pointers(&descriptors, arguments) == CUBLAS_STATUS_SUCCESS
            ? yk_matmul_algorithm_list_candidates(&cublas->context, &descriptors, found)
            : 0;
    float best = yk_matmul_benchmark_algorithms(&cublas->context, &descriptors, found, count,
                                                arguments, out);
    if (best == YK_CUBLAS_NO_ALGORITHM_CORRECT) {
        count = yk_matmul_algorithm_list_fallbacks(&cublas->context, &descriptors, found);
        best = yk_matmul_benchmark_algorithms(&cublas->context, &descriptors, found, count,
                                              arguments, out);
        best = best == YK_CUBLAS_NO_ALGORITHM_RUNS ? YK_CUBLAS_NO_ALGORITHM_CORRECT : best;
    }
    yk_matmul_shape_destroy_descriptors(&descriptors);
    return best;
}

/* ---- entries ---- */

/* Rounds up, so that similar lengths share an algorithm: eight steps between powers of two. */
static int64_t round_length(int64_t length)
{
    int64_t step = 1;
    while (length / step > 16) {
        step *= 2;
    }
    return yk_number_round_up(length, step);
}

static struct yk_matmul_shape round_shape(const struct yk_matmul_shape *shape)
{
    struct yk_matmul_shape rounded = *shape;
    rounded.m = round_length(shape->m);
    rounded.k = round_length(shape->k);
    /* Only the alignment of a stride matters. */
    rounded.a_stride = shape->a_stride % 8;
    rounded.b_stride = shape->b_stride % 8;
    rounded.c_stride = shape->c_stride % 8;
    rounded.add_stride = shape->add_stride > 0 ? 1 + shape->add_stride % 8 : 0;
    rounded.aux_stride = shape->aux_stride > 0 ? 1 + shape->aux_stride % 8 : 0;
    return rounded;
}

static struct entry *find_entry(struct yk_cublas *cublas, const struct yk_matmul_shape *shape)
{
    size_t at = (size_t)yk_hash_bytes(shape, sizeof *shape) % PLANS;
    while (cublas->entry[at].used && memcmp(&cublas->entry[at].shape, shape, sizeof *shape) != 0) {
        at = (at + 1) % PLANS;
    }
    return &cublas->entry[at];
}

static const struct yk_matmul_algorithm_choice *choose(struct yk_cublas *cublas,
                                                       const struct yk_matmul_shape *shape,
                                                       yk_cublas_autotune_callback *chooser,
                                                       void *user)
{
    const struct yk_matmul_shape rounded = round_shape(shape);
    const struct yk_matmul_algorithm_choice *choice = yk_matmul_cache_find(cublas->cache, &rounded);
    if (!choice) {
        struct yk_matmul_algorithm_choice made = {0};
        if (!chooser(cublas, shape, user, &made) ||
            yk_matmul_cache_add(cublas->cache, &rounded, &made) != YK_OK) {
            return NULL;
        }
        choice = yk_matmul_cache_find(cublas->cache, &rounded);
    }
    return choice;
}

static struct entry *find_or_add(struct yk_cublas *cublas, const struct yk_matmul_shape *shape,
                                 yk_cublas_autotune_callback *chooser, void *user)
{
    struct entry *entry = find_entry(cublas, shape);
    if (entry->used) {
        return entry;
    }
    const struct yk_matmul_algorithm_choice *choice = choose(cublas, shape, chooser, user);
    if (!choice) {
        return NULL;
    }
    if (cublas->entry_count >= PLANS / 2) {
        clear_entries(cublas);
        entry = find_entry(cublas, shape);
    }
    struct yk_matmul_shape made = *shape;
    yk_matmul_shape_remove_unfused_parts(&made, (enum yk_matmul_fusion)choice->variant);
    if (yk_matmul_shape_create_descriptors(&made, cublas->context.target_processors,
                                           &entry->descriptors) != CUBLAS_STATUS_SUCCESS) {
        return NULL;
    }
    entry->shape = *shape;
    entry->choice = *choice;
    entry->used = true;
    cublas->entry_count++;
    return entry;
}

/* Runs the first usable proposal. Needed when the cached algorithm, found with similar lengths,
 * does not support these lengths, or when there was no benchmark. Under MPS only algorithms that
 * are known to be correct are used. */
static bool run_proposed(struct yk_cublas *cublas, struct entry *entry,
                         const struct yk_cublas_matmul_arguments *arguments)
{
    cublasLtMatmulAlgo_t found[YK_MATMUL_MAX_ALGORITHMS];
    const int count =
        yk_matmul_algorithm_list_candidates(&cublas->context, &entry->descriptors, found);
    for (int i = 0; i < count; i++) {
        const bool trusted = cublas->context.part_processors == 0 ||
                             yk_matmul_algorithm_needs_no_check(&cublas->context, &found[i]);
        if (trusted &&
            yk_matmul_algorithm_enqueue_matmul(&cublas->context, &entry->descriptors, &found[i],
                                               arguments) == CUBLAS_STATUS_SUCCESS) {
            entry->choice.algorithm = found[i];
            entry->choice.exists = 1;
            return true;
        }
    }
    return false;
}

struct yk_cublas_matmul_arguments
yk_cublas_arguments_used_by_shape(const struct yk_cublas_matmul_arguments *arguments,
                                  const struct yk_matmul_shape *reduced)
{
    struct yk_cublas_matmul_arguments used = *arguments;
    used.add = reduced->add_stride > 0 ? arguments->add : NULL;
    used.bias = reduced->has_bias ? arguments->bias : NULL;
    used.aux = reduced->aux_stride > 0 ? arguments->aux : NULL;
    used.sums = reduced->sums_of != YK_MATMUL_ROW_SUM_NONE ? arguments->sums : NULL;
    return used;
}

bool yk_cublas_enqueue_matmul(struct yk_cublas *cublas, const struct yk_matmul_shape *shape,
                              const struct yk_cublas_matmul_arguments *arguments,
                              yk_cublas_autotune_callback *chooser, void *user,
                              enum yk_matmul_fusion *out)
{
    (void)pthread_mutex_lock(&cublas->lock);
    struct entry *entry = find_or_add(cublas, shape, chooser, user);
    bool done = false;
    if (entry) {
        const struct yk_cublas_matmul_arguments used =
            yk_cublas_arguments_used_by_shape(arguments, &entry->descriptors.shape);
        *out = (enum yk_matmul_fusion)entry->choice.variant;
        done = yk_matmul_algorithm_set_epilogue_pointers(&entry->descriptors, &used) ==
                   CUBLAS_STATUS_SUCCESS &&
               ((entry->choice.exists &&
                 yk_matmul_algorithm_enqueue_matmul(&cublas->context, &entry->descriptors,
                                                    &entry->choice.algorithm,
                                                    &used) == CUBLAS_STATUS_SUCCESS) ||
                run_proposed(cublas, entry, &used));
    }
    (void)pthread_mutex_unlock(&cublas->lock);
    return done;
}
