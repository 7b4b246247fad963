#include "job/profiling/profile_job.h"
#include "job/rank.h"
#include "library/library.h"

#include <math.h>

enum {
    USUAL_BATCH = 8,
};

#define USUAL_SECONDS 20.0

static yk_status check(const struct yoke_profile_request *request)
{
    if (!request->model) {
        return yk_fail(YK_ERROR_USAGE, "the model to measure must not be NULL");
    }
    if (request->batch < 0 || request->sequence < 0 || request->target_sequence < 0 ||
        request->lora_rank < 0) {
        return yk_fail(YK_ERROR_USAGE, "a batch, sequences and a rank of adapters are 0 or more");
    }
    if (!(request->seconds >= 0) || !isfinite(request->seconds)) {
        return yk_fail(YK_ERROR_USAGE, "measuring takes 0 seconds or more, not %g",
                       request->seconds);
    }
    return YK_OK;
}

static yk_status measure(const struct yoke_profile_request *request, struct yk_text *out)
{
    static const struct yk_rank_options environment = {.rank = -1};
    struct yk_launcher launcher;
    struct yk_profile_job_result result = {0};
    const struct yk_job_callbacks job = {
        .user = request->progress_user,
        .progress = request->progress,
        .stop = request->stop ? &request->stop->raised : NULL,
    };
    const struct yk_profile_job_request asked = {
        .model = request->model,
        .workload =
            {
                .batch = request->batch > 0 ? request->batch : USUAL_BATCH,
                .sequence = request->sequence,
                .target_sequence = request->target_sequence,
                .precision = request->precision,
                .lora_rank = request->lora_rank,
                .nf4 = request->nf4,
            },
        .device = request->device,
        .wire = "auto",
        .seconds = request->seconds > 0 ? request->seconds : USUAL_SECONDS,
        .again = request->again,
        .profile = request->profile,
        .launcher = &launcher,
        .job = &job,
    };
    YK_TRY(check(request));
    YK_TRY(yk_rank_detect(&environment, &launcher));
    YK_TRY(yk_profile_job_check_request(&asked, launcher.size));
    yk_status status = yk_profile_job_run(&asked, &result);
    if (status == YK_OK && result.rank == 0) {
        status = yk_profile_job_write_json(&result, out);
    }
    yk_profile_job_result_free(&result);
    return status;
}

yoke_status yoke_profile_measure(const struct yoke_profile_request *request, char **out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(request);
    struct yk_text text = {0};
    const yk_status status = measure(request, &text);
    if (!out || (status == YK_OK && text.length == 0)) {
        if (out) {
            *out = NULL;
        }
        yk_text_free(&text);
        return yk_library_to_public_status(status);
    }
    return yk_library_return_text_or_free(status, &text, out);
}
