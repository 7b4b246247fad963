/* Profile describe: phrases that the tables and pictures of a profile have in common. */
#ifndef YK_REPORT_PROFILE_DESCRIBE_H
#define YK_REPORT_PROFILE_DESCRIBE_H

#include "base/text.h"
#include "report/profile/report.h"

/* "3 days ago"; "at an unknown time" where `then` is 0. */
void yk_profile_describe_age(int64_t then, int64_t now, struct yk_text *out);

/* "cpu:2", "cpu:2, 40 % of it". */
void yk_profile_describe_device(const struct yk_profile_layer *layer, struct yk_text *out);

/* "all_gather among 4 ranks", "send", "to device". */
void yk_profile_describe_collective(const struct yk_profile_link *link, struct yk_text *out);

/* "knee 2.1MiB: 90 % of 8.5GB/s, latency 12us", and how sure that is. */
void yk_profile_describe_knee(const struct yk_profile_report_link *link, struct yk_text *out);

/* "computation takes 1.2 times as long beside messages". */
void yk_profile_describe_fact(const struct yk_profile_fact_row *row, struct yk_text *out);

#endif
