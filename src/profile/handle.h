/* Handle: the inside of an open profile, for the files of this room alone. */
#ifndef YK_PROFILE_HANDLE_H
#define YK_PROFILE_HANDLE_H

#include "base/system.h"
#include "profile/database.h"
#include "profile/profile.h"

struct yk_profile {
    struct yk_database *database;
    char host[256];                    /* this machine's name */
    char cpu[YK_SYSTEM_CPU_NAME_SIZE]; /* its processor's */
    struct yk_profile_point *points;   /* of the last answer */
    int32_t point_capacity;
};

/* Opens a profile without checking its schema; `make` creates a missing file. */
yk_status yk_profile_handle_open(const char *path, bool make, struct yk_profile **out) YK_MUST_USE;

/* The CPU that numbers of the subject, a device or a link, are of: this machine's where a CPU is
 * part of it, else "". */
const char *yk_profile_handle_cpu(const struct yk_profile *profile, const char *subject);

/* The key of a row of each table: parameters 1 to 6 of a layer, 1 to 4 of a link, 1 to 3 of a fact,
 * the CPU last. Parts are equal within 0.5 %. */
#define YK_PROFILE_WHERE_LAYER                                                                     \
    "device = ?1 AND abs(part - ?2) <= 0.005 * part AND shape = ?3 AND sequence = ?4 "             \
    "AND pass = ?5 AND cpu = ?6"
#define YK_PROFILE_WHERE_LINK "link = ?1 AND collective = ?2 AND ranks = ?3 AND cpu = ?4"
#define YK_PROFILE_WHERE_FACT "subject = ?1 AND fact = ?2 AND cpu = ?3"

/* Queries with these parameters bound. */
yk_status yk_profile_handle_query_layer(const struct yk_profile *profile, const char *sql,
                                        const struct yk_profile_layer *layer, const char *cpu,
                                        struct yk_database_statement **out) YK_MUST_USE;
yk_status yk_profile_handle_query_link(const struct yk_profile *profile, const char *sql,
                                       const struct yk_profile_link *link, const char *cpu,
                                       struct yk_database_statement **out) YK_MUST_USE;
yk_status yk_profile_handle_query_fact(const struct yk_profile *profile, const char *sql,
                                       const struct yk_profile_fact *fact, const char *cpu,
                                       struct yk_database_statement **out) YK_MUST_USE;

/* Write the row as it is, in place of the one with the same key. */
yk_status yk_profile_write_layer_row(struct yk_profile *profile,
                                     const struct yk_profile_layer_row *row) YK_MUST_USE;
yk_status yk_profile_write_link_row(struct yk_profile *profile,
                                    const struct yk_profile_link_row *row) YK_MUST_USE;
yk_status yk_profile_write_fact_row(struct yk_profile *profile,
                                    const struct yk_profile_fact_row *row) YK_MUST_USE;

/* Refuses a file that is no profile, or of an unknown version; afterwards every table has the
 * columns of the newest version, if need be as temporary views. An empty file is a profile with no
 * numbers. */
yk_status yk_schema_check(struct yk_database *database) YK_MUST_USE;

/* The same for adding: creates tables and upgrades older ones; other processes may do so too. */
yk_status yk_schema_upgrade(struct yk_database *database) YK_MUST_USE;

#endif
