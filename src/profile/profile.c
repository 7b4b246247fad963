#include "profile/profile.h"

#include "profile/handle.h"
#include "profile/schema.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* What a killed writer left half written is undone by the next reader too, who must be able to
 * write for that; it writes nothing else. */
static yk_status read_form(struct yk_database *database)
{
    YK_TRY(yk_schema_check(database));
    return yk_database_execute(database, "PRAGMA query_only = ON");
}

/* Opens the file and looks at its form. */
static yk_status open_as(const char *path, bool make, yk_status (*look)(struct yk_database *),
                         struct yk_profile **out)
{
    struct yk_profile *profile = NULL;
    YK_TRY(yk_profile_handle_open(path, make, &profile));
    const yk_status status = look(profile->database);
    if (status != YK_OK) {
        yk_profile_close(profile);
        return status;
    }
    *out = profile;
    return YK_OK;
}

yk_status yk_profile_open(const char *path, struct yk_profile **out)
{
    if (access(path, R_OK) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    }
    return open_as(path, false, read_form, out);
}

yk_status yk_profile_create(const char *path, struct yk_profile **out)
{
    return open_as(path, true, yk_schema_upgrade, out);
}

yk_status yk_profile_begin(struct yk_profile *profile)
{
    return yk_database_begin(profile->database);
}

yk_status yk_profile_commit(struct yk_profile *profile)
{
    return yk_database_commit(profile->database);
}

/* With the CPU, where there is one. */
#define VERSIONS "CASE cpu WHEN '' THEN versions ELSE versions || ' on ' || cpu END"

static void add_value(struct yk_text *out, const struct yk_database_statement *query, int column)
{
    yk_text_add(out, column > 0 ? " " : "");
    if (yk_database_column_is_real(query, column)) {
        yk_text_add_number(out, yk_database_column_real(query, column));
    } else {
        yk_text_add_json(out, yk_database_column_text(query, column));
    }
}

static yk_status list_rows(struct yk_profile *profile, const char *sql, struct yk_text *out)
{
    struct yk_database_statement *query = NULL;
    bool found = false;
    YK_TRY(yk_database_prepare(profile->database, sql, &query));
    yk_status status = yk_database_step(query, &found);
    while (status == YK_OK && found) {
        for (int i = 0; i < yk_database_column_count(query); i++) {
            add_value(out, query, i);
        }
        yk_text_add(out, "\n");
        status = yk_database_step(query, &found);
    }
    yk_database_finalize(query);
    return status == YK_OK ? yk_text_status(out) : status;
}

yk_status yk_profile_list(struct yk_profile *profile, struct yk_text *out)
{
    YK_TRY(list_rows(profile,
                     "SELECT 'layer', device, part, shape, sequence, pass, batch, seconds, spread, "
                     "samples, " VERSIONS " FROM layers "
                     "ORDER BY device, cpu, part, shape, sequence, pass, batch",
                     out));
    YK_TRY(list_rows(
        profile,
        "SELECT 'link', link, collective, ranks, bytes, seconds, spread, samples, " VERSIONS
        " FROM links ORDER BY link, cpu, collective, ranks, bytes",
        out));
    return list_rows(profile,
                     "SELECT 'fact', subject, fact, value, spread, samples, " VERSIONS
                     " FROM facts ORDER BY subject, cpu, fact",
                     out);
}
