/*
 * Rows: numbers as they stand in the tables, unknown times and hosts included. For the files of
 * this room alone. One thread at a time.
 */
#ifndef YK_PROFILE_ROWS_H
#define YK_PROFILE_ROWS_H

#include "profile/profile.h"

/* Write the row as it is, in place of what was known for the same. */
yk_status yk_profile_write_layer_row(struct yk_profile *profile,
                                     const struct yk_profile_layer_row *row) YK_MUST_USE;
yk_status yk_profile_write_link_row(struct yk_profile *profile,
                                    const struct yk_profile_link_row *row) YK_MUST_USE;
yk_status yk_profile_write_fact_row(struct yk_profile *profile,
                                    const struct yk_profile_fact_row *row) YK_MUST_USE;

#endif
