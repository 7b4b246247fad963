#include "tensors/tensor_set.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/name_index.h"
#include "base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path of a file in the folder of the set, in its arena. */
static yk_status join(const struct yk_tensor_set *set, const char *name, const char **out)
{
    struct yk_text path = {0};
    yk_text_addf(&path, "%s/%s", set->path, name);
    return yk_text_move_to_arena(&path, set->arena, out);
}

static yk_status add_file(struct yk_tensor_set *set, const char *path)
{
    YK_TRY(yk_array_grow((void **)&set->files, &set->file_capacity, set->file_count,
                         sizeof(struct yk_safetensors_file *)));
    YK_TRY(yk_safetensors_open(path, &set->files[set->file_count]));
    set->file_count++;
    return YK_OK;
}

static yk_status add_tensor(struct yk_tensor_set *set, const struct yk_safetensors_file *file,
                            const struct yk_tensor_file_entry *entry)
{
    bool added = false;
    int32_t number = 0;
    YK_TRY(yk_name_index_add(set->names, entry->name, &added, &number));
    if (!added) {
        return yk_fail(YK_ERROR_INPUT, "%s: \"%s\" is in %s already", file->path, entry->name,
                       set->locations[number].file->path);
    }
    YK_TRY_GROW_ARRAY(set->locations, set->capacity, set->count);
    set->locations[set->count++] = (struct yk_tensor_location){.file = file, .entry = entry};
    return YK_OK;
}

static yk_status add_whole_file(struct yk_tensor_set *set, const char *path)
{
    YK_TRY(add_file(set, path));
    const struct yk_safetensors_file *file = set->files[set->file_count - 1];
    for (int32_t i = 0; i < file->header->count; i++) {
        YK_TRY(add_tensor(set, file, &file->header->entries[i]));
    }
    return YK_OK;
}

/* The name of the file that contains `tensor`, from the weight_map of an index. It must be a plain
 * file name, without a folder. */
static yk_status file_of_tensor(const struct yk_json *map, const char *tensor, const char **out)
{
    const struct yk_json *node = yk_json_get_member(map, tensor);
    const char *file = yk_json_string_value(node);
    if (!file) {
        return yk_fail(YK_ERROR_INPUT, "weight_map: \"%s\" must be a file's name, not %s", tensor,
                       yk_json_type_name(node));
    }
    if (*file == '\0' || *file == '.' || strchr(file, '/')) {
        return yk_fail(YK_ERROR_INPUT,
                       "weight_map: \"%s\" is in \"%s\", which is no plain name of a file beside "
                       "the index",
                       tensor, file);
    }
    *out = file;
    return YK_OK;
}

/* Returns the file called `name`, which it opens on first use. The number of a name in `files` is
 * the index of the file in the set. */
static yk_status open_named(struct yk_tensor_set *set, struct yk_name_index *files,
                            const char *name, const struct yk_safetensors_file **out)
{
    bool added = false;
    int32_t number = 0;
    YK_TRY(yk_name_index_add(files, name, &added, &number));
    if (added) {
        const char *path = NULL;
        YK_TRY(join(set, name, &path));
        YK_TRY(add_file(set, path));
    }
    *out = set->files[number];
    return YK_OK;
}

static yk_status add_mapped(struct yk_tensor_set *set, const struct yk_json *root,
                            struct yk_name_index *files)
{
    const struct yk_json *map = yk_json_get_member(root, "weight_map");
    struct yk_json_member_iterator member = {0};
    if (!yk_json_is_object(map)) {
        return yk_fail(YK_ERROR_INPUT, "\"weight_map\" must be an object, not %s",
                       yk_json_type_name(map));
    }
    while (yk_json_next_member(map, &member)) {
        const char *name = NULL;
        const struct yk_safetensors_file *file = NULL;
        YK_TRY(file_of_tensor(map, member.name, &name));
        YK_TRY(open_named(set, files, name, &file));
        const struct yk_tensor_file_entry *entry = yk_safetensors_find_tensor(file, member.name);
        if (!entry) {
            return yk_fail(YK_ERROR_INPUT, "weight_map: \"%s\" is not in %s", member.name,
                           file->path);
        }
        YK_TRY(add_tensor(set, file, entry));
    }
    return YK_OK;
}

static yk_status add_index(struct yk_tensor_set *set, const char *path)
{
    struct yk_text index = {0};
    struct yk_json *root = NULL;
    struct yk_name_index *files = NULL;
    YK_TRY_OR_CLEAN_UP(yk_file_read_document(path, &index), yk_text_free(&index));
    yk_status status = yk_json_parse(yk_text_chars(&index), index.length, &root);
    YK_IF_OK(yk_name_index_create(&files));
    YK_IF_OK(add_mapped(set, root, files));
    yk_name_index_destroy(files);
    yk_json_destroy(root);
    yk_text_free(&index);
    return yk_status_prefix_message(status, path);
}

static yk_status add_folder(struct yk_tensor_set *set)
{
    static const struct {
        const char *name;
        yk_status (*add)(struct yk_tensor_set *set, const char *path);
    } known[] = {
        {"model.safetensors", add_whole_file},
        {"model.safetensors.index.json", add_index},
        {"adapter_model.safetensors", add_whole_file},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *path = NULL;
        YK_TRY(join(set, known[i].name, &path));
        if (access(path, F_OK) == 0) {
            return known[i].add(set, path);
        }
    }
    return yk_fail(YK_ERROR_INPUT, "%s holds no weights: neither %s nor %s nor %s is there",
                   set->path, known[0].name, known[1].name, known[2].name);
}

static yk_status fill(struct yk_tensor_set *set)
{
    struct stat info;
    if (stat(set->path, &info) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", set->path, strerror(errno));
    }
    return S_ISDIR(info.st_mode) ? add_folder(set) : add_whole_file(set, set->path);
}

static yk_status fill_from(struct yk_tensor_set *set, const char *const *names, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const char *path = NULL;
        YK_TRY(join(set, names[i], &path));
        YK_TRY(add_whole_file(set, path));
    }
    return YK_OK;
}

yk_status yk_tensor_set_open_files(const char *folder, const char *const *names, int32_t count,
                                   struct yk_tensor_set **out)
{
    struct yk_tensor_set *set = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(set);
    yk_status status = yk_name_index_create(&set->names);
    YK_IF_OK(yk_arena_strdup(set->arena, folder, &set->path));
    YK_IF_OK(names ? fill_from(set, names, count) : fill(set));
    YK_TRY_OR_CLEAN_UP(status, yk_tensor_set_close(set));
    *out = set;
    return YK_OK;
}

yk_status yk_tensor_set_open(const char *path, struct yk_tensor_set **out)
{
    return yk_tensor_set_open_files(path, NULL, 0, out);
}

void yk_tensor_set_close(struct yk_tensor_set *set)
{
    if (!set) {
        return;
    }
    for (int32_t i = 0; i < set->file_count; i++) {
        yk_safetensors_close(set->files[i]);
    }
    free(set->files);
    free(set->locations);
    yk_name_index_destroy(set->names);
    yk_arena_destroy(set->arena);
}

const struct yk_tensor_location *yk_tensor_set_find_tensor(const struct yk_tensor_set *set,
                                                           const char *name)
{
    const int32_t number = yk_name_index_find(set->names, name);
    return number < 0 ? NULL : &set->locations[number];
}

yk_status yk_tensor_set_find_tensor_or_fail(const struct yk_tensor_set *set, const char *name,
                                            const struct yk_tensor_location **out)
{
    *out = yk_tensor_set_find_tensor(set, name);
    if (*out) {
        return YK_OK;
    }
    const char *nearest = yk_name_index_find_nearest(set->names, name);
    return yk_fail(YK_ERROR_INPUT, "%s has no tensor \"%s\"%s%s%s", set->path, name,
                   nearest ? "; is it \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}
