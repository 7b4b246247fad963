/* The fields of an open profile, its queries and its schema. Only files of this folder
 * include it. */
#ifndef YK_PROFILE_PROFILE_INTERNAL_H
#define YK_PROFILE_PROFILE_INTERNAL_H

#include "base/system.h"
#include "profile/profile.h"
#include "profile/sqlite.h"

struct yk_profile {
    struct yk_sqlite *database;
    char host[256];                    /* name of this machine; "": unknown */
    char cpu[YK_SYSTEM_CPU_NAME_SIZE]; /* name of this machine's CPU */
    struct yk_profile_point *points;   /* memory of the last curve that was returned */
    int32_t point_capacity;
};

/* Opens a profile without a check of its schema. If `make` is set, a missing file is created. */
yk_status yk_profile_open_unchecked(const char *path, bool make,
                                    struct yk_profile **out) YK_MUST_USE;

/* SQL conditions for the key of a row. Parameters: 1 to 6 for a layer, 1 to 4 for a link, 1 to 3
 * for a fact; the CPU is the last. Parts within 0.5 % are equal. */
#define YK_PROFILE_WHERE_LAYER                                                                     \
    "device = ?1 AND abs(part - ?2) <= 0.005 * part AND shape = ?3 AND sequence = ?4 "             \
    "AND pass = ?5 AND cpu = ?6"
#define YK_PROFILE_WHERE_LINK "link = ?1 AND collective = ?2 AND ranks = ?3 AND cpu = ?4"
#define YK_PROFILE_WHERE_FACT "subject = ?1 AND fact = ?2 AND cpu = ?3"

/* Prepare `sql` and bind these parameters. */
yk_status yk_profile_query_layer(const struct yk_profile *profile, const char *sql,
                                 const struct yk_profile_layer_key *layer, const char *cpu,
                                 struct yk_sqlite_statement **out) YK_MUST_USE;
yk_status yk_profile_query_link(const struct yk_profile *profile, const char *sql,
                                const struct yk_profile_link_key *link, const char *cpu,
                                struct yk_sqlite_statement **out) YK_MUST_USE;
yk_status yk_profile_query_fact(const struct yk_profile *profile, const char *sql,
                                const struct yk_profile_fact_key *fact, const char *cpu,
                                struct yk_sqlite_statement **out) YK_MUST_USE;

/* Insert the row, or replace the row with the same key. */
yk_status yk_profile_write_layer_row(struct yk_profile *profile,
                                     const struct yk_profile_layer_row *row) YK_MUST_USE;
yk_status yk_profile_write_link_row(struct yk_profile *profile,
                                    const struct yk_profile_link_row *row) YK_MUST_USE;
yk_status yk_profile_write_fact_row(struct yk_profile *profile,
                                    const struct yk_profile_fact_row *row) YK_MUST_USE;

/* Prepares a file for reading. A file that is not a profile, or has an unknown version, is an
 * error. Afterwards all tables have the columns of the newest version; for an older file they are
 * temporary views. An empty file is a profile without rows. */
yk_status yk_schema_check(struct yk_sqlite *database) YK_MUST_USE;

/* Prepares a file for writing: creates missing tables and upgrades older ones. Safe if several
 * processes do so at the same time. */
yk_status yk_schema_upgrade(struct yk_sqlite *database) YK_MUST_USE;

#endif
