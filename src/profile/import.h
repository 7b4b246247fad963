/*
 * Import: what another file knows, added to a profile. One thread at a time; other processes may
 * use both files meanwhile.
 */
#ifndef YK_PROFILE_IMPORT_H
#define YK_PROFILE_IMPORT_H

#include "profile/profile.h"

enum {
    YK_PROFILE_NAME_SIZE = 256
};

/* What became of the numbers of the other file. */
struct yk_profile_import_counts {
    int64_t added;
    int64_t replaced; /* what was known is older */
    int64_t left;     /* what was known is as new, or newer */

    /* Something whose name does not say what CPU it has, and that two machines have measured:
     * "cpu:2" is 2 cores of any sort. "": there is none. */
    char mixed[YK_PROFILE_NAME_SIZE];
    char known_host[YK_PROFILE_NAME_SIZE];
    char other_host[YK_PROFILE_NAME_SIZE];
};

/* Adds every number of the profile at `path`, of any form, to `profile`, or none of them. Of two
 * numbers for the same the one that was measured later stays; what is known stays of two as new. */
yk_status yk_profile_import(struct yk_profile *profile, const char *path,
                            struct yk_profile_import_counts *out) YK_MUST_USE;

#endif
