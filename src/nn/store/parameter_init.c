/* Initialises parameters with random numbers that depend only on the seed and the parameter's name.
 */
#include "base/hash.h"
#include "base/random.h"
#include "nn/store/parameter_store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Box and Muller, 1958. */
static double draw_normal(struct yk_random *random)
{
    const double radius = sqrt(-2 * log(1 - yk_random_uniform(random)));
    return radius * cos(2 * M_PI * yk_random_uniform(random));
}

/* The size of the pool for repeated numbers. It is a prime, so that the rows of a matrix differ. */
enum {
    POOL = 1048573
};

/* Pools of random numbers with spread 1, drawn at first use. Each parameter starts at another place
 * of the pool. */
struct pools {
    uint64_t seed;
    float *normal;
    float *uniform;
    float *scaled; /* (POOL) for the current parameter */
};

static double draw_one(struct yk_random *random, enum yk_parameter_init init)
{
    switch (init) {
    case YK_PARAMETER_INIT_NORMAL:
        return draw_normal(random);
    case YK_PARAMETER_INIT_UNIFORM:
        return 2 * yk_random_uniform(random) - 1;
    default:
        return init == YK_PARAMETER_INIT_ONE ? 1 : 0;
    }
}

static bool is_random(const struct yk_parameter *parameter)
{
    return parameter->init == YK_PARAMETER_INIT_NORMAL ||
           parameter->init == YK_PARAMETER_INIT_UNIFORM;
}

static uint64_t name_hash(const struct yk_parameter *parameter)
{
    return yk_hash_bytes(parameter->name, strlen(parameter->name));
}

static yk_status init_exactly(const struct yk_parameter_store *store, int32_t layer,
                              const struct yk_parameter *parameter, uint64_t seed)
{
    struct yk_random random = yk_random_from_seed(seed ^ name_hash(parameter));
    const double scale = is_random(parameter) ? parameter->init_std : 1;
    float *numbers = calloc((size_t)parameter->count, sizeof *numbers);
    YK_TRY_ALLOCATED(numbers);
    for (int64_t i = 0; i < parameter->count; i++) {
        numbers[i] = (float)(scale * draw_one(&random, parameter->init));
    }
    const yk_status status = yk_parameter_store_write_values(store, layer, parameter, numbers);
    free(numbers);
    return status;
}

/* Draws a pool of numbers; NULL: out of memory. */
static float *draw_pool(uint64_t seed, enum yk_parameter_init init)
{
    struct yk_random random = yk_random_from_seed(seed ^ (uint64_t)init);
    float *pool = calloc(POOL, sizeof *pool);
    for (int64_t i = 0; pool && i < POOL; i++) {
        pool[i] = (float)draw_one(&random, init);
    }
    return pool;
}

static yk_status init_from_pool(const struct yk_parameter_store *store, int32_t layer,
                                const struct yk_parameter *parameter, struct pools *pools)
{
    float **pool = parameter->init == YK_PARAMETER_INIT_NORMAL ? &pools->normal : &pools->uniform;
    const int64_t given = parameter->count < POOL ? parameter->count : POOL;
    const int64_t from = (int64_t)(name_hash(parameter) % POOL);
    if (!*pool) {
        *pool = draw_pool(pools->seed, parameter->init);
    }
    YK_TRY_ALLOCATED(*pool);
    for (int64_t i = 0; i < given; i++) {
        pools->scaled[i] = (float)parameter->init_std * (*pool)[(from + i) % POOL];
    }
    return yk_parameter_store_write_repeated_values(store, layer, parameter, pools->scaled, given);
}

static yk_status init_one(const struct yk_parameter_store *store, int32_t layer,
                          const struct yk_parameter *parameter,
                          enum yk_parameter_store_init_kind which, struct pools *pools)
{
    if (which != YK_PARAMETER_STORE_INIT_REPEATED || parameter->adapter) {
        return init_exactly(store, layer, parameter, pools->seed);
    }
    if (is_random(parameter)) {
        return init_from_pool(store, layer, parameter, pools);
    }
    const float number = parameter->init == YK_PARAMETER_INIT_ONE ? 1 : 0;
    return yk_parameter_store_write_repeated_values(store, layer, parameter, &number, 1);
}

static yk_status init_all(const struct yk_parameter_store *store,
                          enum yk_parameter_store_init_kind which, struct pools *pools)
{
    for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(store->net, &at);) {
        const bool kept = store->layers[at.layer].partition.kind != YK_LAYER_PARTITION_ABSENT;
        const bool loaded = which == YK_PARAMETER_STORE_INIT_ADAPTERS && !at.parameter->adapter &&
                            !at.parameter->fresh;
        if (kept && !loaded) {
            YK_TRY(init_one(store, at.layer, at.parameter, which, pools));
        }
    }
    return YK_OK;
}

yk_status yk_parameter_store_init_parameters(struct yk_parameter_store *store, uint64_t seed,
                                             enum yk_parameter_store_init_kind which)
{
    struct pools pools = {.seed = seed, .scaled = calloc(POOL, sizeof(float))};
    const yk_status status =
        pools.scaled ? init_all(store, which, &pools) : yk_fail_out_of_memory();
    free(pools.normal);
    free(pools.uniform);
    free(pools.scaled);
    return status;
}
