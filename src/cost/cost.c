#include "cost/cost.h"

#include "base/log.h"
#include "cost/measured.h"
#include "cost/profiled.h"
#include "cost/subject.h"
#include "cost/work.h"
#include "model/state.h"
#include "profile/profile.h"

#include <math.h>
#include <string.h>

/* The program, its libraries and Open MPI's: 20 to 24 MiB resident beyond what is trained, in ranks
 * of small models; one rank alone has 14. */
static const double cpu_context_bytes = 24.0 * 1024 * 1024;

/* What PyTorch 2.11 with CUDA 13 and cuBLAS holds on an H200 beyond its tensors: 693 MiB. Smaller
 * devices, with fewer multiprocessors to keep state for, hold less. */
static const double gpu_context_bytes = 0.7 * 1024 * 1024 * 1024;

/* A part that somebody writes down need not be one that there is: a GPU of 132 multiprocessors has
 * no 14 %, but 13.6. What is this near is taken for it. */
static const double same_part = 0.01;
static const double rounding = 0.0005; /* of a part in words: 69.7 % */

yk_status yk_cost_layer(const struct yk_cost_book *book, int32_t device,
                        const struct yk_model *model, const struct yk_layer *layer,
                        enum yk_cost_pass pass, struct yk_cost_time *out)
{
    const struct yk_device *on = &book->cluster->devices[device];
    const struct yk_work_list *works = yk_cost_works(layer, pass);
    struct yk_cost_time time = {0};
    bool found = false;
    YK_TRY(yk_profiled_find(book, on, model, layer, pass, &time, &found));
    if (!found && !yk_measured_find(on, model, layer, pass, &time)) {
        time = (struct yk_cost_time){0, YK_COST_DATASHEET, YK_EFFICIENCY_MOST_PERCENT / 100.0};
        for (int32_t i = 0; i < works->count; i++) {
            time.seconds += yk_cost_work(on, book->efficiencies, &works->items[i]);
        }
    }
    *out = time;
    return YK_OK;
}

double yk_cost_state_bytes(const struct yk_model *model, const struct yk_layer *layer)
{
    const struct yk_layer_state state = yk_layer_state(model, layer);
    return state.weight_bytes + state.gradient_bytes + state.optimizer_bytes;
}

double yk_cost_context_bytes(const struct yk_device *device)
{
    return device->context_bytes > 0 ? device->context_bytes
           : device->is_cpu          ? cpu_context_bytes
                                     : gpu_context_bytes;
}

static yk_status find_context(struct yk_profile *profile, const struct yk_device *device,
                              const char *model, double *out)
{
    char name[YK_SUBJECT_SIZE];
    struct yk_profile_fact fact = {name, YK_PROFILE_CONTEXT};
    *out = NAN;
    if (yk_subject_holding(device, model, name)) {
        YK_TRY(yk_profile_find_fact(profile, &fact, out));
    }
    if (isnan(*out) && yk_subject_device(device, name)) {
        YK_TRY(yk_profile_find_fact(profile, &fact, out));
    }
    return YK_OK;
}

static bool is_first_of_kind(const struct yk_cluster *cluster, int32_t device)
{
    const struct yk_device *devices = cluster->devices;
    for (int32_t i = 0; i < device; i++) {
        if (devices[i].part == devices[device].part && devices[i].type &&
            strcmp(devices[i].type, devices[device].type) == 0) {
            return false;
        }
    }
    return true;
}

static yk_status settle_part(struct yk_profile *profile, struct yk_cluster *cluster, int32_t number)
{
    const struct yk_device *device = &cluster->devices[number];
    char name[YK_SUBJECT_SIZE];
    double part = NAN;
    if (device->is_cpu || !yk_subject_kind(device, name)) {
        return YK_OK;
    }
    YK_TRY(yk_profile_find_part(profile, name, device->part, same_part, &part));
    if (isnan(part) || part == device->part) {
        return YK_OK;
    }
    yk_cluster_set_measured_part(cluster, number, part);
    if (fabs(part - device->part) > rounding && is_first_of_kind(cluster, number)) {
        yk_log(YK_LOG_NOTE, "%.3g%% of %s: as measured on %.3g%% of it", 100 * device->part, name,
               100 * part);
    }
    return YK_OK;
}

/* NAN where it is not known. */
static yk_status find_of_device(struct yk_profile *profile, const struct yk_device *device,
                                const char *what, double *out)
{
    char name[YK_SUBJECT_SIZE];
    const struct yk_profile_fact fact = {name, what};
    *out = NAN;
    return yk_subject_device(device, name) ? yk_profile_find_fact(profile, &fact, out) : YK_OK;
}

static yk_status settle_slowdowns(struct yk_profile *profile, struct yk_cluster *cluster,
                                  int32_t number)
{
    const struct yk_device *device = &cluster->devices[number];
    double beside = NAN;
    double rested = NAN;
    YK_TRY(find_of_device(profile, device, YK_PROFILE_COMPUTE_BESIDE, &beside));
    YK_TRY(find_of_device(profile, device, YK_PROFILE_COMPUTE_RESTED, &rested));
    if (beside >= 1 && isfinite(beside)) {
        yk_cluster_set_beside(cluster, number, beside);
    }
    if (rested > 0 && rested <= 1) {
        yk_cluster_set_rested(cluster, number, rested);
    }
    return YK_OK;
}

static bool is_first_of_cores(const struct yk_cluster *cluster, int32_t device)
{
    for (int32_t i = 0; i < device; i++) {
        if (cluster->devices[i].is_cpu &&
            cluster->devices[i].cores == cluster->devices[device].cores) {
            return false;
        }
    }
    return true;
}

/* Says where the profile knows as many cores, but of another CPU. */
static yk_status note_other_cpu(struct yk_profile *profile, const struct yk_cluster *cluster,
                                int32_t number)
{
    const struct yk_device *device = &cluster->devices[number];
    char kind[YK_SUBJECT_SIZE];
    char cpu[YK_CPU_NAME_SIZE];
    bool other = false;
    if (!device->is_cpu || !is_first_of_cores(cluster, number) || !yk_subject_kind(device, kind)) {
        return YK_OK;
    }
    YK_TRY(yk_profile_find_other_cpu(profile, kind, &other, cpu));
    if (other && cpu[0]) {
        yk_log(YK_LOG_NOTE,
               "the profile has numbers for %s of another CPU, \"%s\", and this machine's is "
               "\"%s\": they are not used; yoke profile measures this one",
               kind, cpu, yk_profile_cpu(profile));
    } else if (other) {
        yk_log(YK_LOG_NOTE,
               "the profile has numbers for %s that do not say which CPU they are of, since an "
               "earlier yoke measured them: they are not used; yoke profile measures them again",
               kind);
    }
    return YK_OK;
}

yk_status yk_cost_settle(struct yk_profile *profile, const char *model, struct yk_cluster *cluster)
{
    for (int32_t i = 0; profile && i < cluster->device_count; i++) {
        double bytes = NAN;
        YK_TRY(note_other_cpu(profile, cluster, i));
        YK_TRY(settle_part(profile, cluster, i));
        YK_TRY(settle_slowdowns(profile, cluster, i));
        YK_TRY(find_context(profile, &cluster->devices[i], model, &bytes));
        if (bytes > 0 && isfinite(bytes)) {
            yk_cluster_set_context(cluster, i, bytes);
        }
    }
    return YK_OK;
}

const char *yk_cost_origin_name(enum yk_cost_origin origin)
{
    static const char *const names[YK_COST_ORIGINS] = {
        [YK_COST_MEASURED] = "measured",
        [YK_COST_INTERPOLATED] = "interpolated",
        [YK_COST_TABLE] = "table",
        [YK_COST_DATASHEET] = "datasheet",
    };
    return names[origin];
}

void yk_cost_describe_origin(enum yk_cost_origin origin, struct yk_text *out)
{
    switch (origin) {
    case YK_COST_MEASURED:
        yk_text_add(out, "measured on this machine");
        break;
    case YK_COST_INTERPOLATED:
        yk_text_add(out, "interpolated from what was measured on this machine");
        break;
    case YK_COST_TABLE:
        yk_text_add(out, "measured, says the cluster file");
        break;
    case YK_COST_DATASHEET:
    case YK_COST_ORIGINS:
    default:
        yk_text_addf(
            out, "datasheet with fitted efficiency, half within %d %%, nine tenths within %d %%",
            YK_EFFICIENCY_ERROR_PERCENT, YK_EFFICIENCY_MOST_PERCENT);
        break;
    }
}
