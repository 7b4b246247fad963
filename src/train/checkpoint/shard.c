#include "train/checkpoint/shard.h"

#include "backend/ops.h"
#include "base/number.h"
#include "nn/store/parameter_range.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[YK_SHARD_KIND_COUNT] = {"weights", "moment1", "moment2", "fp32",
                                                            "bf16",    "fp16",    "nf4"};

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

bool yk_shard_read_file_name(const char *name, int32_t *rank, int32_t *ranks)
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

const char *yk_shard_kind_name(enum yk_shard_kind kind)
{
    return kind_names[kind];
}

void yk_shard_add_slice_name(struct yk_text *out, enum yk_shard_kind kind, const char *parameter,
                             int64_t first)
{
    yk_text_addf(out, "%s.%s@%" PRId64, kind_names[kind], parameter, first);
}

static bool read_kind(const char *name, size_t length, enum yk_shard_kind *out)
{
    for (int kind = 0; kind < YK_SHARD_KIND_COUNT; kind++) {
        if (strlen(kind_names[kind]) == length && memcmp(name, kind_names[kind], length) == 0) {
            *out = (enum yk_shard_kind)kind;
            return true;
        }
    }
    return false;
}

bool yk_shard_read_slice_name(const char *name, struct yk_shard_slice *out)
{
    const char *point = strchr(name, '.');
    const char *at = strrchr(name, '@');
    if (!point || !at || at <= point + 1) {
        return false;
    }
    const char *digits = at + 1;
    const size_t length = strlen(digits);
    *out = (struct yk_shard_slice){
        .parameter = point + 1,
        .parameter_length = (size_t)(at - point - 1),
    };
    /* Leading zeros are not allowed. */
    return read_kind(name, (size_t)(point - name), &out->kind) && length > 0 &&
           strspn(digits, "0123456789") == length && (digits[0] != '0' || length == 1) &&
           yk_number_parse_integer(digits, length, &out->first);
}

static enum yk_shard_kind kind_of_precision(enum yk_precision precision)
{
    return precision == YK_PRECISION_BF16   ? YK_SHARD_BF16
           : precision == YK_PRECISION_FP16 ? YK_SHARD_FP16
                                            : YK_SHARD_FP32;
}

enum yk_shard_kind yk_shard_frozen_kind(const struct yk_net *net,
                                        const struct yk_parameter *parameter)
{
    return parameter->format == YK_PARAMETER_NF4    ? YK_SHARD_NF4
           : parameter->format == YK_PARAMETER_FP32 ? YK_SHARD_FP32
                                                    : kind_of_precision(net->workload.precision);
}

int64_t yk_shard_element_count(enum yk_shard_kind kind, int64_t count)
{
    switch (kind) {
    case YK_SHARD_FP32:
        return count * (int64_t)sizeof(float);
    case YK_SHARD_BF16:
    case YK_SHARD_FP16:
        return count * (int64_t)sizeof(uint16_t);
    case YK_SHARD_NF4:
        return (int64_t)yk_ops_nf4_layout(NULL, count, NULL);
    default:
        return count;
    }
}

/* ---- writing a shard ---- */

enum {
    CHUNK_BYTES = 1 << 22 /* copied from the device at a time */
};

/* A walk over all slices; `visit` is called for each. */
struct walk {
    const struct yk_parameter_store *store;
    const struct yk_partition *saves; /* (L) */
    struct yk_safetensors_writer *writer;
    char *chunk;          /* (CHUNK_BYTES) */
    struct yk_text *name; /* of the current slice */
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
    return yk_safetensors_writer_declare_tensor(
        walk->writer, walk->name->bytes, yk_shard_is_frozen(kind) ? YK_TENSOR_U8 : YK_TENSOR_F32, 1,
        &range.count);
}

static yk_status add(const struct walk *walk, int32_t layer, const struct yk_parameter *parameter,
                     enum yk_shard_kind kind, struct yk_parameter_range range)
{
    const int64_t width = yk_shard_element_bytes(kind);
    const int64_t max = CHUNK_BYTES / width;
    for (int64_t done = 0; done < range.count; done += max) {
        const int64_t count = range.count - done < max ? range.count - done : max;
        const struct yk_parameter_range slice = {range.first + done, count};
        YK_TRY(yk_parameter_store_read_range(walk->store, layer, parameter,
                                             yk_shard_state_tensor(kind), slice, walk->chunk));
        YK_TRY(yk_safetensors_writer_add_bytes(walk->writer, walk->chunk, (size_t)(count * width)));
    }
    return YK_OK;
}

static bool has_kind(const struct walk *walk, int32_t layer, const struct yk_parameter *parameter,
                     enum yk_shard_kind kind)
{
    if (!parameter->trained) {
        return kind == yk_shard_frozen_kind(walk->store->net, parameter);
    }
    return !yk_shard_is_frozen(kind) &&
           yk_parameter_store_has_state(walk->store, layer, yk_shard_state_tensor(kind));
}

static yk_status walk_parameter(const struct walk *walk, int32_t layer,
                                const struct yk_parameter *parameter, enum yk_shard_kind kind)
{
    const struct yk_partition *saved = &walk->saves[layer];
    struct yk_parameter_range range;
    for (int32_t b = 0;
         yk_partition_next_range(saved, walk->store->net, layer, parameter, &b, &range);) {
        YK_TRY(walk->visit(walk, layer, parameter, kind, range));
    }
    return YK_OK;
}

/* Ordered by kind, so that fp32 tensors come before byte tensors. */
static yk_status walk_all(const struct walk *walk, bool frozen)
{
    const struct yk_net *net = walk->store->net;
    for (int kind = 0; kind < YK_SHARD_KIND_COUNT; kind++) {
        for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);) {
            if ((at.parameter->trained || frozen) &&
                has_kind(walk, at.layer, at.parameter, (enum yk_shard_kind)kind)) {
                YK_TRY(walk_parameter(walk, at.layer, at.parameter, (enum yk_shard_kind)kind));
            }
        }
    }
    return YK_OK;
}

static yk_status write_all(struct walk *walk, bool frozen, struct yk_safetensors_file_checksum *out)
{
    walk->visit = declare;
    YK_TRY(walk_all(walk, frozen));
    YK_TRY(yk_safetensors_writer_begin(walk->writer));
    walk->visit = add;
    YK_TRY(walk_all(walk, frozen));
    return yk_safetensors_writer_finish(walk->writer, out);
}

yk_status yk_shard_write(const struct yk_parameter_store *store, const struct yk_partition *saves,
                         bool frozen, const char *path, struct yk_safetensors_file_checksum *out)
{
    struct yk_text name = {0};
    struct walk walk = {.store = store, .saves = saves, .name = &name};
    walk.chunk = malloc(CHUNK_BYTES);
    YK_TRY_MEMORY(walk.chunk);
    yk_status status = yk_safetensors_writer_create(path, &walk.writer);
    YK_THEN(write_all(&walk, frozen, out));
    yk_safetensors_writer_destroy(walk.writer);
    yk_text_free(&name);
    free(walk.chunk);
    return status;
}
