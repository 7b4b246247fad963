#include "report/plan_csv.h"

#include "report/csv.h"
#include "report/plan_station.h"

#include <math.h>

/* Seconds, and the comma before the next cell. */
static void add_seconds(struct yk_text *out, double seconds)
{
    yk_csv_add_seconds(out, seconds);
    yk_text_add(out, ",");
}

static void add_words(struct yk_text *out, const char *words)
{
    yk_csv_add_words(out, words);
    yk_text_add(out, ",");
}

static void add_fold(struct yk_text *out, const struct yk_plan_fold *fold)
{
    add_words(out, fold->numbers);
    add_words(out, fold->name);
}

void yk_plan_csv_event(const struct yk_trace_event *event, struct yk_text *out)
{
    yk_text_addf(out, "%s,", yk_trace_lane_name(event->lane));
    add_words(out, event->op);
    add_seconds(out, event->start_s);
    add_seconds(out, event->end_s);
    yk_csv_add_bytes(out, event->bytes);
}

void yk_plan_csv_lanes(const struct yk_plan_folds *folds, int32_t fold_count, struct yk_text *out)
{
    yk_text_add(out, "ranks,device,lane,op,start_s,end_s,bytes\n");
    for (int32_t f = 0; f < fold_count; f++) {
        for (int32_t l = 0; l < YK_LANE_COUNT; l++) {
            const struct yk_plan_lane *lane = &folds->folds[f].lanes[l];
            for (int32_t i = 0; i < lane->count; i++) {
                add_fold(out, &folds->folds[f]);
                yk_plan_csv_event(lane->events[i], out);
                yk_text_add(out, "\n");
            }
        }
    }
}

void yk_plan_csv_memory(const struct yk_plan_folds *folds, struct yk_text *out)
{
    yk_text_add(out, "ranks,device,limit_bytes,at_s");
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        yk_text_addf(out, ",%s_bytes", yk_memory_kind_name((enum yk_memory_kind)k));
    }
    yk_text_add(out, "\n");
    for (int32_t f = 0; f < folds->count; f++) {
        const struct yk_plan_fold *fold = &folds->folds[f];
        const struct yk_plan_result_rank *rank = &folds->result->ranks[fold->rank];
        for (int32_t i = 0; i < rank->moment_count; i++) {
            add_fold(out, fold);
            yk_csv_add_bytes(out, folds->result->plan->ranks[fold->rank].limit_bytes);
            yk_text_add(out, ",");
            yk_csv_add_seconds(out, rank->moments[i].at_s);
            for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
                yk_text_add(out, ",");
                yk_csv_add_bytes(out, rank->moments[i].bytes[k]);
            }
            yk_text_add(out, "\n");
        }
    }
}

void yk_plan_csv_times(const struct yk_plan_folds *folds, struct yk_text *out)
{
    yk_text_add(out, "ranks,device,compute_s,exposed_s,idle_s,peak_bytes\n");
    for (int32_t f = 0; f < folds->count; f++) {
        const struct yk_plan_fold *fold = &folds->folds[f];
        const struct yk_plan_result_rank *rank = &folds->result->ranks[fold->rank];
        add_fold(out, fold);
        add_seconds(out, rank->compute_s);
        add_seconds(out, rank->exposed_s);
        add_seconds(out, rank->idle_s);
        yk_csv_add_bytes(out, rank->peak_bytes);
        yk_text_add(out, "\n");
    }
}

static void add_station(struct yk_text *out, const struct yk_stations *stations, int32_t number)
{
    const struct yk_station *station = &stations->stations[number];
    yk_csv_add_words(out, stations->cluster->devices[station->device].name);
    yk_text_addf(out, ",%d,", station->count);
}

static yk_status add_links(const struct yk_plan_result *result, struct yk_arena *arena,
                           struct yk_text *out)
{
    struct yk_stations stations;
    YK_TRY(yk_stations_make(result, arena, &stations));
    yk_text_add(out, "from,from_count,to,to_count,latency_s,bytes_per_s\n");
    for (int32_t a = 0; a < stations.count; a++) {
        for (int32_t b = a; b < stations.count; b++) {
            const struct yk_link *link = yk_station_link(&stations, a, b);
            if (link) {
                add_station(out, &stations, a);
                add_station(out, &stations, b);
                add_seconds(out, link->latency_s);
                yk_csv_add_bytes(out, link->bytes_per_s);
                yk_text_add(out, "\n");
            }
        }
    }
    return yk_text_status(out);
}

yk_status yk_plan_csv_links(const struct yk_plan_result *result, struct yk_text *out)
{
    YK_TRY_IN_ARENA(arena, add_links(result, arena, out));
    return YK_OK;
}

static void add_point(struct yk_text *out, const char *mark, const char *name, double x,
                      double step_s)
{
    yk_text_addf(out, "%s,", mark);
    add_words(out, name);
    yk_csv_add_number(out, x);
    yk_text_add(out, ",");
    yk_csv_add_number(out, step_s);
    yk_text_add(out, "\n");
}

void yk_plan_csv_tradeoff(const struct yk_plan_tradeoff *tradeoff, struct yk_text *out)
{
    yk_text_add(out, "mark,name,x,step_s\n");
    for (int32_t c = 0; c < tradeoff->curve_count; c++) {
        const struct yk_plan_curve *curve = &tradeoff->curves[c];
        for (int32_t i = 0; i < curve->count; i++) {
            add_point(out, "curve", curve->name, curve->x[i], curve->step_s[i]);
        }
    }
    if (isfinite(tradeoff->chosen_x)) {
        add_point(out, "chosen", "", tradeoff->chosen_x, tradeoff->chosen_s);
    }
    if (isfinite(tradeoff->joint_s)) {
        add_point(out, "joint optimum", "", NAN, tradeoff->joint_s);
    }
    if (isfinite(tradeoff->bound_s)) {
        add_point(out, "lower bound", "", NAN, tradeoff->bound_s);
    }
}
