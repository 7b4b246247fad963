#include "measure/slowdown/pairs.h"

#include "comm/exchange.h"

#include <math.h>
#include <string.h>

enum {
    PAIR = 2,
    NUMBERS = 3, /* of a measurement, as they are gathered */
};

/* With these versions, for an earlier precision or model. */
static bool was_found(const struct yk_survey *survey, const struct yk_profile_fact *fact,
                      const char *versions)
{
    for (int32_t i = 0; i < survey->fact_count; i++) {
        const struct yk_survey_fact *row = &survey->facts[i];
        if (strcmp(row->fact.subject, fact->subject) == 0 &&
            strcmp(row->fact.fact, fact->fact) == 0 &&
            strcmp(row->measurement.versions, versions) == 0) {
            return true;
        }
    }
    return false;
}

static yk_status is_known(const struct yk_survey *survey, const struct yk_survey_request *request,
                          const char *link, bool *out)
{
    const struct yk_profile_fact facts[] = {{link, YK_PROFILE_COMPUTE_SLOWDOWN},
                                            {link, YK_PROFILE_MESSAGE_SLOWDOWN}};
    bool found = true;
    for (int f = 0; f < 2 && found; f++) {
        found = was_found(survey, &facts[f], request->versions);
        if (!found && !request->again) {
            YK_TRY(yk_survey_knows_fact(survey, &facts[f], request->versions, &found));
        }
    }
    *out = found;
    return YK_OK;
}

yk_status yk_slowdown_pairs_find(const struct yk_survey *survey,
                                 const struct yk_measure_ranks *team,
                                 const struct yk_survey_request *request, struct yk_arena *arena,
                                 struct yk_slowdown_pairs *out)
{
    int32_t count = 0;
    *out = (struct yk_slowdown_pairs){.all_known = true};
    YK_TRY(yk_exchange_groups_list(request->cluster, arena, &out->groups, &count));
    while (out->count < count && out->count < YK_SLOWDOWN_MAX_PAIRS &&
           out->groups[out->count].count == 2) {
        bool known = false;
        YK_TRY(is_known(survey, request, out->groups[out->count].link, &known));
        out->known[out->count++] = known ? 1 : 0;
    }
    YK_TRY(yk_exchange_max(team->ranks, out->known, out->count));
    for (int32_t i = 0; i < out->count; i++) {
        out->all_known = out->all_known && out->known[i] > 0;
    }
    return YK_OK;
}

/* ---- devices ---- */

/* What was found of the device in an earlier pair, where that was worse. */
static double worse_before(const struct yk_survey *survey, const struct yk_profile_fact *fact,
                           double value)
{
    for (int32_t i = 0; i < survey->fact_count; i++) {
        const struct yk_survey_fact *row = &survey->facts[i];
        if (strcmp(row->fact.subject, fact->subject) == 0 &&
            strcmp(row->fact.fact, fact->fact) == 0) {
            return fmax(row->measurement.value, value);
        }
    }
    return value;
}

static yk_status add(struct yk_survey *survey, const struct yk_survey_request *request,
                     const struct yk_device *device, const double numbers[NUMBERS])
{
    char subject[YK_PROFILE_KEY_SIZE];
    struct yk_survey_fact row = {
        .fact = {subject, YK_PROFILE_COMPUTE_SLOWDOWN},
        .measurement = {.value = numbers[0],
                        .spread = numbers[1],
                        .samples = (int64_t)numbers[2],
                        .versions = request->versions},
    };
    if (!yk_profile_key_device(device, NULL, subject) || !(numbers[0] >= 1)) {
        return YK_OK;
    }
    row.measurement.value = worse_before(survey, &row.fact, numbers[0]);
    return yk_survey_add_fact(survey, &row);
}

yk_status yk_slowdown_pairs_add_devices(struct yk_survey *survey,
                                        const struct yk_measure_ranks *team,
                                        const struct yk_survey_request *request,
                                        const struct yk_exchange_group *pair,
                                        const struct yk_profile_measurement *own)
{
    double numbers[PAIR][NUMBERS] = {{0}};
    for (int end = 0; end < PAIR && own->samples > 0; end++) {
        if (team->ranks->rank == pair->ranks[end]) {
            numbers[end][0] = own->value;
            numbers[end][1] = own->spread;
            numbers[end][2] = (double)own->samples;
        }
    }
    YK_TRY(yk_exchange_sum(team->ranks, &numbers[0][0], (int64_t)PAIR * NUMBERS));
    for (int end = 0; end < PAIR; end++) {
        YK_TRY(add(survey, request, &request->cluster->devices[pair->ranks[end]], numbers[end]));
    }
    return YK_OK;
}
