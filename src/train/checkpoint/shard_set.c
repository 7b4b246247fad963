#include "train/checkpoint/shard_set.h"

#include "base/arena.h"
#include "base/number.h"
#include "tensors/safetensors.h"
#include "train/checkpoint/folder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct slice {
    const char *parameter;
    enum yk_shard_tensor_kind kind;
    int64_t first;
    int64_t count;
    const struct yk_safetensors_file *file;
    const struct yk_tensor_file_entry *entry;
};

struct yk_shard_set {
    struct yk_arena *arena;
    const char *folder;
    struct yk_safetensors_file **files;
    int32_t file_count;
    struct slice *slices; /* by parameter, kind and first number */
    int32_t slice_count;
};

/* ---- opening ---- */

static int in_order(const void *a, const void *b)
{
    const struct slice *left = a;
    const struct slice *right = b;
    const int names = strcmp(left->parameter, right->parameter);
    if (names != 0) {
        return names;
    }
    const int kinds = yk_number_compare((int64_t)left->kind, (int64_t)right->kind);
    return kinds != 0 ? kinds : yk_number_compare(left->first, right->first);
}

static yk_status add_slice(struct yk_shard_set *set, const struct yk_safetensors_file *file,
                           const struct yk_tensor_file_entry *entry)
{
    struct slice *slice = &set->slices[set->slice_count];
    struct yk_shard_slice_name name = {0};
    if (!yk_shard_parse_slice_name(entry->name, &name)) {
        return yk_fail(YK_ERROR_INPUT, "%s: \"%s\" does not name a piece of a parameter",
                       file->path, entry->name);
    }
    const enum yk_tensor_dtype type =
        yk_shard_tensor_kind_is_frozen(name.kind) ? YK_TENSOR_U8 : YK_TENSOR_F32;
    if (entry->type != type || entry->rank != 1 || entry->shape[0] < 1 ||
        entry->shape[0] > INT64_MAX - name.first) {
        return yk_fail(YK_ERROR_INPUT, "%s: \"%s\" is no row of %s", file->path, entry->name,
                       yk_tensor_dtype_name(type));
    }
    *slice = (struct slice){
        .parameter = yk_arena_copy_text(set->arena, name.parameter, name.parameter_length),
        .kind = name.kind,
        .first = name.first,
        .count = entry->shape[0],
        .file = file,
        .entry = entry,
    };
    set->slice_count++;
    return slice->parameter ? YK_OK : yk_fail_out_of_memory();
}

static yk_status add_slices(struct yk_shard_set *set)
{
    int64_t count = 0;
    for (int32_t i = 0; i < set->file_count; i++) {
        count += set->files[i]->header->count;
    }
    if (count > INT32_MAX) {
        return yk_fail(YK_ERROR_INPUT, "%s: too many pieces", set->folder);
    }
    YK_TRY_NEW(set->arena, set->slices, count + 1);
    for (int32_t i = 0; i < set->file_count; i++) {
        for (int32_t j = 0; j < set->files[i]->header->count; j++) {
            YK_TRY(add_slice(set, set->files[i], &set->files[i]->header->entries[j]));
        }
    }
    qsort(set->slices, (size_t)set->slice_count, sizeof *set->slices, in_order);
    return YK_OK;
}

static yk_status open_files(struct yk_shard_set *set, int32_t ranks)
{
    YK_TRY_NEW(set->arena, set->files, ranks);
    for (; set->file_count < ranks; set->file_count++) {
        char name[YK_SHARD_FILE_NAME_SIZE];
        const char *path = NULL;
        yk_shard_format_file_name(set->file_count, ranks, name);
        YK_TRY(yk_folder_join_path(set->folder, name, set->arena, &path));
        YK_TRY(yk_safetensors_open(path, &set->files[set->file_count]));
    }
    return YK_OK;
}

yk_status yk_shard_set_open(const char *folder, int32_t ranks, struct yk_shard_set **out)
{
    struct yk_shard_set *set = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(set);
    yk_status status = yk_arena_strdup(set->arena, folder, &set->folder);
    YK_IF_OK(open_files(set, ranks));
    YK_IF_OK(add_slices(set));
    YK_TRY_OR_CLEAN_UP(status, yk_shard_set_close(set));
    *out = set;
    return YK_OK;
}

void yk_shard_set_close(struct yk_shard_set *set)
{
    if (set) {
        for (int32_t i = 0; i < set->file_count; i++) {
            yk_safetensors_close(set->files[i]);
        }
        yk_arena_destroy(set->arena);
    }
}

/* ---- reading ---- */

yk_status yk_shard_set_check_slices_in_net(const struct yk_shard_set *set, const struct yk_net *net)
{
    for (int32_t i = 0; i < set->slice_count; i++) {
        const struct slice *slice = &set->slices[i];
        const bool again = i > 0 && strcmp(slice->parameter, slice[-1].parameter) == 0;
        if (!again && !yk_net_find_parameter(net, slice->parameter, NULL)) {
            return yk_fail(YK_ERROR_INPUT, "%s: the model has no parameter \"%s\"",
                           slice->file->path, slice->parameter);
        }
    }
    return YK_OK;
}

/* The first slice of a parameter that begins at or after element `first`. */
static int32_t find(const struct yk_shard_set *set, enum yk_shard_tensor_kind kind,
                    const char *parameter, int64_t first)
{
    const struct slice wanted = {.parameter = parameter, .kind = kind, .first = first};
    int32_t low = 0;
    int32_t high = set->slice_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (in_order(&set->slices[middle], &wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Slice `number` of the set; NULL if it belongs to another parameter or kind. */
static const struct slice *slice_at(const struct yk_shard_set *set, int32_t number,
                                    enum yk_shard_tensor_kind kind, const char *parameter)
{
    const struct slice *slice = &set->slices[number];
    return number >= 0 && number < set->slice_count && slice->kind == kind &&
                   strcmp(slice->parameter, parameter) == 0
               ? slice
               : NULL;
}

bool yk_shard_set_has_slice(const struct yk_shard_set *set, enum yk_shard_tensor_kind kind,
                            const struct yk_parameter *parameter)
{
    if (parameter) {
        return slice_at(set, find(set, kind, parameter->name, 0), kind, parameter->name) != NULL;
    }
    for (int32_t i = 0; i < set->slice_count; i++) {
        if (set->slices[i].kind == kind) {
            return true;
        }
    }
    return false;
}

static yk_status fail_missing(const struct yk_shard_set *set, enum yk_shard_tensor_kind kind,
                              const char *parameter, int64_t first, int64_t end)
{
    return yk_fail(YK_ERROR_INPUT, "%s: no shard has %s %" PRId64 " to %" PRId64 " of \"%s\" (%s)",
                   set->folder, yk_shard_tensor_kind_is_frozen(kind) ? "bytes" : "numbers", first,
                   end - 1, parameter, yk_shard_tensor_kind_name(kind));
}

yk_status yk_shard_set_check_parameter_coverage(const struct yk_shard_set *set,
                                                enum yk_shard_tensor_kind kind,
                                                const struct yk_parameter *parameter)
{
    const int64_t elements = yk_shard_tensor_kind_element_count(kind, parameter->count);
    const char *name = parameter->name;
    const struct slice *slice = NULL;
    int64_t end = 0;
    for (int32_t i = find(set, kind, name, 0); (slice = slice_at(set, i, kind, name)); i++) {
        if (slice->first > end) {
            return fail_missing(set, kind, name, end, slice->first);
        }
        if (slice->first < end) {
            return yk_fail(YK_ERROR_INPUT, "%s: \"%s\" is in \"%s\" of %s already",
                           slice->file->path, slice->entry->name, slice[-1].entry->name,
                           slice[-1].file->path);
        }
        end += slice->count;
        if (end > elements) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: \"%s\" ends at %" PRId64 ", but the model's \"%s\" at %" PRId64,
                           slice->file->path, slice->entry->name, end, name, elements);
        }
    }
    return end == elements ? YK_OK : fail_missing(set, kind, name, end, elements);
}

yk_status yk_shard_set_read_parameter_range(const struct yk_shard_set *set,
                                            enum yk_shard_tensor_kind kind,
                                            const struct yk_parameter *parameter,
                                            struct yk_parameter_range range, void *out)
{
    const int64_t width = yk_shard_tensor_kind_element_bytes(kind);
    /* The last slice that begins at or before the range. */
    int32_t i = find(set, kind, parameter->name, range.first + 1) - 1;
    for (int64_t done = 0; done < range.count; i++) {
        const struct slice *slice = slice_at(set, i, kind, parameter->name);
        if (!slice) {
            return fail_missing(set, kind, parameter->name, range.first + done,
                                range.first + range.count);
        }
        const int64_t from = range.first + done - slice->first;
        const int64_t left = range.count - done;
        const int64_t count = slice->count - from < left ? slice->count - from : left;
        YK_TRY(yk_safetensors_read_tensor_range(slice->file, slice->entry, (uint64_t)(from * width),
                                                (uint64_t)(count * width),
                                                (char *)out + done * width));
        done += count;
    }
    return YK_OK;
}
