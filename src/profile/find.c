#include "base/array.h"
#include "profile/handle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The point of a row of (size, seconds, spread). */
static yk_status read_point(const struct yk_profile *profile,
                            const struct yk_database_statement *query, struct yk_profile_point *out)
{
    const double size = yk_database_column_real(query, 0);
    const double seconds = yk_database_column_real(query, 1);
    const double spread = yk_database_column_real(query, 2);
    if (!(size > 0) || !isfinite(size) || !(seconds > 0) || !isfinite(seconds)) {
        return yk_fail(YK_ERROR_INPUT, "%s: a time of %g s for a size of %g cannot be",
                       yk_database_path(profile->database), seconds, size);
    }
    if (!(spread >= 0) || !isfinite(spread)) {
        return yk_fail(YK_ERROR_INPUT, "%s: a spread of %g around %g s cannot be",
                       yk_database_path(profile->database), spread, seconds);
    }
    *out = (struct yk_profile_point){size, seconds, spread};
    return YK_OK;
}

/* Reads rows until there are no more; of several of one size, the first. */
static yk_status read_points(struct yk_profile *profile, struct yk_database_statement *query,
                             struct yk_profile_curve *out)
{
    int32_t count = 0;
    bool found = false;
    YK_TRY(yk_database_step(query, &found));
    while (found) {
        YK_TRY(yk_array_grow((void **)&profile->points, &profile->point_capacity, count,
                             sizeof *profile->points));
        YK_TRY(read_point(profile, query, &profile->points[count]));
        count += count == 0 || profile->points[count].size > profile->points[count - 1].size;
        YK_TRY(yk_database_step(query, &found));
    }
    *out = (struct yk_profile_curve){profile->points, count};
    return YK_OK;
}

yk_status yk_profile_find_layer(struct yk_profile *profile, const struct yk_profile_layer *layer,
                                struct yk_profile_curve *out)
{
    struct yk_database_statement *query = NULL;
    YK_TRY(yk_profile_handle_query_layer(
        profile,
        "SELECT batch, seconds, spread FROM layers WHERE " YK_PROFILE_WHERE_LAYER
        " ORDER BY batch, abs(part - ?2)",
        layer, yk_profile_handle_cpu(profile, layer->device), &query));
    const yk_status status = read_points(profile, query, out);
    yk_database_finalize(query);
    return status;
}

yk_status yk_profile_find_part(struct yk_profile *profile, const char *device, double part,
                               double most, double *out)
{
    struct yk_database_statement *query = NULL;
    bool found = false;
    YK_TRY(yk_database_prepare(profile->database,
                               "SELECT part FROM layers WHERE device = ?1 AND abs(part - ?2) <= ?3 "
                               "AND cpu = ?4 ORDER BY abs(part - ?2), part LIMIT 1",
                               &query));
    yk_database_bind_text(query, 1, device);
    yk_database_bind_real(query, 2, part);
    yk_database_bind_real(query, 3, most);
    yk_database_bind_text(query, 4, yk_profile_handle_cpu(profile, device));
    const yk_status status = yk_database_step(query, &found);
    *out = found ? yk_database_column_real(query, 0) : NAN;
    yk_database_finalize(query);
    return status;
}

const char *yk_profile_cpu(const struct yk_profile *profile)
{
    return profile->cpu;
}

yk_status yk_profile_find_other_cpu(struct yk_profile *profile, const char *device, bool *out,
                                    char name[YK_SYSTEM_CPU_NAME_SIZE])
{
    struct yk_database_statement *query = NULL;
    bool found = false;
    YK_TRY(yk_database_prepare(profile->database,
                               "SELECT cpu FROM layers WHERE device = ?1 "
                               "ORDER BY cpu <> ?2, cpu = '', cpu LIMIT 1",
                               &query));
    yk_database_bind_text(query, 1, device);
    yk_database_bind_text(query, 2, profile->cpu);
    const yk_status status = yk_database_step(query, &found);
    *out = status == YK_OK && found && strcmp(yk_database_column_text(query, 0), profile->cpu) != 0;
    snprintf(name, YK_SYSTEM_CPU_NAME_SIZE, "%s", *out ? yk_database_column_text(query, 0) : "");
    yk_database_finalize(query);
    return status;
}

yk_status yk_profile_find_link(struct yk_profile *profile, const struct yk_profile_link *link,
                               struct yk_profile_curve *out)
{
    struct yk_database_statement *query = NULL;
    YK_TRY(yk_profile_handle_query_link(
        profile,
        "SELECT bytes, seconds, spread FROM links WHERE " YK_PROFILE_WHERE_LINK " ORDER BY bytes",
        link, yk_profile_handle_cpu(profile, link->link), &query));
    const yk_status status = read_points(profile, query, out);
    yk_database_finalize(query);
    return status;
}

yk_status yk_profile_find_fact(struct yk_profile *profile, const struct yk_profile_fact *fact,
                               double *out)
{
    struct yk_database_statement *query = NULL;
    bool found = false;
    *out = NAN;
    YK_TRY(yk_profile_handle_query_fact(
        profile, "SELECT value FROM facts WHERE " YK_PROFILE_WHERE_FACT, fact,
        yk_profile_handle_cpu(profile, fact->subject), &query));
    const yk_status status = yk_database_step(query, &found);
    const double value = found ? yk_database_column_real(query, 0) : NAN;
    yk_database_finalize(query);
    if (isinf(value)) {
        return yk_fail(YK_ERROR_INPUT, "%s: %s: %s of %g cannot be",
                       yk_database_path(profile->database), fact->subject, fact->fact, value);
    }
    *out = value;
    return status;
}

/* Whether there is a row of such a size with the versions: arguments `number` and the next. */
static yk_status has_size(struct yk_database_statement *query, int number, int64_t size,
                          const char *versions, bool *out)
{
    yk_database_bind_integer(query, number, size);
    yk_database_bind_text(query, number + 1, versions);
    return yk_database_step_once(query, out);
}

yk_status yk_profile_has_layer(struct yk_profile *profile, const struct yk_profile_layer *layer,
                               int64_t batch, const char *versions, bool *out)
{
    struct yk_database_statement *query = NULL;
    YK_TRY(yk_profile_handle_query_layer(
        profile,
        "SELECT 1 FROM layers WHERE " YK_PROFILE_WHERE_LAYER " AND batch = ?7 AND versions = ?8",
        layer, yk_profile_handle_cpu(profile, layer->device), &query));
    return has_size(query, 7, batch, versions, out);
}

yk_status yk_profile_has_link(struct yk_profile *profile, const struct yk_profile_link *link,
                              int64_t bytes, const char *versions, bool *out)
{
    struct yk_database_statement *query = NULL;
    YK_TRY(yk_profile_handle_query_link(profile,
                                        "SELECT 1 FROM links WHERE " YK_PROFILE_WHERE_LINK
                                        " AND bytes = ?5 AND versions = ?6",
                                        link, yk_profile_handle_cpu(profile, link->link), &query));
    return has_size(query, 5, bytes, versions, out);
}

yk_status yk_profile_has_fact(struct yk_profile *profile, const struct yk_profile_fact *fact,
                              const char *versions, bool *out)
{
    struct yk_database_statement *query = NULL;
    *out = false;
    YK_TRY(yk_profile_handle_query_fact(
        profile, "SELECT 1 FROM facts WHERE " YK_PROFILE_WHERE_FACT " AND versions = ?4", fact,
        yk_profile_handle_cpu(profile, fact->subject), &query));
    yk_database_bind_text(query, 4, versions);
    return yk_database_step_once(query, out);
}
