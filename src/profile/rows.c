#include "profile/profile.h"

#include "profile/profile_internal.h"

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
