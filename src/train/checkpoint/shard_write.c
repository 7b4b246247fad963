#include "train/checkpoint/shard_write.h"

#include "base/text.h"
#include "nn/store/range.h"
#include "train/checkpoint/shard.h"

#include <stdlib.h>

enum {
    ROOM_BYTES = 1 << 22 /* copied from the device at a time */
};

/* What a walk does with each piece. */
struct walk {
    const struct yk_store *store;
    const struct yk_partition *saves; /* (L) */
    struct yk_safetensors_writer *writer;
    char *room;           /* (ROOM_BYTES) */
    struct yk_text *name; /* of one piece after the other */
    yk_status (*visit)(const struct walk *walk, int32_t layer, const struct yk_parameter *parameter,
                       enum yk_shard_kind kind, struct yk_parameter_range range);
};

static yk_status declare(const struct walk *walk, int32_t layer,
                         const struct yk_parameter *parameter, enum yk_shard_kind kind,
                         struct yk_parameter_range range)
{
    (void)layer;
    walk->name->length = 0;
    yk_shard_add_slice_name(walk->name, kind, parameter->name, range.first);
    YK_TRY(yk_text_status(walk->name));
    return yk_safetensors_writer_declare(walk->writer, walk->name->bytes,
                                         yk_shard_is_frozen(kind) ? YK_TENSOR_U8 : YK_TENSOR_F32, 1,
                                         &range.count);
}

static yk_status read_slice(const struct walk *walk, int32_t layer,
                            const struct yk_parameter *parameter, enum yk_shard_kind kind,
                            struct yk_parameter_range range)
{
    static const enum yk_state_tensor numbers[] = {
        [YK_SHARD_WEIGHTS] = YK_STATE_WEIGHTS,
        [YK_SHARD_MOMENT1] = YK_STATE_MOMENT1,
        [YK_SHARD_MOMENT2] = YK_STATE_MOMENT2,
    };
    if (yk_shard_is_frozen(kind)) {
        return yk_store_read_frozen_range(walk->store, layer, parameter, range, walk->room);
    }
    return yk_store_read_range(walk->store, layer, parameter, numbers[kind], range,
                               (float *)(void *)walk->room);
}

static yk_status add(const struct walk *walk, int32_t layer, const struct yk_parameter *parameter,
                     enum yk_shard_kind kind, struct yk_parameter_range range)
{
    const int64_t width = yk_shard_element_bytes(kind);
    const int64_t most = ROOM_BYTES / width;
    for (int64_t done = 0; done < range.count; done += most) {
        const int64_t count = range.count - done < most ? range.count - done : most;
        const struct yk_parameter_range slice = {range.first + done, count};
        YK_TRY(read_slice(walk, layer, parameter, kind, slice));
        YK_TRY(yk_safetensors_writer_add(walk->writer, walk->room, (size_t)(count * width)));
    }
    return YK_OK;
}

static bool has_kind(const struct walk *walk, int32_t layer, const struct yk_parameter *parameter,
                     enum yk_shard_kind kind)
{
    if (!parameter->trained) {
        return kind == yk_shard_kind_of(walk->store->net, parameter);
    }
    return kind == YK_SHARD_WEIGHTS ||
           (kind == YK_SHARD_MOMENT1 && yk_store_has_state(walk->store, layer, YK_STATE_MOMENT1)) ||
           (kind == YK_SHARD_MOMENT2 && yk_store_has_state(walk->store, layer, YK_STATE_MOMENT2));
}

static yk_status walk_parameter(const struct walk *walk, int32_t layer,
                                const struct yk_parameter *parameter, enum yk_shard_kind kind)
{
    const struct yk_partition *saved = &walk->saves[layer];
    struct yk_parameter_range range;
    for (int32_t b = 0; b < yk_partition_range_count(saved); b++) {
        if (yk_partition_range(saved, b, walk->store->net, layer, parameter, &range)) {
            YK_TRY(walk->visit(walk, layer, parameter, kind, range));
        }
    }
    return YK_OK;
}

/* By kind, so that numbers of four bytes come before single bytes. */
static yk_status walk_all(const struct walk *walk, bool frozen)
{
    const struct yk_net *net = walk->store->net;
    for (int kind = 0; kind < YK_SHARD_KINDS; kind++) {
        for (int32_t l = 0; l < net->layer_count; l++) {
            for (int32_t i = 0; i < net->layers[l].parameter_count; i++) {
                const struct yk_parameter *parameter = &net->layers[l].parameters[i];
                if ((parameter->trained || frozen) &&
                    has_kind(walk, l, parameter, (enum yk_shard_kind)kind)) {
                    YK_TRY(walk_parameter(walk, l, parameter, (enum yk_shard_kind)kind));
                }
            }
        }
    }
    return YK_OK;
}

static yk_status write_all(struct walk *walk, bool frozen, struct yk_safetensors_written *out)
{
    walk->visit = declare;
    YK_TRY(walk_all(walk, frozen));
    YK_TRY(yk_safetensors_writer_begin(walk->writer));
    walk->visit = add;
    YK_TRY(walk_all(walk, frozen));
    return yk_safetensors_writer_finish(walk->writer, out);
}

yk_status yk_shard_write(const struct yk_store *store, const struct yk_partition *saves,
                         bool frozen, const char *path, struct yk_safetensors_written *out)
{
    struct yk_text name = {0};
    struct walk walk = {.store = store, .saves = saves, .name = &name};
    walk.room = malloc(ROOM_BYTES);
    if (!walk.room) {
        return yk_fail_out_of_memory();
    }
    yk_status status = yk_safetensors_writer_create(path, &walk.writer);
    if (status == YK_OK) {
        status = write_all(&walk, frozen, out);
    }
    yk_safetensors_writer_destroy(walk.writer);
    yk_text_free(&name);
    free(walk.room);
    return status;
}
