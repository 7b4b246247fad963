/* Profile words: what the tables and pictures of a profile have in common. */
#ifndef YK_REPORT_PROFILE_WORDS_H
#define YK_REPORT_PROFILE_WORDS_H

#include "base/text.h"
#include "report/profile_report.h"

/* "3 days ago"; "at an unknown time" where `then` is 0. */
void yk_profile_say_age(int64_t then, int64_t now, struct yk_text *out);

/* "cpu:2", "cpu:2, 40 % of it". */
void yk_profile_say_device(const struct yk_profile_layer *layer, struct yk_text *out);

/* "all_gather among 4 ranks", "send", "to device". */
void yk_profile_say_collective(const struct yk_profile_link *link, struct yk_text *out);

/* "knee 2.1MiB: 90 % of 8.5GB/s, latency 12us", and how sure that is. */
void yk_profile_say_knee(const struct yk_profile_report_link *link, struct yk_text *out);

/* "computation takes 1.2 times as long beside messages". */
void yk_profile_say_fact(const struct yk_profile_fact_row *row, struct yk_text *out);

/* What each link of the ring carries a second while message number `i` is under way. */
double yk_profile_rate(const struct yk_profile_report_link *link, int32_t i);

#endif
