/* Run sections: the parts of a run's page that tell of its ranks. */
#ifndef YK_REPORT_RUN_SECTIONS_H
#define YK_REPORT_RUN_SECTIONS_H

#include "report/run_curves.h"
#include "report/run_ranks.h"

enum {
    YK_RUN_DIFFERENCES = 5 /* that are told */
};

/* Where the time goes, in words; nothing where nothing is known. */
void yk_run_section_words(const struct yk_run_report *report, const struct yk_run_ranks *ranks,
                          struct yk_text *out);

/* The ranks over the steps. */
yk_status yk_run_section_rank_steps(const struct yk_run_report *report,
                                    const struct yk_run_curves *curves,
                                    const struct yk_run_ranks *ranks, struct yk_arena *arena,
                                    struct yk_text *out) YK_MUST_USE;

/* The ranks as a table. */
void yk_run_section_ranks(const struct yk_run_ranks *ranks, struct yk_text *out);

/* The ops of which measurement and prediction differ most; nothing where there are none. */
yk_status yk_run_section_differences(const struct yk_run_report *report,
                                     const struct yk_run_ranks *ranks, struct yk_arena *arena,
                                     struct yk_text *out) YK_MUST_USE;

#endif
