#include "profile/profile.h"

#include "profile/profile_internal.h"

#include <math.h>
#include <sys/stat.h>

struct importing {
    struct yk_profile *profile;
    const char *path; /* of the other */
    struct yk_profile_import_counts counts;
};

enum action {
    ADD,
    REPLACE,
    LEAVE,
};

/* Decides what to do with an imported row. The query finds when the known row was measured. */
static yk_status choose_action(struct importing *importing, struct yk_sqlite_statement *query,
                               int64_t measured_at, enum action *out)
{
    bool found = false;
    const yk_status status = yk_sqlite_step(query, &found);
    if (status == YK_OK) {
        const bool newer = found && measured_at > yk_sqlite_column_integer(query, 0);
        *out = !found ? ADD : newer ? REPLACE : LEAVE;
        importing->counts.added += *out == ADD;
        importing->counts.replaced += *out == REPLACE;
        importing->counts.left += *out == LEAVE;
    }
    yk_sqlite_finalize(query);
    return status;
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
    struct yk_sqlite_statement *query = NULL;
    enum action action = LEAVE;
    YK_TRY(check_time(importing, row->batch, row->measurement.value));
    YK_TRY(yk_profile_query_layer(importing->profile,
                                  "SELECT measured_at FROM layers WHERE " YK_PROFILE_WHERE_LAYER
                                  " AND batch = ?7 ORDER BY abs(part - ?2)",
                                  &row->layer, row->measurement.cpu, &query));
    yk_sqlite_bind_integer(query, 7, row->batch);
    YK_TRY(choose_action(importing, query, row->measurement.measured_at, &action));
    return action == LEAVE ? YK_OK : yk_profile_write_layer_row(importing->profile, row);
}

static yk_status import_link(void *argument, const struct yk_profile_link_row *row)
{
    struct importing *importing = argument;
    struct yk_sqlite_statement *query = NULL;
    enum action action = LEAVE;
    YK_TRY(check_time(importing, row->bytes, row->measurement.value));
    YK_TRY(yk_profile_query_link(importing->profile,
                                 "SELECT measured_at FROM links WHERE " YK_PROFILE_WHERE_LINK
                                 " AND bytes = ?5",
                                 &row->link, row->measurement.cpu, &query));
    yk_sqlite_bind_integer(query, 5, row->bytes);
    YK_TRY(choose_action(importing, query, row->measurement.measured_at, &action));
    return action == LEAVE ? YK_OK : yk_profile_write_link_row(importing->profile, row);
}

static yk_status import_fact(void *argument, const struct yk_profile_fact_row *row)
{
    struct importing *importing = argument;
    struct yk_sqlite_statement *query = NULL;
    enum action action = LEAVE;
    if (!isfinite(row->measurement.value)) {
        return yk_fail(YK_ERROR_INPUT, "%s: %s: %s of %g cannot be", importing->path,
                       row->fact.subject, row->fact.fact, row->measurement.value);
    }
    YK_TRY(yk_profile_query_fact(importing->profile,
                                 "SELECT measured_at FROM facts WHERE " YK_PROFILE_WHERE_FACT,
                                 &row->fact, row->measurement.cpu, &query));
    YK_TRY(choose_action(importing, query, row->measurement.measured_at, &action));
    return action == LEAVE ? YK_OK : yk_profile_write_fact_row(importing->profile, row);
}

static yk_status refuse_itself(const struct yk_profile *profile, const char *path)
{
    struct stat ours;
    struct stat theirs;
    return stat(yk_sqlite_path(profile->database), &ours) == 0 && stat(path, &theirs) == 0 &&
                   ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino
               ? yk_fail(YK_ERROR_INPUT,
                         "%s: this is the profile itself; name a file of another machine", path)
               : YK_OK;
}

static yk_status import_rows(struct importing *importing, struct yk_profile *other)
{
    const struct yk_profile_visitor visitor = {importing, import_layer, import_link, import_fact};
    YK_TRY(yk_profile_visit(other, &visitor));
    return yk_sqlite_commit(importing->profile->database);
}

yk_status yk_profile_import(struct yk_profile *profile, const char *path,
                            struct yk_profile_import_counts *out)
{
    struct importing importing = {.profile = profile, .path = path};
    struct yk_profile *other = NULL;
    YK_TRY(refuse_itself(profile, path));
    YK_TRY(yk_profile_open(path, &other));
    yk_status status = yk_sqlite_begin_transaction(profile->database);
    if (status == YK_OK) {
        status = import_rows(&importing, other);
        if (status != YK_OK) {
            yk_sqlite_rollback(profile->database);
        }
    }
    yk_profile_close(other);
    if (status == YK_OK) {
        *out = importing.counts;
    }
    return status;
}
