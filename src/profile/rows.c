#include "profile/rows.h"

#include "profile/handle.h"

#include <math.h>
#include <time.h>

#define MEASUREMENT "spread, samples, versions, min, max, measured_at, host"

/* The columns from `first` on: the value, MEASUREMENT and the CPU. */
static struct yk_profile_measurement measurement_of(const struct yk_database_statement *query,
                                                    int first)
{
    return (struct yk_profile_measurement){
        .value = yk_database_column_real(query, first),
        .spread = yk_database_column_real(query, first + 1),
        .samples = yk_database_column_integer(query, first + 2),
        .versions = yk_database_column_text(query, first + 3),
        .min = yk_database_column_real(query, first + 4),
        .max = yk_database_column_real(query, first + 5),
        .measured_at = yk_database_column_integer(query, first + 6),
        .host = yk_database_column_text(query, first + 7),
        .cpu = yk_database_column_text(query, first + 8),
    };
}

yk_status yk_profile_visit_layers(struct yk_profile *profile,
                                  yk_status (*visit)(void *user,
                                                     const struct yk_profile_layer_row *row),
                                  void *user)
{
    struct yk_database_statement *query = NULL;
    bool found = false;
    YK_TRY(yk_database_prepare(profile->database,
                               "SELECT device, part, shape, sequence, pass, batch, "
                               "seconds, " MEASUREMENT ", cpu FROM layers "
                               "ORDER BY device, cpu, part, shape, sequence, pass, batch",
                               &query));
    yk_status status = yk_database_step(query, &found);
    while (status == YK_OK && found) {
        const struct yk_profile_layer_row row = {
            .layer = {.device = yk_database_column_text(query, 0),
                      .part = yk_database_column_real(query, 1),
                      .shape = yk_database_column_text(query, 2),
                      .sequence = yk_database_column_integer(query, 3),
                      .pass = yk_database_column_text(query, 4)},
            .batch = yk_database_column_integer(query, 5),
            .measurement = measurement_of(query, 6),
        };
        status = visit(user, &row);
        if (status == YK_OK) {
            status = yk_database_step(query, &found);
        }
    }
    yk_database_finalize(query);
    return status;
}

yk_status yk_profile_visit_links(struct yk_profile *profile,
                                 yk_status (*visit)(void *user,
                                                    const struct yk_profile_link_row *row),
                                 void *user)
{
    struct yk_database_statement *query = NULL;
    bool found = false;
    YK_TRY(yk_database_prepare(profile->database,
                               "SELECT link, collective, ranks, bytes, seconds, " MEASUREMENT
                               ", cpu FROM links ORDER BY link, cpu, collective, ranks, bytes",
                               &query));
    yk_status status = yk_database_step(query, &found);
    while (status == YK_OK && found) {
        const int64_t ranks = yk_database_column_integer(query, 2);
        const struct yk_profile_link_row row = {
            .link = {.link = yk_database_column_text(query, 0),
                     .collective = yk_database_column_text(query, 1),
                     .ranks = (int32_t)ranks},
            .bytes = yk_database_column_integer(query, 3),
            .measurement = measurement_of(query, 4),
        };
        status =
            ranks > 0 && ranks <= INT32_MAX
                ? visit(user, &row)
                : yk_fail(YK_ERROR_INPUT, "%s: %s: %lld ranks cannot be",
                          yk_database_path(profile->database), row.link.link, (long long)ranks);
        if (status == YK_OK) {
            status = yk_database_step(query, &found);
        }
    }
    yk_database_finalize(query);
    return status;
}

yk_status yk_profile_visit_facts(struct yk_profile *profile,
                                 yk_status (*visit)(void *user,
                                                    const struct yk_profile_fact_row *row),
                                 void *user)
{
    struct yk_database_statement *query = NULL;
    bool found = false;
    YK_TRY(yk_database_prepare(profile->database,
                               "SELECT subject, fact, value, " MEASUREMENT
                               ", cpu FROM facts ORDER BY subject, cpu, fact",
                               &query));
    yk_status status = yk_database_step(query, &found);
    while (status == YK_OK && found) {
        const struct yk_profile_fact_row row = {
            .fact = {.subject = yk_database_column_text(query, 0),
                     .fact = yk_database_column_text(query, 1)},
            .measurement = measurement_of(query, 2),
        };
        status = visit(user, &row);
        if (status == YK_OK) {
            status = yk_database_step(query, &found);
        }
    }
    yk_database_finalize(query);
    return status;
}

/* Binds the measurement from number `first` on, and runs the statement, which ends with that. */
static yk_status insert(struct yk_database_statement *query, int first,
                        const struct yk_profile_measurement *measurement)
{
    bool found = false;
    yk_database_bind_real(query, first, measurement->value);
    yk_database_bind_real(query, first + 1, measurement->spread);
    yk_database_bind_integer(query, first + 2, measurement->samples);
    yk_database_bind_text(query, first + 3, measurement->versions);
    yk_database_bind_real(query, first + 4, measurement->min);
    yk_database_bind_real(query, first + 5, measurement->max);
    yk_database_bind_integer(query, first + 6, measurement->measured_at);
    yk_database_bind_text(query, first + 7, measurement->host);
    return yk_database_step_once(query, &found);
}

yk_status yk_profile_write_layer_row(struct yk_profile *profile,
                                     const struct yk_profile_layer_row *row)
{
    struct yk_database_statement *query = NULL;
    YK_TRY(yk_profile_handle_query_layer(
        profile,
        "INSERT OR REPLACE INTO layers (device, part, shape, sequence, pass, cpu, batch, "
        "seconds, " MEASUREMENT ") VALUES (?1, coalesce((SELECT part FROM layers WHERE "
        "device = ?1 AND abs(part - ?2) <= 0.005 * part AND shape = ?3 AND sequence = ?4 AND "
        "pass = ?5 AND cpu = ?6 AND batch = ?7 ORDER BY abs(part - ?2) LIMIT 1), ?2), ?3, ?4, ?5, "
        "?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        &row->layer, row->measurement.cpu, &query));
    yk_database_bind_integer(query, 7, row->batch);
    return insert(query, 8, &row->measurement);
}

yk_status yk_profile_write_link_row(struct yk_profile *profile,
                                    const struct yk_profile_link_row *row)
{
    struct yk_database_statement *query = NULL;
    YK_TRY(yk_profile_handle_query_link(
        profile,
        "INSERT OR REPLACE INTO links (link, collective, ranks, cpu, bytes, "
        "seconds, " MEASUREMENT ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        &row->link, row->measurement.cpu, &query));
    yk_database_bind_integer(query, 5, row->bytes);
    return insert(query, 6, &row->measurement);
}

yk_status yk_profile_write_fact_row(struct yk_profile *profile,
                                    const struct yk_profile_fact_row *row)
{
    struct yk_database_statement *query = NULL;
    YK_TRY(yk_profile_handle_query_fact(
        profile,
        "INSERT OR REPLACE INTO facts (subject, fact, cpu, value, " MEASUREMENT
        ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        &row->fact, row->measurement.cpu, &query));
    return insert(query, 4, &row->measurement);
}

/* The measurement of the subject with what its maker left to be filled in. */
static struct yk_profile_measurement complete(const struct yk_profile *profile, const char *subject,
                                              const struct yk_profile_measurement *given)
{
    struct yk_profile_measurement made = *given;
    if (made.min == 0 && made.max == 0) {
        made.min = made.value;
        made.max = made.value;
    }
    /* The median of several ranks may lie outside of what one of them saw. */
    made.min = fmin(made.min, made.value);
    made.max = fmax(made.max, made.value);
    made.measured_at = made.measured_at != 0 ? made.measured_at : (int64_t)time(NULL);
    made.host = made.host ? made.host : profile->host;
    made.cpu = made.cpu ? made.cpu : yk_profile_handle_cpu(profile, subject);
    return made;
}

yk_status yk_profile_add_layer(struct yk_profile *profile, const struct yk_profile_layer *layer,
                               int64_t batch, const struct yk_profile_measurement *measurement)
{
    const struct yk_profile_layer_row row = {*layer, batch,
                                             complete(profile, layer->device, measurement)};
    return yk_profile_write_layer_row(profile, &row);
}

yk_status yk_profile_add_link(struct yk_profile *profile, const struct yk_profile_link *link,
                              int64_t bytes, const struct yk_profile_measurement *measurement)
{
    const struct yk_profile_link_row row = {*link, bytes,
                                            complete(profile, link->link, measurement)};
    return yk_profile_write_link_row(profile, &row);
}

yk_status yk_profile_add_fact(struct yk_profile *profile, const struct yk_profile_fact *fact,
                              const struct yk_profile_measurement *measurement)
{
    const struct yk_profile_fact_row row = {*fact, complete(profile, fact->subject, measurement)};
    return yk_profile_write_fact_row(profile, &row);
}
