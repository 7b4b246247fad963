/* How parameters start: from numbers that depend on the seed and a parameter's name alone. */
#include "base/hash.h"
#include "base/random.h"
#include "nn/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Box and Muller, 1958. */
static double draw_normal(struct yk_random *random)
{
    const double radius = sqrt(-2 * log(1 - yk_random_unit(random)));
    return radius * cos(2 * M_PI * yk_random_unit(random));
}

/* Of a parameter, as many numbers as are drawn when it need not be exact; they come again and
 * again. */
enum {
    ROUGHLY = 1 << 20
};

enum how {
    ALL,
    ALL_ROUGHLY,
    ADAPTERS,
};

static void draw(const struct yk_parameter *parameter, uint64_t seed, int64_t most, float *out)
{
    const uint64_t name = yk_hash_bytes(parameter->name, strlen(parameter->name));
    struct yk_random random = yk_random_from_seed(seed ^ name);
    const int64_t count = parameter->count < most ? parameter->count : most;
    for (int64_t i = 0; i < count; i++) {
        switch (parameter->start) {
        case YK_START_NORMAL:
            out[i] = (float)(parameter->spread * draw_normal(&random));
            break;
        case YK_START_UNIFORM:
            out[i] = (float)(parameter->spread * (2 * yk_random_unit(&random) - 1));
            break;
        default:
            out[i] = parameter->start == YK_START_ONE ? 1 : 0;
            break;
        }
    }
    for (int64_t i = count; i < parameter->count; i += count) {
        const int64_t left = parameter->count - i;
        memcpy(out + i, out, (size_t)(left < count ? left : count) * sizeof *out);
    }
}

static yk_status start_one(struct yk_store *store, int32_t layer,
                           const struct yk_parameter *parameter, uint64_t seed, int64_t most)
{
    float *numbers = calloc((size_t)parameter->count, sizeof *numbers);
    if (!numbers) {
        return yk_fail_out_of_memory();
    }
    draw(parameter, seed, most, numbers);
    const yk_status status = yk_store_write(store, layer, parameter, numbers);
    free(numbers);
    return status;
}

static yk_status start(struct yk_store *store, uint64_t seed, enum how how)
{
    const int64_t most = how == ALL_ROUGHLY ? ROUGHLY : INT64_MAX;
    for (int32_t l = 0; l < store->net->layer_count; l++) {
        const struct yk_net_layer *layer = &store->net->layers[l];
        const bool kept = store->layers[l].holding.keep != YK_KEEP_NOTHING;
        for (int32_t i = 0; kept && i < layer->parameter_count; i++) {
            if (how != ADAPTERS || layer->parameters[i].adapter) {
                YK_TRY(start_one(store, l, &layer->parameters[i], seed, most));
            }
        }
    }
    return YK_OK;
}

yk_status yk_store_start(struct yk_store *store, uint64_t seed)
{
    return start(store, seed, ALL);
}

yk_status yk_store_start_roughly(struct yk_store *store, uint64_t seed)
{
    return start(store, seed, ALL_ROUGHLY);
}

yk_status yk_store_start_adapters(struct yk_store *store, uint64_t seed)
{
    return start(store, seed, ADAPTERS);
}
