/*
 * Profile JSON: what the rows of a profile are known by, as members of JSON objects. Whoever begins
 * a row adds the rest of it and ends it. One thread at a time.
 */
#ifndef YK_REPORT_PROFILE_JSON_H
#define YK_REPORT_PROFILE_JSON_H

#include "base/json_write.h"
#include "profile/profile.h"

/* Begins an array, on a line of its own, whose elements are rows. */
void yk_profile_json_begin_table(const char *name, struct yk_json_writer *json);

void yk_profile_json_begin_layer(const struct yk_profile_layer *layer, int64_t batch,
                                 struct yk_json_writer *json);
/* Without the bytes of a message, which curves do not have. */
void yk_profile_json_begin_link(const struct yk_profile_link *link, struct yk_json_writer *json);
void yk_profile_json_begin_fact(const struct yk_profile_fact *fact, struct yk_json_writer *json);

#endif
