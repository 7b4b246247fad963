#include "profile/profile.h"

#include "base/grow.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    APPLICATION = 0x796f6b65, /* "yoke" */
    FORM = 2,
    OLDEST_FORM = 1,
    BUSY_MS = 5000, /* how long to wait while another process writes */
};

struct yk_profile {
    sqlite3 *database;
    char *path;
    int64_t form;
    struct yk_profile_point *points; /* of the last answer */
    int32_t point_capacity;
};

#define FACTS                                                                                      \
    "PRAGMA user_version = 2;"                                                                     \
    "CREATE TABLE IF NOT EXISTS facts (subject TEXT NOT NULL, fact TEXT NOT NULL, value REAL NOT " \
    "NULL,"                                                                                        \
    "  spread REAL NOT NULL, samples INTEGER NOT NULL, versions TEXT NOT NULL,"                    \
    "  UNIQUE (subject, fact));"

/* The unique keys are what one number is known by, so that measuring again replaces it. */
static const char schema[] =
    "BEGIN;"
    "PRAGMA application_id = 0x796f6b65;"
    "CREATE TABLE layers (device TEXT NOT NULL, part REAL NOT NULL, shape TEXT NOT NULL,"
    "  sequence INTEGER NOT NULL, pass TEXT NOT NULL, batch INTEGER NOT NULL,"
    "  seconds REAL NOT NULL, spread REAL NOT NULL, samples INTEGER NOT NULL,"
    "  versions TEXT NOT NULL, UNIQUE (device, part, shape, sequence, pass, batch));"
    "CREATE TABLE links (link TEXT NOT NULL, collective TEXT NOT NULL, ranks INTEGER NOT NULL,"
    "  bytes INTEGER NOT NULL, seconds REAL NOT NULL, spread REAL NOT NULL,"
    "  samples INTEGER NOT NULL, versions TEXT NOT NULL,"
    "  UNIQUE (link, collective, ranks, bytes));" FACTS "COMMIT;";

static const char upgrade[] = "BEGIN;" FACTS "COMMIT;";

/* What SQLite says went wrong, with the file. */
static yk_status fail(const struct yk_profile *profile)
{
    const int code = sqlite3_errcode(profile->database);
    if (code == SQLITE_NOMEM) {
        return yk_fail_out_of_memory();
    }
    if (code == SQLITE_NOTADB) {
        return yk_fail(YK_ERROR_INPUT, "%s: this is not a profile: not an SQLite database",
                       profile->path);
    }
    const bool refused = code == SQLITE_BUSY || code == SQLITE_CANTOPEN || code == SQLITE_FULL ||
                         code == SQLITE_IOERR || code == SQLITE_READONLY;
    return yk_fail(refused ? YK_ERROR_SYSTEM : YK_ERROR_INPUT, "%s: %s: %s", profile->path,
                   refused ? "the profile cannot be used" : "the profile is damaged",
                   sqlite3_errmsg(profile->database));
}

static yk_status prepare(const struct yk_profile *profile, const char *sql, sqlite3_stmt **out)
{
    return sqlite3_prepare_v2(profile->database, sql, -1, out, NULL) == SQLITE_OK ? YK_OK
                                                                                  : fail(profile);
}

/* The one whole number that `sql` asks for. */
static yk_status ask(const struct yk_profile *profile, const char *sql, int64_t *out)
{
    sqlite3_stmt *statement = NULL;
    YK_TRY(prepare(profile, sql, &statement));
    const bool found = sqlite3_step(statement) == SQLITE_ROW;
    const int64_t value = found ? sqlite3_column_int64(statement, 0) : 0;
    const yk_status status = found ? YK_OK : fail(profile);
    sqlite3_finalize(statement);
    if (status == YK_OK) {
        *out = value;
    }
    return status;
}

static yk_status check_form(struct yk_profile *profile)
{
    int64_t application = 0;
    YK_TRY(ask(profile, "PRAGMA application_id", &application));
    YK_TRY(ask(profile, "PRAGMA user_version", &profile->form));
    if (application != APPLICATION) {
        return yk_fail(YK_ERROR_INPUT, "%s: this is not a profile: a database of something else",
                       profile->path);
    }
    if (profile->form < OLDEST_FORM || profile->form > FORM) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: a profile of form %lld, and this program knows form %d: measure again "
                       "into another file",
                       profile->path, (long long)profile->form, FORM);
    }
    return YK_OK;
}

static yk_status execute(const struct yk_profile *profile, const char *sql)
{
    return sqlite3_exec(profile->database, sql, NULL, NULL, NULL) == SQLITE_OK ? YK_OK
                                                                               : fail(profile);
}

static yk_status begin(struct yk_profile *profile)
{
    profile->form = FORM;
    return execute(profile, schema);
}

static yk_status open_file(const char *path, int flags, bool is_new, struct yk_profile **out)
{
    struct yk_profile *profile = calloc(1, sizeof *profile);
    yk_status status = YK_OK;
    if (!profile || !(profile->path = strdup(path))) {
        status = yk_fail_out_of_memory();
        goto failed;
    }
    if (sqlite3_open_v2(path, &profile->database, flags, NULL) != SQLITE_OK) {
        status = profile->database ? fail(profile) : yk_fail_out_of_memory();
        goto failed;
    }
    sqlite3_busy_timeout(profile->database, BUSY_MS);
    YK_TRY_GOTO(is_new ? begin(profile) : check_form(profile), failed);
    if (profile->form < FORM && (flags & SQLITE_OPEN_READWRITE) != 0) {
        YK_TRY_GOTO(execute(profile, upgrade), failed);
        profile->form = FORM;
    }
    *out = profile;
    return YK_OK;
failed:
    yk_profile_close(profile);
    return status;
}

yk_status yk_profile_open(const char *path, struct yk_profile **out)
{
    if (access(path, R_OK) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    }
    return open_file(path, SQLITE_OPEN_READONLY, false, out);
}

yk_status yk_profile_create(const char *path, struct yk_profile **out)
{
    return open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, access(path, F_OK) != 0,
                     out);
}

void yk_profile_close(struct yk_profile *profile)
{
    if (profile) {
        sqlite3_close(profile->database);
        free(profile->path);
        free(profile->points);
        free(profile);
    }
}

static void bind_layer(sqlite3_stmt *statement, const struct yk_profile_layer *layer)
{
    sqlite3_bind_text(statement, 1, layer->device, -1, SQLITE_STATIC);
    sqlite3_bind_double(statement, 2, layer->part);
    sqlite3_bind_text(statement, 3, layer->shape, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 4, layer->sequence);
    sqlite3_bind_text(statement, 5, layer->pass, -1, SQLITE_STATIC);
}

static void bind_link(sqlite3_stmt *statement, const struct yk_profile_link *link)
{
    sqlite3_bind_text(statement, 1, link->link, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, link->collective, -1, SQLITE_STATIC);
    sqlite3_bind_int(statement, 3, link->ranks);
}

static void bind_fact(sqlite3_stmt *statement, const struct yk_profile_fact *fact)
{
    sqlite3_bind_text(statement, 1, fact->subject, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, fact->fact, -1, SQLITE_STATIC);
}

/* Reads rows of (size, seconds, spread) until there are no more. */
static yk_status read_points(struct yk_profile *profile, sqlite3_stmt *statement,
                             struct yk_profile_curve *out)
{
    int32_t count = 0;
    int step = sqlite3_step(statement);
    for (; step == SQLITE_ROW; step = sqlite3_step(statement)) {
        const double size = sqlite3_column_double(statement, 0);
        const double seconds = sqlite3_column_double(statement, 1);
        if (!(size > 0) || !(seconds > 0) || !isfinite(seconds)) {
            return yk_fail(YK_ERROR_INPUT, "%s: a time of %g s for a size of %g cannot be",
                           profile->path, seconds, size);
        }
        YK_TRY(yk_grow((void **)&profile->points, &profile->point_capacity, count,
                       sizeof *profile->points));
        profile->points[count++] =
            (struct yk_profile_point){size, seconds, sqlite3_column_double(statement, 2)};
    }
    if (step != SQLITE_DONE) {
        return fail(profile);
    }
    *out = (struct yk_profile_curve){profile->points, count};
    return YK_OK;
}

yk_status yk_profile_find_layer(struct yk_profile *profile, const struct yk_profile_layer *layer,
                                struct yk_profile_curve *out)
{
    sqlite3_stmt *statement = NULL;
    YK_TRY(prepare(profile,
                   "SELECT batch, seconds, spread FROM layers WHERE device = ? "
                   "AND abs(part - ?) <= 0.005 * part AND shape = ? AND sequence = ? AND pass = ? "
                   "ORDER BY batch",
                   &statement));
    bind_layer(statement, layer);
    const yk_status status = read_points(profile, statement, out);
    sqlite3_finalize(statement);
    return status;
}

yk_status yk_profile_find_link(struct yk_profile *profile, const struct yk_profile_link *link,
                               struct yk_profile_curve *out)
{
    sqlite3_stmt *statement = NULL;
    YK_TRY(prepare(profile,
                   "SELECT bytes, seconds, spread FROM links WHERE link = ? AND collective = ? "
                   "AND ranks = ? ORDER BY bytes",
                   &statement));
    bind_link(statement, link);
    const yk_status status = read_points(profile, statement, out);
    sqlite3_finalize(statement);
    return status;
}

yk_status yk_profile_find_fact(struct yk_profile *profile, const struct yk_profile_fact *fact,
                               double *out)
{
    sqlite3_stmt *statement = NULL;
    *out = NAN;
    if (profile->form < FORM) {
        return YK_OK;
    }
    YK_TRY(prepare(profile, "SELECT value FROM facts WHERE subject = ? AND fact = ?", &statement));
    bind_fact(statement, fact);
    const int step = sqlite3_step(statement);
    if (step == SQLITE_ROW) {
        *out = sqlite3_column_double(statement, 0);
    }
    const yk_status status = step == SQLITE_ROW || step == SQLITE_DONE ? YK_OK : fail(profile);
    sqlite3_finalize(statement);
    return status;
}

/* Whether the statement finds a row; it is done with afterwards. */
static yk_status find_any(const struct yk_profile *profile, sqlite3_stmt *statement, bool *out)
{
    const int step = sqlite3_step(statement);
    *out = step == SQLITE_ROW;
    const yk_status status = step == SQLITE_ROW || step == SQLITE_DONE ? YK_OK : fail(profile);
    sqlite3_finalize(statement);
    return status;
}

yk_status yk_profile_has_layer(struct yk_profile *profile, const struct yk_profile_layer *layer,
                               int64_t batch, const char *versions, bool *out)
{
    sqlite3_stmt *statement = NULL;
    YK_TRY(prepare(profile,
                   "SELECT 1 FROM layers WHERE device = ? AND abs(part - ?) <= 0.005 * part "
                   "AND shape = ? AND sequence = ? AND pass = ? AND batch = ? AND versions = ?",
                   &statement));
    bind_layer(statement, layer);
    sqlite3_bind_int64(statement, 6, batch);
    sqlite3_bind_text(statement, 7, versions, -1, SQLITE_STATIC);
    return find_any(profile, statement, out);
}

yk_status yk_profile_has_link(struct yk_profile *profile, const struct yk_profile_link *link,
                              int64_t bytes, const char *versions, bool *out)
{
    sqlite3_stmt *statement = NULL;
    YK_TRY(prepare(profile,
                   "SELECT 1 FROM links WHERE link = ? AND collective = ? AND ranks = ? "
                   "AND bytes = ? AND versions = ?",
                   &statement));
    bind_link(statement, link);
    sqlite3_bind_int64(statement, 4, bytes);
    sqlite3_bind_text(statement, 5, versions, -1, SQLITE_STATIC);
    return find_any(profile, statement, out);
}

yk_status yk_profile_has_fact(struct yk_profile *profile, const struct yk_profile_fact *fact,
                              const char *versions, bool *out)
{
    sqlite3_stmt *statement = NULL;
    *out = false;
    if (profile->form < FORM) {
        return YK_OK;
    }
    YK_TRY(prepare(profile, "SELECT 1 FROM facts WHERE subject = ? AND fact = ? AND versions = ?",
                   &statement));
    bind_fact(statement, fact);
    sqlite3_bind_text(statement, 3, versions, -1, SQLITE_STATIC);
    return find_any(profile, statement, out);
}

static void add_value(struct yk_text *out, sqlite3_stmt *statement, int column)
{
    const char *words = (const char *)sqlite3_column_text(statement, column);
    yk_text_add(out, column > 0 ? " " : "");
    if (sqlite3_column_type(statement, column) == SQLITE_FLOAT) {
        yk_text_add_number(out, sqlite3_column_double(statement, column));
    } else {
        yk_text_add_json(out, words ? words : "");
    }
}

static yk_status list_rows(const struct yk_profile *profile, const char *sql, struct yk_text *out)
{
    sqlite3_stmt *statement = NULL;
    YK_TRY(prepare(profile, sql, &statement));
    int step = sqlite3_step(statement);
    for (; step == SQLITE_ROW; step = sqlite3_step(statement)) {
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            add_value(out, statement, i);
        }
        yk_text_add(out, "\n");
    }
    const yk_status status = step == SQLITE_DONE ? yk_text_status(out) : fail(profile);
    sqlite3_finalize(statement);
    return status;
}

yk_status yk_profile_list(struct yk_profile *profile, struct yk_text *out)
{
    YK_TRY(list_rows(profile,
                     "SELECT 'layer', device, part, shape, sequence, pass, batch, seconds, spread, "
                     "samples, versions FROM layers "
                     "ORDER BY device, part, shape, sequence, pass, batch",
                     out));
    YK_TRY(list_rows(profile,
                     "SELECT 'link', link, collective, ranks, bytes, seconds, spread, samples, "
                     "versions FROM links ORDER BY link, collective, ranks, bytes",
                     out));
    return profile->form < FORM
               ? YK_OK
               : list_rows(profile,
                           "SELECT 'fact', subject, fact, value, spread, samples, versions "
                           "FROM facts ORDER BY subject, fact",
                           out);
}

/* Binds the measurement from column `first` on, and runs the statement. */
static yk_status insert(const struct yk_profile *profile, sqlite3_stmt *statement, int first,
                        const struct yk_profile_measurement *measurement)
{
    sqlite3_bind_double(statement, first, measurement->value);
    sqlite3_bind_double(statement, first + 1, measurement->spread);
    sqlite3_bind_int64(statement, first + 2, measurement->samples);
    sqlite3_bind_text(statement, first + 3, measurement->versions, -1, SQLITE_STATIC);
    return sqlite3_step(statement) == SQLITE_DONE ? YK_OK : fail(profile);
}

yk_status yk_profile_add_layer(struct yk_profile *profile, const struct yk_profile_layer *layer,
                               int64_t batch, const struct yk_profile_measurement *measurement)
{
    sqlite3_stmt *statement = NULL;
    YK_TRY(prepare(profile, "INSERT OR REPLACE INTO layers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   &statement));
    bind_layer(statement, layer);
    sqlite3_bind_int64(statement, 6, batch);
    const yk_status status = insert(profile, statement, 7, measurement);
    sqlite3_finalize(statement);
    return status;
}

yk_status yk_profile_add_link(struct yk_profile *profile, const struct yk_profile_link *link,
                              int64_t bytes, const struct yk_profile_measurement *measurement)
{
    sqlite3_stmt *statement = NULL;
    YK_TRY(prepare(profile, "INSERT OR REPLACE INTO links VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                   &statement));
    bind_link(statement, link);
    sqlite3_bind_int64(statement, 4, bytes);
    const yk_status status = insert(profile, statement, 5, measurement);
    sqlite3_finalize(statement);
    return status;
}

yk_status yk_profile_add_fact(struct yk_profile *profile, const struct yk_profile_fact *fact,
                              const struct yk_profile_measurement *measurement)
{
    sqlite3_stmt *statement = NULL;
    YK_TRY(prepare(profile, "INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?, ?, ?)", &statement));
    bind_fact(statement, fact);
    const yk_status status = insert(profile, statement, 3, measurement);
    sqlite3_finalize(statement);
    return status;
}

yk_status yk_profile_begin(struct yk_profile *profile)
{
    return execute(profile, "BEGIN");
}

yk_status yk_profile_commit(struct yk_profile *profile)
{
    return execute(profile, "COMMIT");
}
