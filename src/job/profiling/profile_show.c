#include "job/profiling/profile_job.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

struct showing {
    const struct yk_profile_job_request *request;
    struct yk_arena *arena;
    const char **shapes; /* (precisions × layers) of the model that is named */
    struct yk_profile_report_request filter;
};

/* Adds the shapes of the model's layers, of which there are as many in any precision. */
static yk_status add_shapes(struct showing *showing, const struct yk_model_config *config,
                            const char *precision)
{
    struct yk_workload_request request = showing->request->workload;
    struct yk_workload workload;
    const struct yk_model *model = NULL;
    request.precision = precision;
    YK_TRY(yk_workload_from_request(&request, config, &workload));
    YK_TRY(yk_model_build(config, &workload, showing->arena, &model));
    if (!showing->shapes) {
        YK_TRY_NEW(showing->arena, showing->shapes, YK_PRECISION_COUNT * model->layer_count);
        showing->filter.shapes = showing->shapes;
    }
    for (int32_t l = 0; l < model->layer_count; l++) {
        showing->shapes[showing->filter.shape_count++] = model->layers[l].shape;
    }
    return YK_OK;
}

/* Whether a list of words with commas between them has this one. */
static bool list_contains(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; *at;) {
        const size_t here = strcspn(at, ",");
        if (here == length && strncmp(at, word, length) == 0) {
            return true;
        }
        at += here + (at[here] == ',' ? 1 : 0);
    }
    return false;
}

/* Layers of the model only, in the precisions that are named, or in any. */
static yk_status choose_layers(struct showing *showing)
{
    const struct yk_profile_job_request *request = showing->request;
    const struct yk_model_config *config = NULL;
    YK_TRY(yk_model_config_open(request->model, showing->arena, &config));
    for (int p = 0; p < YK_PRECISION_COUNT; p++) {
        const char *precision = yk_precision_name((enum yk_precision)p);
        if (!request->workload.precision || list_contains(request->workload.precision, precision)) {
            YK_TRY(add_shapes(showing, config, precision));
        }
    }
    showing->filter.sequence = request->workload.sequence;
    return showing->shapes ? YK_OK
                           : yk_fail(YK_ERROR_USAGE,
                                     "--precision %s: there is fp32, tf32, fp16, "
                                     "bf16",
                                     request->workload.precision);
}

static yk_status read_profile(const struct showing *showing, struct yk_profile_report *out)
{
    struct yk_profile *profile = NULL;
    const char *path = showing->filter.path;
    if (!showing->request->profile && access(path, F_OK) != 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "nothing has been measured yet: there is no %s; yoke profile --model MODEL "
                       "measures",
                       path);
    }
    YK_TRY(yk_profile_open_for_reading(path, &profile));
    const yk_status status = yk_profile_report_make(profile, &showing->filter, showing->arena, out);
    yk_profile_close(profile);
    return status;
}

yk_status yk_profile_show_run(const struct yk_profile_job_request *request,
                              struct yk_profile_show_result *out)
{
    struct showing showing = {.request = request};
    YK_TRY(yk_arena_create(&out->arena));
    showing.arena = out->arena;
    YK_TRY(yk_profile_job_resolve_output_path(request->profile, out->arena, &showing.filter.path));
    showing.filter.now = (int64_t)time(NULL);
    showing.filter.device =
        request->device && strcmp(request->device, "all") != 0 ? request->device : NULL;
    if (request->model) {
        YK_TRY(choose_layers(&showing));
    }
    return read_profile(&showing, &out->report);
}

void yk_profile_show_result_free(struct yk_profile_show_result *result)
{
    yk_arena_destroy(result->arena);
    *result = (struct yk_profile_show_result){0};
}
