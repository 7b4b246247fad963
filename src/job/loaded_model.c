#include "job/loaded_model.h"

#include "job/device.h"
#include "job/model_dataset.h"

static yk_status describe(const struct yk_loaded_model_request *request,
                          struct yk_loaded_model *loaded)
{
    struct yk_workload workload = loaded->checkpoint->workload;
    workload.batch = request->batch > 0 ? request->batch : 1;
    workload.sequence = request->sequence > 0 ? request->sequence : workload.sequence;
    workload.recompute = false;
    if (loaded->checkpoint->config->new_head) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s has no head that classifies; train one: yoke train "
                       "--weights %s --data IMAGES",
                       request->path, request->path);
    }
    if (request->precision && !yk_precision_find(request->precision, &workload.precision)) {
        return yk_fail(YK_ERROR_USAGE, "there is no precision \"%s\"", request->precision);
    }
    return yk_model_build(loaded->checkpoint->config, &workload, loaded->arena, &loaded->model);
}

yk_status yk_loaded_model_open(const struct yk_loaded_model_request *request,
                               struct yk_loaded_model *out)
{
    struct yk_device_choice device;
    YK_TRY(yk_device_resolve_option(request->device, &device));
    YK_TRY(yk_arena_create(&out->arena));
    YK_TRY(yk_checkpoint_open(request->path, &out->checkpoint));
    out->tokenizer = out->checkpoint->tokenizer;
    YK_TRY(describe(request, out));
    struct yk_net_options options = {.lora_alpha = out->checkpoint->lora_alpha};
    if (yk_model_config_reads_images(out->model->config)) {
        yk_model_dataset_set_pixel_options(&out->checkpoint->images, &options);
    }
    YK_TRY(yk_net_create(out->model, &options, &out->net));
    YK_TRY(yk_device_open_context(
        &device, &(struct yk_backend_device_options){.threads = (int32_t)request->threads},
        &out->context));
    YK_TRY(
        yk_parameter_store_create(out->net, &out->context, YK_OPTIMIZER_NONE, NULL, &out->store));
    return yk_checkpoint_load(out->checkpoint, request->weights, out->store);
}

void yk_loaded_model_close(struct yk_loaded_model *loaded)
{
    yk_parameter_store_destroy(loaded->store);
    yk_net_destroy(loaded->net);
    yk_device_close_context(&loaded->context);
    yk_checkpoint_close(loaded->checkpoint);
    yk_arena_destroy(loaded->arena);
    *loaded = (struct yk_loaded_model){0};
}
