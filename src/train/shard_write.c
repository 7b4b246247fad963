#include "train/shard_write.h"

#include "base/text.h"
#include "nn/store_range.h"
#include "train/shard.h"

#include <stdlib.h>

enum {
    ROOM_BYTES = 1 << 22 /* copied from the device at a time */
};

/* What a walk does with each piece. */
struct walk {
    const struct yk_store *store;
    const struct yk_holding *saves; /* (L) */
    struct yk_tensor_writer *writer;
    char *room;           /* (ROOM_BYTES) */
    struct yk_text *name; /* of one piece after the other */
    yk_status (*visit)(const struct walk *walk, int32_t layer, const struct yk_parameter *parameter,
                       enum yk_shard_kind kind, struct yk_range range);
};

static yk_status declare(const struct walk *walk, int32_t layer,
                         const struct yk_parameter *parameter, enum yk_shard_kind kind,
                         struct yk_range range)
{
    (void)layer;
    walk->name->length = 0;
    yk_shard_add_piece_name(walk->name, kind, parameter->name, range.first);
    YK_TRY(yk_text_status(walk->name));
    return yk_tensor_writer_declare(walk->writer, walk->name->bytes,
                                    yk_shard_is_frozen(kind) ? YK_TENSOR_U8 : YK_TENSOR_F32, 1,
                                    &range.count);
}

static yk_status read_piece(const struct walk *walk, int32_t layer,
                            const struct yk_parameter *parameter, enum yk_shard_kind kind,
                            struct yk_range range)
{
    static const enum yk_numbers numbers[] = {
        [YK_SHARD_WEIGHTS] = YK_NUMBERS_WEIGHTS,
        [YK_SHARD_MOMENT1] = YK_NUMBERS_MOMENT1,
        [YK_SHARD_MOMENT2] = YK_NUMBERS_MOMENT2,
    };
    if (yk_shard_is_frozen(kind)) {
        return yk_store_read_frozen(walk->store, layer, parameter, range, walk->room);
    }
    return yk_store_read_range(walk->store, layer, parameter, numbers[kind], range,
                               (float *)(void *)walk->room);
}

static yk_status add(const struct walk *walk, int32_t layer, const struct yk_parameter *parameter,
                     enum yk_shard_kind kind, struct yk_range range)
{
    const int64_t width = yk_shard_width(kind);
    const int64_t most = ROOM_BYTES / width;
    for (int64_t done = 0; done < range.count; done += most) {
        const int64_t count = range.count - done < most ? range.count - done : most;
        const struct yk_range piece = {range.first + done, count};
        YK_TRY(read_piece(walk, layer, parameter, kind, piece));
        YK_TRY(yk_tensor_writer_add(walk->writer, walk->room, (size_t)(count * width)));
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
           (kind == YK_SHARD_MOMENT1 && yk_store_has(walk->store, layer, YK_NUMBERS_MOMENT1)) ||
           (kind == YK_SHARD_MOMENT2 && yk_store_has(walk->store, layer, YK_NUMBERS_MOMENT2));
}

static yk_status walk_parameter(const struct walk *walk, int32_t layer,
                                const struct yk_parameter *parameter, enum yk_shard_kind kind)
{
    const struct yk_holding *saved = &walk->saves[layer];
    struct yk_range range;
    for (int32_t b = 0; b < yk_holding_blocks(saved); b++) {
        if (yk_holding_range(saved, b, walk->store->net, layer, parameter, &range)) {
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

static yk_status write_all(struct walk *walk, bool frozen, struct yk_tensor_written *out)
{
    walk->visit = declare;
    YK_TRY(walk_all(walk, frozen));
    YK_TRY(yk_tensor_writer_begin(walk->writer));
    walk->visit = add;
    YK_TRY(walk_all(walk, frozen));
    return yk_tensor_writer_finish(walk->writer, out);
}

yk_status yk_shard_write(const struct yk_store *store, const struct yk_holding *saves, bool frozen,
                         const char *path, struct yk_tensor_written *out)
{
    struct yk_text name = {0};
    struct walk walk = {.store = store, .saves = saves, .name = &name};
    walk.room = malloc(ROOM_BYTES);
    if (!walk.room) {
        return yk_fail_out_of_memory();
    }
    yk_status status = yk_tensor_writer_create(path, &walk.writer);
    if (status == YK_OK) {
        status = write_all(&walk, frozen, out);
    }
    yk_tensor_writer_destroy(walk.writer);
    yk_text_free(&name);
    free(walk.room);
    return status;
}
