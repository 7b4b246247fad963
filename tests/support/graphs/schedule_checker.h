/*
 * Schedule checker: the rules a schedule must keep, written down a second time and in the plainest
 * way, so that no mistake of the schedulers can hide in code they share with it.
 */
#ifndef YK_TESTS_SCHEDULE_CHECKER_H
#define YK_TESTS_SCHEDULE_CHECKER_H

#include "sched/schedule.h"

/* The first rule that is broken, in words; NULL when all are kept. */
const char *checker_broken_rule(const struct yk_schedule *schedule);

/* Fails the test, naming `who`, when a rule is broken. */
void checker_assert_valid(const struct yk_schedule *schedule, const char *who);

/* The bytes device `device` holds at `time`, added up from scratch. */
int64_t checker_bytes_at(const struct yk_schedule *schedule, int32_t device, int64_t time);

#endif
