#include "measure/profiler/profiler.h"

#include "base/array.h"
#include "measure/timings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What takes less does not count as noise. */
static const double shortest_s = 50e-6;

yk_status yk_profiler_init(struct yk_profiler *profiler)
{
    *profiler = (struct yk_profiler){0};
    return yk_arena_create(&profiler->arena);
}

void yk_profiler_free(struct yk_profiler *profiler)
{
    free(profiler->layers);
    free(profiler->links);
    free(profiler->facts);
    yk_arena_destroy(profiler->arena);
    *profiler = (struct yk_profiler){0};
}

static yk_status copy(struct yk_profiler *profiler, const char **text)
{
    return yk_arena_strdup(profiler->arena, *text, text);
}

/* ---- rows ---- */

static bool is_same_layer(const struct yk_profiler_layer_row *a,
                          const struct yk_profiler_layer_row *b)
{
    return a->batch == b->batch && a->layer.part == b->layer.part &&
           a->layer.sequence == b->layer.sequence && strcmp(a->layer.pass, b->layer.pass) == 0 &&
           strcmp(a->layer.shape, b->layer.shape) == 0 &&
           strcmp(a->layer.device, b->layer.device) == 0;
}

yk_status yk_profiler_add_layer_row(struct yk_profiler *profiler,
                                    const struct yk_profiler_layer_row *layer)
{
    struct yk_profiler_layer_row row = *layer;
    int32_t place = 0;
    while (place < profiler->layer_count && !is_same_layer(&profiler->layers[place], layer)) {
        place++;
    }
    YK_TRY(copy(profiler, &row.layer.device));
    YK_TRY(copy(profiler, &row.layer.shape));
    YK_TRY(copy(profiler, &row.layer.pass));
    YK_TRY(copy(profiler, &row.measurement.versions));
    YK_TRY_GROW_ARRAY(profiler->layers, profiler->layer_capacity, place);
    profiler->layers[place] = row;
    profiler->layer_count += place == profiler->layer_count ? 1 : 0;
    return YK_OK;
}

static bool is_same_link(const struct yk_profile_link_key *a, const struct yk_profile_link_key *b)
{
    return a->ranks == b->ranks && strcmp(a->collective, b->collective) == 0 &&
           strcmp(a->link, b->link) == 0;
}

yk_status yk_profiler_add_link_row(struct yk_profiler *profiler,
                                   const struct yk_profiler_link_row *link)
{
    struct yk_profiler_link_row row = *link;
    int32_t place = 0;
    while (place < profiler->link_count &&
           (profiler->links[place].bytes != link->bytes ||
            !is_same_link(&profiler->links[place].link, &link->link))) {
        place++;
    }
    YK_TRY(copy(profiler, &row.link.link));
    YK_TRY(copy(profiler, &row.link.collective));
    YK_TRY(copy(profiler, &row.measurement.versions));
    YK_TRY_GROW_ARRAY(profiler->links, profiler->link_capacity, place);
    profiler->links[place] = row;
    profiler->link_count += place == profiler->link_count ? 1 : 0;
    return YK_OK;
}

const struct yk_profiler_fact_row *yk_profiler_find_fact_row(const struct yk_profiler *profiler,
                                                             const struct yk_profile_fact_key *fact)
{
    for (int32_t i = 0; i < profiler->fact_count; i++) {
        const struct yk_profile_fact_key *other = &profiler->facts[i].fact;
        if (strcmp(other->subject, fact->subject) == 0 && strcmp(other->fact, fact->fact) == 0) {
            return &profiler->facts[i];
        }
    }
    return NULL;
}

yk_status yk_profiler_add_fact_row(struct yk_profiler *profiler,
                                   const struct yk_profiler_fact_row *fact)
{
    struct yk_profiler_fact_row row = *fact;
    const struct yk_profiler_fact_row *found = yk_profiler_find_fact_row(profiler, &fact->fact);
    const int32_t place = found ? (int32_t)(found - profiler->facts) : profiler->fact_count;
    YK_TRY(copy(profiler, &row.fact.subject));
    YK_TRY(copy(profiler, &row.fact.fact));
    YK_TRY(copy(profiler, &row.measurement.versions));
    YK_TRY_GROW_ARRAY(profiler->facts, profiler->fact_capacity, place);
    profiler->facts[place] = row;
    profiler->fact_count += place == profiler->fact_count ? 1 : 0;
    return YK_OK;
}

/* ---- the profile ---- */

bool yk_profiler_has_link_row(const struct yk_profiler *profiler,
                              const struct yk_profile_link_key *link, const char *versions)
{
    for (int32_t i = 0; i < profiler->link_count; i++) {
        const struct yk_profiler_link_row *row = &profiler->links[i];
        if (is_same_link(&row->link, link) && strcmp(row->measurement.versions, versions) == 0) {
            return true;
        }
    }
    return false;
}

yk_status yk_profiler_should_stop(struct yk_profiler *profiler, bool *out)
{
    const struct yk_profiler_callbacks *callbacks = &profiler->request->callbacks;
    double stops = 0;
    YK_TRY(yk_measuring_ranks_all_reduce_max(
        profiler->team, callbacks->stop && callbacks->stop(callbacks->user) ? 1 : 0, &stops));
    profiler->stopped = profiler->stopped || stops > 0;
    *out = profiler->stopped;
    return YK_OK;
}

static yk_status write_rows(const struct yk_profiler *profiler, struct yk_profile *profile)
{
    for (int32_t i = 0; i < profiler->layer_count; i++) {
        const struct yk_profiler_layer_row *row = &profiler->layers[i];
        if (!row->is_saved) {
            YK_TRY(yk_profile_add_layer_time(profile, &row->layer, row->batch, &row->measurement));
        }
    }
    for (int32_t i = 0; i < profiler->link_count; i++) {
        const struct yk_profiler_link_row *row = &profiler->links[i];
        if (!row->is_saved) {
            YK_TRY(yk_profile_add_link_time(profile, &row->link, row->bytes, &row->measurement));
        }
    }
    for (int32_t i = 0; i < profiler->fact_count; i++) {
        const struct yk_profiler_fact_row *row = &profiler->facts[i];
        if (!row->is_saved) {
            YK_TRY(yk_profile_add_fact(profile, &row->fact, &row->measurement));
        }
    }
    return YK_OK;
}

yk_status yk_profiler_write_unsaved_rows(const struct yk_profiler *profiler,
                                         struct yk_profile *profile)
{
    YK_TRY(yk_profile_begin_transaction(profile));
    YK_TRY(write_rows(profiler, profile));
    return yk_profile_commit(profile);
}

yk_status yk_profiler_save_rows(struct yk_profiler *profiler)
{
    if (!profiler->profile) {
        return YK_OK;
    }
    YK_TRY(yk_profiler_write_unsaved_rows(profiler, profiler->profile));
    for (int32_t i = 0; i < profiler->layer_count; i++) {
        profiler->layers[i].is_saved = true;
    }
    for (int32_t i = 0; i < profiler->link_count; i++) {
        profiler->links[i].is_saved = true;
    }
    for (int32_t i = 0; i < profiler->fact_count; i++) {
        profiler->facts[i].is_saved = true;
    }
    return YK_OK;
}

/* ---- noise ---- */

static int32_t add_spread(const struct yk_profile_measurement *made, double *spreads, int32_t count)
{
    if (made->value >= shortest_s && made->samples > 1 && !isnan(made->spread)) {
        spreads[count++] = made->spread;
    }
    return count;
}

double yk_profiler_p75_spread(const struct yk_profiler *profiler)
{
    double *spreads =
        calloc((size_t)profiler->layer_count + (size_t)profiler->link_count + 1, sizeof *spreads);
    double noise = NAN;
    int32_t count = 0;
    for (int32_t i = 0; spreads && i < profiler->layer_count; i++) {
        count = add_spread(&profiler->layers[i].measurement, spreads, count);
    }
    for (int32_t i = 0; spreads && i < profiler->link_count; i++) {
        count = add_spread(&profiler->links[i].measurement, spreads, count);
    }
    if (count > 0) {
        yk_timings_sort_numbers(spreads, count);
        noise = spreads[(3 * (int64_t)count - 1) / 4];
    }
    free(spreads);
    return noise;
}
