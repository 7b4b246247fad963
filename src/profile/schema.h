/*
 * Schema: the tables of a profile's file (profile.h says what is in them), of the newest and of
 * older versions. For the files of this room alone. One thread at a time.
 */
#ifndef YK_PROFILE_SCHEMA_H
#define YK_PROFILE_SCHEMA_H

#include "profile/database.h"

/* Refuses what is no profile, or of a form not known here; afterwards every table has the columns
 * of the newest form, be it as views that only this process sees. An empty file is a profile
 * without any number: who began it was stopped there. */
yk_status yk_schema_check(struct yk_database *database) YK_MUST_USE;

/* The same for adding: makes the tables, and gives older ones their new columns, whoever else does
 * so at the same time. */
yk_status yk_schema_upgrade(struct yk_database *database) YK_MUST_USE;

#endif
