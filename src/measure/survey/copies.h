/*
 * Copy times: what copies between the host's memory and a device's take, by size.
 *
 * All ranks copy at once, as they do in training, each on a lane of its own; of devices that are
 * alike the slowest counts. A profile has them as a link (cost/profile_key.h).
 */
#ifndef YK_MEASURE_SURVEY_COPIES_H
#define YK_MEASURE_SURVEY_COPIES_H

#include "measure/survey/survey.h"

/* Measures copies of up to `max_bytes` whatever the device, where the profile lacks any, and keeps
 * them. yk_survey_copies() asks for this where the device's memory is not the host's. */
yk_status yk_survey_copies_measure(struct yk_survey *survey, const struct yk_measure_ranks *team,
                                   const struct yk_survey_request *request,
                                   int64_t max_bytes) YK_MUST_USE;

#endif
