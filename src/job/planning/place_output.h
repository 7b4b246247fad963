/* Placement output: prints and draws the comparison of placements for `yoke place`. */
#ifndef YK_JOB_PLANNING_PLACE_OUTPUT_H
#define YK_JOB_PLANNING_PLACE_OUTPUT_H

#include "base/text.h"
#include "planner/placement/placement.h"

/* The comparison, and the request that it answers. */
struct yk_place_output {
    const struct yk_placement_request *request;
    const struct yk_placements *placements;
    const struct yk_placement *shown; /* its device map is printed: the best, or the only one */
};

/* Append the comparison as text, as a JSON document, or as an HTML page. */
yk_status yk_place_output_text(const struct yk_place_output *output,
                               struct yk_text *out) YK_MUST_USE;
yk_status yk_place_output_json(const struct yk_place_output *output,
                               struct yk_text *out) YK_MUST_USE;
yk_status yk_place_output_page(const struct yk_place_output *output,
                               struct yk_text *out) YK_MUST_USE;

/* Describes why a placement does not fit ("gpu1 lacks 3.1GiB") or does not exist. Returns NULL if it
 * fits. The returned string may point into `out`. */
const char *yk_place_output_violation(const struct yk_place_output *output,
                                      const struct yk_placement *placement, struct yk_text *out);

#endif
