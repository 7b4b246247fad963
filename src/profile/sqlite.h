/*
 * SQLite: a thin wrapper of an SQLite file and its statements, which turns SQLite errors into
 * yk_status messages. Only files of this folder include it. One thread at a time.
 *
 * Several processes may write one file. The journal mode is DELETE (a rollback journal): if a
 * writer is killed, the next process that opens the file rolls its transaction back. (WAL mode
 * needs shared memory, which network file systems lack.) A writer takes the write lock before it
 * reads, so two writers wait for each other and never deadlock.
 */
#ifndef YK_PROFILE_SQLITE_H
#define YK_PROFILE_SQLITE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_sqlite;

/* Opens the file. If `make` is set, a missing file is created, empty. */
yk_status yk_sqlite_open(const char *path, bool make, struct yk_sqlite **out) YK_MUST_USE;
void yk_sqlite_close(struct yk_sqlite *sqlite);

const char *yk_sqlite_path(const struct yk_sqlite *sqlite);

/* Whether the last error means that the file is damaged. It is false for errors of the system, such
 * as a full disk. A caller that finds bad content marks the file itself. */
bool yk_sqlite_is_damaged(const struct yk_sqlite *sqlite);
void yk_sqlite_mark_damaged(struct yk_sqlite *sqlite);

/* Runs SQL statements that return no rows. */
yk_status yk_sqlite_execute(struct yk_sqlite *sqlite, const char *sql) YK_MUST_USE;

/* Runs a query for one integer; `out` is 0 if there is no row. */
yk_status yk_sqlite_read_integer(struct yk_sqlite *sqlite, const char *sql,
                                 int64_t *out) YK_MUST_USE;

/* Begins a transaction and takes the write lock. A rollback keeps the error message of the failure
 * before it. */
yk_status yk_sqlite_begin_transaction(struct yk_sqlite *sqlite) YK_MUST_USE;
yk_status yk_sqlite_commit(struct yk_sqlite *sqlite) YK_MUST_USE;
void yk_sqlite_rollback(struct yk_sqlite *sqlite);

/* A prepared statement. Parameters are numbered from 1, columns from 0. */
struct yk_sqlite_statement;

yk_status yk_sqlite_prepare(struct yk_sqlite *sqlite, const char *sql,
                            struct yk_sqlite_statement **out) YK_MUST_USE;
void yk_sqlite_finalize(struct yk_sqlite_statement *statement);

/* Bound text must live until the statement is finalized. A failure is reported by the next step. */
void yk_sqlite_bind_text(struct yk_sqlite_statement *statement, int number, const char *text);
void yk_sqlite_bind_real(struct yk_sqlite_statement *statement, int number, double value);
void yk_sqlite_bind_integer(struct yk_sqlite_statement *statement, int number, int64_t value);

/* Moves to the next row; `out` is false if there are no more rows. */
yk_status yk_sqlite_step(struct yk_sqlite_statement *statement, bool *out) YK_MUST_USE;

/* Steps once and finalizes the statement; `out` says whether there was a row. */
yk_status yk_sqlite_step_once(struct yk_sqlite_statement *statement, bool *out) YK_MUST_USE;

/* Columns of the current row. Text is valid until the next step. */
int yk_sqlite_column_count(const struct yk_sqlite_statement *statement);
bool yk_sqlite_column_is_real(const struct yk_sqlite_statement *statement, int column);
const char *yk_sqlite_column_text(const struct yk_sqlite_statement *statement, int column);
double yk_sqlite_column_real(const struct yk_sqlite_statement *statement, int column);
int64_t yk_sqlite_column_integer(const struct yk_sqlite_statement *statement, int column);

#endif
