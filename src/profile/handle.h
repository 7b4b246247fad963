/* Handle: what an open profile is made of. For the files of this room alone. */
#ifndef YK_PROFILE_HANDLE_H
#define YK_PROFILE_HANDLE_H

#include "profile/database.h"
#include "profile/profile.h"

struct yk_profile {
    struct yk_database *database;
    char host[256];                  /* this machine's name */
    struct yk_profile_point *points; /* of the last answer */
    int32_t point_capacity;
};

/* A profile of the file, whose form is not looked at; a missing one is made if `make` is set. */
yk_status yk_handle_open(const char *path, bool make, struct yk_profile **out) YK_MUST_USE;

/* Bind what a row is known by, from number 1 on. */
void yk_handle_bind_layer(struct yk_query *query, const struct yk_profile_layer *layer);
void yk_handle_bind_link(struct yk_query *query, const struct yk_profile_link *link);
void yk_handle_bind_fact(struct yk_query *query, const struct yk_profile_fact *fact);

#endif
