#include "job/training/training.h"

#include "base/folder.h"
#include "base/system.h"
#include "comm/host_collective.h"
#include "job/reporting/run_report.h"
#include "trace/trace.h"
#include "train/op_timeline_log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Appends the counters of this rank in the format of counters.json; nothing without counters. */
static yk_status pack_counters(const struct yk_training *training, struct yk_text *out)
{
    const struct yk_planner_outcome *planned = training->plan.planned;
    const int32_t rank = yk_train_team_rank(&training->team);
    const int32_t device = planned->plan->ranks[rank].device;
    const double traced_s = training->run.trace ? training->run.traced_s : NAN;
    struct yk_counter_rank_data counters;
    if (!training->counter_recorder) {
        return YK_OK;
    }
    YK_TRY(yk_counter_recorder_compute_averages(training->counter_recorder, traced_s,
                                                training->arena, &counters));
    counters.device = planned->evaluation.program->cluster->devices[device].name;
    return yk_counters_file_write_json(&(struct yk_counter_run_data){&counters, 1}, out);
}

/* On rank 0: reads the counters that rank `rank` has packed. Its step began `offset_s` seconds
 * after that of rank 0. */
static yk_status unpack_counters(struct yk_training *training, int32_t rank, double offset_s,
                                 const char *bytes, size_t size)
{
    const int32_t count = training->plan.planned->plan->rank_count;
    struct yk_counter_run_data read = {0};
    char source[40];
    if (!training->counters.all) {
        YK_TRY_NEW(training->arena, training->counters.all, count);
    }
    (void)snprintf(source, sizeof source, "the counters of rank %d", (int)rank);
    YK_TRY(yk_counters_file_parse_json(bytes, size, source, training->arena, &read));
    if (read.count != 1) {
        return yk_fail(YK_ERROR_INPUT, "%s are those of %d ranks", source, (int)read.count);
    }
    for (int32_t i = 0; i < read.all[0].step.count; i++) {
        read.all[0].step.readings[i].begin_s += offset_s;
        read.all[0].step.readings[i].end_s += offset_s;
    }
    training->counters.all[rank] = read.all[0];
    training->counters.count = rank + 1;
    return YK_OK;
}

/* The header of the bytes that a rank sends; its counters and its trace follow. */
struct figures {
    double peak_bytes;
    double began_s;       /* start of the traced step, on rank 0's clock */
    size_t counters_size; /* bytes; 0: no counters */
};

static yk_status pack(const struct yk_training *training, struct yk_text *out)
{
    const struct yk_training_run *run = &training->run;
    struct yk_clock_offset clock = {0};
    if (!yk_train_team_is_single_rank(&training->team)) {
        YK_TRY(yk_host_collective_estimate_clock_offset(&training->team.ranks, &clock));
    }
    struct yk_text counters = {0};
    yk_status status = pack_counters(training, &counters);
    const struct figures figures = {run->device_bytes > 0 ? run->device_bytes
                                                          : yk_system_process_memory().peak_bytes,
                                    run->traced_s + clock.offset_s, counters.length};
    yk_text_add_bytes(out, (const char *)&figures, sizeof figures);
    yk_text_add_bytes(out, yk_text_chars(&counters), counters.length);
    YK_IF_OK(run->trace ? yk_trace_bytes_pack(run->trace, out) : yk_text_status(out));
    yk_text_free(&counters);
    return status;
}

/* Gathers the packed bytes of all ranks on rank 0, once `packed` has succeeded on all of them. On
 * other ranks `*out` stays NULL. Frees `own`. */
static yk_status gather(const struct yk_train_team *team, yk_status packed, struct yk_text *own,
                        struct yk_arena *arena, struct yk_host_collective_gathered_bytes **out)
{
    yk_status status = yk_train_team_combine_status(team, packed);
    if (status == YK_OK && !yk_train_team_is_single_rank(team)) {
        status =
            yk_host_collective_gather_on_rank0(&team->ranks, own->bytes, own->length, arena, out);
    } else if (status == YK_OK) {
        *out = yk_arena_allocate(arena, 1, sizeof **out);
        char *copy = yk_arena_copy_text(arena, own->bytes, own->length);
        status = *out && copy ? YK_OK : yk_fail_out_of_memory();
        if (status == YK_OK) {
            **out = (struct yk_host_collective_gathered_bytes){copy, own->length};
        }
    }
    yk_text_free(own);
    return status;
}

static yk_status unpack(struct yk_training *training,
                        const struct yk_host_collective_gathered_bytes *gathered,
                        struct yk_trace_merge_input *parts, struct yk_trace **traces)
{
    const int32_t count = training->plan.planned->plan->rank_count;
    double zero_s = 0;
    for (int32_t r = 0; r < count; r++) {
        struct figures figures;
        char source[32];
        memcpy(&figures, gathered[r].bytes, sizeof figures);
        (void)snprintf(source, sizeof source, "the trace of rank %d", (int)r);
        zero_s = r == 0 ? figures.began_s : zero_s;
        training->ranks[r].measured_bytes = figures.peak_bytes;
        const char *counters = gathered[r].bytes + sizeof figures;
        const char *trace = counters + figures.counters_size;
        const size_t trace_size = gathered[r].size - sizeof figures - figures.counters_size;
        if (figures.counters_size > 0) {
            YK_TRY(unpack_counters(training, r, figures.began_s - zero_s, counters,
                                   figures.counters_size));
        }
        if (trace_size > 0) {
            YK_TRY(yk_trace_bytes_unpack(trace, trace_size, source, &traces[r]));
            parts[r] = (struct yk_trace_merge_input){traces[r], figures.began_s - zero_s};
        }
    }
    return YK_OK;
}

static yk_status collect_sums(struct yk_training *training)
{
    const struct yk_plan *plan = training->plan.planned->plan;
    struct yk_trace_breakdown *sums = NULL;
    YK_TRY_NEW(training->arena, sums, plan->rank_count);
    YK_TRY(yk_trace_breakdown_compute(training->run.trace,
                                      yk_trace_breakdown_step_length_s(training->run.trace), sums));
    for (int32_t r = 0; r < plan->rank_count; r++) {
        training->ranks[r].measured = sums[r];
    }
    return YK_OK;
}

static yk_status merge(struct yk_training *training,
                       const struct yk_host_collective_gathered_bytes *gathered)
{
    const int32_t count = training->plan.planned->plan->rank_count;
    struct yk_trace_merge_input *parts = NULL;
    struct yk_trace **traces = NULL;
    struct yk_trace *whole = NULL;
    YK_TRY_NEW(training->arena, parts, count);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(training->arena, traces, count);
    yk_status status = unpack(training, gathered, parts, traces);
    if (status == YK_OK && training->run.trace) {
        status = yk_trace_merge(parts, count, &whole);
    }
    for (int32_t r = 0; r < count; r++) {
        yk_trace_destroy(traces[r]);
    }
    if (status == YK_OK && whole) {
        yk_trace_destroy(training->run.trace);
        training->run.trace = whole;
        status = collect_sums(training);
    }
    return status;
}

yk_status yk_train_measurements_collect(struct yk_training *training)
{
    const struct yk_planner_outcome *planned = yk_training_current_plan(training);
    struct yk_host_collective_gathered_bytes *gathered = NULL;
    struct yk_text own = {0};
    YK_TRY(gather(&training->team, pack(training, &own), &own, training->arena, &gathered));
    if (!gathered) {
        return YK_OK;
    }
    YK_TRY_NEW(training->arena, training->ranks, planned->plan->rank_count);
    for (int32_t r = 0; r < planned->plan->rank_count; r++) {
        training->ranks[r] = yk_run_summary_make_unknown_rank();
    }
    YK_TRY(merge(training, gathered));
    for (int32_t r = 0; r < planned->plan->rank_count; r++) {
        training->ranks[r].predicted_bytes = yk_training_planned_peak_bytes(training, r);
        yk_run_plan_fill_unknown_rank_members(planned, r, &training->ranks[r]);
    }
    return YK_OK;
}

/* Packs the versions of this rank, a zero byte, and the log of its rounds. */
static yk_status pack_op_times(const struct yk_training *training, struct yk_text *out)
{
    const struct yk_train_team *team = &training->team;
    struct yk_clock_offset clock = {0};
    training->context.backend->versions(training->context.device, out);
    if (!yk_train_team_is_single_rank(team)) {
        yk_text_add(out, ", ");
        team->ranks.comm->describe(team->ranks.world, out);
        YK_TRY(yk_host_collective_estimate_clock_offset(&team->ranks, &clock));
    }
    yk_text_add_bytes(out, "", 1);
    return yk_op_timeline_log_pack(training->run.log, clock.offset_s, out);
}

static yk_status unpack_op_times(const struct yk_host_collective_gathered_bytes *gathered,
                                 int32_t rank, struct yk_arena *arena,
                                 struct yk_rank_timelines *out)
{
    const size_t length = strlen(gathered->bytes) + 1;
    char source[32];
    (void)snprintf(source, sizeof source, "the times of rank %d", (int)rank);
    return yk_op_timeline_log_unpack(gathered->bytes + length,
                                     gathered->size >= length ? gathered->size - length : 0, source,
                                     arena, out);
}

/* Computes the op times of the last program of the run from the logs of all ranks. */
static yk_status join_op_times(struct yk_training *training,
                               const struct yk_host_collective_gathered_bytes *gathered,
                               struct yk_arena *scratch)
{
    const struct yk_program *program = training->run.program;
    struct yk_rank_timelines *logs = NULL;
    YK_TRY_NEW(scratch, logs, program->rank_count);
    for (int32_t r = 0; r < program->rank_count; r++) {
        YK_TRY(unpack_op_times(&gathered[r], r, scratch, &logs[r]));
    }
    struct yk_op_times *op_times = NULL;
    YK_TRY_NEW(training->arena, op_times, 1);
    YK_TRY(yk_op_durations_compute_medians(program, logs, training->arena, op_times));
    for (int32_t r = 0; r < op_times->rank_count; r++) {
        YK_TRY(yk_arena_strdup(training->arena, gathered[r].bytes, &op_times->ranks[r].versions));
    }
    training->op_times = op_times->steps > 0 ? op_times : NULL;
    return YK_OK;
}

static yk_status collect_op_times(struct yk_training *training, struct yk_arena *scratch)
{
    struct yk_text own = {0};
    struct yk_host_collective_gathered_bytes *gathered = NULL;
    YK_TRY(gather(&training->team, pack_op_times(training, &own), &own, scratch, &gathered));
    return gathered ? join_op_times(training, gathered, scratch) : YK_OK;
}

yk_status yk_train_measurements_collect_op_times(struct yk_training *training)
{
    struct yk_arena *scratch = NULL;
    YK_TRY(yk_train_team_combine_status(&training->team, yk_arena_create(&scratch)));
    const yk_status status = collect_op_times(training, scratch);
    yk_arena_destroy(scratch);
    return status;
}

yk_status yk_train_measurements_add_op_times_file(const struct yk_training *training,
                                                  struct yk_output_files *outputs)
{
    const char *path = NULL;
    if (!training->op_times) {
        return YK_OK;
    }
    YK_TRY(yk_folder_join_path(training->folder, "op-times.json", training->arena, &path));
    return yk_op_times_write_json(training->op_times, yk_output_files_add_nofollow(outputs, path));
}
