#include "job/models/generate.h"
#include "job/models/eval.h"
#include "library/library.h"

#include <math.h>
#include <string.h>

enum {
    USUAL_BATCH = 16,
    USUAL_TOKENS = 200,
};

static yk_status read_model(const struct yoke_trained *model, struct yk_loaded_model_request *out)
{
    if (!model->path) {
        return yk_fail(YK_ERROR_USAGE, "the path of a trained model must not be NULL");
    }
    if (model->threads < 0) {
        return yk_fail(YK_ERROR_USAGE, "threads are 0 or more, not %d", (int)model->threads);
    }
    *out = (struct yk_loaded_model_request){
        .path = model->path,
        .weights = model->weights,
        .device = model->device,
        .threads = model->threads,
    };
    return YK_OK;
}

static yk_status check_evaluation(const struct yoke_evaluation_request *request)
{
    if (!request->data) {
        return yk_fail(YK_ERROR_USAGE, "the data to evaluate on must not be NULL");
    }
    if (!(request->data_part >= 0 && request->data_part <= 1)) {
        return yk_fail(YK_ERROR_USAGE, "a part of the data is 0 to 1, not %g", request->data_part);
    }
    if (request->samples < 0 || request->batch < 0 || request->sequence < 0) {
        return yk_fail(YK_ERROR_USAGE, "samples, a batch and a sequence are 0 or more");
    }
    return YK_OK;
}

static yk_status evaluate(const struct yoke_evaluation_request *request,
                          struct yoke_evaluation *out)
{
    struct yk_eval_result result = {0};
    struct yk_eval_request asked = {
        .data = request->data,
        .target = request->target,
        .data_fraction = request->data_part > 0 ? request->data_part : 1,
        .skip_faulty = request->skip_faulty,
        .samples = request->samples,
    };
    YK_TRY(check_evaluation(request));
    YK_TRY(read_model(&request->model, &asked.model));
    asked.model.batch = request->batch > 0 ? request->batch : USUAL_BATCH;
    asked.model.sequence = request->sequence;
    const yk_status status = yk_eval_run(&asked, &result);
    if (status == YK_OK) {
        *out = (struct yoke_evaluation){
            .loss = result.loss,
            .perplexity = result.perplexity,
            .tokens = result.tokens,
            .step = result.step,
        };
    }
    yk_eval_result_free(&result);
    return status;
}

yoke_status yoke_evaluate(const struct yoke_evaluation_request *request,
                          struct yoke_evaluation *out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(request, out);
    return yk_library_to_public_status(evaluate(request, out));
}

/* A text that is being generated. */
struct writing {
    const struct yoke_generation_request *request;
    struct yk_text text;
    struct yk_job_callbacks job;
    atomic_bool ended; /* by the callback or the stop flag of the caller */
};

static yk_status pass_text(void *user, const char *bytes, size_t length)
{
    struct writing *writing = user;
    const struct yoke_generation_request *request = writing->request;
    yk_text_add_bytes(&writing->text, bytes, length);
    if (request->text && !request->text(request->text_user, bytes, length)) {
        atomic_store(&writing->ended, true);
    }
    if (request->stop && atomic_load(&request->stop->raised)) {
        atomic_store(&writing->ended, true);
    }
    return yk_text_status(&writing->text);
}

static yk_status check_generation(const struct yoke_generation_request *request)
{
    if (!request->prompt) {
        return yk_fail(YK_ERROR_USAGE, "the prompt must not be NULL");
    }
    if (request->tokens < 0 || request->top_k < 0) {
        return yk_fail(YK_ERROR_USAGE, "tokens and top_k are 0 or more");
    }
    if (!(request->temperature >= 0) || !isfinite(request->temperature) ||
        !(request->top_p >= 0 && request->top_p <= 1)) {
        return yk_fail(YK_ERROR_USAGE, "a temperature is 0 or more, and top_p 0 to 1");
    }
    return YK_OK;
}

static yk_status generate(struct writing *writing)
{
    const struct yoke_generation_request *request = writing->request;
    struct yk_generate_result result = {0};
    struct yk_generate_request asked = {
        .prompt = request->prompt,
        .chat = request->chat,
        .tokens = request->tokens > 0 ? request->tokens : USUAL_TOKENS,
        .temperature = request->temperature,
        .top_k = request->top_k,
        .top_p = request->top_p > 0 ? request->top_p : 1,
        .seed = request->seed > 0 ? (int64_t)request->seed : 1,
        .text = pass_text,
        .user = writing,
        .job = &writing->job,
    };
    YK_TRY(check_generation(request));
    YK_TRY(read_model(&request->model, &asked.model));
    return yk_generate_run(&asked, &result);
}

yoke_status yoke_generate(const struct yoke_generation_request *request, char **out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(request);
    struct writing writing = {.request = request};
    atomic_init(&writing.ended, false);
    writing.job.stop = &writing.ended;
    const yk_status status = generate(&writing);
    if (!out) {
        yk_text_free(&writing.text);
        return yk_library_to_public_status(status);
    }
    return yk_library_return_text_or_free(status, &writing.text, out);
}
