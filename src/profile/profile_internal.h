/* The fields of an open profile and its schema. Only files of this folder
 * include it. */
#ifndef YK_PROFILE_PROFILE_INTERNAL_H
#define YK_PROFILE_PROFILE_INTERNAL_H

#include "base/system.h"
#include "profile/profile.h"
#include "profile/sqlite.h"

struct yk_profile {
    struct yk_sqlite *sqlite;
    char host[256];                    /* name of this machine; "": unknown */
    char cpu[YK_SYSTEM_CPU_NAME_SIZE]; /* name of this machine's CPU */
    struct yk_profile_point *points;   /* memory of the last curve that was returned */
    int32_t point_capacity;
};

/* Opens a profile without a check of its schema. If `make` is set, a missing file is created. */
yk_status yk_profile_open_unchecked(const char *path, bool make,
                                    struct yk_profile **out) YK_MUST_USE;

/* The columns of all tables after the value, except the CPU, which is the last. */
#define YK_PROFILE_MEASUREMENT "spread, samples, versions, min, max, measured_at, host"

/* Prepares a file for reading. A file that is not a profile, or has an unknown version, is an
 * error. Afterwards all tables have the columns of the newest version; for an older file they are
 * temporary views. An empty file is a profile without rows. */
yk_status yk_schema_check(struct yk_sqlite *sqlite) YK_MUST_USE;

/* Prepares a file for writing: creates missing tables and upgrades older ones. Safe if several
 * processes do so at the same time. */
yk_status yk_schema_upgrade(struct yk_sqlite *sqlite) YK_MUST_USE;

#endif
