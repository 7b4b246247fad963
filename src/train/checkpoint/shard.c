#include "train/checkpoint/shard.h"

#include "backend/ops.h"
#include "base/number.h"
#include "nn/store/parameter_store.h"
#include "nn/weights/weights_tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[YK_SHARD_TENSOR_KIND_COUNT] = {
    "weights", "moment1", "moment2", "fp32", "bf16", "fp16", "nf4"};

/* Positions of the numbers in the name. */
enum {
    FILE_RANK = sizeof "shard-" - 1,
    FILE_DIGITS = 5,
    FILE_RANKS = sizeof "shard-00000-of-" - 1,
};

void yk_shard_format_file_name(int32_t rank, int32_t ranks, char out[YK_SHARD_FILE_NAME_SIZE])
{
    (void)snprintf(out, YK_SHARD_FILE_NAME_SIZE, "shard-%05" PRId32 "-of-%05" PRId32 ".safetensors",
                   rank + 1, ranks);
}

bool yk_shard_parse_file_name(const char *name, int32_t *rank, int32_t *ranks)
{
    char again[YK_SHARD_FILE_NAME_SIZE];
    int64_t number = 0;
    int64_t all = 0;
    if (strlen(name) < FILE_RANKS + FILE_DIGITS ||
        !yk_number_parse_integer(name + FILE_RANK, FILE_DIGITS, &number) ||
        !yk_number_parse_integer(name + FILE_RANKS, FILE_DIGITS, &all) || number < 1 ||
        number > all || all > YK_SHARD_MAX_RANKS) {
        return false;
    }
    *rank = (int32_t)number - 1;
    *ranks = (int32_t)all;
    yk_shard_format_file_name(*rank, *ranks, again);
    return strcmp(name, again) == 0;
}

const char *yk_shard_tensor_kind_name(enum yk_shard_tensor_kind kind)
{
    return kind_names[kind];
}

void yk_shard_append_slice_name(struct yk_text *out, enum yk_shard_tensor_kind kind,
                                const char *parameter, int64_t first)
{
    yk_text_addf(out, "%s.%s@%" PRId64, kind_names[kind], parameter, first);
}

static bool read_kind(const char *name, size_t length, enum yk_shard_tensor_kind *out)
{
    for (int kind = 0; kind < YK_SHARD_TENSOR_KIND_COUNT; kind++) {
        if (strlen(kind_names[kind]) == length && memcmp(name, kind_names[kind], length) == 0) {
            *out = (enum yk_shard_tensor_kind)kind;
            return true;
        }
    }
    return false;
}

bool yk_shard_parse_slice_name(const char *name, struct yk_shard_slice_name *out)
{
    const char *point = strchr(name, '.');
    const char *at = strrchr(name, '@');
    if (!point || !at || at <= point + 1) {
        return false;
    }
    const char *digits = at + 1;
    const size_t length = strlen(digits);
    *out = (struct yk_shard_slice_name){
        .parameter = point + 1,
        .parameter_length = (size_t)(at - point - 1),
    };
    /* Leading zeros are not allowed. */
    return read_kind(name, (size_t)(point - name), &out->kind) && length > 0 &&
           strspn(digits, "0123456789") == length && (digits[0] != '0' || length == 1) &&
           yk_number_parse_integer(digits, length, &out->first);
}

static enum yk_shard_tensor_kind kind_of_precision(enum yk_precision precision)
{
    return precision == YK_PRECISION_BF16   ? YK_SHARD_BF16
           : precision == YK_PRECISION_FP16 ? YK_SHARD_FP16
                                            : YK_SHARD_FP32;
}

enum yk_shard_tensor_kind
yk_shard_tensor_kind_of_frozen_parameter(const struct yk_net *net,
                                         const struct yk_parameter *parameter)
{
    return parameter->format == YK_PARAMETER_NF4    ? YK_SHARD_NF4
           : parameter->format == YK_PARAMETER_FP32 ? YK_SHARD_FP32
                                                    : kind_of_precision(net->workload.precision);
}

int64_t yk_shard_tensor_kind_element_count(enum yk_shard_tensor_kind kind, int64_t count)
{
    switch (kind) {
    case YK_SHARD_FP32:
        return count * (int64_t)sizeof(float);
    case YK_SHARD_BF16:
    case YK_SHARD_FP16:
        return count * (int64_t)sizeof(uint16_t);
    case YK_SHARD_NF4:
        return (int64_t)yk_ops_lay_out_nf4_tensor(NULL, count, NULL);
    default:
        return count;
    }
}

/* ---- writing a shard ---- */

enum {
    CHUNK_BYTES = 1 << 22 /* copied from the device at a time */
};

/* What is written. */
struct writing {
    const struct yk_parameter_store *store;
    const struct yk_layer_partition *saves; /* (L) */
    bool frozen;
    char *chunk; /* (CHUNK_BYTES) */
};

static yk_status declare(struct yk_safetensors_writer *writer, const struct yk_parameter *parameter,
                         enum yk_shard_tensor_kind kind, struct yk_parameter_range range)
{
    struct yk_text name = {0};
    yk_shard_append_slice_name(&name, kind, parameter->name, range.first);
    yk_status status = yk_text_status(&name);
    YK_IF_OK(yk_safetensors_writer_declare_tensor(
        writer, name.bytes, yk_shard_tensor_kind_is_frozen(kind) ? YK_TENSOR_U8 : YK_TENSOR_F32, 1,
        &range.count));
    yk_text_free(&name);
    return status;
}

static yk_status add(const struct writing *writing, struct yk_safetensors_writer *writer,
                     int32_t layer, const struct yk_parameter *parameter,
                     enum yk_shard_tensor_kind kind, struct yk_parameter_range range)
{
    const int64_t width = yk_shard_tensor_kind_element_bytes(kind);
    const int64_t max = CHUNK_BYTES / width;
    for (int64_t done = 0; done < range.count; done += max) {
        const int64_t count = yk_number_min(range.count - done, max);
        const struct yk_parameter_range slice = {range.first + done, count};
        YK_TRY(yk_parameter_store_read_range(writing->store, layer, parameter,
                                             yk_shard_tensor_kind_to_state_tensor(kind), slice,
                                             writing->chunk));
        YK_TRY(yk_safetensors_writer_append_bytes(writer, writing->chunk, (size_t)(count * width)));
    }
    return YK_OK;
}

static bool has_kind(const struct writing *writing, int32_t layer,
                     const struct yk_parameter *parameter, enum yk_shard_tensor_kind kind)
{
    if (!parameter->trained) {
        return writing->frozen &&
               kind == yk_shard_tensor_kind_of_frozen_parameter(writing->store->net, parameter);
    }
    return !yk_shard_tensor_kind_is_frozen(kind) &&
           yk_parameter_store_has_state_tensor(writing->store, layer,
                                               yk_shard_tensor_kind_to_state_tensor(kind));
}

/* Ordered by kind, so that fp32 tensors come before byte tensors. */
static yk_status walk_slices(const void *user, struct yk_safetensors_writer *writer, bool declares)
{
    const struct writing *writing = user;
    const struct yk_net *net = writing->store->net;
    for (int i = 0; i < YK_SHARD_TENSOR_KIND_COUNT; i++) {
        const enum yk_shard_tensor_kind kind = (enum yk_shard_tensor_kind)i;
        for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);) {
            const struct yk_layer_partition *saved = &writing->saves[at.layer];
            struct yk_parameter_range range;
            for (int32_t b = 0; has_kind(writing, at.layer, at.parameter, kind) &&
                                yk_layer_partition_next_kept_range(saved, net, at.layer,
                                                                   at.parameter, &b, &range);) {
                YK_TRY(declares ? declare(writer, at.parameter, kind, range)
                                : add(writing, writer, at.layer, at.parameter, kind, range));
            }
        }
    }
    return YK_OK;
}

yk_status yk_shard_write_file(const struct yk_parameter_store *store,
                              const struct yk_layer_partition *saves, bool frozen, const char *path,
                              struct yk_safetensors_size_and_hash *out)
{
    const struct writing writing = {
        .store = store,
        .saves = saves,
        .frozen = frozen,
        .chunk = malloc(CHUNK_BYTES),
    };
    YK_TRY_ALLOCATED(writing.chunk);
    const yk_status status = yk_weights_write_tensor_file(path, walk_slices, &writing, out);
    free(writing.chunk);
    return status;
}
