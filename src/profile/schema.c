#include "profile/profile_internal.h"

#include <stddef.h>

enum {
    APPLICATION = 0x796f6b65, /* "yoke" */
    EMPTY = 0,                /* begun, without any table */
    BEFORE_FACTS = 1,
    BEFORE_WHEN = 2,
    BEFORE_CPU = 3,
    BEFORE_NAMES = 4,
    VERSION = 5,
};

/* What one number is known by, so that measuring again replaces it. */
#define LAYERS "device, part, shape, sequence, pass, batch"
#define LINKS "link, collective, ranks, bytes"
#define FACTS "subject, fact"

#define TABLE(name, key, key_columns, value)                                                       \
    "CREATE TABLE " name " (" key_columns ", " value " REAL NOT NULL, spread REAL NOT NULL,"       \
    "  samples INTEGER NOT NULL, versions TEXT NOT NULL, min REAL NOT NULL, max REAL NOT NULL,"    \
    "  measured_at INTEGER NOT NULL, host TEXT NOT NULL, cpu TEXT NOT NULL,"                       \
    "  UNIQUE (" key ", cpu));"

#define LAYERS_TABLE                                                                               \
    TABLE("layers", LAYERS,                                                                        \
          "device TEXT NOT NULL, part REAL NOT NULL, shape TEXT NOT NULL,"                         \
          "  sequence INTEGER NOT NULL, pass TEXT NOT NULL, batch INTEGER NOT NULL",               \
          "seconds")
#define LINKS_TABLE                                                                                \
    TABLE("links", LINKS,                                                                          \
          "link TEXT NOT NULL, collective TEXT NOT NULL, ranks INTEGER NOT NULL,"                  \
          "  bytes INTEGER NOT NULL",                                                              \
          "seconds")
#define FACTS_TABLE TABLE("facts", FACTS, "subject TEXT NOT NULL, fact TEXT NOT NULL", "value")

static const char all_tables[] =
    "PRAGMA application_id = 0x796f6b65;" LAYERS_TABLE LINKS_TABLE FACTS_TABLE
    "PRAGMA user_version = 5;";

/* ---- older forms: what they call otherwise ---- */

#define OLDER_LINKS                                                                                \
    "link, CASE collective WHEN 'gather' THEN 'all_gather' WHEN 'scatter' THEN 'reduce_scatter'"   \
    "  WHEN 'reduce' THEN 'all_reduce' ELSE collective END AS collective, ranks, bytes"
#define OLDER_FACTS                                                                                \
    "subject, CASE fact WHEN 'computation beside messages' THEN"                                   \
    "  'compute slowdown during communication' WHEN 'messages beside computation' THEN"            \
    "  'communication slowdown during compute' WHEN 'computation while others rest' THEN"          \
    "  'compute time factor while others idle' ELSE fact END AS fact"

/* A temporary view hides the table of the same name. */
#define VIEW(name, key, value, columns)                                                            \
    "CREATE TEMP VIEW " name " AS SELECT " key ", " value ", spread, samples, versions, " columns  \
    " FROM main." name ";"
#define VIEWS_OF_TIMES(columns)                                                                    \
    VIEW("layers", LAYERS, "seconds", columns) VIEW("links", OLDER_LINKS, "seconds", columns)
#define VIEWS(columns) VIEWS_OF_TIMES(columns) VIEW("facts", OLDER_FACTS, "value", columns)
#define NO_LENGTHS(value) value " AS min, " value " AS max, 0 AS measured_at, '' AS host, '' AS cpu"

static const char views_of_older_names[] =
    VIEWS("least AS min, most AS max, measured_at, host, cpu");
static const char views_before_cpu[] =
    VIEWS("least AS min, most AS max, measured_at, host, '' AS cpu");
static const char views_before_when[] = VIEWS_OF_TIMES(NO_LENGTHS("seconds"));
static const char facts_before_when[] = VIEW("facts", OLDER_FACTS, "value", NO_LENGTHS("value"));

#define EMPTY_VIEW(name, columns)                                                                  \
    "CREATE TEMP VIEW " name " AS SELECT " columns ", 0.0 AS spread, 0 AS samples,"                \
    "  '' AS versions, 0.0 AS min, 0.0 AS max, 0 AS measured_at, '' AS host, '' AS cpu WHERE 0;"

static const char empty_views[] =
    EMPTY_VIEW("layers", "'' AS device, 1.0 AS part, '' AS shape, 0 AS sequence, '' AS pass,"
                         "  0 AS batch, 0.0 AS seconds")
        EMPTY_VIEW("links", "'' AS link, '' AS collective, 0 AS ranks, 0 AS bytes, 0.0 AS seconds");
static const char empty_facts[] = EMPTY_VIEW("facts", "'' AS subject, '' AS fact, 0.0 AS value");

/* ---- older forms: what makes them new ---- */

/* Of form 2. */
static const char facts[] =
    "CREATE TABLE facts (subject TEXT NOT NULL, fact TEXT NOT NULL, value REAL NOT NULL,"
    "  spread REAL NOT NULL, samples INTEGER NOT NULL, versions TEXT NOT NULL,"
    "  UNIQUE (subject, fact));";

#define WHEN_AND_WHERE(table, value)                                                               \
    "ALTER TABLE " table " ADD COLUMN least REAL NOT NULL DEFAULT 0;"                              \
    "ALTER TABLE " table " ADD COLUMN most REAL NOT NULL DEFAULT 0;"                               \
    "ALTER TABLE " table " ADD COLUMN measured_at INTEGER NOT NULL DEFAULT 0;"                     \
    "ALTER TABLE " table " ADD COLUMN host TEXT NOT NULL DEFAULT '';"                              \
    "UPDATE " table " SET least = " value ", most = " value ";"

static const char when_and_where[] = WHEN_AND_WHERE("layers", "seconds")
    WHEN_AND_WHERE("links", "seconds") WHEN_AND_WHERE("facts", "value");

/* Keys of a table do not change: it is made anew. What CPU numbers are of that have none is not
 * known. */
#define REMAKE(name, table, key, value, cpu)                                                       \
    "ALTER TABLE " name " RENAME TO older;" table "INSERT INTO " name " SELECT " key ", " value    \
    ", spread, samples, versions, least, most, measured_at, host, " cpu " FROM older;"             \
    "DROP TABLE older;"
#define REMAKE_ALL(cpu)                                                                            \
    REMAKE("layers", LAYERS_TABLE, LAYERS, "seconds", cpu)                                         \
    REMAKE("links", LINKS_TABLE, OLDER_LINKS, "seconds", cpu)                                      \
    REMAKE("facts", FACTS_TABLE, OLDER_FACTS, "value", cpu) "PRAGMA user_version = 5;"

static const char with_cpu[] = REMAKE_ALL("''");
static const char with_new_names[] = REMAKE_ALL("cpu");

/* A view may have rows without end, and a trigger change what is added. */
static yk_status check_schema(struct yk_sqlite *sqlite)
{
    int64_t others = 0;
    YK_TRY(yk_sqlite_query_integer(sqlite,
                                   "SELECT count(*) FROM main.sqlite_master WHERE type NOT IN "
                                   "('table', 'index') OR (type = 'table' AND rootpage = 0)",
                                   &others));
    if (others > 0) {
        yk_sqlite_mark_damaged(sqlite);
        return yk_fail(YK_ERROR_INPUT,
                       "%s: the profile is damaged: it has a view, a trigger or a virtual table, "
                       "and profiles have plain tables alone",
                       yk_sqlite_path(sqlite));
    }
    return YK_OK;
}

static yk_status inspect(struct yk_sqlite *sqlite, int64_t *out)
{
    int64_t application = 0;
    int64_t version = 0;
    int64_t tables = 0;
    YK_TRY(yk_sqlite_query_integer(sqlite, "PRAGMA application_id", &application));
    YK_TRY(yk_sqlite_query_integer(sqlite, "PRAGMA user_version", &version));
    YK_TRY(yk_sqlite_query_integer(sqlite, "SELECT count(*) FROM main.sqlite_master", &tables));
    *out = version;
    if (application == 0 && version == EMPTY && tables == 0) {
        return YK_OK;
    }
    if (application != APPLICATION) {
        return yk_fail(YK_ERROR_INPUT, "%s: this is not a profile: a database of something else",
                       yk_sqlite_path(sqlite));
    }
    if (version < BEFORE_FACTS || version > VERSION) {
        yk_sqlite_mark_damaged(sqlite);
        return yk_fail(YK_ERROR_INPUT,
                       "%s: a profile of form %lld, and this program knows form %d: it has to be "
                       "measured again",
                       yk_sqlite_path(sqlite), (long long)version, VERSION);
    }
    return check_schema(sqlite);
}

/* The form of the file as all of it is at one moment, since others may write. */
static yk_status find_version(struct yk_sqlite *sqlite, int64_t *out)
{
    YK_TRY(yk_sqlite_execute(sqlite, "SAVEPOINT form"));
    YK_TRY_OR_CLEAN_UP(inspect(sqlite, out), yk_sqlite_rollback(sqlite));
    return yk_sqlite_execute(sqlite, "RELEASE form");
}

static yk_status check_columns(struct yk_sqlite *sqlite)
{
    static const char *const rows[] = {
        "SELECT " LAYERS ", seconds, " YK_PROFILE_MEASUREMENT_COLUMNS ", cpu FROM layers",
        "SELECT " LINKS ", seconds, " YK_PROFILE_MEASUREMENT_COLUMNS ", cpu FROM links",
        "SELECT " FACTS ", value, " YK_PROFILE_MEASUREMENT_COLUMNS ", cpu FROM facts",
    };
    for (int i = 0; i < 3; i++) {
        struct yk_sqlite_statement *statement = NULL;
        YK_TRY(yk_sqlite_prepare(sqlite, rows[i], &statement));
        yk_sqlite_finalize(statement);
    }
    return YK_OK;
}

yk_status yk_schema_prepare_for_reading(struct yk_sqlite *sqlite)
{
    int64_t version = 0;
    YK_TRY(find_version(sqlite, &version));
    if (version == BEFORE_NAMES) {
        YK_TRY(yk_sqlite_execute(sqlite, views_of_older_names));
    } else if (version == BEFORE_CPU) {
        YK_TRY(yk_sqlite_execute(sqlite, views_before_cpu));
    } else if (version < BEFORE_CPU) {
        YK_TRY(yk_sqlite_execute(sqlite, version == EMPTY ? empty_views : views_before_when));
        YK_TRY(
            yk_sqlite_execute(sqlite, version <= BEFORE_FACTS ? empty_facts : facts_before_when));
    }
    return check_columns(sqlite);
}

static yk_status upgrade(struct yk_sqlite *sqlite)
{
    int64_t version = 0;
    YK_TRY(find_version(sqlite, &version)); /* which another process may have renewed meanwhile */
    if (version == EMPTY) {
        YK_TRY(yk_sqlite_execute(sqlite, all_tables));
        return yk_sqlite_commit(sqlite);
    }
    if (version <= BEFORE_FACTS) {
        YK_TRY(yk_sqlite_execute(sqlite, facts));
    }
    if (version <= BEFORE_WHEN) {
        YK_TRY(yk_sqlite_execute(sqlite, when_and_where));
    }
    if (version < VERSION) {
        YK_TRY(yk_sqlite_execute(sqlite, version <= BEFORE_CPU ? with_cpu : with_new_names));
    }
    return yk_sqlite_commit(sqlite);
}

yk_status yk_schema_prepare_for_writing(struct yk_sqlite *sqlite)
{
    int64_t version = 0;
    YK_TRY(find_version(sqlite, &version));
    if (version < VERSION) {
        YK_TRY(yk_sqlite_begin_transaction(sqlite));
        YK_TRY_OR_CLEAN_UP(upgrade(sqlite), yk_sqlite_rollback(sqlite));
    }
    return check_columns(sqlite);
}
