#include "profile/sqlite.h"

#include "base/file.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUSY_MS = 30000, /* how long to wait while others write; better than to lose a measurement */
    MAX_VALUE_BYTES = 1 << 20, /* of a row: names are short, and columns may be computed */
};

struct yk_sqlite {
    sqlite3 *file;
    char *path;
    bool broken;
};

struct yk_sqlite_statement {
    struct yk_sqlite *sqlite;
    sqlite3_stmt *statement;
    bool failed; /* a value could not be bound */
};

static bool is_refusal(int code)
{
    return code == SQLITE_BUSY || code == SQLITE_LOCKED || code == SQLITE_CANTOPEN ||
           code == SQLITE_FULL || code == SQLITE_IOERR || code == SQLITE_READONLY ||
           code == SQLITE_PERM || code == SQLITE_AUTH;
}

/* What SQLite says went wrong, with the file. */
static yk_status fail(struct yk_sqlite *sqlite)
{
    const int code = sqlite3_errcode(sqlite->file);
    if (code == SQLITE_NOMEM) {
        return yk_fail_out_of_memory();
    }
    sqlite->broken = !is_refusal(code);
    if (code == SQLITE_NOTADB) {
        return yk_fail(YK_ERROR_INPUT, "%s: this is not a profile: not an SQLite database",
                       sqlite->path);
    }
    return yk_fail(sqlite->broken ? YK_ERROR_INPUT : YK_ERROR_SYSTEM, "%s: %s: %s", sqlite->path,
                   sqlite->broken ? "the profile is damaged" : "the profile cannot be used",
                   sqlite3_errmsg(sqlite->file));
}

/* The file may come from anybody: nothing in it calls functions with side effects, or computes
 * values of any size. */
static void harden(sqlite3 *file)
{
    sqlite3_db_config(file, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(file, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_limit(file, SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
}

yk_status yk_sqlite_open(const char *path, bool make, struct yk_sqlite **out)
{
    const int flags = SQLITE_OPEN_READWRITE | (make ? SQLITE_OPEN_CREATE : 0);
    /* SQLite would read a device as an empty database. */
    YK_TRY(yk_file_check_regular(path));
    struct yk_sqlite *sqlite = calloc(1, sizeof *sqlite);
    yk_status status = YK_OK;
    if (!sqlite || !(sqlite->path = strdup(path))) {
        status = yk_fail_out_of_memory();
        goto failed;
    }
    if (sqlite3_open_v2(path, &sqlite->file, flags, NULL) != SQLITE_OK) {
        status = sqlite->file ? fail(sqlite) : yk_fail_out_of_memory();
        goto failed;
    }
    sqlite3_busy_timeout(sqlite->file, BUSY_MS);
    harden(sqlite->file);
    *out = sqlite;
    return YK_OK;
failed:
    yk_sqlite_close(sqlite);
    return status;
}

void yk_sqlite_close(struct yk_sqlite *sqlite)
{
    if (sqlite) {
        sqlite3_close(sqlite->file);
        free(sqlite->path);
        free(sqlite);
    }
}

const char *yk_sqlite_path(const struct yk_sqlite *sqlite)
{
    return sqlite->path;
}

bool yk_sqlite_is_damaged(const struct yk_sqlite *sqlite)
{
    return sqlite->broken;
}

void yk_sqlite_mark_damaged(struct yk_sqlite *sqlite)
{
    sqlite->broken = true;
}

yk_status yk_sqlite_execute(struct yk_sqlite *sqlite, const char *sql)
{
    return sqlite3_exec(sqlite->file, sql, NULL, NULL, NULL) == SQLITE_OK ? YK_OK : fail(sqlite);
}

yk_status yk_sqlite_query_integer(struct yk_sqlite *sqlite, const char *sql, int64_t *out)
{
    struct yk_sqlite_statement *statement = NULL;
    bool found = false;
    YK_TRY(yk_sqlite_prepare(sqlite, sql, &statement));
    const yk_status status = yk_sqlite_step(statement, &found);
    if (status == YK_OK) {
        *out = found ? yk_sqlite_column_integer(statement, 0) : 0;
    }
    yk_sqlite_finalize(statement);
    return status;
}

yk_status yk_sqlite_begin_transaction(struct yk_sqlite *sqlite)
{
    return yk_sqlite_execute(sqlite, "BEGIN IMMEDIATE");
}

yk_status yk_sqlite_commit(struct yk_sqlite *sqlite)
{
    return yk_sqlite_execute(sqlite, "COMMIT");
}

void yk_sqlite_rollback(struct yk_sqlite *sqlite)
{
    /* After some failures SQLite has undone it already, and says that there is nothing to undo. */
    sqlite3_exec(sqlite->file, "ROLLBACK", NULL, NULL, NULL);
}

yk_status yk_sqlite_prepare(struct yk_sqlite *sqlite, const char *sql,
                            struct yk_sqlite_statement **out)
{
    struct yk_sqlite_statement *statement = calloc(1, sizeof *statement);
    YK_TRY_ALLOCATED(statement);
    statement->sqlite = sqlite;
    if (sqlite3_prepare_v2(sqlite->file, sql, -1, &statement->statement, NULL) != SQLITE_OK) {
        free(statement);
        return fail(sqlite);
    }
    *out = statement;
    return YK_OK;
}

void yk_sqlite_finalize(struct yk_sqlite_statement *statement)
{
    if (statement) {
        sqlite3_finalize(statement->statement);
        free(statement);
    }
}

void yk_sqlite_bind_text(struct yk_sqlite_statement *statement, int number, const char *text)
{
    statement->failed |=
        sqlite3_bind_text(statement->statement, number, text, -1, SQLITE_STATIC) != SQLITE_OK;
}

void yk_sqlite_bind_real(struct yk_sqlite_statement *statement, int number, double value)
{
    statement->failed |= sqlite3_bind_double(statement->statement, number, value) != SQLITE_OK;
}

void yk_sqlite_bind_integer(struct yk_sqlite_statement *statement, int number, int64_t value)
{
    statement->failed |= sqlite3_bind_int64(statement->statement, number, value) != SQLITE_OK;
}

yk_status yk_sqlite_step(struct yk_sqlite_statement *statement, bool *out)
{
    *out = false;
    if (statement->failed) {
        return yk_fail_out_of_memory();
    }
    const int step = sqlite3_step(statement->statement);
    *out = step == SQLITE_ROW;
    return step == SQLITE_ROW || step == SQLITE_DONE ? YK_OK : fail(statement->sqlite);
}

yk_status yk_sqlite_step_and_finalize(struct yk_sqlite_statement *statement, bool *out)
{
    const yk_status status = yk_sqlite_step(statement, out);
    yk_sqlite_finalize(statement);
    return status;
}

int yk_sqlite_column_count(const struct yk_sqlite_statement *statement)
{
    return sqlite3_column_count(statement->statement);
}

bool yk_sqlite_column_is_real(const struct yk_sqlite_statement *statement, int column)
{
    return sqlite3_column_type(statement->statement, column) == SQLITE_FLOAT;
}

const char *yk_sqlite_column_text(const struct yk_sqlite_statement *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement->statement, column);
    return text ? text : "";
}

double yk_sqlite_column_real(const struct yk_sqlite_statement *statement, int column)
{
    return sqlite3_column_double(statement->statement, column);
}

int64_t yk_sqlite_column_integer(const struct yk_sqlite_statement *statement, int column)
{
    return sqlite3_column_int64(statement->statement, column);
}
