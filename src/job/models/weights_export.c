#include "job/loaded_model.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/text.h"
#include "nn/weights/weights.h"

static yk_status save_text(const struct yk_weights_export_request *request, const char *name,
                           const struct yk_text *text, struct yk_arena *arena)
{
    const char *path = NULL;
    YK_TRY(yk_text_status(text));
    YK_TRY(yk_folder_join_path(request->output, name, arena, &path));
    return yk_file_write_nofollow(path, text);
}

/* Writes the tokenizer and its chat files, so that yoke and other tools can use the folder on its
 * own. */
static yk_status save_tokenizer(const struct yk_weights_export_request *request,
                                const struct yk_loaded_model *loaded)
{
    struct yk_text text = {0};
    if (!loaded->tokenizer) {
        return YK_OK;
    }
    const struct yk_chat_files *files = yk_tokenizer_get_chat_files(loaded->tokenizer);
    yk_tokenizer_append_file_contents(loaded->tokenizer, &text);
    yk_status status =
        save_text(request, yk_tokenizer_file_name(loaded->tokenizer), &text, loaded->arena);
    for (int i = 0; i < YK_CHAT_FILE_COUNT; i++) {
        if (files->exists[i]) {
            YK_IF_OK(save_text(request, yk_chat_files_name((enum yk_chat_file)i), &files->texts[i],
                               loaded->arena));
        }
    }
    yk_text_free(&text);
    return status;
}

/* Writes the config beside an adapter: the base model may know other classes. */
static yk_status save_config(const struct yk_weights_export_request *request,
                             const struct yk_loaded_model *loaded)
{
    const char *path = NULL;
    struct yk_text text = {0};
    YK_TRY(yk_folder_join_path(request->output, "config.json", loaded->arena, &path));
    yk_status status =
        yk_model_config_to_json(loaded->model->config, loaded->model->workload.precision, &text);
    YK_IF_OK(yk_file_write_nofollow(path, &text));
    yk_text_free(&text);
    return status;
}

/* Writes how images are made ready. */
static yk_status save_image_processor(const struct yk_weights_export_request *request,
                                      const struct yk_loaded_model *loaded)
{
    const char *path = NULL;
    struct yk_text text = {0};
    if (!yk_model_config_reads_images(loaded->checkpoint->config)) {
        return YK_OK;
    }
    YK_TRY(yk_folder_join_path(request->output, "preprocessor_config.json", loaded->arena, &path));
    yk_status status = yk_image_processor_to_json(&loaded->checkpoint->images, &text);
    YK_IF_OK(yk_file_write_nofollow(path, &text));
    yk_text_free(&text);
    return status;
}

/* What is read while it is written over is lost. */
static yk_status check_not_input(const struct yk_weights_export_request *request,
                                 const struct yk_loaded_model *loaded, const char *base)
{
    if (yk_folder_is_same_path(request->output, loaded->checkpoint->path) ||
        (base && yk_folder_is_same_path(request->output, base))) {
        return yk_fail(YK_ERROR_USAGE, "%s is what is read; write into another folder",
                       request->output);
    }
    return YK_OK;
}

static yk_status save(const struct yk_weights_export_request *request,
                      struct yk_loaded_model *loaded)
{
    YK_TRY(yk_loaded_model_open(&request->model, loaded));
    const bool adapter = loaded->checkpoint->workload.lora_rank > 0;
    const char *base =
        request->model.weights ? request->model.weights : loaded->checkpoint->base_model;
    YK_TRY(check_not_input(request, loaded, adapter ? base : NULL));
    if (request->merge && !adapter) {
        yk_log(YK_LOG_NOTE, "%s has no adapter: there is nothing to merge",
               loaded->checkpoint->path);
    }
    YK_TRY(yk_folder_create(request->output));
    if (adapter && !request->merge) {
        YK_TRY(yk_adapter_save(loaded->store, request->output, base));
        YK_TRY(loaded->model->config->classifier ? save_config(request, loaded) : YK_OK);
    } else {
        YK_TRY(yk_weights_save(loaded->store, request->output, (uint64_t)request->shard_bytes,
                               request->merge));
    }
    YK_TRY(save_image_processor(request, loaded));
    return save_tokenizer(request, loaded);
}

yk_status yk_weights_export_run(const struct yk_weights_export_request *request)
{
    struct yk_loaded_model loaded = {0};
    if (yk_folder_contains(request->output, "manifest.json") ||
        yk_folder_contains(request->output, "checkpoints")) {
        return yk_fail(YK_ERROR_USAGE, "%s holds a run; write into another folder",
                       request->output);
    }
    const yk_status status = save(request, &loaded);
    yk_loaded_model_close(&loaded);
    return status;
}
