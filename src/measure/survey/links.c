#include "measure/survey/survey.h"

#include "base/clock.h"
#include "comm/exchange.h"
#include "measure/survey/exchange_groups.h"
#include "measure/timings.h"

#include <math.h>

enum {
    LEAST_ROUNDS = 5,
    MOST_ROUNDS = 20,
    TURNS = 3, /* of the party of all ranks, which plans use most */
    LEAST_ROUNDS_OF_TURN = 2,
};

/* About as long as the messages of all parties, and of one, may take; no longer than layers. */
static const double usual_s = 15;
static const double party_s = 4;

/* A message that takes so long is the largest that is measured, and one that takes nearly so long
 * may have been: through another group it took longer. */
static const double longest_s = 0.1;
static const double nearly = 0.6;

/* The messages of one kind, from the smallest on. */
struct curve {
    bool wanted;
    int32_t size_count;
    struct yk_timings timings[YK_EXCHANGE_TIMES_MAX_SIZES];
    double least_s[YK_EXCHANGE_TIMES_MAX_SIZES];
};

struct linking {
    struct yk_survey *survey;
    const struct yk_measure_ranks *team;
    const struct yk_survey_request *wish;
    int64_t sizes[YK_EXCHANGE_TIMES_MAX_SIZES];
    int32_t size_count;
    struct yk_exchange_group *parties;
    int32_t party_count;
    double *known; /* (parties, kinds): 1 where the profile has the curve */

    /* At hand. */
    const struct yk_exchange_group *party;
    struct yk_exchange_times *exchanges;
    struct curve curves[YK_EXCHANGE_KIND_COUNT];
};

/* ---- what is to be measured ---- */

static bool is_asked(const struct yk_exchange_group *party, enum yk_exchange_kind kind)
{
    return kind == YK_EXCHANGE_SEND           ? party->count == 2
           : kind == YK_EXCHANGE_SEND_REVERSE ? party->uneven
                                              : true;
}

/* A curve is known as a whole: every size, or up to one that takes long. */
static yk_status is_known(const struct linking *linking, const struct yk_profile_link *link,
                          bool *out)
{
    struct yk_profile *profile = linking->survey->profile;
    struct yk_profile_curve curve = {0};
    int32_t found = 0;
    bool known = profile && !linking->wish->again;
    while (known && found < linking->size_count) {
        YK_TRY(yk_survey_knows_link(linking->survey, link, linking->sizes[found],
                                    linking->wish->versions, &known));
        found += known ? 1 : 0;
    }
    if (!known && found > 0) {
        YK_TRY(yk_profile_find_link(profile, link, &curve));
    }
    for (int32_t i = 0; i < curve.count; i++) {
        known = known || (curve.points[i].size == (double)linking->sizes[found - 1] &&
                          curve.points[i].seconds > nearly * longest_s);
    }
    *out = known;
    return YK_OK;
}

static struct yk_profile_link link_of(const struct yk_exchange_group *party,
                                      enum yk_exchange_kind kind)
{
    return (struct yk_profile_link){.link = party->link,
                                    .collective = yk_exchange_times_kind_name(kind),
                                    .ranks = party->count};
}

/* Rank 0 has the profile, and all must do the same. */
static yk_status ask_profile(struct linking *linking)
{
    const int32_t count = linking->party_count * YK_EXCHANGE_KIND_COUNT;
    for (int32_t i = 0; i < count; i++) {
        const struct yk_profile_link link =
            link_of(&linking->parties[i / YK_EXCHANGE_KIND_COUNT],
                    (enum yk_exchange_kind)(i % YK_EXCHANGE_KIND_COUNT));
        bool known = yk_survey_has_link(linking->survey, &link, linking->wish->versions);
        if (!known) {
            YK_TRY(is_known(linking, &link, &known));
        }
        linking->known[i] = known ? 1 : 0;
    }
    return yk_exchange_max(linking->team->ranks, linking->known, count);
}

/* Which curves of the party are wanted; whether any is. */
static bool choose(struct linking *linking, int32_t number)
{
    bool any = false;
    linking->party = &linking->parties[number];
    for (int kind = 0; kind < YK_EXCHANGE_KIND_COUNT; kind++) {
        const bool known = linking->known[number * YK_EXCHANGE_KIND_COUNT + kind] > 0;
        const bool asked = is_asked(linking->party, (enum yk_exchange_kind)kind);
        linking->curves[kind] =
            (struct curve){.wanted = asked && !known, .size_count = linking->size_count};
        any = any || linking->curves[kind].wanted;
    }
    return any;
}

/* ---- measuring ---- */

static yk_status take(const struct linking *linking, int kind, int32_t size, double *out)
{
    return yk_exchange_times_measure(linking->exchanges, (enum yk_exchange_kind)kind,
                                     linking->sizes[size], out);
}

/* Each size twice. Where even the faster takes long, larger ones are left out, of all turns. */
static yk_status warm_up(struct linking *linking, bool first)
{
    for (int kind = 0; kind < YK_EXCHANGE_KIND_COUNT; kind++) {
        struct curve *curve = &linking->curves[kind];
        for (int32_t i = 0; curve->wanted && i < curve->size_count; i++) {
            double once_s = 0;
            double again_s = 0;
            YK_TRY(take(linking, kind, i, &once_s));
            YK_TRY(take(linking, kind, i, &again_s));
            curve->least_s[i] = fmin(once_s, again_s);
            if (first && curve->least_s[i] > longest_s) {
                curve->size_count = i + 1;
            }
        }
    }
    return YK_OK;
}

/* Every message once; large ones as often as a fair part of the time allows. How long those so far
 * took is told by the fastest: a disturbed one must not be the reason for fewer. */
static yk_status run_round(struct linking *linking, bool whole, double share_s)
{
    for (int kind = 0; kind < YK_EXCHANGE_KIND_COUNT; kind++) {
        struct curve *curve = &linking->curves[kind];
        for (int32_t i = 0; curve->wanted && i < curve->size_count; i++) {
            double seconds = 0;
            if (!whole && curve->least_s[i] * (curve->timings[i].count + 1) > share_s) {
                continue;
            }
            YK_TRY(take(linking, kind, i, &seconds));
            curve->least_s[i] = fmin(curve->least_s[i], seconds);
            YK_TRY(yk_timings_add(&curve->timings[i], seconds));
        }
    }
    return YK_OK;
}

static int32_t count_messages(const struct linking *linking)
{
    int32_t count = 0;
    for (int kind = 0; kind < YK_EXCHANGE_KIND_COUNT; kind++) {
        count += linking->curves[kind].wanted ? linking->curves[kind].size_count : 0;
    }
    return count;
}

static void tell(const struct linking *linking, double part)
{
    const struct yk_survey_callbacks *watch = &linking->wish->watch;
    if (watch->progress) {
        const double before = (double)(linking->party - linking->parties);
        watch->progress(watch->user, "links", (before + part) / linking->party_count);
    }
}

/* A part of the rounds, through one group of the ranks. */
struct turn {
    int32_t number;
    int32_t count; /* of turns */
    double seconds;
    int32_t least_rounds;
    int32_t most_rounds;
};

static yk_status run_rounds(struct linking *linking, const struct turn *turn)
{
    const double began_s = yk_clock_now_s();
    YK_TRY(warm_up(linking, turn->number == 0));
    const double share_s = turn->seconds * (turn->number + 1) / count_messages(linking);
    for (int32_t round = 0; round < turn->most_rounds; round++) {
        bool stops = false;
        double passed_s = 0;
        YK_TRY(yk_measure_ranks_max(linking->team, yk_clock_now_s() - began_s, &passed_s));
        YK_TRY(yk_survey_is_stopped(linking->survey, linking->team, linking->wish, &stops));
        if (stops || (round >= turn->least_rounds && passed_s > turn->seconds)) {
            break;
        }
        const double part =
            fmax(fmin(passed_s / turn->seconds, 1), (double)round / turn->most_rounds);
        tell(linking, (turn->number + part) / turn->count);
        YK_TRY(run_round(linking, round < turn->least_rounds, share_s));
    }
    return YK_OK;
}

/* ---- rows ---- */

/* Both ways of an uneven pair are one link: the slower counts. */
static struct yk_timings *slower_way(struct linking *linking, int kind, int32_t size)
{
    struct yk_timings *one = &linking->curves[kind].timings[size];
    struct yk_timings *back = &linking->curves[YK_EXCHANGE_SEND_REVERSE].timings[size];
    if (kind != YK_EXCHANGE_SEND || back->count == 0) {
        return one;
    }
    return yk_timings_median(back->seconds, back->count) >
                   yk_timings_median(one->seconds, one->count)
               ? back
               : one;
}

/* A curve that was broken off is none. */
static bool is_whole(const struct curve *curve)
{
    for (int32_t i = 0; i < curve->size_count; i++) {
        if (curve->timings[i].count < LEAST_ROUNDS) {
            return false;
        }
    }
    return curve->wanted;
}

static yk_status add_rows(struct linking *linking)
{
    for (int kind = 0; kind < YK_EXCHANGE_KIND_COUNT; kind++) {
        const struct curve *curve = &linking->curves[kind];
        if (!is_whole(curve) || kind == YK_EXCHANGE_SEND_REVERSE) {
            continue;
        }
        for (int32_t i = 0; i < curve->size_count; i++) {
            const struct yk_survey_link row = {
                .link = link_of(linking->party, (enum yk_exchange_kind)kind),
                .bytes = linking->sizes[i],
                .measurement =
                    yk_timings_summarise(slower_way(linking, kind, i), linking->wish->versions),
            };
            if (row.measurement.value > 0) {
                YK_TRY(yk_survey_add_link(linking->survey, &row));
            }
        }
    }
    return yk_survey_save(linking->survey);
}

static void free_curves(struct linking *linking)
{
    for (int kind = 0; kind < YK_EXCHANGE_KIND_COUNT; kind++) {
        for (int32_t i = 0; i < YK_EXCHANGE_TIMES_MAX_SIZES; i++) {
            yk_timings_free(&linking->curves[kind].timings[i]);
        }
    }
}

static yk_status take_turn(struct linking *linking, const struct turn *turn)
{
    const struct yk_exchange_times_group party = {
        linking->party->ranks, linking->party->count,
        yk_comm_type_of(linking->wish->workload.precision)};
    yk_status status = yk_exchange_times_create(
        linking->team, &party, linking->sizes[linking->size_count - 1], &linking->exchanges);
    if (status == YK_OK) {
        status = run_rounds(linking, turn);
    }
    yk_exchange_times_destroy(linking->exchanges);
    linking->exchanges = NULL;
    return status;
}

/* Connections are of lasting luck: where they go through sockets, the same gather may take a third
 * longer through a group that is made anew. So one group's luck must not be all that is known of
 * what all ranks do together. (Messages from one rank to another go through the world's own.) */
static yk_status measure_party(struct linking *linking, double seconds)
{
    const int32_t turns = linking->party->count == linking->team->ranks->size ? TURNS : 1;
    yk_status status = YK_OK;
    for (int32_t i = 0; i < turns && status == YK_OK && !linking->survey->stopped; i++) {
        const struct turn turn = {
            .number = i,
            .count = turns,
            .seconds = seconds / turns,
            .least_rounds = turns > 1 ? LEAST_ROUNDS_OF_TURN : LEAST_ROUNDS,
            .most_rounds = MOST_ROUNDS / turns,
        };
        status = take_turn(linking, &turn);
    }
    if (status == YK_OK) {
        status = add_rows(linking);
    }
    free_curves(linking);
    return status;
}

static yk_status measure(struct linking *linking, struct yk_arena *arena)
{
    const double all_s = fmin(usual_s, linking->wish->seconds);
    int32_t left = 0;
    YK_TRY(yk_exchange_groups_list(linking->wish->cluster, arena, &linking->parties,
                                   &linking->party_count));
    YK_TRY_NEW(arena, linking->known, linking->party_count * YK_EXCHANGE_KIND_COUNT);
    YK_TRY(ask_profile(linking));
    for (int32_t i = 0; i < linking->party_count; i++) {
        left += choose(linking, i) ? 1 : 0;
    }
    for (int32_t i = 0; i < linking->party_count && !linking->survey->stopped; i++) {
        if (choose(linking, i)) {
            YK_TRY(measure_party(linking, fmin(all_s / left, party_s)));
        }
    }
    return YK_OK;
}

yk_status yk_survey_links(struct yk_survey *survey, const struct yk_measure_ranks *team,
                          const struct yk_survey_request *wish, int64_t most_bytes)
{
    struct linking linking = {.survey = survey, .team = team, .wish = wish};
    linking.size_count = yk_exchange_times_list_sizes(most_bytes, linking.sizes);
    YK_TRY_IN_ARENA(arena, measure(&linking, arena));
    return YK_OK;
}
