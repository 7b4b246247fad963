#include "job/models/eval.h"

#include "base/json_write.h"
#include "job/counters.h"
#include "job/model_data.h"
#include "job/models/eval_outputs.h"
#include "train/run.h"

#include <math.h>
#include <string.h>

/* An evaluation under way. Starts as {0}. */
struct evaluation {
    const struct yk_eval_request *request;
    struct yk_eval_result *result;
    struct yk_loaded_model loaded;
    struct yk_dataset *dataset;
    struct yk_counter_recorder *gauge; /* NULL: no counters */
};

static void note_pass(void *user, double began_s, double done_s)
{
    yk_counter_recorder_add_pass(user, YK_COUNTER_PHASE_FORWARD, NULL, began_s, done_s);
}

static yk_status open_gauge(struct evaluation *evaluation)
{
    struct yk_device_choice device = {0};
    if (!evaluation->request->counters) {
        return YK_OK;
    }
    YK_TRY(yk_device_choose(evaluation->request->model.device, &device));
    return yk_counters_open(&device, &evaluation->gauge);
}

static yk_status open_data(struct evaluation *evaluation)
{
    const struct yk_eval_request *request = evaluation->request;
    const struct yk_loaded_model *loaded = &evaluation->loaded;
    const struct yk_model_data_model known = {
        .model = loaded->checkpoint->path,
        .tokenizer = loaded->tokenizer,
        .config = loaded->checkpoint->config,
    };
    enum yk_dataset_kind kind = YK_DATASET_WINDOWS;
    YK_TRY(yk_model_data_kind(known.config, request->data, &kind));
    const struct yk_dataset_request data = {
        .kind = kind,
        .path = request->data,
        .target_path = request->target,
        .part = request->data_part,
        .longest =
            kind == YK_DATASET_PAIRS ? known.config->positions : loaded->model->workload.sequence,
        .skip_faulty = request->skip_faulty,
        .packed = false,
    };
    return yk_model_data_open(&data, &known, &evaluation->dataset);
}

static yk_status measure_loss(struct evaluation *evaluation)
{
    const struct yk_workload *workload = &evaluation->loaded.model->workload;
    struct yk_eval_result *result = evaluation->result;
    const struct yk_dataset_sampler_options cut = {
        .sequence = workload->sequence,
        .piece_rows = workload->batch * workload->sequence,
    };
    const struct yk_run_evaluation how = {
        .batch = workload->batch,
        .samples = evaluation->request->samples,
        .ran = evaluation->gauge ? note_pass : NULL,
        .user = evaluation->gauge,
    };
    struct yk_sampler *sampler = NULL;
    YK_TRY(yk_dataset_create_sequential_sampler(evaluation->dataset, &cut, true, &sampler));
    yk_status status = evaluation->gauge ? yk_counter_recorder_start(evaluation->gauge) : YK_OK;
    if (status == YK_OK) {
        status = yk_run_evaluate(evaluation->loaded.store, sampler, &how, &result->loss,
                                 &result->tokens);
    }
    yk_sampler_destroy(sampler);
    result->perplexity = exp(result->loss);
    return status;
}

static yk_status read_counters(struct evaluation *evaluation)
{
    struct yk_eval_result *result = evaluation->result;
    if (!evaluation->gauge) {
        return YK_OK;
    }
    yk_counter_recorder_stop(evaluation->gauge);
    YK_TRY_NEW(result->arena, result->counters.all, 1);
    YK_TRY(yk_counter_recorder_report(evaluation->gauge, NAN, result->arena, result->counters.all));
    const char *device = evaluation->loaded.engine.backend->name;
    result->counters.all->device = yk_arena_copy_text(result->arena, device, strlen(device));
    result->counters.count = 1;
    return result->counters.all->device ? YK_OK : yk_fail_out_of_memory();
}

static yk_status evaluate(struct evaluation *evaluation)
{
    const struct yk_eval_request *request = evaluation->request;
    struct yk_eval_result *result = evaluation->result;
    YK_TRY(yk_arena_create(&result->arena));
    YK_TRY(open_gauge(evaluation));
    YK_TRY(yk_loaded_model_open(&request->model, &evaluation->loaded));
    const struct yk_checkpoint *checkpoint = evaluation->loaded.checkpoint;
    result->step = checkpoint->state.step;
    result->checkpoint =
        yk_arena_copy_text(result->arena, checkpoint->path, strlen(checkpoint->path));
    if (!result->checkpoint) {
        return yk_fail_out_of_memory();
    }
    YK_TRY(open_data(evaluation));
    YK_TRY(measure_loss(evaluation));
    YK_TRY(read_counters(evaluation));
    if (request->outputs) {
        yk_outputs_finish(&result->outputs,
                          yk_eval_write_outputs(evaluation->loaded.store, evaluation->dataset,
                                                request->output_samples, request->outputs));
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
    yk_counter_recorder_close(evaluation.gauge);
    yk_loaded_model_close(&evaluation.loaded);
    return status;
}

void yk_eval_result_free(struct yk_eval_result *result)
{
    yk_outputs_free(&result->outputs);
    yk_arena_destroy(result->arena);
    *result = (struct yk_eval_result){0};
}

yk_status yk_eval_write_json(const struct yk_eval_result *result, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_string(&json, "kind", "evaluation");
    yk_json_write_string(&json, "checkpoint", result->checkpoint);
    yk_json_write_integer(&json, "step", result->step);
    yk_json_write_number(&json, "loss", result->loss);
    yk_json_write_number(&json, "perplexity", result->perplexity);
    yk_json_write_integer(&json, "tokens", result->tokens);
    if (result->counters.count > 0) {
        yk_json_write_key(&json, "counters");
        yk_counters_file_write_averages(&result->counters, out);
    }
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}
