#include "job/models/eval.h"

#include "base/json_write.h"
#include "base/number.h"
#include "job/device.h"
#include "job/model_dataset.h"
#include "nn/inference/inference.h"
#include "tensors/safetensors_writer.h"
#include "train/training_run.h"

#include <math.h>

/* An evaluation under way. Starts as {0}. */
struct evaluation {
    const struct yk_eval_request *request;
    struct yk_eval_result *result;
    struct yk_loaded_model loaded;
    struct yk_dataset *dataset;
    struct yk_json *chat_variables;
    struct yk_counter_recorder *recorder; /* NULL: no counters */
};

struct logits {
    struct yk_inference *inference;
    struct yk_safetensors_writer *writer;
    struct yk_sample_slice slice;
    float *row; /* (V) */
};

static yk_status fetch_samples(const struct yk_sampler *sampler, int64_t samples, int64_t V,
                               struct yk_arena *arena, struct logits *out)
{
    const int64_t rows = yk_sampler_max_slice_tokens(sampler, samples);
    struct yk_sample_slice *slice = &out->slice;
    YK_TRY_NEW(arena, slice->tokens, rows);
    YK_TRY_NEW(arena, slice->targets, rows);
    YK_TRY_NEW(arena, slice->lengths, samples);
    if (sampler->pixel_bytes > 0) {
        YK_TRY_NEW(arena, slice->pixels, samples * sampler->pixel_bytes);
    }
    YK_TRY_NEW(arena, out->row, V);
    return yk_sampler_fetch_slice(sampler, 0, samples, slice);
}

static yk_status declare_images(struct logits *outputs, const struct yk_model_config *config)
{
    const struct yk_image_shape *image = &config->image;
    const int64_t samples = outputs->slice.samples;
    const int64_t pixels[] = {samples, image->channels, image->height, image->width};
    const int64_t logits[] = {samples, config->vocabulary};
    YK_TRY(
        yk_safetensors_writer_declare_tensor(outputs->writer, "pixels", YK_TENSOR_U8, 4, pixels));
    YK_TRY(
        yk_safetensors_writer_declare_tensor(outputs->writer, "labels", YK_TENSOR_I32, 1, logits));
    YK_TRY(
        yk_safetensors_writer_declare_tensor(outputs->writer, "logits", YK_TENSOR_F32, 2, logits));
    return yk_safetensors_writer_write_header(outputs->writer);
}

static yk_status declare(struct logits *outputs, const struct yk_model_config *config, int64_t V)
{
    const struct yk_sample_slice *slice = &outputs->slice;
    if (yk_model_config_reads_images(config)) {
        return declare_images(outputs, config);
    }
    const int64_t dimensions[] = {slice->samples, slice->sequence, V};
    YK_TRY(yk_safetensors_writer_declare_tensor(outputs->writer, "tokens", YK_TENSOR_I32, 2,
                                                dimensions));
    YK_TRY(yk_safetensors_writer_declare_tensor(outputs->writer, "lengths", YK_TENSOR_I32, 1,
                                                dimensions));
    YK_TRY(yk_safetensors_writer_declare_tensor(outputs->writer, "logits", YK_TENSOR_F32, 3,
                                                dimensions));
    return yk_safetensors_writer_write_header(outputs->writer);
}

/* What the logits are for: images and their classes, or tokens and how many of them count. */
static yk_status write_inputs(const struct logits *outputs, const struct yk_model_config *config)
{
    const struct yk_sample_slice *slice = &outputs->slice;
    const size_t samples = (size_t)slice->samples;
    if (slice->pixels) {
        YK_TRY(yk_safetensors_writer_append_bytes(
            outputs->writer, slice->pixels, samples * (size_t)yk_model_config_image_bytes(config)));
        return yk_safetensors_writer_append_bytes(outputs->writer, slice->targets,
                                                  samples * sizeof *slice->targets);
    }
    YK_TRY(yk_safetensors_writer_append_bytes(
        outputs->writer, slice->tokens, samples * (size_t)slice->sequence * sizeof *slice->tokens));
    return yk_safetensors_writer_append_bytes(outputs->writer, slice->lengths,
                                              samples * sizeof *slice->lengths);
}

static yk_status write_rows(struct logits *outputs, const struct yk_model_config *config, int64_t V)
{
    const struct yk_sample_slice *slice = &outputs->slice;
    YK_TRY(write_inputs(outputs, config));
    for (int64_t sample = 0; sample < slice->samples; sample++) {
        for (int64_t position = 0; position < slice->sequence; position++) {
            YK_TRY(yk_inference_get_logits(outputs->inference, sample, position, outputs->row));
            YK_TRY(yk_safetensors_writer_append_bytes(outputs->writer, outputs->row,
                                                      (size_t)V * sizeof *outputs->row));
        }
    }
    return yk_safetensors_writer_finish(outputs->writer, NULL);
}

static yk_status write_outputs(const struct evaluation *evaluation,
                               const struct yk_sampler *sampler, struct logits *outputs)
{
    const struct yk_parameter_store *store = evaluation->loaded.store;
    const int64_t V = yk_model_config_target_vocabulary_size(store->net->config);
    const int64_t samples =
        yk_number_min(evaluation->request->output_samples, sampler->epoch_units);
    const struct yk_sample_slice *slice = &outputs->slice;
    YK_TRY(fetch_samples(sampler, samples, V, evaluation->loaded.arena, outputs));
    const struct yk_inference_shape shape = {.samples = slice->samples,
                                             .sequence = slice->sequence};
    YK_TRY(yk_inference_create(store, &shape, &outputs->inference));
    const struct yk_model_config *config = store->net->config;
    struct yk_loss_sums sums = {0};
    /* Without a decoder, the encoder is all there is. */
    YK_TRY(slice->pixels ? yk_inference_sum_losses(outputs->inference, slice, &sums)
                         : yk_inference_encode(outputs->inference, slice->tokens, slice->lengths,
                                               slice->samples, slice->sequence));
    YK_TRY(yk_safetensors_writer_create(evaluation->request->outputs, &outputs->writer));
    YK_TRY(declare(outputs, config, V));
    return write_rows(outputs, config, V);
}

/* Writes "logits" (samples, sequence, V) in fp32 into a safetensors file, and what they are for:
 * "tokens" (samples, sequence), of which the first "lengths" (samples) count. Fewer samples than
 * requested where the text has fewer. Of images: "pixels" (samples, channels, height, width),
 * "labels" (samples) and "logits" (samples, classes). */
static yk_status write_logits(const struct evaluation *evaluation)
{
    const struct yk_net *net = evaluation->loaded.store->net;
    const struct yk_sampler_options cut = {.sequence = net->workload.sequence};
    struct logits outputs = {0};
    struct yk_sampler *sampler = NULL;
    if (net->config->encoder_layers > 0) {
        return yk_fail(YK_ERROR_USAGE, "--outputs: what a model says that translates depends on "
                                       "what it has said before; see yoke translate");
    }
    YK_TRY(yk_dataset_create_evaluation_sampler(evaluation->dataset, &cut, true, &sampler));
    const yk_status status = write_outputs(evaluation, sampler, &outputs);
    yk_inference_destroy(outputs.inference);
    yk_safetensors_writer_destroy(outputs.writer);
    yk_sampler_destroy(sampler);
    return status;
}

static void note_pass(void *user, double began_s, double done_s)
{
    yk_counter_recorder_add_layer_pass(user, YK_COUNTER_STEP_PHASE_FORWARD, NULL, began_s, done_s);
}

static yk_status open_counters(struct evaluation *evaluation)
{
    struct yk_device_choice device = {0};
    if (!evaluation->request->counters) {
        return YK_OK;
    }
    YK_TRY(yk_device_resolve_option(evaluation->request->model.device, &device));
    return yk_device_counters_open_recorder(&device, &evaluation->recorder);
}

static yk_status open_data(struct evaluation *evaluation)
{
    const struct yk_eval_request *request = evaluation->request;
    const struct yk_loaded_model *loaded = &evaluation->loaded;
    const struct yk_model_dataset_trained_model known = {
        .model = loaded->checkpoint->path,
        .tokenizer = loaded->tokenizer,
        .config = loaded->checkpoint->config,
    };
    enum yk_dataset_kind kind = YK_DATASET_TEXT_WINDOWS;
    YK_TRY(yk_chat_options_read_variables(&request->chat, &evaluation->chat_variables));
    YK_TRY(yk_chat_options_apply_template(&request->chat, loaded->checkpoint->tokenizer));
    YK_TRY(yk_model_dataset_detect_kind(known.config, request->data, &kind));
    const struct yk_dataset_request data = {
        .kind = kind,
        .path = request->data,
        .target_path = request->target,
        .part = request->data_fraction,
        .longest = kind == YK_DATASET_SENTENCE_PAIRS ? known.config->positions
                                                     : loaded->model->workload.sequence,
        .skip_faulty = request->skip_faulty,
        .chat_variables = evaluation->chat_variables,
        .packed = false,
        .images = &loaded->checkpoint->images,
    };
    return yk_model_dataset_open_for_trained_model(&data, &known, &evaluation->dataset);
}

static yk_status measure_loss(struct evaluation *evaluation)
{
    const struct yk_workload *workload = &evaluation->loaded.model->workload;
    struct yk_eval_result *result = evaluation->result;
    const struct yk_sampler_options cut = {
        .sequence = workload->sequence,
        .slice_rows = workload->batch * workload->sequence,
    };
    const struct yk_evaluation_options how = {
        .batch = workload->batch,
        .samples = evaluation->request->samples,
        .ran = evaluation->recorder ? note_pass : NULL,
        .user = evaluation->recorder,
    };
    struct yk_sampler *sampler = NULL;
    struct yk_evaluation_result evaluated = {0};
    const struct yk_model_config *config = evaluation->loaded.store->net->config;
    result->classes = config->classifier ? config->vocabulary : 0;
    YK_TRY(yk_dataset_create_evaluation_sampler(evaluation->dataset, &cut, true, &sampler));
    yk_status status =
        evaluation->recorder ? yk_counter_recorder_start(evaluation->recorder) : YK_OK;
    YK_IF_OK(yk_evaluate_on_this_rank(evaluation->loaded.store, sampler, &how, &evaluated));
    yk_sampler_destroy(sampler);
    result->loss = evaluated.loss;
    result->tokens = evaluated.tokens;
    result->accuracy = evaluated.accuracy;
    result->top5_accuracy = evaluated.top5_accuracy;
    result->perplexity = exp(result->loss);
    return status;
}

static yk_status read_counters(struct evaluation *evaluation)
{
    struct yk_eval_result *result = evaluation->result;
    if (!evaluation->recorder) {
        return YK_OK;
    }
    yk_counter_recorder_stop(evaluation->recorder);
    YK_TRY_NEW(result->arena, result->counters.all, 1);
    YK_TRY(yk_counter_recorder_compute_averages(evaluation->recorder, NAN, result->arena,
                                                result->counters.all));
    const char *device = evaluation->loaded.context.backend->name;
    result->counters.count = 1;
    return yk_arena_strdup(result->arena, device, &result->counters.all->device);
}

static yk_status evaluate(struct evaluation *evaluation)
{
    const struct yk_eval_request *request = evaluation->request;
    struct yk_eval_result *result = evaluation->result;
    YK_TRY(yk_arena_create(&result->arena));
    YK_TRY(open_counters(evaluation));
    YK_TRY(yk_loaded_model_open(&request->model, &evaluation->loaded));
    const struct yk_checkpoint *checkpoint = evaluation->loaded.checkpoint;
    result->step = checkpoint->state.step;
    YK_TRY(yk_arena_strdup(result->arena, checkpoint->path, &result->checkpoint));
    YK_TRY(open_data(evaluation));
    YK_TRY(measure_loss(evaluation));
    YK_TRY(read_counters(evaluation));
    if (request->outputs) {
        yk_output_files_drop_added_on_failure(&result->outputs, write_logits(evaluation));
    }
    return isfinite(result->loss)
               ? YK_OK
               : yk_fail(YK_ERROR_NUMBERS,
                         "%s: the loss is not a number; its weights have gone bad",
                         result->checkpoint);
}

yk_status yk_eval_run(const struct yk_eval_request *request, struct yk_eval_result *out)
{
    struct evaluation evaluation = {.request = request, .result = out};
    const yk_status status = evaluate(&evaluation);
    yk_dataset_close(evaluation.dataset);
    yk_json_destroy(evaluation.chat_variables);
    yk_counter_recorder_close(evaluation.recorder);
    yk_loaded_model_close(&evaluation.loaded);
    return status;
}

void yk_eval_result_free(struct yk_eval_result *result)
{
    yk_output_files_free(&result->outputs);
    yk_arena_destroy(result->arena);
    *result = (struct yk_eval_result){0};
}

yk_status yk_eval_write_json(const struct yk_eval_result *result, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_yoke_document(&json, "evaluation");
    yk_json_write_string(&json, "checkpoint", result->checkpoint);
    yk_json_write_integer(&json, "step", result->step);
    yk_json_write_number(&json, "loss", result->loss);
    if (result->classes > 0) {
        yk_json_write_number(&json, "accuracy", result->accuracy);
        yk_json_write_number(&json, "top5_accuracy", result->top5_accuracy);
        yk_json_write_integer(&json, "classes", result->classes);
        yk_json_write_integer(&json, "images", result->tokens);
    } else {
        yk_json_write_number(&json, "perplexity", result->perplexity);
        yk_json_write_integer(&json, "tokens", result->tokens);
    }
    if (result->counters.count > 0) {
        yk_json_write_key(&json, "counters");
        yk_counters_file_write_averages_json(&result->counters, out);
    }
    return yk_json_write_end_yoke_document(&json);
}
