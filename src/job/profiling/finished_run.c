#include "job/profiling/finished_run.h"

#include "base/file.h"
#include "base/folder.h"
#include "job/profile_path.h"
#include "job/reporting/run_options.h"
#include "job/reporting/run_plan.h"
#include "measure/timings.h"
#include "report/run_metrics.h"
#include "report/run_summary.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

typedef yk_status (*taker)(struct yk_finished_run *run, const char *path,
                           const struct yk_text *text);

/* Whether the process that writes the folder still holds its lock. */
static bool is_running(const char *lock)
{
    const int descriptor = open(lock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        return false;
    }
    const bool held = flock(descriptor, LOCK_SH | LOCK_NB) != 0;
    (void)close(descriptor);
    return held;
}

static yk_status check(const struct yk_finished_run *run)
{
    const char *lock = NULL;
    if (!yk_folder_exists(run->folder)) {
        return yk_fail(YK_ERROR_INPUT, "%s is no folder of a run; name the --out of a yoke train",
                       run->folder);
    }
    YK_TRY(yk_folder_path(run->folder, "lock", run->arena, &lock));
    if (is_running(lock)) {
        return yk_fail(YK_ERROR_INPUT, "%s is still being trained; calibrate when that has ended",
                       run->folder);
    }
    if (!yk_folder_has(run->folder, "plan.json")) {
        return yk_fail(YK_ERROR_INPUT, "%s holds no run: it has no plan.json", run->folder);
    }
    if (!yk_folder_has(run->folder, "summary.json")) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s has no summary.json: its training was cut off; go on with: yoke train "
                       "--resume --out %s",
                       run->folder, run->folder);
    }
    if (!yk_folder_has(run->folder, "op-times.json")) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s has no op-times.json: it took too few steps to tell what its ops take; "
                       "train for ten or more",
                       run->folder);
    }
    return YK_OK;
}

static yk_status read_file(struct yk_finished_run *run, const char *name, taker take)
{
    struct yk_text text = {0};
    const char *path = NULL;
    YK_TRY(yk_folder_path(run->folder, name, run->arena, &path));
    yk_status status = yk_file_read_limited(path, YK_FILE_RECORD_BYTES, &text);
    if (status == YK_OK) {
        status = take(run, path, &text);
    }
    yk_text_free(&text);
    return status;
}

static yk_status take_times(struct yk_finished_run *run, const char *path,
                            const struct yk_text *text)
{
    return yk_op_times_read(yk_text_chars(text), text->length, path, run->arena, &run->spent);
}

/* The median of the steps by the plan that the run ended with. */
static yk_status find_step(const struct yk_run_metrics *metrics, struct yk_arena *arena,
                           double *out_s)
{
    const int32_t changes = metrics->rebalancing_count;
    const int64_t after = changes > 0 ? metrics->rebalancings[changes - 1].step : 0;
    double *seconds = NULL;
    int32_t count = 0;
    YK_TRY_NEW(arena, seconds, (int64_t)metrics->step_count + 1);
    for (int32_t i = 0; i < metrics->step_count; i++) {
        if (metrics->steps[i].step > after && metrics->steps[i].seconds > 0) {
            seconds[count++] = metrics->steps[i].seconds;
        }
    }
    *out_s = yk_timings_median(seconds, count);
    return YK_OK;
}

static yk_status take_metrics(struct yk_finished_run *run, const char *path,
                              const struct yk_text *text)
{
    struct yk_run_metrics metrics = {0};
    YK_TRY(yk_run_metrics_read(yk_text_chars(text), text->length, path, run->arena, &metrics));
    YK_TRY(find_step(&metrics, run->arena, &run->measured_step_s));
    return run->measured_step_s > 0 ? YK_OK : yk_fail(YK_ERROR_INPUT, "%s: there is no step", path);
}

static yk_status take_summary(struct yk_finished_run *run, const char *path,
                              const struct yk_text *text)
{
    struct yk_run_summary summary = {.predicted_step_s = NAN};
    YK_TRY(yk_run_summary_read(yk_text_chars(text), text->length, path, run->arena, &summary));
    run->predicted_step_s = summary.predicted_step_s;
    return YK_OK;
}

/* Another program than the plan's own was drawn by --shuffle. */
static yk_status take_settings(struct yk_finished_run *run, const char *path,
                               const struct yk_text *text)
{
    const struct yk_run_report_setting *settings = NULL;
    int32_t count = 0;
    YK_TRY(yk_run_options_read(yk_text_chars(text), text->length, path, run->arena, &settings,
                               &count));
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(settings[i].name, "shuffle") == 0) {
            run->shuffle = strtoull(settings[i].value, NULL, 10); /* 0 of what is no number */
        }
    }
    return YK_OK;
}

/* The profile that is to be calibrated. */
static yk_status find_profile(struct yk_finished_run *run, const struct yk_plan_sources *sources)
{
    if (run->profile && strcmp(run->profile, "none") == 0) {
        return yk_fail(YK_ERROR_USAGE,
                       "--profile none: there is nothing to calibrate; name a file");
    }
    const char *named = run->profile ? run->profile : sources->profile;
    run->is_usual = !named;
    YK_TRY(yk_profile_path_resolve_output(named, run->arena, &run->profile));
    run->has_profile = access(run->profile, F_OK) == 0;
    if (run->has_profile && run->writes) {
        struct yk_profile *profile = NULL;
        YK_TRY(yk_profile_path_create(run->profile, run->profile, &profile));
        yk_profile_close(profile);
    }
    return YK_OK;
}

static yk_status examine(struct yk_finished_run *run, struct yk_planner_outcome **out)
{
    struct yk_planner_outcome *planned = NULL;
    YK_TRY(yk_planner_examine(&run->planning.request, run->plan, false, &planned));
    const yk_status status = run->shuffle > 0 ? yk_planner_shuffle(planned, run->shuffle) : YK_OK;
    if (status != YK_OK) {
        yk_planner_outcome_destroy(planned);
        return status;
    }
    *out = planned;
    return YK_OK;
}

/* --rebalance gave ranks other samples than the plan's file says. */
static yk_status follow_shares(struct yk_finished_run *run)
{
    double *shares = NULL;
    YK_TRY_NEW(run->arena, shares, (int64_t)run->spent.rank_count + 1);
    for (int32_t r = 0; r < run->spent.rank_count; r++) {
        shares[r] = (double)run->spent.ranks[r].share;
    }
    return yk_run_plan_with_shares(run->plan, run->planning.request.config, shares,
                                   run->spent.rank_count, run->arena, &run->plan);
}

static yk_status take_plan(struct yk_finished_run *run, const char *path,
                           const struct yk_text *text)
{
    struct yk_planning_request request = {.any_profile = true};
    struct yk_plan_sources sources;
    YK_TRY(yk_plan_file_sources(yk_text_chars(text), text->length, path, run->arena, &sources));
    YK_TRY(find_profile(run, &sources));
    request.profile = run->has_profile ? run->profile : "none";
    if (yk_folder_has(run->folder, "config.json")) {
        YK_TRY(yk_folder_path(run->folder, "config.json", run->arena, &request.model));
    }
    YK_TRY(yk_planning_open_plan(path, &request, &run->planning, &run->plan));
    YK_TRY(follow_shares(run));
    return examine(run, &run->planned);
}

yk_status yk_finished_run_open(const char *folder, const char *profile, bool writes,
                               struct yk_finished_run *out)
{
    out->writes = writes;
    out->folder = folder;
    out->profile = profile;
    YK_TRY(yk_arena_create(&out->arena));
    YK_TRY(check(out));
    YK_TRY(read_file(out, "op-times.json", take_times));
    YK_TRY(read_file(out, "metrics.jsonl", take_metrics));
    YK_TRY(read_file(out, "summary.json", take_summary));
    YK_TRY(read_file(out, "run.json", take_settings));
    return read_file(out, "plan.json", take_plan);
}

void yk_finished_run_close(struct yk_finished_run *run)
{
    yk_planner_outcome_destroy(run->planned);
    yk_planning_close(&run->planning);
    yk_arena_destroy(run->arena);
    *run = (struct yk_finished_run){0};
}

yk_status yk_finished_run_predict(struct yk_finished_run *run, struct yk_profile *profile,
                                  double *out_s)
{
    struct yk_planner_outcome *planned = NULL;
    struct yk_profile *own = run->planning.book.profile;
    run->planning.book.profile = profile;
    const yk_status status = examine(run, &planned);
    run->planning.book.profile = own;
    if (status == YK_OK) {
        *out_s = planned->trial.step_s;
    }
    yk_planner_outcome_destroy(planned);
    return status;
}
