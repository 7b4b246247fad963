/* Profile internal: the fields of an open profile, and functions for its schema. Only files of this
 * folder include this header. */
#ifndef YK_PROFILE_PROFILE_INTERNAL_H
#define YK_PROFILE_PROFILE_INTERNAL_H

#include "base/system.h"
#include "profile/profile.h"
#include "profile/sqlite.h"

struct yk_profile {
    struct yk_sqlite *sqlite;
    char host[256];                    /* name of this machine; "" means: unknown */
    char cpu[YK_SYSTEM_CPU_NAME_SIZE]; /* name of this machine's CPU */
    struct yk_profile_point *points;   /* the points of the curve that was returned last */
    int32_t point_capacity;
};

/* Opens a profile without a check of its schema. If `make` is true, creates a missing file. */
yk_status yk_profile_open_unchecked(const char *path, bool make,
                                    struct yk_profile **out) YK_MUST_USE;

/* The columns between the value and the last column, `cpu`, in all tables. */
#define YK_PROFILE_MEASUREMENT_COLUMNS "spread, samples, versions, min, max, measured_at, host"

/* Prepares a file for reading. Fails if the file is not a profile or has an unknown version.
 * Afterwards, all tables have the columns of the newest version; for an older file, they are
 * temporary views. An empty file counts as a profile without rows. */
yk_status yk_schema_prepare_for_reading(struct yk_sqlite *sqlite) YK_MUST_USE;

/* Prepares a file for writing: creates missing tables and upgrades older tables. Several processes
 * may call this function for one file at the same time. */
yk_status yk_schema_prepare_for_writing(struct yk_sqlite *sqlite) YK_MUST_USE;

#endif
