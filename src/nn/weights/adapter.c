/* Loads and saves adapters in PEFT format. */
#include "base/file.h"
#include "base/folder.h"
#include "base/name_index.h"
#include "model/architecture.h"
#include "nn/weights/adapter_config.h"
#include "nn/weights/weights.h"
#include "nn/weights/weights_tensor.h"
#include "tensors/safetensors_writer.h"
#include "tensors/tensor_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char CONFIG[] = "adapter_config.json";
static const char TENSORS[] = "adapter_model.safetensors";

/* The name of a parameter in an adapter's file. */
static const char *name_of(const struct yk_parameter *parameter, char buffer[YK_WEIGHTS_NAME_SIZE])
{
    if (!parameter->saved_with_adapter) {
        return parameter->name;
    }
    (void)snprintf(buffer, YK_WEIGHTS_NAME_SIZE, "base_model.model.%s", parameter->name);
    return buffer;
}

/* Finds a tensor under the name of its parameter, or under the one that the parameter's module has
 * in files. */
static const struct yk_tensor_location *find_tensor(const struct yk_net *net,
                                                    const struct yk_tensor_set *set,
                                                    const struct yk_parameter *parameter)
{
    char own[YK_WEIGHTS_NAME_SIZE];
    char other[YK_WEIGHTS_NAME_SIZE];
    const char *name = name_of(parameter, own);
    const struct yk_tensor_location *found = yk_tensor_set_find_tensor(set, name);
    return found ? found
                 : yk_tensor_set_find_tensor(set,
                                             yk_architecture_file_name(net->config->architecture,
                                                                       name, other, sizeof other));
}

static yk_status check_saved_module(const struct yk_net *net, const char *folder,
                                    const struct yk_adapter_config *config)
{
    const char *head = net->config->classifier
                           ? yk_architecture_outer_module_name(net->config, YK_MODULE_HEAD)
                           : NULL;
    if (!config->saved_module || (head && strcmp(config->saved_module, head) == 0)) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "the adapter in %s has \"%s\" in \"modules_to_save\"; only the head of a "
                   "classifier can be saved with an adapter",
                   folder, config->saved_module);
}

static yk_status read_config(const struct yk_net *net, const char *folder, struct yk_arena *arena,
                             struct yk_adapter_config *out)
{
    YK_TRY(yk_adapter_config_read(folder, arena, out));
    return check_saved_module(net, folder, out);
}

static yk_status check_config(const struct yk_net *net, const char *folder)
{
    struct yk_adapter_config config = {0};
    YK_TRY_WITH_TEMPORARY_ARENA(arena, read_config(net, folder, arena, &config));
    if (config.rank != net->workload.lora_rank) {
        return yk_fail(YK_ERROR_INPUT,
                       "the adapter in %s has the rank %" PRId64 ", but %" PRId64 " was asked for",
                       folder, config.rank, net->workload.lora_rank);
    }
    if (config.alpha != yk_net_adapter_alpha(net)) {
        return yk_fail(YK_ERROR_INPUT, "the adapter in %s has an alpha of %g, but %g was asked for",
                       folder, config.alpha, yk_net_adapter_alpha(net));
    }
    return YK_OK;
}

/* Fails if the adapter has a tensor that the net's adapters do not have. */
static yk_status check_targets(const struct yk_net *net, const struct yk_tensor_set *set)
{
    struct yk_name_index *names = NULL;
    yk_status status = yk_name_index_create(&names);
    for (struct yk_net_parameter_cursor at = {0};
         status == YK_OK && yk_net_next_parameter(net, &at);) {
        const struct yk_tensor_location *place =
            yk_parameter_is_in_adapter(at.parameter) ? find_tensor(net, set, at.parameter) : NULL;
        bool added = false;
        int32_t number = 0;
        if (place) {
            status = yk_name_index_add(names, place->entry->name, &added, &number);
        }
    }
    for (int32_t i = 0; status == YK_OK && i < set->count; i++) {
        const char *name = set->locations[i].entry->name;
        if (yk_name_index_find(names, name) < 0) {
            status = yk_fail(YK_ERROR_INPUT,
                             "%s: \"%s\" belongs to no linear of a block of %s; adapters are on "
                             "those",
                             set->path, name, net->config->name);
        }
    }
    yk_name_index_destroy(names);
    return status;
}

static yk_status load_tensors(struct yk_parameter_store *store, const struct yk_tensor_set *set,
                              float *scratch)
{
    const struct yk_net *net = store->net;
    YK_TRY(check_targets(net, set));
    for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);) {
        const struct yk_parameter *parameter = at.parameter;
        if (!yk_parameter_is_in_adapter(parameter)) {
            continue;
        }
        const struct yk_tensor_location *place = find_tensor(net, set, parameter);
        if (!place && parameter->saved_with_adapter) {
            continue; /* the adapter was trained with the head of the base model */
        }
        if (!place) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s has no \"%s\"; adapters must be on all linears of all blocks",
                           set->path, parameter->name);
        }
        YK_TRY(yk_weights_check_tensor_shape(place, parameter));
        YK_TRY(yk_weights_read_tensor_range(place, 0, parameter->count, scratch));
        YK_TRY(yk_parameter_store_write_values(store, at.layer, parameter, scratch));
    }
    return YK_OK;
}

yk_status yk_adapter_load(struct yk_parameter_store *store, const char *folder)
{
    struct yk_arena *arena = NULL;
    const char *path = NULL;
    struct yk_tensor_set *set = NULL;
    float *scratch = NULL;
    YK_TRY(check_config(store->net, folder));
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_folder_join_path(folder, TENSORS, arena, &path);
    YK_IF_OK(yk_tensor_set_open(path, &set));
    YK_IF_OK(yk_weights_allocate_largest_tensor(store->net, &scratch));
    YK_IF_OK(load_tensors(store, set, scratch));
    free(scratch);
    yk_tensor_set_close(set);
    yk_arena_destroy(arena);
    return status;
}

static yk_status walk_adapters(const void *user, struct yk_safetensors_writer *writer,
                               bool declares)
{
    const struct yk_parameter_store *store = user;
    const struct yk_net *net = store->net;
    if (declares) {
        YK_TRY(yk_safetensors_writer_add_metadata(writer, "format", "pt"));
    }
    for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);) {
        if (yk_parameter_is_in_adapter(at.parameter)) {
            char buffer[YK_WEIGHTS_NAME_SIZE];
            YK_TRY(declares ? yk_weights_declare_named_tensor(writer, net, at.parameter,
                                                              name_of(at.parameter, buffer))
                            : yk_weights_append_device_tensor(
                                  writer, &store->context,
                                  store->layers[at.layer].weights + at.parameter->offset,
                                  yk_net_parameter_bytes(net, at.parameter)));
        }
    }
    return YK_OK;
}

static yk_status save(const struct yk_parameter_store *store, const char *folder, const char *base,
                      struct yk_arena *arena)
{
    struct yk_text text = {0};
    const char *config = NULL;
    const char *tensors = NULL;
    YK_TRY(yk_folder_join_path(folder, CONFIG, arena, &config));
    YK_TRY(yk_folder_join_path(folder, TENSORS, arena, &tensors));
    yk_status status = yk_adapter_config_to_json(store->net, base, &text);
    YK_IF_OK(yk_file_write_nofollow(config, &text));
    yk_text_free(&text);
    YK_IF_OK(yk_weights_write_tensor_file(tensors, walk_adapters, store, NULL));
    return status;
}

yk_status yk_adapter_save(const struct yk_parameter_store *store, const char *folder,
                          const char *base)
{
    if (store->net->workload.lora_rank == 0) {
        return yk_fail(YK_ERROR_INPUT, "%s has no adapter that could be saved",
                       store->net->config->name);
    }
    YK_TRY_WITH_TEMPORARY_ARENA(arena, save(store, folder, base, arena));
    return YK_OK;
}
