#include "job/training/measurements.h"

#include "base/system.h"
#include "comm/exchange.h"
#include "job/reporting/run_plan.h"
#include "job/training/counters.h"
#include "trace/trace.h"

#include <stdio.h>
#include <string.h>

/* What a rank sends in front of its counters and its trace. */
struct figures {
    double peak_bytes;
    double began_s;       /* of what was traced, by rank 0's clock */
    size_t counters_size; /* 0: there are none */
};

static yk_status pack(const struct yk_training *training, struct yk_text *out)
{
    const struct yk_vector_span_array *run = &training->run;
    struct yk_exchange_clock clock = {0};
    if (!yk_train_team_is_alone(&training->team)) {
        YK_TRY(yk_exchange_compare_clocks(&training->team.ranks, &clock));
    }
    struct yk_text counters = {0};
    yk_status status = yk_train_counters_pack(training, &counters);
    const struct figures figures = {run->device_bytes > 0 ? run->device_bytes
                                                          : yk_system_process_memory().peak_bytes,
                                    run->traced_s + clock.offset_s, counters.length};
    yk_text_add_bytes(out, (const char *)&figures, sizeof figures);
    yk_text_add_bytes(out, yk_text_chars(&counters), counters.length);
    if (status == YK_OK) {
        status = run->trace ? yk_trace_bytes_pack(run->trace, out) : yk_text_status(out);
    }
    yk_text_free(&counters);
    return status;
}

static yk_status collect(struct yk_training *training, struct yk_exchange_bytes **out)
{
    const struct yk_train_team *team = &training->team;
    struct yk_text own = {0};
    yk_status status = yk_train_team_agree(team, pack(training, &own));
    if (status == YK_OK && !yk_train_team_is_alone(team)) {
        status = yk_exchange_gather(&team->ranks, own.bytes, own.length, training->arena, out);
    } else if (status == YK_OK) {
        *out = yk_arena_allocate(training->arena, 1, sizeof **out);
        char *copy = yk_arena_copy_text(training->arena, own.bytes, own.length);
        status = *out && copy ? YK_OK : yk_fail_out_of_memory();
        if (status == YK_OK) {
            **out = (struct yk_exchange_bytes){copy, own.length};
        }
    }
    yk_text_free(&own);
    return status;
}

static yk_status unpack(struct yk_training *training, const struct yk_exchange_bytes *handed,
                        struct yk_trace_part *pieces, struct yk_trace **traces)
{
    const int32_t count = training->plan.planned->plan->rank_count;
    double zero_s = 0;
    for (int32_t r = 0; r < count; r++) {
        struct figures figures;
        char source[32];
        memcpy(&figures, handed[r].bytes, sizeof figures);
        (void)snprintf(source, sizeof source, "the trace of rank %d", (int)r);
        zero_s = r == 0 ? figures.began_s : zero_s;
        training->ranks[r].measured_bytes = figures.peak_bytes;
        const char *counters = handed[r].bytes + sizeof figures;
        const char *trace = counters + figures.counters_size;
        const size_t trace_size = handed[r].size - sizeof figures - figures.counters_size;
        if (figures.counters_size > 0) {
            YK_TRY(yk_train_counters_unpack(training, r, figures.began_s - zero_s, counters,
                                            figures.counters_size));
        }
        if (trace_size > 0) {
            YK_TRY(yk_trace_bytes_unpack(trace, trace_size, source, &traces[r]));
            pieces[r] = (struct yk_trace_part){traces[r], figures.began_s - zero_s};
        }
    }
    return YK_OK;
}

static yk_status sum_up(struct yk_training *training)
{
    const struct yk_plan *plan = training->plan.planned->plan;
    struct yk_trace_sum *sums = NULL;
    YK_TRY_NEW(training->arena, sums, plan->rank_count);
    YK_TRY(yk_trace_sum(training->run.trace, yk_trace_sum_step_s(training->run.trace), sums));
    for (int32_t r = 0; r < plan->rank_count; r++) {
        training->ranks[r].measured = sums[r];
    }
    return YK_OK;
}

static yk_status merge(struct yk_training *training, const struct yk_exchange_bytes *handed)
{
    const int32_t count = training->plan.planned->plan->rank_count;
    struct yk_trace_part *pieces = NULL;
    struct yk_trace **traces = NULL;
    struct yk_trace *whole = NULL;
    YK_TRY_NEW(training->arena, pieces, count);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(training->arena, traces, count);
    yk_status status = unpack(training, handed, pieces, traces);
    if (status == YK_OK && training->run.trace) {
        status = yk_trace_merge(pieces, count, &whole);
    }
    for (int32_t r = 0; r < count; r++) {
        yk_trace_destroy(traces[r]);
    }
    if (status == YK_OK && whole) {
        yk_trace_destroy(training->run.trace);
        training->run.trace = whole;
        status = sum_up(training);
    }
    return status;
}

yk_status yk_train_measurements_collect(struct yk_training *training)
{
    const struct yk_planner_outcome *planned = yk_training_planned(training);
    struct yk_exchange_bytes *handed = NULL;
    YK_TRY(collect(training, &handed));
    if (!handed) {
        return YK_OK;
    }
    YK_TRY_NEW(training->arena, training->ranks, planned->plan->rank_count);
    for (int32_t r = 0; r < planned->plan->rank_count; r++) {
        training->ranks[r] = yk_run_rank_unknown();
    }
    YK_TRY(merge(training, handed));
    for (int32_t r = 0; r < planned->plan->rank_count; r++) {
        training->ranks[r].predicted_bytes = yk_training_planned_bytes(training, r);
        yk_run_plan_complete(planned, r, &training->ranks[r]);
    }
    return YK_OK;
}
