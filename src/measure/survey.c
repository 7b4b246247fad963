#include "measure/survey.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

yk_status yk_survey_begin(struct yk_survey *survey)
{
    *survey = (struct yk_survey){0};
    return yk_arena_create(&survey->arena);
}

void yk_survey_free(struct yk_survey *survey)
{
    free(survey->layers);
    free(survey->links);
    free(survey->facts);
    yk_arena_destroy(survey->arena);
    *survey = (struct yk_survey){0};
}

static yk_status copy(struct yk_survey *survey, const char **words)
{
    *words = yk_arena_copy_text(survey->arena, *words, strlen(*words));
    return *words ? YK_OK : yk_fail_out_of_memory();
}

yk_status yk_survey_add_layer(struct yk_survey *survey, const struct yk_survey_layer *layer)
{
    struct yk_survey_layer row = *layer;
    YK_TRY(copy(survey, &row.layer.device));
    YK_TRY(copy(survey, &row.layer.shape));
    YK_TRY(copy(survey, &row.layer.pass));
    YK_TRY(copy(survey, &row.measurement.versions));
    YK_TRY(yk_grow((void **)&survey->layers, &survey->layer_capacity, survey->layer_count,
                   sizeof row));
    survey->layers[survey->layer_count++] = row;
    return YK_OK;
}

yk_status yk_survey_add_link(struct yk_survey *survey, const struct yk_survey_link *link)
{
    struct yk_survey_link row = *link;
    YK_TRY(copy(survey, &row.link.link));
    YK_TRY(copy(survey, &row.link.collective));
    YK_TRY(copy(survey, &row.measurement.versions));
    YK_TRY(
        yk_grow((void **)&survey->links, &survey->link_capacity, survey->link_count, sizeof row));
    survey->links[survey->link_count++] = row;
    return YK_OK;
}

yk_status yk_survey_add_fact(struct yk_survey *survey, const struct yk_survey_fact *fact)
{
    struct yk_survey_fact row = *fact;
    YK_TRY(copy(survey, &row.fact.subject));
    YK_TRY(copy(survey, &row.fact.fact));
    YK_TRY(copy(survey, &row.measurement.versions));
    YK_TRY(
        yk_grow((void **)&survey->facts, &survey->fact_capacity, survey->fact_count, sizeof row));
    survey->facts[survey->fact_count++] = row;
    return YK_OK;
}

yk_status yk_survey_stops(struct yk_survey *survey, const struct yk_measure_ranks *team,
                          const struct yk_survey_wish *wish, bool *out)
{
    const struct yk_survey_watch *watch = &wish->watch;
    double stops = 0;
    YK_TRY(yk_measure_most(team, watch->stop && watch->stop(watch->user) ? 1 : 0, &stops));
    survey->stopped = survey->stopped || stops > 0;
    *out = survey->stopped;
    return YK_OK;
}

static yk_status write_rows(const struct yk_survey *survey, struct yk_profile *profile)
{
    for (int32_t i = 0; i < survey->layer_count; i++) {
        const struct yk_survey_layer *row = &survey->layers[i];
        YK_TRY(yk_profile_add_layer(profile, &row->layer, row->batch, &row->measurement));
    }
    for (int32_t i = 0; i < survey->link_count; i++) {
        const struct yk_survey_link *row = &survey->links[i];
        YK_TRY(yk_profile_add_link(profile, &row->link, row->bytes, &row->measurement));
    }
    for (int32_t i = 0; i < survey->fact_count; i++) {
        const struct yk_survey_fact *row = &survey->facts[i];
        YK_TRY(yk_profile_add_fact(profile, &row->fact, &row->measurement));
    }
    return YK_OK;
}

yk_status yk_survey_keep(const struct yk_survey *survey, struct yk_profile *profile)
{
    YK_TRY(yk_profile_begin(profile));
    YK_TRY(write_rows(survey, profile));
    return yk_profile_commit(profile);
}
