#include "measure/survey.h"

#include "base/clock.h"
#include "cost/subject.h"
#include "measure/exchange_times.h"

#include <math.h>
#include <stdlib.h>

enum {
    WARM_UP_ROUNDS = 2,
    LEAST_ROUNDS = 5,
    MOST_ROUNDS = 30,
};

static const double usual_s = 10;

struct linking {
    struct yk_survey *survey;
    const struct yk_measure_ranks *team;
    const struct yk_survey_wish *wish;
    struct yk_exchange_times *exchanges;
    const int64_t *sizes;
    int32_t size_count;
    struct yk_timings *timings; /* (kinds, sizes) */
};

static yk_status run_round(const struct linking *linking, bool counts)
{
    for (int kind = 0; kind < YK_EXCHANGE_KIND_COUNT; kind++) {
        for (int32_t i = 0; i < linking->size_count; i++) {
            double seconds = 0;
            YK_TRY(yk_exchange_times_take(linking->exchanges, (enum yk_exchange_kind)kind,
                                          linking->sizes[i], &seconds));
            if (counts) {
                YK_TRY(yk_timings_add(&linking->timings[kind * linking->size_count + i], seconds));
            }
        }
    }
    return YK_OK;
}

static yk_status run_rounds(const struct linking *linking)
{
    const struct yk_survey_watch *watch = &linking->wish->watch;
    const double began_s = yk_clock_now_s();
    for (int32_t round = 0; round < WARM_UP_ROUNDS + MOST_ROUNDS; round++) {
        bool stops = false;
        double passed_s = 0;
        YK_TRY(yk_measure_most(linking->team, yk_clock_now_s() - began_s, &passed_s));
        YK_TRY(yk_survey_stops(linking->survey, linking->team, linking->wish, &stops));
        if (stops || (round >= WARM_UP_ROUNDS + LEAST_ROUNDS && passed_s > usual_s)) {
            break;
        }
        if (watch->progress) {
            watch->progress(
                watch->user, "links",
                fmax(passed_s / usual_s, (double)round / (WARM_UP_ROUNDS + MOST_ROUNDS)));
        }
        YK_TRY(run_round(linking, round >= WARM_UP_ROUNDS));
    }
    return YK_OK;
}

/* The link that costs are looked up by: that of the first two ranks, or, of a ring through several
 * nodes, one between nodes. */
static bool name_link(const struct linking *linking, bool ring, char out[YK_SUBJECT_SIZE])
{
    const struct yk_cluster *cluster = linking->wish->cluster;
    int32_t other = 1;
    for (int32_t i = 1; ring && i < linking->team->ranks->size; i++) {
        if (cluster->devices[i].node != cluster->devices[0].node) {
            other = i;
            break;
        }
    }
    return yk_subject_link(cluster, 0, other, out);
}

static yk_status add_rows(const struct linking *linking)
{
    for (int kind = 0; kind < YK_EXCHANGE_KIND_COUNT; kind++) {
        char name[YK_SUBJECT_SIZE];
        if (!name_link(linking, kind != YK_EXCHANGE_SEND, name)) {
            continue;
        }
        for (int32_t i = 0; i < linking->size_count; i++) {
            const struct yk_survey_link row = {
                .link = {.link = name,
                         .collective = yk_exchange_name((enum yk_exchange_kind)kind),
                         .ranks = kind == YK_EXCHANGE_SEND ? 2 : linking->team->ranks->size},
                .bytes = linking->sizes[i],
                .measurement = yk_timings_summarise(
                    &linking->timings[kind * linking->size_count + i], linking->wish->versions),
            };
            if (row.measurement.samples > 0 && row.measurement.value > 0) {
                YK_TRY(yk_survey_add_link(linking->survey, &row));
            }
        }
    }
    return YK_OK;
}

static yk_status measure(struct linking *linking, int64_t most_bytes)
{
    YK_TRY(yk_exchange_times_create(linking->team, most_bytes, &linking->exchanges));
    linking->size_count = yk_exchange_times_sizes(linking->exchanges, &linking->sizes);
    linking->timings =
        calloc(YK_EXCHANGE_KIND_COUNT * (size_t)linking->size_count, sizeof *linking->timings);
    if (!linking->timings) {
        return yk_fail_out_of_memory();
    }
    YK_TRY(run_rounds(linking));
    YK_TRY(add_rows(linking));
    return yk_survey_keep(linking->survey);
}

yk_status yk_survey_links(struct yk_survey *survey, const struct yk_measure_ranks *team,
                          const struct yk_survey_wish *wish, int64_t most_bytes)
{
    struct linking linking = {.survey = survey, .team = team, .wish = wish};
    const yk_status status = measure(&linking, most_bytes);
    for (int32_t i = 0; linking.timings && i < YK_EXCHANGE_KIND_COUNT * linking.size_count; i++) {
        yk_timings_free(&linking.timings[i]);
    }
    free(linking.timings);
    yk_exchange_times_destroy(linking.exchanges);
    return status;
}
