/* Handle: what an open profile is made of. For the files of this room alone. */
#ifndef YK_PROFILE_HANDLE_H
#define YK_PROFILE_HANDLE_H

#include "base/cpu_name.h"
#include "profile/database.h"
#include "profile/profile.h"

struct yk_profile {
    struct yk_database *database;
    char host[256];                  /* this machine's name */
    char cpu[YK_CPU_NAME_SIZE];      /* its processor's */
    struct yk_profile_point *points; /* of the last answer */
    int32_t point_capacity;
};

/* A profile of the file, whose form is not looked at; a missing one is made if `make` is set. */
yk_status yk_handle_open(const char *path, bool make, struct yk_profile **out) YK_MUST_USE;

/* The CPU that a number of the subject, a device or a link, is known by here: this machine's where
 * a CPU takes part in it, else "". */
const char *yk_handle_cpu(const struct yk_profile *profile, const char *subject);

/* Bind what a row is known by, the CPU last: numbers 1 to 6 of a layer, 1 to 4 of a link, 1 to 3 of
 * a fact. */
void yk_handle_bind_layer(struct yk_query *query, const struct yk_profile_layer *layer,
                          const char *cpu);
void yk_handle_bind_link(struct yk_query *query, const struct yk_profile_link *link,
                         const char *cpu);
void yk_handle_bind_fact(struct yk_query *query, const struct yk_profile_fact *fact,
                         const char *cpu);

#endif
