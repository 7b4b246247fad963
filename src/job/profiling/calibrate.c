#include "job/profiling/calibrate.h"

#include "base/log.h"
#include "base/units.h"
#include "job/profile_path.h"
#include "job/profiling/finished_run.h"
#include "measure/calibration.h"

#include <math.h>
#include <string.h>

/* Two predictions that differ by less are the same. */
static const double same_part = 0.001;

/* Further from the measured step, what ops took does not explain it. */
static const double odd_part = 0.1;

static yk_status copy_layer(void *user, const struct yk_profile_layer_row *row)
{
    return yk_profile_add_layer(user, &row->layer, row->batch, &row->measurement);
}

static yk_status copy_link(void *user, const struct yk_profile_link_row *row)
{
    return yk_profile_add_link(user, &row->link, row->bytes, &row->measurement);
}

static yk_status copy_fact(void *user, const struct yk_profile_fact_row *row)
{
    return yk_profile_add_fact(user, &row->fact, &row->measurement);
}

static yk_status copy(struct yk_profile *from, struct yk_profile *to)
{
    YK_TRY(yk_profile_begin(to));
    YK_TRY(yk_profile_visit_layers(from, copy_layer, to));
    YK_TRY(yk_profile_visit_links(from, copy_link, to));
    YK_TRY(yk_profile_visit_facts(from, copy_fact, to));
    return yk_profile_commit(to);
}

/* What would be predicted afterwards, tried on a copy of the profile that is nowhere but in memory.
 */
static yk_status predict(struct yk_finished_run *run, const struct yk_calibration *calibration,
                         double *out_s)
{
    struct yk_profile *tried = NULL;
    YK_TRY(yk_profile_create(":memory:", &tried));
    yk_status status = run->planning.profile ? copy(run->planning.profile, tried) : YK_OK;
    if (status == YK_OK) {
        status = yk_calibration_save(calibration, tried);
    }
    if (status == YK_OK) {
        status = yk_finished_run_predict(run, tried, out_s);
    }
    yk_profile_close(tried);
    return status;
}

static yk_status keep(const struct yk_finished_run *run, const struct yk_calibration *calibration)
{
    struct yk_profile *profile = NULL;
    YK_TRY(yk_profile_path_create(run->is_usual ? NULL : run->profile, run->profile, &profile));
    const yk_status status = yk_calibration_save(calibration, profile);
    yk_profile_close(profile);
    return status;
}

static void note_changes(const struct yk_finished_run *run)
{
    const double now_s = run->planned->trial.step_s;
    if (fabs(now_s - run->predicted_step_s) > same_part * now_s) {
        char then[YK_UNITS_SIZE];
        yk_units_format(run->predicted_step_s, YK_UNIT_SECONDS, then);
        yk_log(YK_LOG_NOTE,
               "the run was planned with other times, which predicted %s a step; what is shown as "
               "predicted is by %s",
               then, run->has_profile ? run->profile : "datasheets");
    }
}

static void note_rest(const struct yk_calibrate_result *result)
{
    const double measured_s = result->measured_step_s;
    if (fabs(result->calibrated_step_s - measured_s) > odd_part * measured_s) {
        yk_log(YK_LOG_WARNING,
               "what ops took in the median does not add up to the median step: many steps were "
               "disturbed, each elsewhere; train for longer with nothing else on the machine");
    }
}

/* NULL stays NULL. */
static yk_status copy_text(const char *text, struct yk_arena *arena, const char **out)
{
    *out = text ? yk_arena_copy_text(arena, text, strlen(text)) : NULL;
    return *out || !text ? YK_OK : yk_fail_out_of_memory();
}

static yk_status take_op(const struct yk_calibration_class *sort, struct yk_arena *arena,
                         struct yk_calibrate_op *out)
{
    *out = (struct yk_calibrate_op){
        .op = yk_op_kind_name(sort->kind),
        .size = sort->kind == YK_OP_UPDATE ? -1 : sort->size,
        .ranks = sort->ranks,
        .times = sort->times,
        .predicted_s = sort->predicted_s,
        .measured_s = sort->measured_s,
        .difference_s = sort->difference_s,
        .alone_s = sort->alone_s,
        .spread = sort->spread,
    };
    YK_TRY(copy_text(sort->on, arena, &out->on));
    YK_TRY(copy_text(sort->layer, arena, &out->layer));
    return copy_text(sort->shape, arena, &out->shape);
}

/* What was found, apart from the run that it was found in. */
static yk_status take_result(const struct yk_finished_run *run,
                             const struct yk_calibration *calibration,
                             struct yk_calibrate_result *out)
{
    out->steps = run->spent.steps;
    out->ranks = run->spent.rank_count;
    out->measured_step_s = run->measured_step_s;
    out->predicted_step_s = run->planned->trial.step_s;
    out->compute_slowdown = calibration->compute_slowdown;
    out->message_slowdown = calibration->message_slowdown;
    out->estimated_compute = calibration->estimated_compute;
    out->estimated_message = calibration->estimated_message;
    out->layer_count = calibration->rows.layer_count;
    out->link_count = calibration->rows.link_count;
    out->left = calibration->left;
    YK_TRY(copy_text(run->folder, out->arena, &out->run));
    YK_TRY(copy_text(run->profile, out->arena, &out->profile));
    YK_TRY_NEW(out->arena, out->ops, (int64_t)calibration->class_count + 1);
    for (; out->op_count < calibration->class_count; out->op_count++) {
        YK_TRY(take_op(&calibration->classes[out->op_count], out->arena, &out->ops[out->op_count]));
    }
    return YK_OK;
}

static yk_status calibrate(const struct yk_calibrate_request *request, struct yk_finished_run *run,
                           struct yk_calibration *calibration, struct yk_calibrate_result *out)
{
    YK_TRY(yk_finished_run_open(request->run, request->profile, !request->dry_run, run));
    const struct yk_calibration_request wish = {
        .program = run->planned->trial.program,
        .sim = run->planned->trial.sim,
        .book = &run->planning.book,
        .spent = &run->spent,
    };
    const yk_status status = yk_calibration_compute(&wish, run->arena, calibration);
    if (status != YK_OK) {
        return yk_fail_in(status, request->run);
    }
    YK_TRY(take_result(run, calibration, out));
    YK_TRY(predict(run, calibration, &out->calibrated_step_s));
    note_changes(run);
    note_rest(out);
    if (!request->dry_run) {
        YK_TRY(keep(run, calibration));
        out->written = true;
    }
    return YK_OK;
}

yk_status yk_calibrate_run(const struct yk_calibrate_request *request,
                           struct yk_calibrate_result *out)
{
    struct yk_finished_run run = {0};
    struct yk_calibration calibration = {0};
    YK_TRY(yk_arena_create(&out->arena));
    const yk_status status = calibrate(request, &run, &calibration, out);
    yk_calibration_free(&calibration);
    yk_finished_run_close(&run);
    return status;
}

void yk_calibrate_result_free(struct yk_calibrate_result *result)
{
    yk_arena_destroy(result->arena);
    *result = (struct yk_calibrate_result){0};
}
