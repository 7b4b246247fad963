/*
 * Import: adds the numbers of another profile to a profile. One thread at a time; other processes
 * may use both files meanwhile.
 */
#ifndef YK_PROFILE_IMPORT_H
#define YK_PROFILE_IMPORT_H

#include "profile/profile.h"

/* What became of the numbers of the other file. */
struct yk_profile_import_counts {
    int64_t added;
    int64_t replaced; /* what was known is older */
    int64_t left;     /* what was known is as new, or newer */
};

/* Adds every number of the profile at `path`, of any form, to `profile`, or none of them. Of two
 * numbers for the same the one that was measured later stays; what is known stays of two as new. */
yk_status yk_profile_import(struct yk_profile *profile, const char *path,
                            struct yk_profile_import_counts *out) YK_MUST_USE;

#endif
