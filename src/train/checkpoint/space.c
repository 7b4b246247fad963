#include "train/checkpoint/space.h"

#include "base/units.h"
#include "nn/store/range.h"
#include "nn/weights/tensor.h"
#include "train/checkpoint/folder.h"

#include <inttypes.h>
#include <sys/statvfs.h>

enum {
    NUMBER_BYTES = 4 /* of optimizer state and of trained weights in shards */
};

/* Moments that the optimizer keeps of a trained number; a rank may keep those of some layers. */
static uint64_t moments_of(const struct yk_store *store)
{
    bool first = false;
    bool second = false;
    for (int32_t l = 0; l < store->net->layer_count; l++) {
        first = first || yk_store_has_state(store, l, YK_STATE_MOMENT1);
        second = second || yk_store_has_state(store, l, YK_STATE_MOMENT2);
    }
    return (uint64_t)first + (uint64_t)second;
}

static uint64_t bytes_of(const struct yk_checkpoint_content *content,
                         const struct yk_parameter *parameter, uint64_t moments)
{
    const struct yk_net *net = content->store->net;
    const bool sharded = content->ranks && content->ranks->size > 1;
    const bool elsewhere = net->workload.lora_rank > 0 && content->base_model;
    const uint64_t count = (uint64_t)parameter->count;
    const int64_t width = yk_precision_bytes(yk_weights_tensor_precision(net, parameter));
    uint64_t bytes = parameter->trained ? count * NUMBER_BYTES * moments : 0;
    if (sharded && parameter->trained) {
        return bytes + count * NUMBER_BYTES;
    }
    if (!parameter->adapter && elsewhere) {
        return bytes;
    }
    if (sharded) {
        return bytes + yk_net_parameter_bytes(net, parameter);
    }
    /* A master copy beside weights of 16 bits; codes of NF4 beside what they stand for. */
    bytes += parameter->trained && moments > 0 && width < NUMBER_BYTES ? count * NUMBER_BYTES : 0;
    bytes += parameter->format == YK_PARAMETER_NF4 ? yk_net_parameter_bytes(net, parameter) : 0;
    return bytes + count * (uint64_t)width;
}

uint64_t yk_checkpoint_save_bytes(const struct yk_checkpoint_content *content)
{
    const struct yk_net *net = content->store->net;
    const uint64_t moments = moments_of(content->store);
    uint64_t bytes = 0;
    for (int32_t l = 0; l < net->layer_count; l++) {
        for (int32_t i = 0; i < net->layers[l].parameter_count; i++) {
            bytes += bytes_of(content, &net->layers[l].parameters[i], moments);
        }
    }
    return bytes;
}

static yk_status count_saved(const char *folder, int32_t *out)
{
    struct yk_arena *arena = NULL;
    struct yk_text path = {0};
    struct yk_checkpoint_folder_list list = {0};
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_checkpoint_folder_join(folder, "checkpoints", &path);
    if (status == YK_OK) {
        status = yk_checkpoint_folder_list(path.bytes, arena, &list);
    }
    *out = list.count;
    yk_text_free(&path);
    yk_arena_destroy(arena);
    return status;
}

static yk_status fail_no_space(const char *folder, int64_t more, double each, double free)
{
    char one[YK_UNITS_SIZE];
    char all[YK_UNITS_SIZE];
    char left[YK_UNITS_SIZE];
    yk_units_format(each, YK_UNIT_BYTES, one);
    yk_units_format(each * (double)more, YK_UNIT_BYTES, all);
    yk_units_format(free, YK_UNIT_BYTES, left);
    return yk_fail(
        YK_ERROR_SYSTEM,
        "%s: %" PRId64 " checkpoint%s of %s, of which one is being written, need%s %s, "
        "and %s are free there; make room, keep fewer (--keep) or save elsewhere (--out)",
        folder, more, more == 1 ? "" : "s", one, more == 1 ? "s" : "", all, left);
}

yk_status yk_checkpoint_check_save_space(const char *folder,
                                         const struct yk_checkpoint_content *content, int64_t saves,
                                         int32_t keep)
{
    struct statvfs system;
    int32_t saved = 0;
    YK_TRY(count_saved(folder, &saved));
    /* One is written before an older one goes. */
    const int64_t more = keep > 0 ? (keep > saved ? keep - saved : 0) + 1 : saves;
    const int64_t most = more < saves ? more : saves;
    if (statvfs(folder, &system) != 0 || system.f_blocks == 0) {
        return YK_OK;
    }
    const double free = (double)system.f_bavail * (double)system.f_frsize;
    const double each = (double)yk_checkpoint_save_bytes(content);
    return (double)most * each <= free ? YK_OK : fail_no_space(folder, most, each, free);
}
