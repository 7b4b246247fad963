/* Handle: what an open profile is made of. For the files of this room alone. */
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

/* A profile of the file, whose form is not looked at; a missing one is made if `make` is set. */
yk_status yk_profile_handle_open(const char *path, bool make, struct yk_profile **out) YK_MUST_USE;

/* The CPU that a number of the subject, a device or a link, is known by here: this machine's where
 * a CPU takes part in it, else "". */
const char *yk_profile_handle_cpu(const struct yk_profile *profile, const char *subject);

/* What a row of each table is known by, in a WHERE: numbers 1 to 6 of a layer, 1 to 4 of a link, 1
 * to 3 of a fact, the CPU last. Parts are equal within half a hundredth of them. */
#define YK_PROFILE_WHERE_LAYER                                                                     \
    "device = ?1 AND abs(part - ?2) <= 0.005 * part AND shape = ?3 AND sequence = ?4 "             \
    "AND pass = ?5 AND cpu = ?6"
#define YK_PROFILE_WHERE_LINK "link = ?1 AND collective = ?2 AND ranks = ?3 AND cpu = ?4"
#define YK_PROFILE_WHERE_FACT "subject = ?1 AND fact = ?2 AND cpu = ?3"

/* Queries with these numbers bound. */
yk_status yk_profile_handle_query_layer(const struct yk_profile *profile, const char *sql,
                                        const struct yk_profile_layer *layer, const char *cpu,
                                        struct yk_database_statement **out) YK_MUST_USE;
yk_status yk_profile_handle_query_link(const struct yk_profile *profile, const char *sql,
                                       const struct yk_profile_link *link, const char *cpu,
                                       struct yk_database_statement **out) YK_MUST_USE;
yk_status yk_profile_handle_query_fact(const struct yk_profile *profile, const char *sql,
                                       const struct yk_profile_fact *fact, const char *cpu,
                                       struct yk_database_statement **out) YK_MUST_USE;

#endif
