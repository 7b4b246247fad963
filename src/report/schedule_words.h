/* Schedule words: what a schedule's numbers mean, as sentences the summary and the page share. */
#ifndef YK_REPORT_SCHEDULE_WORDS_H
#define YK_REPORT_SCHEDULE_WORDS_H

#include "base/text.h"
#include "report/schedule_report.h"
#include "sched/wait.h"

/* How far the makespan is from the bound: "at most 19.4% longer than the shortest possible". */
void yk_schedule_words_gap(const struct yk_schedule_report *report, struct yk_text *out);

/* Why `task` starts when it does: "waits for data of 4 from P2, which arrives at 27". */
void yk_schedule_words_wait(const struct yk_schedule *schedule, int32_t task,
                            const struct yk_wait *wait, struct yk_text *out);

#endif
