/*
 * SQLite: a thin wrapper of an SQLite file and its statements. It turns SQLite errors into
 * yk_status messages. Only files of this folder include this header. Only one thread at a time may
 * use a struct yk_sqlite and its statements.
 *
 * Several processes may write one file. The journal mode is DELETE (a rollback journal): if a
 * writer is killed, the next process that opens the file rolls the writer's transaction back. (WAL
 * mode needs shared memory, which network file systems do not have.) A writer takes the write lock
 * before it reads. So a second writer waits for the first, and two writers never deadlock.
 */
#ifndef YK_PROFILE_SQLITE_H
#define YK_PROFILE_SQLITE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_sqlite;

/* Opens the file. If the file is missing and `make` is true, creates an empty file. */
yk_status yk_sqlite_open(const char *path, bool make, struct yk_sqlite **out) YK_MUST_USE;
void yk_sqlite_close(struct yk_sqlite *sqlite);

const char *yk_sqlite_path(const struct yk_sqlite *sqlite);

/* Returns whether the last error means that the file is damaged. Errors of the system, such as a
 * full disk, do not count. A caller that finds invalid content calls yk_sqlite_mark_damaged(). */
bool yk_sqlite_is_damaged(const struct yk_sqlite *sqlite);
void yk_sqlite_mark_damaged(struct yk_sqlite *sqlite);

/* Runs SQL statements that return no rows. */
yk_status yk_sqlite_execute(struct yk_sqlite *sqlite, const char *sql) YK_MUST_USE;

/* Runs a query that returns one integer. `*out` is 0 if the query returns no row. */
yk_status yk_sqlite_query_integer(struct yk_sqlite *sqlite, const char *sql,
                                  int64_t *out) YK_MUST_USE;

/* Begin, commit and roll back a transaction. The begin takes the write lock. A rollback does not
 * change the error message of the failure before it. */
yk_status yk_sqlite_begin_transaction(struct yk_sqlite *sqlite) YK_MUST_USE;
yk_status yk_sqlite_commit(struct yk_sqlite *sqlite) YK_MUST_USE;
void yk_sqlite_rollback(struct yk_sqlite *sqlite);

/* A prepared statement. Parameters are numbered from 1, columns from 0. */
struct yk_sqlite_statement;

yk_status yk_sqlite_prepare(struct yk_sqlite *sqlite, const char *sql,
                            struct yk_sqlite_statement **out) YK_MUST_USE;
void yk_sqlite_finalize(struct yk_sqlite_statement *statement);

/* Set the parameter with this number. Text must stay valid until the statement is finalized. If a
 * bind fails, the next step returns the failure. */
void yk_sqlite_bind_text(struct yk_sqlite_statement *statement, int number, const char *text);
void yk_sqlite_bind_real(struct yk_sqlite_statement *statement, int number, double value);
void yk_sqlite_bind_integer(struct yk_sqlite_statement *statement, int number, int64_t value);

/* Moves to the next row. `*out` is false if there are no more rows. */
yk_status yk_sqlite_step(struct yk_sqlite_statement *statement, bool *out) YK_MUST_USE;

/* Moves to the first row and finalizes the statement. `*out` is true if there was a row. */
yk_status yk_sqlite_step_and_finalize(struct yk_sqlite_statement *statement, bool *out) YK_MUST_USE;

/* Read the columns of the current row. Text is valid until the next step. */
int yk_sqlite_column_count(const struct yk_sqlite_statement *statement);
bool yk_sqlite_column_is_real(const struct yk_sqlite_statement *statement, int column);
const char *yk_sqlite_column_text(const struct yk_sqlite_statement *statement, int column);
double yk_sqlite_column_real(const struct yk_sqlite_statement *statement, int column);
int64_t yk_sqlite_column_integer(const struct yk_sqlite_statement *statement, int column);

#endif
