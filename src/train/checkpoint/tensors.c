#include "train/checkpoint/folder.h"

#include "base/number.h"
#include "nn/store/parameter_store.h"
#include "nn/weights/weights_tensor.h"
#include "tensors/safetensors_writer.h"
#include "tensors/tensor_set.h"

#include <inttypes.h>
#include <stdlib.h>

enum kind {
    MASTER,
    MOMENT1,
    MOMENT2,
    KINDS,
};

static const char *const prefixes[KINDS] = {"master.", "moment1.", "moment2."};
static const enum yk_state_tensor state_of[KINDS] = {YK_STATE_WEIGHTS, YK_STATE_MOMENT1,
                                                     YK_STATE_MOMENT2};

enum {
    CHUNK_BYTES = 1 << 22
};

/* What is done with each parameter. `name` is the name of its tensor. */
struct visit {
    const struct yk_parameter_store *store;
    struct yk_safetensors_writer *writer;
    bool declares; /* tensors are declared; else their bytes are written */
    const struct yk_tensor_set *set;
    float *scratch;
    yk_status (*state)(const struct visit *visit, int32_t layer,
                       const struct yk_parameter *parameter, enum kind kind, const char *name);
    yk_status (*frozen)(const struct visit *visit, int32_t layer,
                        const struct yk_parameter *parameter);
};

static yk_status visit_state(const struct visit *visit, int32_t layer,
                             const struct yk_parameter *parameter)
{
    struct yk_text name = {0};
    yk_status status = YK_OK;
    for (int kind = 0; status == YK_OK && kind < KINDS; kind++) {
        name.length = 0;
        yk_text_addf(&name, "%s%s", prefixes[kind], parameter->name);
        status = yk_text_status(&name);
        YK_IF_OK(visit->state(visit, layer, parameter, (enum kind)kind, name.bytes));
    }
    yk_text_free(&name);
    return status;
}

static yk_status visit_all(const struct visit *visit)
{
    const struct yk_net *net = visit->store->net;
    for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);) {
        if (visit->store->layers[at.layer].partition.kind == YK_LAYER_PARTITION_ABSENT) {
            continue;
        }
        if (visit->state && at.parameter->trained) {
            YK_TRY(visit_state(visit, at.layer, at.parameter));
        }
        if (visit->frozen && at.parameter->format == YK_PARAMETER_NF4) {
            YK_TRY(visit->frozen(visit, at.layer, at.parameter));
        }
    }
    return YK_OK;
}

static yk_status save_state(const struct visit *visit, int32_t layer,
                            const struct yk_parameter *parameter, enum kind kind, const char *name)
{
    const struct yk_parameter_store_layer *kept = &visit->store->layers[layer];
    const float *const arrays[KINDS] = {kept->master, kept->moment1, kept->moment2};
    const float *numbers = arrays[kind];
    if (!numbers) {
        return YK_OK;
    }
    return visit->declares
               ? yk_safetensors_writer_declare_tensor(visit->writer, name, YK_TENSOR_F32,
                                                      parameter->rank, parameter->shape)
               : yk_weights_append_device_tensor(visit->writer, &visit->store->context,
                                                 numbers + parameter->first,
                                                 (uint64_t)parameter->count * sizeof *numbers);
}

/* Reads a range of a parameter's state into the store. Ranges of frozen parameters are bytes. */
static yk_status read_range(const struct visit *visit, int32_t layer,
                            const struct yk_parameter *parameter, enum kind kind,
                            const struct yk_tensor_location *place, struct yk_parameter_range range)
{
    const int64_t max = parameter->trained ? range.count : CHUNK_BYTES;
    for (int64_t done = 0; done < range.count; done += max) {
        const struct yk_parameter_range part = {range.first + done,
                                                yk_number_min(range.count - done, max)};
        YK_TRY(parameter->trained
                   ? yk_weights_read_tensor_range(place, part.first, part.count, visit->scratch)
                   : yk_safetensors_read_tensor_range(place->file, place->entry,
                                                      (uint64_t)part.first, (uint64_t)part.count,
                                                      visit->scratch));
        YK_TRY(yk_parameter_store_write_range(visit->store, layer, parameter, state_of[kind], part,
                                              visit->scratch));
    }
    return YK_OK;
}

/* Reads the part of a parameter that the store keeps. Weights are whole unless the layer is fully
 * sharded. `count` is the number of its elements. */
static yk_status read_kept(const struct visit *visit, int32_t layer,
                           const struct yk_parameter *parameter, enum kind kind,
                           const struct yk_tensor_location *place, int64_t count)
{
    const struct yk_layer_partition *partition = &visit->store->layers[layer].partition;
    struct yk_parameter_range range = {0, count};
    if (kind == MASTER && partition->kind != YK_LAYER_PARTITION_FULLY_SHARDED) {
        return read_range(visit, layer, parameter, kind, place, range);
    }
    for (int32_t b = 0; yk_layer_partition_next_kept_range(partition, visit->store->net, layer,
                                                           parameter, &b, &range);) {
        YK_TRY(read_range(visit, layer, parameter, kind, place, range));
    }
    return YK_OK;
}

/* A checkpoint of 16-bit training has master weights. They are loaded even if the store keeps no
 * master copy, because they are more precise than the weights. */
static yk_status read_state(const struct visit *visit, int32_t layer,
                            const struct yk_parameter *parameter, enum kind kind, const char *name)
{
    const struct yk_tensor_location *place = yk_tensor_set_find_tensor(visit->set, name);
    if (!yk_parameter_store_has_state_tensor(visit->store, layer, state_of[kind]) ||
        (!place && kind == MASTER)) {
        return YK_OK;
    }
    if (!place) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s has no \"%s\"; it was trained with another optimizer, or other "
                       "parameters were",
                       visit->set->path, name);
    }
    YK_TRY(yk_weights_check_tensor_shape(place, parameter));
    return read_kept(visit, layer, parameter, kind, place, parameter->count);
}

static yk_status save_frozen(const struct visit *visit, int32_t layer,
                             const struct yk_parameter *parameter)
{
    const int64_t bytes = (int64_t)yk_net_parameter_bytes(visit->store->net, parameter);
    return visit->declares
               ? yk_safetensors_writer_declare_tensor(visit->writer, parameter->name, YK_TENSOR_U8,
                                                      1, &bytes)
               : yk_weights_append_device_tensor(
                     visit->writer, &visit->store->context,
                     visit->store->layers[layer].weights + parameter->offset, (uint64_t)bytes);
}

static yk_status read_frozen(const struct visit *visit, int32_t layer,
                             const struct yk_parameter *parameter)
{
    const struct yk_tensor_location *place = NULL;
    const uint64_t bytes = yk_net_parameter_bytes(visit->store->net, parameter);
    YK_TRY(yk_tensor_set_find_tensor_or_fail(visit->set, parameter->name, &place));
    if (place->entry->type != YK_TENSOR_U8 || place->entry->bytes != bytes) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: \"%s\" has %" PRIu64 " bytes, but in NF4 the model's has %" PRIu64,
                       visit->set->path, parameter->name, place->entry->bytes, bytes);
    }
    return read_kept(visit, layer, parameter, MASTER, place, (int64_t)bytes);
}

static yk_status walk_tensors(const void *user, struct yk_safetensors_writer *writer, bool declares)
{
    struct visit visit = *(const struct visit *)user;
    visit.writer = writer;
    visit.declares = declares;
    return visit_all(&visit);
}

/* Frees the scratch memory of `read`. */
static yk_status load(struct visit read, const char *path)
{
    struct yk_tensor_set *set = NULL;
    yk_status status = yk_tensor_set_open(path, &set);
    read.set = set;
    YK_IF_OK(visit_all(&read));
    yk_tensor_set_close(set);
    free(read.scratch);
    return status;
}

yk_status yk_checkpoint_save_optimizer_tensors(const struct yk_parameter_store *store,
                                               const char *path)
{
    const struct visit visit = {.store = store, .state = save_state};
    return yk_weights_write_tensor_file(path, walk_tensors, &visit, NULL);
}

yk_status yk_checkpoint_load_optimizer_tensors(struct yk_parameter_store *store, const char *path)
{
    float *scratch = NULL;
    YK_TRY(yk_weights_allocate_largest_tensor(store->net, &scratch));
    return load((struct visit){.store = store, .scratch = scratch, .state = read_state}, path);
}

yk_status yk_checkpoint_save_frozen_nf4_tensors(const struct yk_parameter_store *store,
                                                const char *path)
{
    const struct visit visit = {.store = store, .frozen = save_frozen};
    return yk_weights_write_tensor_file(path, walk_tensors, &visit, NULL);
}

yk_status yk_checkpoint_load_frozen_nf4_tensors(struct yk_parameter_store *store, const char *path)
{
    float *scratch = malloc(CHUNK_BYTES);
    YK_TRY_ALLOCATED(scratch);
    return load((struct visit){.store = store, .scratch = scratch, .frozen = read_frozen}, path);
}
