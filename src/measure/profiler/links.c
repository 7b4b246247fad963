#include "measure/profiler/profiler.h"

#include "base/clock.h"
#include "comm/host_collective.h"
#include "measure/profiler/measured_rank_groups.h"
#include "measure/timings.h"

#include <math.h>

enum {
    MIN_ROUNDS = 5,
    MAX_ROUNDS = 20,
    REPEATS = 3, /* of the group of all ranks, which plans use most */
    MIN_ROUNDS_OF_REPEAT = 2,
};

/* About as long as the messages of all groups, and of one, may take; no longer than layers. */
static const double usual_s = 15;
static const double group_s = 4;

/* A message that takes so long is the largest that is measured, and one that takes nearly so long
 * may have been: through another group it took longer. */
static const double longest_s = 0.1;
static const double nearly = 0.6;

/* The messages of one kind, from the smallest on. */
struct curve {
    bool wanted;
    int32_t size_count;
    struct yk_timings timings[YK_COMM_BENCHMARK_MAX_SIZES];
    double min_s[YK_COMM_BENCHMARK_MAX_SIZES];
};

struct run {
    struct yk_profiler *profiler;
    const struct yk_measuring_ranks *team;
    const struct yk_profiler_request *request;
    int64_t sizes[YK_COMM_BENCHMARK_MAX_SIZES];
    int32_t size_count;
    struct yk_measured_rank_group *groups;
    int32_t group_count;
    double *known; /* (groups, kinds): 1 where the profile has the curve */

    /* At hand. */
    const struct yk_measured_rank_group *group;
    struct yk_comm_benchmark *exchanges;
    struct curve curves[YK_COMM_BENCHMARK_KIND_COUNT];
};

/* ---- what is to be measured ---- */

static bool is_needed(const struct yk_measured_rank_group *group, enum yk_comm_benchmark_kind kind)
{
    return kind == YK_COMM_BENCHMARK_SEND           ? group->count == 2
           : kind == YK_COMM_BENCHMARK_SEND_REVERSE ? group->both_directions
                                                    : true;
}

/* A curve is known as a whole: every size, or up to one that takes long. */
static yk_status is_known(const struct run *run, const struct yk_profile_link_key *link, bool *out)
{
    struct yk_profile *profile = run->profiler->profile;
    struct yk_profile_curve curve = {0};
    int32_t found = 0;
    bool known = profile && !run->request->remeasure;
    while (known && found < run->size_count) {
        YK_TRY(yk_profile_has_link_time(profile, link, run->sizes[found], run->request->versions,
                                        &known));
        found += known ? 1 : 0;
    }
    if (!known && found > 0) {
        YK_TRY(yk_profile_find_link_times(profile, link, &curve));
    }
    for (int32_t i = 0; i < curve.count; i++) {
        known = known || (curve.points[i].size == (double)run->sizes[found - 1] &&
                          curve.points[i].seconds > nearly * longest_s);
    }
    *out = known;
    return YK_OK;
}

static struct yk_profile_link_key link_of(const struct yk_measured_rank_group *group,
                                          enum yk_comm_benchmark_kind kind)
{
    return (struct yk_profile_link_key){.link = group->link,
                                        .collective = yk_comm_benchmark_kind_name(kind),
                                        .ranks = group->count};
}

/* Rank 0 has the profile, and all must do the same. */
static yk_status look_up(struct run *run)
{
    const int32_t count = run->group_count * YK_COMM_BENCHMARK_KIND_COUNT;
    for (int32_t i = 0; i < count; i++) {
        const struct yk_profile_link_key link =
            link_of(&run->groups[i / YK_COMM_BENCHMARK_KIND_COUNT],
                    (enum yk_comm_benchmark_kind)(i % YK_COMM_BENCHMARK_KIND_COUNT));
        bool known = yk_profiler_has_link_row(run->profiler, &link, run->request->versions);
        if (!known) {
            YK_TRY(is_known(run, &link, &known));
        }
        run->known[i] = known ? 1 : 0;
    }
    return yk_host_collective_all_reduce_max(run->team->host_communicator, run->known, count);
}

/* Which curves of the group are wanted; whether any is. */
static bool choose(struct run *run, int32_t number)
{
    bool any = false;
    run->group = &run->groups[number];
    for (int kind = 0; kind < YK_COMM_BENCHMARK_KIND_COUNT; kind++) {
        const bool known = run->known[number * YK_COMM_BENCHMARK_KIND_COUNT + kind] > 0;
        const bool asked = is_needed(run->group, (enum yk_comm_benchmark_kind)kind);
        run->curves[kind] =
            (struct curve){.wanted = asked && !known, .size_count = run->size_count};
        any = any || run->curves[kind].wanted;
    }
    return any;
}

/* ---- measuring ---- */

static yk_status measure_message(const struct run *run, int kind, int32_t size, double *out)
{
    return yk_comm_benchmark_measure_message(run->exchanges, (enum yk_comm_benchmark_kind)kind,
                                             run->sizes[size], out);
}

/* Each size twice. Where even the faster takes long, larger ones are left out, of all turns. */
static yk_status warm_up(struct run *run, bool first)
{
    for (int kind = 0; kind < YK_COMM_BENCHMARK_KIND_COUNT; kind++) {
        struct curve *curve = &run->curves[kind];
        for (int32_t i = 0; curve->wanted && i < curve->size_count; i++) {
            double once_s = 0;
            double again_s = 0;
            YK_TRY(measure_message(run, kind, i, &once_s));
            YK_TRY(measure_message(run, kind, i, &again_s));
            curve->min_s[i] = fmin(once_s, again_s);
            if (first && curve->min_s[i] > longest_s) {
                curve->size_count = i + 1;
            }
        }
    }
    return YK_OK;
}

/* Every message once; large ones as often as a fair part of the time allows, by the fastest so far:
 * a disturbed one must not be the reason for fewer. */
static yk_status run_round(struct run *run, bool whole, double share_s)
{
    for (int kind = 0; kind < YK_COMM_BENCHMARK_KIND_COUNT; kind++) {
        struct curve *curve = &run->curves[kind];
        for (int32_t i = 0; curve->wanted && i < curve->size_count; i++) {
            double seconds = 0;
            if (!whole && curve->min_s[i] * (curve->timings[i].count + 1) > share_s) {
                continue;
            }
            YK_TRY(measure_message(run, kind, i, &seconds));
            curve->min_s[i] = fmin(curve->min_s[i], seconds);
            YK_TRY(yk_timings_add(&curve->timings[i], seconds));
        }
    }
    return YK_OK;
}

static int32_t count_messages(const struct run *run)
{
    int32_t count = 0;
    for (int kind = 0; kind < YK_COMM_BENCHMARK_KIND_COUNT; kind++) {
        count += run->curves[kind].wanted ? run->curves[kind].size_count : 0;
    }
    return count;
}

static void report_progress(const struct run *run, double part)
{
    const struct yk_profiler_callbacks *callbacks = &run->request->callbacks;
    if (callbacks->progress) {
        const double before = (double)(run->group - run->groups);
        callbacks->progress(callbacks->user, "links", (before + part) / run->group_count);
    }
}

/* A part of the rounds, through one group of the ranks. */
struct repeat {
    int32_t number;
    int32_t count; /* of turns */
    double seconds;
    int32_t min_rounds;
    int32_t max_rounds;
};

static yk_status run_rounds(struct run *run, const struct repeat *repeat)
{
    const double began_s = yk_clock_now_s();
    YK_TRY(warm_up(run, repeat->number == 0));
    const double share_s = repeat->seconds * (repeat->number + 1) / count_messages(run);
    for (int32_t round = 0; round < repeat->max_rounds; round++) {
        bool stops = false;
        double passed_s = 0;
        YK_TRY(yk_measuring_ranks_all_reduce_max(run->team, yk_clock_now_s() - began_s, &passed_s));
        YK_TRY(yk_profiler_should_stop(run->profiler, &stops));
        if (stops || (round >= repeat->min_rounds && passed_s > repeat->seconds)) {
            break;
        }
        const double part =
            fmax(fmin(passed_s / repeat->seconds, 1), (double)round / repeat->max_rounds);
        report_progress(run, (repeat->number + part) / repeat->count);
        YK_TRY(run_round(run, round < repeat->min_rounds, share_s));
    }
    return YK_OK;
}

/* ---- rows ---- */

/* Both ways of an uneven pair are one link: the slower counts. */
static struct yk_timings *slower_direction(struct run *run, int kind, int32_t size)
{
    struct yk_timings *one = &run->curves[kind].timings[size];
    struct yk_timings *back = &run->curves[YK_COMM_BENCHMARK_SEND_REVERSE].timings[size];
    if (kind != YK_COMM_BENCHMARK_SEND || back->count == 0) {
        return one;
    }
    return yk_timings_median_of_numbers(back->seconds, back->count) >
                   yk_timings_median_of_numbers(one->seconds, one->count)
               ? back
               : one;
}

/* A curve that was broken off is none. */
static bool is_whole(const struct curve *curve)
{
    for (int32_t i = 0; i < curve->size_count; i++) {
        if (curve->timings[i].count < MIN_ROUNDS) {
            return false;
        }
    }
    return curve->wanted;
}

static yk_status add_rows(struct run *run)
{
    for (int kind = 0; kind < YK_COMM_BENCHMARK_KIND_COUNT; kind++) {
        const struct curve *curve = &run->curves[kind];
        if (!is_whole(curve) || kind == YK_COMM_BENCHMARK_SEND_REVERSE) {
            continue;
        }
        for (int32_t i = 0; i < curve->size_count; i++) {
            const struct yk_profiler_link_row row = {
                .link = link_of(run->group, (enum yk_comm_benchmark_kind)kind),
                .bytes = run->sizes[i],
                .measurement =
                    yk_timings_summarize(slower_direction(run, kind, i), run->request->versions),
            };
            if (row.measurement.value > 0) {
                YK_TRY(yk_profiler_add_link_row(run->profiler, &row));
            }
        }
    }
    return yk_profiler_save_rows(run->profiler);
}

static void free_curves(struct run *run)
{
    for (int kind = 0; kind < YK_COMM_BENCHMARK_KIND_COUNT; kind++) {
        for (int32_t i = 0; i < YK_COMM_BENCHMARK_MAX_SIZES; i++) {
            yk_timings_free(&run->curves[kind].timings[i]);
        }
    }
}

static yk_status run_repeat(struct run *run, const struct repeat *repeat)
{
    const struct yk_comm_benchmark_group group = {
        run->group->ranks, run->group->count,
        yk_comm_data_type_from_precision(run->request->workload.precision)};
    yk_status status = yk_comm_benchmark_create(run->team, &group, run->sizes[run->size_count - 1],
                                                &run->exchanges);
    YK_IF_OK(run_rounds(run, repeat));
    yk_comm_benchmark_destroy(run->exchanges);
    run->exchanges = NULL;
    return status;
}

/* Connections differ for as long as they last: over sockets, the same all_gather may take a third
 * longer through a group that is made anew. So all ranks are measured through several groups.
 * (Messages from one rank to another go through the world's own.) */
static yk_status measure_group(struct run *run, double seconds)
{
    const int32_t repeats = run->group->count == run->team->host_communicator->size ? REPEATS : 1;
    yk_status status = YK_OK;
    for (int32_t i = 0; i < repeats && status == YK_OK && !run->profiler->stopped; i++) {
        const struct repeat repeat = {
            .number = i,
            .count = repeats,
            .seconds = seconds / repeats,
            .min_rounds = repeats > 1 ? MIN_ROUNDS_OF_REPEAT : MIN_ROUNDS,
            .max_rounds = MAX_ROUNDS / repeats,
        };
        status = run_repeat(run, &repeat);
    }
    YK_IF_OK(add_rows(run));
    free_curves(run);
    return status;
}

static yk_status measure(struct run *run, struct yk_arena *arena)
{
    const double all_s = fmin(usual_s, run->request->seconds);
    int32_t left = 0;
    YK_TRY(yk_measured_rank_groups_list(run->request->cluster, arena, &run->groups,
                                        &run->group_count));
    YK_TRY_NEW(arena, run->known, run->group_count * YK_COMM_BENCHMARK_KIND_COUNT);
    YK_TRY(look_up(run));
    for (int32_t i = 0; i < run->group_count; i++) {
        left += choose(run, i) ? 1 : 0;
    }
    for (int32_t i = 0; i < run->group_count && !run->profiler->stopped; i++) {
        if (choose(run, i)) {
            YK_TRY(measure_group(run, fmin(all_s / left, group_s)));
        }
    }
    return YK_OK;
}

yk_status yk_profiler_measure_links(struct yk_profiler *profiler,
                                    const struct yk_measuring_ranks *team,
                                    const struct yk_profiler_request *request, int64_t max_bytes)
{
    struct run run = {.profiler = profiler, .team = team, .request = request};
    profiler->team = team;
    profiler->request = request;
    run.size_count = yk_comm_benchmark_list_message_sizes(max_bytes, run.sizes);
    YK_TRY_WITH_TEMPORARY_ARENA(arena, measure(&run, arena));
    return YK_OK;
}
