#include "measure/slowdown/pairs.h"

#include "comm/exchange.h"

#include <string.h>

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

static yk_status is_known(const struct yk_survey *survey, const struct yk_survey_request *wish,
                          const char *link, bool *out)
{
    const struct yk_profile_fact facts[] = {{link, YK_PROFILE_COMPUTE_SLOWDOWN},
                                            {link, YK_PROFILE_MESSAGE_SLOWDOWN}};
    bool found = true;
    for (int f = 0; f < 2 && found; f++) {
        found = was_found(survey, &facts[f], wish->versions);
        if (!found && !wish->again) {
            YK_TRY(yk_survey_knows_fact(survey, &facts[f], wish->versions, &found));
        }
    }
    *out = found;
    return YK_OK;
}

yk_status yk_slowdown_pairs_find(const struct yk_survey *survey,
                                 const struct yk_measure_ranks *team,
                                 const struct yk_survey_request *wish, struct yk_arena *arena,
                                 struct yk_slowdown_pairs *out)
{
    int32_t count = 0;
    *out = (struct yk_slowdown_pairs){.all_known = true};
    YK_TRY(yk_exchange_groups_list(wish->cluster, arena, &out->parties, &count));
    while (out->count < count && out->count < YK_SLOWDOWN_MAX_PAIRS &&
           out->parties[out->count].count == 2) {
        bool known = false;
        YK_TRY(is_known(survey, wish, out->parties[out->count].link, &known));
        out->known[out->count++] = known ? 1 : 0;
    }
    YK_TRY(yk_exchange_max(team->ranks, out->known, out->count));
    for (int32_t i = 0; i < out->count; i++) {
        out->all_known = out->all_known && out->known[i] > 0;
    }
    return YK_OK;
}
