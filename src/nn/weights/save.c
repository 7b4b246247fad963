/* Saves a model's weights, as one file or several with an index, and its config. */
#include "base/file.h"
#include "base/folder.h"
#include "base/json_write.h"
#include "base/text.h"
#include "model/architecture.h"
#include "nn/weights/weights.h"
#include "nn/weights/weights_tensor.h"
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

/* An iteration over the parameters that are saved, in the order of files. */
struct walk {
    const struct yk_net *net;
    uint64_t max_bytes;
    struct yk_net_parameter_cursor at;
    int32_t file;     /* current file, from 0 */
    uint64_t in_file; /* bytes of the current file so far */
    uint64_t total;
};

struct save {
    struct yk_arena *arena; /* paths */
    const struct yk_parameter_store *store;
    const char *folder;
    uint64_t max_bytes;
    bool merged;
    int32_t files;
    uint64_t total;
    float *scratch;
};

/* Finds the projection and part of a weight. False: it belongs to no projection with an adapter. */
static bool find_projection(const struct yk_net_layer *layer, int32_t parameter,
                            const struct yk_projection **out, int32_t *part)
{
    for (int32_t s = 0; s < layer->projection_count; s++) {
        const struct yk_projection *projection = &layer->projections[s];
        if (projection->a >= 0 && projection->weight >= 0 && parameter >= projection->weight &&
            parameter < projection->weight + projection->parts) {
            *out = projection;
            *part = parameter - projection->weight;
            return true;
        }
    }
    return false;
}

/* weights (rows, columns) += scale · left (rows, rank) · right (rank, columns). `left` has explicit
 * strides, because it may be transposed. */
static void add_product(float *weights, int64_t rows, int64_t columns, int64_t rank, float scale,
                        const float *left, int64_t left_row, int64_t left_column,
                        const float *right)
{
    for (int64_t i = 0; i < rows; i++) {
        float *row = weights + i * columns;
        for (int64_t k = 0; k < rank; k++) {
            const float factor = scale * left[i * left_row + k * left_column];
            const float *other = right + k * columns;
            for (int64_t j = 0; j < columns; j++) {
                row[j] += factor * other[j];
            }
        }
    }
}

static void transpose(const float *from, int64_t rows, int64_t columns, float *to)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            to[j * rows + i] = from[i * columns + j];
        }
    }
}

/* Adds alpha / rank · B·A to the `numbers` of a parameter that has an adapter. */
static yk_status merge(const struct yk_parameter_store *store, int32_t layer, int32_t parameter,
                       float *numbers)
{
    const struct yk_net *net = store->net;
    const struct yk_net_layer *described = &net->layers[layer];
    const struct yk_projection *projection = NULL;
    int32_t part = 0;
    if (!find_projection(described, parameter, &projection, &part)) {
        return YK_OK;
    }
    const struct yk_parameter *a = &described->parameters[projection->a + part]; /* (rank, in) */
    const struct yk_parameter *b = &described->parameters[projection->b + part]; /* (out, rank) */
    const int64_t rank = a->shape[0];
    const int64_t in = a->shape[1];
    const int64_t out = b->shape[0];
    const float scale = yk_net_adapter_scale(net);
    float *halves = malloc((size_t)(a->count + 2 * b->count) * sizeof *halves);
    YK_TRY_ALLOCATED(halves);
    float *b_numbers = halves + a->count;
    yk_status status = yk_parameter_store_read_values(store, layer, a, halves);
    YK_IF_OK(yk_parameter_store_read_values(store, layer, b, b_numbers));
    if (status == YK_OK && projection->transposed) {
        float *transposed = b_numbers + b->count; /* (rank, out) */
        transpose(b_numbers, out, rank, transposed);
        add_product(numbers, in, out, rank, scale, halves, 1, in, transposed); /* (in, out) */
    } else if (status == YK_OK) {
        add_product(numbers, out, in, rank, scale, b_numbers, rank, 1, halves); /* (out, in) */
    }
    free(halves);
    return status;
}

static struct walk start_walk(const struct save *save)
{
    return (struct walk){.net = save->store->net, .max_bytes = save->max_bytes};
}

/* The next parameter; NULL after the last. A new file begins when the parameter would make the
 * current file too large. */
static const struct yk_parameter *next(struct walk *walk)
{
    do {
        if (!yk_net_next_parameter(walk->net, &walk->at)) {
            return NULL;
        }
    } while (walk->at.parameter->adapter);
    const struct yk_parameter *parameter = walk->at.parameter;
    const uint64_t bytes =
        (uint64_t)parameter->count *
        (uint64_t)yk_precision_bytes(yk_weights_saved_tensor_precision(walk->net, parameter));
    if (walk->max_bytes > 0 && walk->in_file > 0 && walk->in_file + bytes > walk->max_bytes) {
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
    const struct yk_parameter_store *store = save->store;
    const struct yk_net *net = store->net;
    if (parameter->format != YK_PARAMETER_NF4 && !save->merged) {
        return yk_weights_append_device_tensor(
            writer, &store->context, store->layers[walk->at.layer].weights + parameter->offset,
            yk_net_parameter_bytes(net, parameter));
    }
    YK_TRY(yk_parameter_store_read_values(store, walk->at.layer, parameter, save->scratch));
    if (save->merged) {
        YK_TRY(merge(store, walk->at.layer, walk->at.next - 1, save->scratch));
    }
    return yk_weights_append_tensor_numbers(writer, save->scratch, parameter->count,
                                            yk_weights_saved_tensor_precision(net, parameter));
}

struct file {
    const struct save *save;
    int32_t number;
};

static yk_status walk_file(const void *user, struct yk_safetensors_writer *writer, bool declares)
{
    const struct file *file = user;
    const struct yk_parameter *parameter = NULL;
    if (declares) {
        YK_TRY(yk_safetensors_writer_add_metadata(writer, "format", "pt"));
    }
    for (struct walk walk = start_walk(file->save); (parameter = next(&walk));) {
        if (walk.file == file->number) {
            YK_TRY(declares ? yk_weights_declare_tensor(writer, file->save->store->net, parameter)
                            : write_parameter(file->save, &walk, parameter, writer));
        }
    }
    return YK_OK;
}

static yk_status write_file(const struct save *save, int32_t number)
{
    char name[NAME_SIZE];
    const char *path = NULL;
    name_file(save, number, name);
    YK_TRY(yk_folder_join_path(save->folder, name, save->arena, &path));
    return yk_weights_write_tensor_file(path, walk_file, &(struct file){save, number}, NULL);
}

static void list_index(const struct save *save, struct yk_text *out)
{
    const struct yk_parameter *parameter = NULL;
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    json.line_indent = 2;
    yk_json_write_begin_object(&json, "metadata");
    json.line_indent = 4;
    yk_json_write_integer(&json, "total_size", (int64_t)save->total);
    yk_json_write_newline(&json, 2);
    yk_json_write_end_object(&json);
    json.line_indent = 2;
    yk_json_write_begin_object(&json, "weight_map");
    json.line_indent = 4;
    for (struct walk walk = start_walk(save); (parameter = next(&walk));) {
        char file[NAME_SIZE];
        char name[YK_WEIGHTS_NAME_SIZE];
        name_file(save, walk.file, file);
        yk_json_write_string(&json, yk_weights_saved_tensor_name(walk.net, parameter, name), file);
    }
    yk_json_write_newline(&json, 2);
    yk_json_write_end_object(&json);
    yk_json_write_newline(&json, 0);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
}

static yk_status write_text(const struct save *save, const char *name, const struct yk_text *text)
{
    const char *path = NULL;
    YK_TRY(yk_folder_join_path(save->folder, name, save->arena, &path));
    return yk_file_write_nofollow(path, text);
}

/* Removes an older file, which would be read in place of the new ones. */
static yk_status remove_stale(const struct save *save, const char *name)
{
    const char *path = NULL;
    YK_TRY(yk_folder_join_path(save->folder, name, save->arena, &path));
    return unlink(path) == 0 || errno == ENOENT
               ? YK_OK
               : yk_fail(YK_ERROR_SYSTEM, "cannot remove %s: %s", path, strerror(errno));
}

static yk_status write_index(const struct save *save)
{
    if (save->files == 1) {
        return remove_stale(save, INDEX);
    }
    struct yk_text text = {0};
    list_index(save, &text);
    const yk_status status = write_text(save, INDEX, &text);
    yk_text_free(&text);
    return status == YK_OK ? remove_stale(save, ONE_FILE) : status;
}

static yk_status write_config(const struct save *save)
{
    const struct yk_net *net = save->store->net;
    struct yk_model_config config = *net->config;
    struct yk_text text = {0};
    config.architecture = yk_architecture_get_saved_family(config.architecture);
    yk_status status = yk_model_config_to_json(&config, net->workload.precision, &text);
    YK_IF_OK(write_text(save, "config.json", &text));
    yk_text_free(&text);
    return status;
}

yk_status yk_weights_save(const struct yk_parameter_store *store, const char *folder,
                          uint64_t max_bytes, bool merged)
{
    struct save save = {.store = store, .folder = folder, .max_bytes = max_bytes, .merged = merged};
    struct walk walk = start_walk(&save);
    while (next(&walk)) {
    }
    save.files = walk.file + 1;
    save.total = walk.total;
    YK_TRY(yk_arena_create(&save.arena));
    yk_status status = write_config(&save);
    YK_IF_OK(yk_weights_allocate_largest_tensor(store->net, &save.scratch));
    for (int32_t file = 0; status == YK_OK && file < save.files; file++) {
        status = write_file(&save, file);
    }
    YK_IF_OK(write_index(&save));
    free(save.scratch);
    yk_arena_destroy(save.arena);
    return status;
}
