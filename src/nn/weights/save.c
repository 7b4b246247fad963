/* Writing a model's weights: one file, or several with an index, and the config beside them. */
#include "base/file.h"
#include "base/json_write.h"
#include "base/text.h"
#include "model/config.h"
#include "nn/weights/merge.h"
#include "nn/weights/tensor.h"
#include "nn/weights/weights.h"
#include "tensors/safetensors_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ONE_FILE[] = "model.safetensors";
static const char INDEX[] = "model.safetensors.index.json";

enum {
    NAME_SIZE = 64
};

/* A walk through the parameters that are saved, in the order of files. */
struct walk {
    const struct yk_net *net;
    uint64_t most_bytes;
    int32_t layer;
    int32_t parameter; /* −1 before the first */
    int32_t file;      /* that it is in, from 0 */
    uint64_t in_file;  /* bytes so far */
    uint64_t total;
};

struct save {
    const struct yk_store *store;
    const char *folder;
    uint64_t most_bytes;
    bool merged;
    int32_t files;
    uint64_t total;
    float *room;
};

static struct walk start_walk(const struct save *save)
{
    return (struct walk){.net = save->store->net, .most_bytes = save->most_bytes, .parameter = -1};
}

/* The next parameter, with the file it belongs to; NULL past the last. A file is closed when the
 * next tensor would make it too large; one that is too large by itself has a file of its own. */
static const struct yk_parameter *next(struct walk *walk)
{
    for (;;) {
        if (walk->layer >= walk->net->layer_count) {
            return NULL;
        }
        const struct yk_net_layer *layer = &walk->net->layers[walk->layer];
        if (++walk->parameter >= layer->parameter_count) {
            walk->layer++;
            walk->parameter = -1;
        } else if (!layer->parameters[walk->parameter].adapter) {
            break;
        }
    }
    const struct yk_parameter *parameter =
        &walk->net->layers[walk->layer].parameters[walk->parameter];
    const uint64_t bytes =
        (uint64_t)parameter->count *
        (uint64_t)yk_precision_bytes(yk_weights_tensor_precision(walk->net, parameter));
    if (walk->most_bytes > 0 && walk->in_file > 0 && walk->in_file + bytes > walk->most_bytes) {
        walk->file++;
        walk->in_file = 0;
    }
    walk->in_file += bytes;
    walk->total += bytes;
    return parameter;
}

static void name_file(const struct save *save, int32_t file, char out[NAME_SIZE])
{
    if (save->files == 1) {
        memcpy(out, ONE_FILE, sizeof ONE_FILE);
    } else {
        snprintf(out, NAME_SIZE, "model-%05d-of-%05d.safetensors", file + 1, save->files);
    }
}

static yk_status write_parameter(const struct save *save, const struct walk *walk,
                                 const struct yk_parameter *parameter,
                                 struct yk_safetensors_writer *writer)
{
    const struct yk_store *store = save->store;
    const struct yk_net *net = store->net;
    if (parameter->form != YK_PARAMETER_NF4 && !save->merged) {
        return yk_weights_add_device_tensor(writer, &store->engine,
                                            store->layers[walk->layer].weights + parameter->offset,
                                            yk_net_parameter_bytes(net, parameter));
    }
    YK_TRY(yk_store_read_values(store, walk->layer, parameter, save->room));
    if (save->merged) {
        YK_TRY(yk_weights_merge(store, walk->layer, walk->parameter, save->room));
    }
    return yk_weights_add_tensor(writer, save->room, parameter->count,
                                 yk_weights_tensor_precision(net, parameter));
}

static yk_status fill_file(const struct save *save, int32_t file,
                           struct yk_safetensors_writer *writer)
{
    const struct yk_parameter *parameter = NULL;
    YK_TRY(yk_safetensors_writer_metadata(writer, "format", "pt"));
    for (struct walk walk = start_walk(save); (parameter = next(&walk));) {
        if (walk.file == file) {
            YK_TRY(yk_weights_declare_tensor(writer, save->store->net, parameter));
        }
    }
    YK_TRY(yk_safetensors_writer_begin(writer));
    for (struct walk walk = start_walk(save); (parameter = next(&walk));) {
        if (walk.file == file) {
            YK_TRY(write_parameter(save, &walk, parameter, writer));
        }
    }
    return yk_safetensors_writer_finish(writer, NULL);
}

static yk_status write_file(const struct save *save, int32_t file)
{
    char name[NAME_SIZE];
    struct yk_text path = {0};
    struct yk_safetensors_writer *writer = NULL;
    name_file(save, file, name);
    yk_text_addf(&path, "%s/%s", save->folder, name);
    yk_status status = yk_text_status(&path);
    if (status == YK_OK) {
        status = yk_safetensors_writer_create(path.bytes, &writer);
    }
    if (status == YK_OK) {
        status = fill_file(save, file, writer);
        yk_safetensors_writer_destroy(writer);
    }
    yk_text_free(&path);
    return status;
}

static void list_index(const struct save *save, struct yk_text *out)
{
    const struct yk_parameter *parameter = NULL;
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    json.lines = 2;
    yk_json_write_begin_object(&json, "metadata");
    json.lines = 4;
    yk_json_write_integer(&json, "total_size", (int64_t)save->total);
    yk_json_write_line(&json, 2);
    yk_json_write_end_object(&json);
    json.lines = 2;
    yk_json_write_begin_object(&json, "weight_map");
    json.lines = 4;
    for (struct walk walk = start_walk(save); (parameter = next(&walk));) {
        char name[NAME_SIZE];
        name_file(save, walk.file, name);
        yk_json_write_string(&json, parameter->name, name);
    }
    yk_json_write_line(&json, 2);
    yk_json_write_end_object(&json);
    yk_json_write_line(&json, 0);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
}

static yk_status write_text(const char *folder, const char *name, const struct yk_text *text)
{
    struct yk_text path = {0};
    yk_text_addf(&path, "%s/%s", folder, name);
    yk_status status = yk_text_status(&path);
    if (status == YK_OK) {
        status = yk_file_write_nofollow(path.bytes, text);
    }
    yk_text_free(&path);
    return status;
}

/* A file of weights from before would be taken for these. */
static yk_status remove_stale(const char *folder, const char *name)
{
    struct yk_text path = {0};
    yk_text_addf(&path, "%s/%s", folder, name);
    yk_status status = yk_text_status(&path);
    if (status == YK_OK && unlink(path.bytes) != 0 && errno != ENOENT) {
        status = yk_fail(YK_ERROR_SYSTEM, "cannot remove %s: %s", path.bytes, strerror(errno));
    }
    yk_text_free(&path);
    return status;
}

static yk_status write_index(const struct save *save)
{
    if (save->files == 1) {
        return remove_stale(save->folder, INDEX);
    }
    struct yk_text text = {0};
    list_index(save, &text);
    yk_status status = write_text(save->folder, INDEX, &text);
    yk_text_free(&text);
    return status == YK_OK ? remove_stale(save->folder, ONE_FILE) : status;
}

static yk_status write_config(const struct save *save)
{
    const struct yk_net *net = save->store->net;
    struct yk_text text = {0};
    yk_status status = yk_model_config_write(net->config, net->workload.precision, &text);
    if (status == YK_OK) {
        status = write_text(save->folder, "config.json", &text);
    }
    yk_text_free(&text);
    return status;
}

yk_status yk_weights_save(const struct yk_store *store, const char *folder, uint64_t most_bytes,
                          bool merged)
{
    struct save save = {
        .store = store, .folder = folder, .most_bytes = most_bytes, .merged = merged};
    struct walk walk = start_walk(&save);
    while (next(&walk)) {
    }
    save.files = walk.file + 1;
    save.total = walk.total;
    YK_TRY(write_config(&save));
    YK_TRY(yk_weights_allocate_tensor(store->net, &save.room));
    yk_status status = YK_OK;
    for (int32_t file = 0; status == YK_OK && file < save.files; file++) {
        status = write_file(&save, file);
    }
    if (status == YK_OK) {
        status = write_index(&save);
    }
    free(save.room);
    return status;
}
