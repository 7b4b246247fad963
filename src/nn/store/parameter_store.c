#include "nn/store/parameter_store.h"

#include "nn/bump_allocator.h"

/* ---- spans ---- */

/* Finds the kept span of each block of `count` elements. Returns the number of kept elements. */
static int64_t find_spans(const struct yk_layer_partition *partition, int64_t count,
                          struct yk_layer_partition_span *out)
{
    int64_t at = 0;
    for (int32_t b = 0; b < partition->blocks; b++) {
        const int64_t first =
            yk_layer_partition_fraction_to_element(count, partition->blocks, b, partition->from);
        const int64_t end =
            yk_layer_partition_fraction_to_element(count, partition->blocks, b, partition->to);
        out[b] = (struct yk_layer_partition_span){first, end - first, at};
        at += end - first;
    }
    return at;
}

static yk_status find_kept(const struct yk_parameter_store *store, int32_t number)
{
    const struct yk_net_layer *layer = &store->net->layers[number];
    struct yk_parameter_store_layer *kept = &store->layers[number];
    struct yk_layer_partition partition = kept->partition;
    if (partition.kind == YK_LAYER_PARTITION_ABSENT) {
        return YK_OK;
    }
    if (partition.kind == YK_LAYER_PARTITION_WHOLE) {
        partition = (struct yk_layer_partition){
            .kind = YK_LAYER_PARTITION_WHOLE, .blocks = 1, .from = 0, .to = 1};
    }
    YK_TRY_NEW(store->arena, kept->spans, partition.blocks);
    YK_TRY_NEW(store->arena, kept->frozen_spans, partition.blocks);
    kept->span_count = partition.blocks;
    kept->kept = find_spans(&partition, layer->trained, kept->spans);
    (void)find_spans(
        &partition, (int64_t)(layer->weight_bytes - yk_net_layer_trained_bytes(store->net, number)),
        kept->frozen_spans);
    return YK_OK;
}

/* ---- device memory ---- */

static int64_t frozen_kept(const struct yk_parameter_store_layer *kept)
{
    const struct yk_layer_partition_span *last = &kept->frozen_spans[kept->span_count - 1];
    return last->at + last->count;
}

static void carve_weights(const struct yk_parameter_store *store, int32_t number,
                          struct yk_bump_allocator *allocator)
{
    const struct yk_net_layer *layer = &store->net->layers[number];
    struct yk_parameter_store_layer *kept = &store->layers[number];
    if (layer->weight_bytes == 0 || kept->partition.kind == YK_LAYER_PARTITION_ABSENT) {
        return;
    }
    if (kept->partition.kind != YK_LAYER_PARTITION_FULLY_SHARDED) {
        kept->weights = yk_bump_allocate(allocator, (int64_t)layer->weight_bytes, 1);
        return;
    }
    const size_t width = (size_t)yk_precision_bytes(store->net->workload.precision);
    const size_t before = allocator->used;
    kept->part = yk_bump_allocate(allocator, kept->kept, width);
    kept->frozen_at = allocator->used - before;
    (void)yk_bump_allocate(allocator, frozen_kept(kept), 1);
}

static bool is_trained(const struct yk_parameter_store *store, int32_t layer)
{
    return store->optimizer != YK_OPTIMIZER_NONE && store->net->layers[layer].trained > 0 &&
           store->layers[layer].partition.kind != YK_LAYER_PARTITION_ABSENT;
}

static void carve_gradients(const struct yk_parameter_store *store, int32_t layer,
                            struct yk_bump_allocator *allocator)
{
    const size_t width = (size_t)yk_precision_bytes(store->net->workload.precision);
    struct yk_parameter_store_layer *kept = &store->layers[layer];
    if (kept->partition.kind == YK_LAYER_PARTITION_WHOLE) {
        kept->gradients = yk_bump_allocate(allocator, kept->kept, width);
    } else {
        kept->gradient_part = yk_bump_allocate(allocator, kept->kept, width);
    }
}

static void carve_state(const struct yk_parameter_store *store, int32_t layer,
                        struct yk_bump_allocator *allocator)
{
    struct yk_parameter_store_layer *kept = &store->layers[layer];
    kept->moment1 = yk_bump_allocate(allocator, kept->kept, sizeof(float));
    kept->moment2 = store->optimizer == YK_OPTIMIZER_ADAMW
                        ? yk_bump_allocate(allocator, kept->kept, sizeof(float))
                        : NULL;
    kept->master = yk_net_is_16_bit(store->net)
                       ? yk_bump_allocate(allocator, kept->kept, sizeof(float))
                       : NULL;
}

static void carve_all(struct yk_parameter_store *store, const int32_t *order,
                      struct yk_bump_allocator *allocator)
{
    for (int32_t l = 0; l < store->net->layer_count; l++) {
        carve_weights(store, l, allocator);
        if (is_trained(store, l)) {
            carve_state(store, l, allocator);
        }
    }
    for (int32_t i = 0; i < store->net->layer_count; i++) {
        const int32_t l = order ? order[i] : i;
        if (is_trained(store, l)) {
            carve_gradients(store, l, allocator);
        }
    }
}

static yk_status set_up(struct yk_parameter_store *store,
                        const struct yk_parameter_store_layout *layout)
{
    const int32_t *order = layout ? layout->order : NULL;
    struct yk_bump_allocator allocator = {0};
    YK_TRY_NEW(store->arena, store->layers, store->net->layer_count);
    for (int32_t l = 0; l < store->net->layer_count; l++) {
        store->layers[l].partition =
            layout && layout->partitions
                ? layout->partitions[l]
                : (struct yk_layer_partition){.kind = YK_LAYER_PARTITION_WHOLE};
        YK_TRY(find_kept(store, l));
    }
    carve_all(store, order, &allocator);
    store->bytes = allocator.used;
    YK_TRY(store->context.backend->allocate(store->context.device, store->bytes, &store->memory));
    allocator = (struct yk_bump_allocator){.base = store->memory};
    carve_all(store, order, &allocator);
    return YK_OK;
}

yk_status yk_parameter_store_create(const struct yk_net *net,
                                    const struct yk_device_context *context,
                                    enum yk_optimizer_kind optimizer,
                                    const struct yk_parameter_store_layout *layout,
                                    struct yk_parameter_store **out)
{
    struct yk_parameter_store *store = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(store);
    store->context = *context;
    store->net = net;
    store->optimizer = optimizer;
    YK_TRY_OR_CLEAN_UP(set_up(store, layout), yk_parameter_store_destroy(store));
    *out = store;
    return YK_OK;
}

void yk_parameter_store_destroy(struct yk_parameter_store *store)
{
    if (store) {
        if (store->memory) {
            store->context.backend->free(store->context.device, store->memory);
        }
        yk_arena_destroy(store->arena);
    }
}

bool yk_parameter_store_has_state_tensor(const struct yk_parameter_store *store, int32_t layer,
                                         enum yk_state_tensor which)
{
    const struct yk_parameter_store_layer *kept = &store->layers[layer];
    switch (which) {
    case YK_STATE_MOMENT1:
        return kept->moment1 != NULL;
    case YK_STATE_MOMENT2:
        return kept->moment2 != NULL;
    default:
        return kept->partition.kind != YK_LAYER_PARTITION_ABSENT;
    }
}
