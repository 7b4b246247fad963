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

/* SQL conditions for the key of a row. Parts within 0.5 % are equal. */
#define WHERE_LAYER                                                                                \
    "device = ?1 AND abs(part - ?2) <= 0.005 * part AND shape = ?3 AND sequence = ?4 "             \
    "AND pass = ?5 AND cpu = ?6"
#define WHERE_LINK "link = ?1 AND collective = ?2 AND ranks = ?3 AND cpu = ?4"
#define WHERE_FACT "subject = ?1 AND fact = ?2 AND cpu = ?3"

/* A table and its queries. The parameters of a query are the columns of the key, the CPU and, in
 * the last three queries of a table of times, the size: a batch size or a number of bytes. The key
 * is a struct yk_profile_layer_key, yk_profile_link_key or yk_profile_fact_key. */
struct table {
    void (*bind_key)(struct yk_sqlite_statement *statement, const void *key);
    int cpu_number;           /* number of the parameter for the CPU */
    bool has_size;            /* false for facts */
    const char *find_version; /* finds the row if it has the versions of the last parameter */
    const char *find_time;    /* finds when the row was measured */
    const char *insert;       /* inserts a row, or replaces the row with the same key */
};

static void bind_layer_key(struct yk_sqlite_statement *statement, const void *key)
{
    const struct yk_profile_layer_key *layer = key;
    yk_sqlite_bind_text(statement, 1, layer->device);
    yk_sqlite_bind_real(statement, 2, layer->part);
    yk_sqlite_bind_text(statement, 3, layer->shape);
    yk_sqlite_bind_integer(statement, 4, layer->sequence);
    yk_sqlite_bind_text(statement, 5, layer->pass);
}

static void bind_link_key(struct yk_sqlite_statement *statement, const void *key)
{
    const struct yk_profile_link_key *link = key;
    yk_sqlite_bind_text(statement, 1, link->link);
    yk_sqlite_bind_text(statement, 2, link->collective);
    yk_sqlite_bind_integer(statement, 3, link->ranks);
}

static void bind_fact_key(struct yk_sqlite_statement *statement, const void *key)
{
    const struct yk_profile_fact_key *fact = key;
    yk_sqlite_bind_text(statement, 1, fact->subject);
    yk_sqlite_bind_text(statement, 2, fact->fact);
}

static const struct table layers = {
    .bind_key = bind_layer_key,
    .cpu_number = 6,
    .has_size = true,
    .find_version = "SELECT 1 FROM layers WHERE " WHERE_LAYER " AND batch = ?7 AND versions = ?8",
    .find_time = "SELECT measured_at FROM layers WHERE " WHERE_LAYER
                 " AND batch = ?7 ORDER BY abs(part - ?2)",
    .insert = "INSERT OR REPLACE INTO layers (device, part, shape, sequence, pass, cpu, batch, "
              "seconds, " YK_PROFILE_MEASUREMENT_COLUMNS
              ") VALUES (?1, coalesce((SELECT part FROM layers WHERE " WHERE_LAYER
              " AND batch = ?7 ORDER BY abs(part - ?2) LIMIT 1), ?2), "
              "?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
};
static const struct table links = {
    .bind_key = bind_link_key,
    .cpu_number = 4,
    .has_size = true,
    .find_version = "SELECT 1 FROM links WHERE " WHERE_LINK " AND bytes = ?5 AND versions = ?6",
    .find_time = "SELECT measured_at FROM links WHERE " WHERE_LINK " AND bytes = ?5",
    .insert = "INSERT OR REPLACE INTO links (link, collective, ranks, cpu, bytes, "
              "seconds, " YK_PROFILE_MEASUREMENT_COLUMNS
              ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
};
static const struct table facts = {
    .bind_key = bind_fact_key,
    .cpu_number = 3,
    .find_version = "SELECT 1 FROM facts WHERE " WHERE_FACT " AND versions = ?4",
    .find_time = "SELECT measured_at FROM facts WHERE " WHERE_FACT,
    .insert =
        "INSERT OR REPLACE INTO facts (subject, fact, cpu, value, " YK_PROFILE_MEASUREMENT_COLUMNS
        ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
};

/* Prepares `sql` and binds the key and the CPU. */
static yk_status query(const struct yk_profile *profile, const struct table *table, const char *sql,
                       const void *key, const char *cpu, struct yk_sqlite_statement **out)
{
    YK_TRY(yk_sqlite_prepare(profile->sqlite, sql, out));
    table->bind_key(*out, key);
    yk_sqlite_bind_text(*out, table->cpu_number, cpu);
    return YK_OK;
}

/* Does the same and binds the size, if rows have one. `*next` is the number of the next parameter.
 */
static yk_status query_row(const struct yk_profile *profile, const struct table *table,
                           const char *sql, const void *key, int64_t size, const char *cpu,
                           int *next, struct yk_sqlite_statement **out)
{
    YK_TRY(query(profile, table, sql, key, cpu, out));
    *next = table->cpu_number + 1;
    if (table->has_size) {
        yk_sqlite_bind_integer(*out, (*next)++, size);
    }
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
    YK_TRY(query(profile, &layers,
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
    YK_TRY(query(profile, &links,
                 "SELECT bytes, seconds, spread FROM links WHERE " WHERE_LINK " ORDER BY bytes",
                 link, cpu_of(profile, link->link), &statement));
    return read_points(profile, statement, out);
}

yk_status yk_profile_find_fact_value(struct yk_profile *profile,
                                     const struct yk_profile_fact_key *fact, double *out)
{
    struct yk_sqlite_statement *statement = NULL;
    bool found = false;
    *out = NAN;
    YK_TRY(query(profile, &facts, "SELECT value FROM facts WHERE " WHERE_FACT, fact,
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

static yk_status has_row(struct yk_profile *profile, const struct table *table, const void *key,
                         const char *subject, int64_t size, const char *versions, bool *out)
{
    struct yk_sqlite_statement *statement = NULL;
    int next = 0;
    *out = false;
    if (!profile) {
        return YK_OK;
    }
    YK_TRY(query_row(profile, table, table->find_version, key, size, cpu_of(profile, subject),
                     &next, &statement));
    yk_sqlite_bind_text(statement, next, versions);
    return yk_sqlite_step_and_finalize(statement, out);
}

yk_status yk_profile_has_layer_time(struct yk_profile *profile,
                                    const struct yk_profile_layer_key *layer, int64_t batch,
                                    const char *versions, bool *out)
{
    return has_row(profile, &layers, layer, layer->device, batch, versions, out);
}

yk_status yk_profile_has_link_time(struct yk_profile *profile,
                                   const struct yk_profile_link_key *link, int64_t bytes,
                                   const char *versions, bool *out)
{
    return has_row(profile, &links, link, link->link, bytes, versions, out);
}

yk_status yk_profile_has_fact(struct yk_profile *profile, const struct yk_profile_fact_key *fact,
                              const char *versions, bool *out)
{
    return has_row(profile, &facts, fact, fact->subject, 0, versions, out);
}

yk_status yk_profile_find_nearest_sequence_lengths(struct yk_profile *profile,
                                                   const struct yk_profile_layer_key *layer,
                                                   int64_t *out_below, int64_t *out_above)
{
    struct yk_sqlite_statement *statement = NULL;
    bool found = false;
    YK_TRY(
        query(profile, &layers,
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

static yk_status write_row(struct yk_profile *profile, const struct table *table, const void *key,
                           int64_t size, const struct yk_profile_measurement *measurement)
{
    struct yk_sqlite_statement *statement = NULL;
    int first = 0;
    bool found = false;
    YK_TRY(
        query_row(profile, table, table->insert, key, size, measurement->cpu, &first, &statement));
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

/* Writes a row, after setting the members that the caller of yk_profile_add_…() may leave unset. */
static yk_status add_row(struct yk_profile *profile, const struct table *table, const void *key,
                         const char *subject, int64_t size,
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
    return write_row(profile, table, key, size, &made);
}

yk_status yk_profile_add_layer_time(struct yk_profile *profile,
                                    const struct yk_profile_layer_key *layer, int64_t batch,
                                    const struct yk_profile_measurement *measurement)
{
    return add_row(profile, &layers, layer, layer->device, batch, measurement);
}

yk_status yk_profile_add_link_time(struct yk_profile *profile,
                                   const struct yk_profile_link_key *link, int64_t bytes,
                                   const struct yk_profile_measurement *measurement)
{
    return add_row(profile, &links, link, link->link, bytes, measurement);
}

yk_status yk_profile_add_fact(struct yk_profile *profile, const struct yk_profile_fact_key *fact,
                              const struct yk_profile_measurement *measurement)
{
    return add_row(profile, &facts, fact, fact->subject, 0, measurement);
}

struct importing {
    struct yk_profile *profile;
    const char *path; /* of the other */
    struct yk_profile_import_counts counts;
};

/* Writes an imported row, unless the known row is as new. */
static yk_status import_row(struct importing *importing, const struct table *table, const void *key,
                            int64_t size, const struct yk_profile_measurement *measurement)
{
    struct yk_sqlite_statement *statement = NULL;
    int next = 0;
    bool found = false;
    YK_TRY(query_row(importing->profile, table, table->find_time, key, size, measurement->cpu,
                     &next, &statement));
    const yk_status status = yk_sqlite_step(statement, &found);
    const bool newer = found && measurement->measured_at > yk_sqlite_column_integer(statement, 0);
    yk_sqlite_finalize(statement);
    YK_TRY(status);
    importing->counts.added += !found;
    importing->counts.replaced += newer;
    importing->counts.left += found && !newer;
    return !found || newer ? write_row(importing->profile, table, key, size, measurement) : YK_OK;
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
    YK_TRY(check_time(argument, row->batch, row->measurement.value));
    return import_row(argument, &layers, &row->layer, row->batch, &row->measurement);
}

static yk_status import_link(void *argument, const struct yk_profile_link_row *row)
{
    YK_TRY(check_time(argument, row->bytes, row->measurement.value));
    return import_row(argument, &links, &row->link, row->bytes, &row->measurement);
}

static yk_status import_fact(void *argument, const struct yk_profile_fact_row *row)
{
    const struct importing *importing = argument;
    if (!isfinite(row->measurement.value)) {
        return yk_fail(YK_ERROR_INPUT, "%s: %s: %s of %g cannot be", importing->path,
                       row->fact.subject, row->fact.fact, row->measurement.value);
    }
    return import_row(argument, &facts, &row->fact, 0, &row->measurement);
}

yk_status yk_profile_import(struct yk_profile *profile, const char *path,
                            struct yk_profile_import_counts *out)
{
    struct importing importing = {.profile = profile, .path = path};
    const struct yk_profile_visitor visitor = {&importing, import_layer, import_link, import_fact};
    struct yk_profile *other = NULL;
    if (yk_folder_is_same_path(yk_sqlite_path(profile->sqlite), path)) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: this is the profile itself; name a file of another machine", path);
    }
    YK_TRY(yk_profile_open_for_reading(path, &other));
    yk_status status = yk_sqlite_begin_transaction(profile->sqlite);
    if (status == YK_OK) {
        status = yk_profile_visit_rows(other, &visitor);
        YK_IF_OK(yk_sqlite_commit(profile->sqlite));
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
