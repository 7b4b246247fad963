/* Profile output: what was measured, imported or is known, as text, and as JSON where no other room
 * writes that. */
#ifndef YK_CLI_COMMANDS_PROFILE_OUTPUT_H
#define YK_CLI_COMMANDS_PROFILE_OUTPUT_H

#include "base/status.h"
#include "base/text.h"
#include "job/profiling/profile.h"
#include "job/profiling/profile_import.h"
#include "report/profile_report.h"

yk_status yk_profile_output_measured(const struct yk_profile_result *result,
                                     struct yk_text *out) YK_MUST_USE;

yk_status yk_profile_output_imported(const struct yk_profile_import_result *result,
                                     struct yk_text *out) YK_MUST_USE;
yk_status yk_profile_output_imported_json(const struct yk_profile_import_result *result,
                                          struct yk_text *out) YK_MUST_USE;

/* For a terminal of so many columns. */
yk_status yk_profile_output_shown(const struct yk_profile_report *report, int columns,
                                  struct yk_text *out) YK_MUST_USE;

#endif
