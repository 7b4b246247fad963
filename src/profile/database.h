/*
 * Database: an SQLite file and its statements, with failures put into sentences. For the files of
 * this room alone. One thread at a time.
 *
 * Several processes may write one file. SQLite's rollback journal is kept: what a killed process
 * left half written is undone by whoever opens the file next. (The write-ahead log needs shared
 * memory, which network file systems do not have.) A writer takes the lock for writing before it
 * reads, so that two who change the same file wait for each other, and neither has to give up.
 */
#ifndef YK_PROFILE_DATABASE_H
#define YK_PROFILE_DATABASE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_database;

/* Opens the file, and makes an empty one where there is none if `make` is set. */
yk_status yk_database_open(const char *path, bool make, struct yk_database **out) YK_MUST_USE;
void yk_database_close(struct yk_database *database);

const char *yk_database_path(const struct yk_database *database);

/* Whether the last failure was the file's, which is damaged, and not the system's. Whoever finds a
 * file at fault by itself says so. */
bool yk_database_is_broken(const struct yk_database *database);
void yk_database_mark_broken(struct yk_database *database);

/* Runs statements that answer nothing. */
yk_status yk_database_execute(struct yk_database *database, const char *sql) YK_MUST_USE;

/* The one whole number that `sql` asks for. */
yk_status yk_database_read_integer(struct yk_database *database, const char *sql,
                                   int64_t *out) YK_MUST_USE;

/* Takes the lock for writing; what is done until commit is dropped by undo, which keeps the
 * sentence of the failure that led there. */
yk_status yk_database_begin(struct yk_database *database) YK_MUST_USE;
yk_status yk_database_commit(struct yk_database *database) YK_MUST_USE;
void yk_database_rollback(struct yk_database *database);

/* A statement with values to be filled in, numbered from 1, and rows with columns from 0. */
struct yk_database_statement;

yk_status yk_database_prepare(struct yk_database *database, const char *sql,
                              struct yk_database_statement **out) YK_MUST_USE;
void yk_database_finalize(struct yk_database_statement *query);

/* What is bound must last until the query is closed. Without memory for it, step says so. */
void yk_database_bind_text(struct yk_database_statement *query, int number, const char *text);
void yk_database_bind_real(struct yk_database_statement *query, int number, double value);
void yk_database_bind_integer(struct yk_database_statement *query, int number, int64_t value);

/* The next row; `out` is false when there are no more. */
yk_status yk_database_step(struct yk_database_statement *query, bool *out) YK_MUST_USE;

/* Runs the query once, which may find nothing, and closes it. */
yk_status yk_database_step_once(struct yk_database_statement *query, bool *out) YK_MUST_USE;

/* The columns of the row, until the next step. */
int yk_database_column_count(const struct yk_database_statement *query);
bool yk_database_column_is_real(const struct yk_database_statement *query, int column);
const char *yk_database_column_text(const struct yk_database_statement *query, int column);
double yk_database_column_real(const struct yk_database_statement *query, int column);
int64_t yk_database_column_integer(const struct yk_database_statement *query, int column);

#endif
