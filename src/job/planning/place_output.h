/* What `yoke place` prints and draws: a comparison of placements. */
#ifndef YK_JOB_PLANNING_PLACE_OUTPUT_H
#define YK_JOB_PLANNING_PLACE_OUTPUT_H

#include "base/text.h"
#include "planner/placement/placement.h"

/* The comparison and what was asked for. */
struct yk_place_output {
    const struct yk_placement_request *request;
    const struct yk_placements *placements;
    const struct yk_placement *shown; /* whose map is printed: the winner, or the only one */
};

yk_status yk_place_output_text(const struct yk_place_output *output,
                               struct yk_text *out) YK_MUST_USE;
yk_status yk_place_output_json(const struct yk_place_output *output,
                               struct yk_text *out) YK_MUST_USE;
yk_status yk_place_output_page(const struct yk_place_output *output,
                               struct yk_text *out) YK_MUST_USE;

/* What is wrong with a placement: "gpu1 lacks 3.1GiB", or why there is none; NULL when it fits.
 * The words are in `out`. */
const char *yk_place_output_violation(const struct yk_place_output *output,
                                      const struct yk_placement *placement, struct yk_text *out);

#endif
