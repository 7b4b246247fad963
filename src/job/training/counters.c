#include "job/training/counters.h"

#include <math.h>
#include <stdio.h>

yk_status yk_train_counters_pack(const struct yk_training *training, struct yk_text *out)
{
    const struct yk_planner_outcome *planned = training->plan.planned;
    const int32_t rank = yk_train_team_rank(&training->team);
    const int32_t device = planned->plan->ranks[rank].device;
    const double traced_s = training->run.trace ? training->run.traced_s : NAN;
    struct yk_counter_rank told;
    if (!training->gauge) {
        return YK_OK;
    }
    YK_TRY(yk_counter_recorder_report(training->gauge, traced_s, training->arena, &told));
    told.device = planned->trial.program->cluster->devices[device].name;
    return yk_counters_file_write(&(struct yk_counter_ranks){&told, 1}, out);
}

yk_status yk_train_counters_unpack(struct yk_training *training, int32_t rank, double offset_s,
                                   const char *bytes, size_t size)
{
    const int32_t count = training->plan.planned->plan->rank_count;
    struct yk_counter_ranks read = {0};
    char source[40];
    if (!training->counters.all) {
        YK_TRY_NEW(training->arena, training->counters.all, count);
    }
    (void)snprintf(source, sizeof source, "the counters of rank %d", (int)rank);
    YK_TRY(yk_counters_file_read(bytes, size, source, training->arena, &read));
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
