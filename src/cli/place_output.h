/* What `yoke place` prints and draws of a comparison. */
#ifndef YK_CLI_PLACE_OUTPUT_H
#define YK_CLI_PLACE_OUTPUT_H

#include "base/text.h"
#include "planner/place.h"

/* The comparison and what was asked for. */
struct yk_place_output {
    const struct yk_place_request *request;
    const struct yk_placements *placements;
    const struct yk_placement *shown; /* whose map is printed: the winner, or the only one */
};

yk_status yk_place_write_text(const struct yk_place_output *output,
                              struct yk_text *out) YK_MUST_USE;
yk_status yk_place_write_json(const struct yk_place_output *output,
                              struct yk_text *out) YK_MUST_USE;
yk_status yk_place_write_page(const struct yk_place_output *output,
                              struct yk_text *out) YK_MUST_USE;

/* "llama3-8b on 1xrtx6000ada + 2xrtx3090: 5 samples of 1024 tokens, bf16, LoRA of rank 32, NF4". */
void yk_place_add_title(const struct yk_place_request *request, struct yk_text *out);

/* What is wrong with a placement: "gpu1 lacks 3.1GiB", or why there is none; NULL when it fits.
 * The words are in `out`. */
const char *yk_place_violation(const struct yk_place_output *output,
                               const struct yk_placement *placement, struct yk_text *out);

#endif
