#include "profile/profile.h"

#include "base/array.h"
#include "base/folder.h"
#include "profile/profile_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

yk_status yk_profile_open_unchecked(const char *path, bool make, struct yk_profile **out)
{
    struct yk_profile *profile = calloc(1, sizeof *profile);
    YK_TRY_ALLOCATED(profile);
    if (gethostname(profile->host, sizeof profile->host - 1) != 0) {
        profile->host[0] = '\0';
    }
    yk_system_cpu_name(profile->cpu);
    YK_TRY_OR_CLEAN_UP(yk_sqlite_open(path, make, &profile->sqlite), yk_profile_close(profile));
    *out = profile;
    return YK_OK;
}

void yk_profile_close(struct yk_profile *profile)
{
    if (profile) {
        yk_sqlite_close(profile->sqlite);
        free(profile->points);
        free(profile);
    }
}

static bool begins_with_cpu(const char *text)
{
    return strncmp(text, "cpu", 3) == 0 && strchr(":- ", text[3]); /* or the end of the text */
}

/* The CPU of a device's or link's times: this machine's if a CPU is part of it, else "". */
static const char *cpu_of(const struct yk_profile *profile, const char *subject)
{
    const size_t devices = strcspn(subject, " ");
    for (size_t i = 0; i < devices; i++) {
        if ((i == 0 || subject[i - 1] == '-') && begins_with_cpu(subject + i)) {
            return profile->cpu;
        }
    }
    return "";
}

/* SQL conditions for the key of a row. Parameters: 1 to 6 for a layer, 1 to 4 for a link, 1 to 3
 * for a fact; the CPU is the last. Parts within 0.5 % are equal. */
#define WHERE_LAYER                                                                                \
    "device = ?1 AND abs(part - ?2) <= 0.005 * part AND shape = ?3 AND sequence = ?4 "             \
    "AND pass = ?5 AND cpu = ?6"
#define WHERE_LINK "link = ?1 AND collective = ?2 AND ranks = ?3 AND cpu = ?4"
#define WHERE_FACT "subject = ?1 AND fact = ?2 AND cpu = ?3"

/* The next three functions prepare `sql` and bind these parameters. */
static yk_status query_layer(const struct yk_profile *profile, const char *sql,
                             const struct yk_profile_layer_key *layer, const char *cpu,
                             struct yk_sqlite_statement **out)
{
    YK_TRY(yk_sqlite_prepare(profile->sqlite, sql, out));
    yk_sqlite_bind_text(*out, 1, layer->device);
    yk_sqlite_bind_real(*out, 2, layer->part);
    yk_sqlite_bind_text(*out, 3, layer->shape);
    yk_sqlite_bind_integer(*out, 4, layer->sequence);
    yk_sqlite_bind_text(*out, 5, layer->pass);
    yk_sqlite_bind_text(*out, 6, cpu);
    return YK_OK;
}

static yk_status query_link(const struct yk_profile *profile, const char *sql,
                            const struct yk_profile_link_key *link, const char *cpu,
                            struct yk_sqlite_statement **out)
{
    YK_TRY(yk_sqlite_prepare(profile->sqlite, sql, out));
    yk_sqlite_bind_text(*out, 1, link->link);
    yk_sqlite_bind_text(*out, 2, link->collective);
    yk_sqlite_bind_integer(*out, 3, link->ranks);
    yk_sqlite_bind_text(*out, 4, cpu);
    return YK_OK;
}

static yk_status query_fact(const struct yk_profile *profile, const char *sql,
                            const struct yk_profile_fact_key *fact, const char *cpu,
                            struct yk_sqlite_statement **out)
{
    YK_TRY(yk_sqlite_prepare(profile->sqlite, sql, out));
    yk_sqlite_bind_text(*out, 1, fact->subject);
    yk_sqlite_bind_text(*out, 2, fact->fact);
    yk_sqlite_bind_text(*out, 3, cpu);
    return YK_OK;
}

/* What a killed writer left half written is undone by the next reader too, who must be able to
 * write for that; it writes nothing else. */
static yk_status check_for_reading(struct yk_sqlite *sqlite)
{
    YK_TRY(yk_schema_prepare_for_reading(sqlite));
    return yk_sqlite_execute(sqlite, "PRAGMA query_only = ON");
}

/* Opens the file and checks its schema. */
static yk_status open_checked(const char *path, bool make, yk_status (*check)(struct yk_sqlite *),
                              struct yk_profile **out)
{
    struct yk_profile *profile = NULL;
    YK_TRY(yk_profile_open_unchecked(path, make, &profile));
    YK_TRY_OR_CLEAN_UP(check(profile->sqlite), yk_profile_close(profile));
    *out = profile;
    return YK_OK;
}

yk_status yk_profile_open_for_reading(const char *path, struct yk_profile **out)
{
    if (access(path, R_OK) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    }
    return open_checked(path, false, check_for_reading, out);
}

yk_status yk_profile_open_or_create(const char *path, struct yk_profile **out)
{
    return open_checked(path, true, yk_schema_prepare_for_writing, out);
}

yk_status yk_profile_begin_transaction(struct yk_profile *profile)
{
    return yk_sqlite_begin_transaction(profile->sqlite);
}

yk_status yk_profile_commit(struct yk_profile *profile)
{
    return yk_sqlite_commit(profile->sqlite);
}

/* The order of rows in lists and visits. */
#define LAYER_ORDER "device, cpu, part, shape, sequence, pass, batch"
#define LINK_ORDER "link, cpu, collective, ranks, bytes"
#define FACT_ORDER "subject, cpu, fact"

/* The versions, with the CPU if there is one. */
#define VERSIONS "CASE cpu WHEN '' THEN versions ELSE versions || ' on ' || cpu END"

static void add_value(struct yk_text *out, const struct yk_sqlite_statement *statement, int column)
{
    yk_text_add(out, column > 0 ? " " : "");
    if (yk_sqlite_column_is_real(statement, column)) {
        yk_text_add_number(out, yk_sqlite_column_real(statement, column));
    } else {
        yk_text_add_json_string(out, yk_sqlite_column_text(statement, column));
    }
}

/* Calls `visit` for each row, until it fails. */
static yk_status each_row(struct yk_profile *profile, const char *sql,
                          yk_status (*visit)(const struct yk_sqlite_statement *row, void *argument),
                          void *argument)
{
    struct yk_sqlite_statement *statement = NULL;
    bool found = false;
    YK_TRY(yk_sqlite_prepare(profile->sqlite, sql, &statement));
    yk_status status = yk_sqlite_step(statement, &found);
    while (status == YK_OK && found) {
        status = visit(statement, argument);
        YK_IF_OK(yk_sqlite_step(statement, &found));
    }
    yk_sqlite_finalize(statement);
    return status;
}

static yk_status list_row(const struct yk_sqlite_statement *row, void *argument)
{
    struct yk_text *out = argument;
    for (int i = 0; i < yk_sqlite_column_count(row); i++) {
        add_value(out, row, i);
    }
    yk_text_add(out, "\n");
    return yk_text_status(out);
}

yk_status yk_profile_write_rows_as_text(struct yk_profile *profile, struct yk_text *out)
{
    YK_TRY(each_row(profile,
                    "SELECT 'layer', device, part, shape, sequence, pass, batch, seconds, spread, "
                    "samples, " VERSIONS " FROM layers ORDER BY " LAYER_ORDER,
                    list_row, out));
    YK_TRY(each_row(profile,
                    "SELECT 'link', link, collective, ranks, bytes, seconds, spread, "
                    "samples, " VERSIONS " FROM links ORDER BY " LINK_ORDER,
                    list_row, out));
    return each_row(profile,
                    "SELECT 'fact', subject, fact, value, spread, samples, " VERSIONS
                    " FROM facts ORDER BY " FACT_ORDER,
                    list_row, out);
}

/* The point of a row of (size, seconds, spread). */
static yk_status read_point(const struct yk_profile *profile,
                            const struct yk_sqlite_statement *statement,
                            struct yk_profile_point *out)
{
    const double size = yk_sqlite_column_real(statement, 0);
    const double seconds = yk_sqlite_column_real(statement, 1);
    const double spread = yk_sqlite_column_real(statement, 2);
    if (!(size > 0) || !isfinite(size) || !(seconds > 0) || !isfinite(seconds)) {
        return yk_fail(YK_ERROR_INPUT, "%s: a time of %g s for a size of %g cannot be",
                       yk_sqlite_path(profile->sqlite), seconds, size);
    }
    if (!(spread >= 0) || !isfinite(spread)) {
        return yk_fail(YK_ERROR_INPUT, "%s: a spread of %g around %g s cannot be",
                       yk_sqlite_path(profile->sqlite), spread, seconds);
    }
    *out = (struct yk_profile_point){size, seconds, spread};
    return YK_OK;
}

/* Reads all rows, and finalizes the query. Of several rows of one size, the first is used. */
static yk_status read_points(struct yk_profile *profile, struct yk_sqlite_statement *statement,
                             struct yk_profile_curve *out)
{
    int32_t count = 0;
    bool found = false;
    yk_status status = yk_sqlite_step(statement, &found);
    while (status == YK_OK && found) {
        status = yk_array_grow((void **)&profile->points, &profile->point_capacity, count,
                               sizeof *profile->points);
        YK_IF_OK(read_point(profile, statement, &profile->points[count]));
        count += status == YK_OK &&
                 (count == 0 || profile->points[count].size > profile->points[count - 1].size);
        YK_IF_OK(yk_sqlite_step(statement, &found));
    }
    yk_sqlite_finalize(statement);
    if (status == YK_OK) {
        *out = (struct yk_profile_curve){profile->points, count};
    }
    return status;
}

yk_status yk_profile_find_layer_times(struct yk_profile *profile,
                                      const struct yk_profile_layer_key *layer,
                                      struct yk_profile_curve *out)
{
    struct yk_sqlite_statement *statement = NULL;
    YK_TRY(query_layer(profile,
                       "SELECT batch, seconds, spread FROM layers WHERE " WHERE_LAYER
                       " ORDER BY batch, abs(part - ?2)",
                       layer, cpu_of(profile, layer->device), &statement));
    return read_points(profile, statement, out);
}

yk_status yk_profile_find_nearest_fraction(struct yk_profile *profile, const char *device,
                                           double part, double most, double *out)
{
    struct yk_sqlite_statement *statement = NULL;
    bool found = false;
    YK_TRY(yk_sqlite_prepare(profile->sqlite,
                             "SELECT part FROM layers WHERE device = ?1 AND abs(part - ?2) <= ?3 "
                             "AND cpu = ?4 ORDER BY abs(part - ?2), part LIMIT 1",
                             &statement));
    yk_sqlite_bind_text(statement, 1, device);
    yk_sqlite_bind_real(statement, 2, part);
    yk_sqlite_bind_real(statement, 3, most);
    yk_sqlite_bind_text(statement, 4, cpu_of(profile, device));
    const yk_status status = yk_sqlite_step(statement, &found);
    *out = found ? yk_sqlite_column_real(statement, 0) : NAN;
    yk_sqlite_finalize(statement);
    return status;
}

const char *yk_profile_cpu_name(const struct yk_profile *profile)
{
    return profile->cpu;
}

yk_status yk_profile_has_only_other_cpus(struct yk_profile *profile, const char *device, bool *out,
                                         char name[YK_SYSTEM_CPU_NAME_SIZE])
{
    struct yk_sqlite_statement *statement = NULL;
    bool found = false;
    YK_TRY(yk_sqlite_prepare(profile->sqlite,
                             "SELECT cpu FROM layers WHERE device = ?1 "
                             "ORDER BY cpu <> ?2, cpu = '', cpu LIMIT 1",
                             &statement));
    yk_sqlite_bind_text(statement, 1, device);
    yk_sqlite_bind_text(statement, 2, profile->cpu);
    const yk_status status = yk_sqlite_step(statement, &found);
    *out =
        status == YK_OK && found && strcmp(yk_sqlite_column_text(statement, 0), profile->cpu) != 0;
    snprintf(name, YK_SYSTEM_CPU_NAME_SIZE, "%s", *out ? yk_sqlite_column_text(statement, 0) : "");
    yk_sqlite_finalize(statement);
    return status;
}

yk_status yk_profile_find_link_times(struct yk_profile *profile,
                                     const struct yk_profile_link_key *link,
                                     struct yk_profile_curve *out)
{
    struct yk_sqlite_statement *statement = NULL;
    YK_TRY(query_link(
        profile, "SELECT bytes, seconds, spread FROM links WHERE " WHERE_LINK " ORDER BY bytes",
        link, cpu_of(profile, link->link), &statement));
    return read_points(profile, statement, out);
}

yk_status yk_profile_find_fact(struct yk_profile *profile, const struct yk_profile_fact_key *fact,
                               double *out)
{
    struct yk_sqlite_statement *statement = NULL;
    bool found = false;
    *out = NAN;
    YK_TRY(query_fact(profile, "SELECT value FROM facts WHERE " WHERE_FACT, fact,
                      cpu_of(profile, fact->subject), &statement));
    const yk_status status = yk_sqlite_step(statement, &found);
    const double value = found ? yk_sqlite_column_real(statement, 0) : NAN;
    yk_sqlite_finalize(statement);
    if (isinf(value)) {
        return yk_fail(YK_ERROR_INPUT, "%s: %s: %s of %g cannot be",
                       yk_sqlite_path(profile->sqlite), fact->subject, fact->fact, value);
    }
    *out = value;
    return status;
}

/* Whether there is a row of such a size with the versions: arguments `number` and the next. */
static yk_status has_size(struct yk_sqlite_statement *statement, int number, int64_t size,
                          const char *versions, bool *out)
{
    yk_sqlite_bind_integer(statement, number, size);
    yk_sqlite_bind_text(statement, number + 1, versions);
    return yk_sqlite_step_and_finalize(statement, out);
}

yk_status yk_profile_has_layer_time(struct yk_profile *profile,
                                    const struct yk_profile_layer_key *layer, int64_t batch,
                                    const char *versions, bool *out)
{
    struct yk_sqlite_statement *statement = NULL;
    YK_TRY(query_layer(
        profile, "SELECT 1 FROM layers WHERE " WHERE_LAYER " AND batch = ?7 AND versions = ?8",
        layer, cpu_of(profile, layer->device), &statement));
    return has_size(statement, 7, batch, versions, out);
}

yk_status yk_profile_has_link_time(struct yk_profile *profile,
                                   const struct yk_profile_link_key *link, int64_t bytes,
                                   const char *versions, bool *out)
{
    struct yk_sqlite_statement *statement = NULL;
    YK_TRY(query_link(profile,
                      "SELECT 1 FROM links WHERE " WHERE_LINK " AND bytes = ?5 AND versions = ?6",
                      link, cpu_of(profile, link->link), &statement));
    return has_size(statement, 5, bytes, versions, out);
}

yk_status yk_profile_has_fact(struct yk_profile *profile, const struct yk_profile_fact_key *fact,
                              const char *versions, bool *out)
{
    struct yk_sqlite_statement *statement = NULL;
    *out = false;
    YK_TRY(query_fact(profile, "SELECT 1 FROM facts WHERE " WHERE_FACT " AND versions = ?4", fact,
                      cpu_of(profile, fact->subject), &statement));
    yk_sqlite_bind_text(statement, 4, versions);
    return yk_sqlite_step_and_finalize(statement, out);
}

yk_status yk_profile_find_nearest_sequences(struct yk_profile *profile,
                                            const struct yk_profile_layer_key *layer,
                                            int64_t *out_below, int64_t *out_above)
{
    struct yk_sqlite_statement *statement = NULL;
    bool found = false;
    YK_TRY(query_layer(
        profile,
        "SELECT coalesce(max(CASE WHEN sequence < ?4 THEN sequence END), 0), "
        "coalesce(min(CASE WHEN sequence > ?4 THEN sequence END), 0) FROM layers "
        "WHERE device = ?1 AND abs(part - ?2) <= 0.005 * part AND shape = ?3 AND pass = ?5 "
        "AND cpu = ?6 AND sequence > 0",
        layer, cpu_of(profile, layer->device), &statement));
    const yk_status status = yk_sqlite_step(statement, &found);
    const int64_t below = found ? yk_sqlite_column_integer(statement, 0) : 0;
    const int64_t above = found ? yk_sqlite_column_integer(statement, 1) : 0;
    yk_sqlite_finalize(statement);
    /* What is no number compares in SQLite as if it were more than any. */
    if (below < 0 || (below > 0 && below >= layer->sequence) ||
        (above != 0 && above <= layer->sequence)) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: layers were measured at sequences that are no whole numbers",
                       yk_sqlite_path(profile->sqlite));
    }
    *out_below = below;
    *out_above = above;
    return status;
}

/* The columns from `first` on: the value, YK_PROFILE_MEASUREMENT_COLUMNS and the CPU. */
static struct yk_profile_measurement measurement_of(const struct yk_sqlite_statement *statement,
                                                    int first)
{
    return (struct yk_profile_measurement){
        .value = yk_sqlite_column_real(statement, first),
        .spread = yk_sqlite_column_real(statement, first + 1),
        .samples = yk_sqlite_column_integer(statement, first + 2),
        .versions = yk_sqlite_column_text(statement, first + 3),
        .min = yk_sqlite_column_real(statement, first + 4),
        .max = yk_sqlite_column_real(statement, first + 5),
        .measured_at = yk_sqlite_column_integer(statement, first + 6),
        .host = yk_sqlite_column_text(statement, first + 7),
        .cpu = yk_sqlite_column_text(statement, first + 8),
    };
}

struct visit {
    const struct yk_profile *profile;
    const struct yk_profile_visitor *visitor;
};

static yk_status visit_layer(const struct yk_sqlite_statement *statement, void *argument)
{
    const struct visit *visit = argument;
    const struct yk_profile_layer_row row = {
        .layer = {.device = yk_sqlite_column_text(statement, 0),
                  .part = yk_sqlite_column_real(statement, 1),
                  .shape = yk_sqlite_column_text(statement, 2),
                  .sequence = yk_sqlite_column_integer(statement, 3),
                  .pass = yk_sqlite_column_text(statement, 4)},
        .batch = yk_sqlite_column_integer(statement, 5),
        .measurement = measurement_of(statement, 6),
    };
    return visit->visitor->layer(visit->visitor->argument, &row);
}

static yk_status visit_link(const struct yk_sqlite_statement *statement, void *argument)
{
    const struct visit *visit = argument;
    const int64_t ranks = yk_sqlite_column_integer(statement, 2);
    const struct yk_profile_link_row row = {
        .link = {.link = yk_sqlite_column_text(statement, 0),
                 .collective = yk_sqlite_column_text(statement, 1),
                 .ranks = (int32_t)ranks},
        .bytes = yk_sqlite_column_integer(statement, 3),
        .measurement = measurement_of(statement, 4),
    };
    if (ranks <= 0 || ranks > INT32_MAX) {
        return yk_fail(YK_ERROR_INPUT, "%s: %s: %lld ranks cannot be",
                       yk_sqlite_path(visit->profile->sqlite), row.link.link, (long long)ranks);
    }
    return visit->visitor->link(visit->visitor->argument, &row);
}

static yk_status visit_fact(const struct yk_sqlite_statement *statement, void *argument)
{
    const struct visit *visit = argument;
    const struct yk_profile_fact_row row = {
        .fact = {.subject = yk_sqlite_column_text(statement, 0),
                 .fact = yk_sqlite_column_text(statement, 1)},
        .measurement = measurement_of(statement, 2),
    };
    return visit->visitor->fact(visit->visitor->argument, &row);
}

yk_status yk_profile_visit_rows(struct yk_profile *profile,
                                const struct yk_profile_visitor *visitor)
{
    struct visit visit = {profile, visitor};
    if (visitor->layer) {
        YK_TRY(each_row(profile,
                        "SELECT device, part, shape, sequence, pass, batch, "
                        "seconds, " YK_PROFILE_MEASUREMENT_COLUMNS
                        ", cpu FROM layers ORDER BY " LAYER_ORDER,
                        visit_layer, &visit));
    }
    if (visitor->link) {
        YK_TRY(each_row(
            profile,
            "SELECT link, collective, ranks, bytes, seconds, " YK_PROFILE_MEASUREMENT_COLUMNS
            ", cpu FROM links ORDER BY " LINK_ORDER,
            visit_link, &visit));
    }
    return visitor->fact ? each_row(profile,
                                    "SELECT subject, fact, value, " YK_PROFILE_MEASUREMENT_COLUMNS
                                    ", cpu FROM facts ORDER BY " FACT_ORDER,
                                    visit_fact, &visit)
                         : YK_OK;
}

/* Binds the measurement from number `first` on, and runs the statement, which ends with that. */
static yk_status insert(struct yk_sqlite_statement *statement, int first,
                        const struct yk_profile_measurement *measurement)
{
    bool found = false;
    yk_sqlite_bind_real(statement, first, measurement->value);
    yk_sqlite_bind_real(statement, first + 1, measurement->spread);
    yk_sqlite_bind_integer(statement, first + 2, measurement->samples);
    yk_sqlite_bind_text(statement, first + 3, measurement->versions);
    yk_sqlite_bind_real(statement, first + 4, measurement->min);
    yk_sqlite_bind_real(statement, first + 5, measurement->max);
    yk_sqlite_bind_integer(statement, first + 6, measurement->measured_at);
    yk_sqlite_bind_text(statement, first + 7, measurement->host);
    return yk_sqlite_step_and_finalize(statement, &found);
}

/* The next three functions insert the row, or replace the row with the same key. */
static yk_status write_layer_row(struct yk_profile *profile, const struct yk_profile_layer_row *row)
{
    struct yk_sqlite_statement *statement = NULL;
    YK_TRY(query_layer(
        profile,
        "INSERT OR REPLACE INTO layers (device, part, shape, sequence, pass, cpu, batch, "
        "seconds, " YK_PROFILE_MEASUREMENT_COLUMNS
        ") VALUES (?1, coalesce((SELECT part FROM layers WHERE " WHERE_LAYER
        " AND batch = ?7 ORDER BY abs(part - ?2) LIMIT 1), ?2), "
        "?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        &row->layer, row->measurement.cpu, &statement));
    yk_sqlite_bind_integer(statement, 7, row->batch);
    return insert(statement, 8, &row->measurement);
}

static yk_status write_link_row(struct yk_profile *profile, const struct yk_profile_link_row *row)
{
    struct yk_sqlite_statement *statement = NULL;
    YK_TRY(query_link(profile,
                      "INSERT OR REPLACE INTO links (link, collective, ranks, cpu, bytes, "
                      "seconds, " YK_PROFILE_MEASUREMENT_COLUMNS
                      ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                      &row->link, row->measurement.cpu, &statement));
    yk_sqlite_bind_integer(statement, 5, row->bytes);
    return insert(statement, 6, &row->measurement);
}

static yk_status write_fact_row(struct yk_profile *profile, const struct yk_profile_fact_row *row)
{
    struct yk_sqlite_statement *statement = NULL;
    YK_TRY(query_fact(
        profile,
        "INSERT OR REPLACE INTO facts (subject, fact, cpu, value, " YK_PROFILE_MEASUREMENT_COLUMNS
        ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        &row->fact, row->measurement.cpu, &statement));
    return insert(statement, 4, &row->measurement);
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
    made.cpu = made.cpu ? made.cpu : cpu_of(profile, subject);
    return made;
}

yk_status yk_profile_add_layer_time(struct yk_profile *profile,
                                    const struct yk_profile_layer_key *layer, int64_t batch,
                                    const struct yk_profile_measurement *measurement)
{
    const struct yk_profile_layer_row row = {*layer, batch,
                                             complete(profile, layer->device, measurement)};
    return write_layer_row(profile, &row);
}

yk_status yk_profile_add_link_time(struct yk_profile *profile,
                                   const struct yk_profile_link_key *link, int64_t bytes,
                                   const struct yk_profile_measurement *measurement)
{
    const struct yk_profile_link_row row = {*link, bytes,
                                            complete(profile, link->link, measurement)};
    return write_link_row(profile, &row);
}

yk_status yk_profile_add_fact(struct yk_profile *profile, const struct yk_profile_fact_key *fact,
                              const struct yk_profile_measurement *measurement)
{
    const struct yk_profile_fact_row row = {*fact, complete(profile, fact->subject, measurement)};
    return write_fact_row(profile, &row);
}

struct importing {
    struct yk_profile *profile;
    const char *path; /* of the other */
    struct yk_profile_import_counts counts;
};

/* Decides whether to write an imported row. The query finds when the known row was measured. */
static yk_status is_wanted(struct importing *importing, struct yk_sqlite_statement *statement,
                           int64_t measured_at, bool *out)
{
    bool found = false;
    const yk_status status = yk_sqlite_step(statement, &found);
    const bool newer = found && measured_at > yk_sqlite_column_integer(statement, 0);
    yk_sqlite_finalize(statement);
    YK_TRY(status);
    importing->counts.added += !found;
    importing->counts.replaced += newer;
    importing->counts.left += found && !newer;
    *out = !found || newer;
    return YK_OK;
}

static yk_status check_time(const struct importing *importing, int64_t size, double seconds)
{
    return size > 0 && seconds > 0 && isfinite(seconds)
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "%s: a time of %g s for a size of %lld cannot be",
                         importing->path, seconds, (long long)size);
}

static yk_status import_layer(void *argument, const struct yk_profile_layer_row *row)
{
    struct importing *importing = argument;
    struct yk_sqlite_statement *statement = NULL;
    bool wanted = false;
    YK_TRY(check_time(importing, row->batch, row->measurement.value));
    YK_TRY(query_layer(importing->profile,
                       "SELECT measured_at FROM layers WHERE " WHERE_LAYER
                       " AND batch = ?7 ORDER BY abs(part - ?2)",
                       &row->layer, row->measurement.cpu, &statement));
    yk_sqlite_bind_integer(statement, 7, row->batch);
    YK_TRY(is_wanted(importing, statement, row->measurement.measured_at, &wanted));
    return wanted ? write_layer_row(importing->profile, row) : YK_OK;
}

static yk_status import_link(void *argument, const struct yk_profile_link_row *row)
{
    struct importing *importing = argument;
    struct yk_sqlite_statement *statement = NULL;
    bool wanted = false;
    YK_TRY(check_time(importing, row->bytes, row->measurement.value));
    YK_TRY(query_link(importing->profile,
                      "SELECT measured_at FROM links WHERE " WHERE_LINK " AND bytes = ?5",
                      &row->link, row->measurement.cpu, &statement));
    yk_sqlite_bind_integer(statement, 5, row->bytes);
    YK_TRY(is_wanted(importing, statement, row->measurement.measured_at, &wanted));
    return wanted ? write_link_row(importing->profile, row) : YK_OK;
}

static yk_status import_fact(void *argument, const struct yk_profile_fact_row *row)
{
    struct importing *importing = argument;
    struct yk_sqlite_statement *statement = NULL;
    bool wanted = false;
    if (!isfinite(row->measurement.value)) {
        return yk_fail(YK_ERROR_INPUT, "%s: %s: %s of %g cannot be", importing->path,
                       row->fact.subject, row->fact.fact, row->measurement.value);
    }
    YK_TRY(query_fact(importing->profile, "SELECT measured_at FROM facts WHERE " WHERE_FACT,
                      &row->fact, row->measurement.cpu, &statement));
    YK_TRY(is_wanted(importing, statement, row->measurement.measured_at, &wanted));
    return wanted ? write_fact_row(importing->profile, row) : YK_OK;
}

static yk_status import_rows(struct importing *importing, struct yk_profile *other)
{
    const struct yk_profile_visitor visitor = {importing, import_layer, import_link, import_fact};
    YK_TRY(yk_profile_visit_rows(other, &visitor));
    return yk_sqlite_commit(importing->profile->sqlite);
}

yk_status yk_profile_import(struct yk_profile *profile, const char *path,
                            struct yk_profile_import_counts *out)
{
    struct importing importing = {.profile = profile, .path = path};
    struct yk_profile *other = NULL;
    if (yk_folder_is_same_path(yk_sqlite_path(profile->sqlite), path)) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: this is the profile itself; name a file of another machine", path);
    }
    YK_TRY(yk_profile_open_for_reading(path, &other));
    yk_status status = yk_sqlite_begin_transaction(profile->sqlite);
    if (status == YK_OK) {
        status = import_rows(&importing, other);
        if (status != YK_OK) {
            yk_sqlite_rollback(profile->sqlite);
        }
    }
    yk_profile_close(other);
    if (status == YK_OK) {
        *out = importing.counts;
    }
    return status;
}
