/* Report: writes a plan as a page, as charts, and in the formats of other tools. */
#ifndef YOKE_REPORT_H
#define YOKE_REPORT_H

#include <stdint.h>
#include <yoke/plan.h>
#include <yoke/status.h>
#include <yoke/tradeoff.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes an HTML page that needs no network. It shows lanes, memory, bottleneck, alternatives,
 * cluster, and the charts of the trade-off. (A lane is a queue of ops of a rank.) `tradeoff` may be
 * NULL. */
YOKE_API yoke_status yoke_plan_page(const yoke_plan *plan, const yoke_tradeoff *tradeoff,
                                    char **out) YOKE_MUST_USE;

enum yoke_figure {
    YOKE_FIGURE_LANES,   /* the ops on every lane of every rank over time */
    YOKE_FIGURE_MEMORY,  /* the memory of one rank over time, by kind, and the memory limit of the
                            rank */
    YOKE_FIGURE_BARS,    /* compute, exposed and idle time of every rank (struct yoke_rank) */
    YOKE_FIGURE_CLUSTER, /* the devices of each node, and the bandwidth of the links */
};

/* Writes one chart of the page as a self-contained SVG. `rank` applies to YOKE_FIGURE_MEMORY only.
 */
YOKE_API yoke_status yoke_plan_draw(const yoke_plan *plan, enum yoke_figure figure, int32_t rank,
                                    char **out) YOKE_MUST_USE;

/* Writes the predicted step as Chrome trace events, for Perfetto and chrome://tracing. */
YOKE_API yoke_status yoke_plan_trace(const yoke_plan *plan, char **out) YOKE_MUST_USE;

/* Writes the plan in the format of another tool. `*notes` lists what the tool does not support, one
 * sentence per line; the text may be empty. Free `*out` and `*notes` with yoke_free(). `notes` may
 * be NULL. Fails if the tool would execute the plan incorrectly. */
YOKE_API yoke_status yoke_plan_export(const yoke_plan *plan, const char *exporter, char **out,
                                      char **notes) YOKE_MUST_USE;

/* Returns the name of exporter `number`, or NULL after the last one. Sets `*summary` to a
 * description of the output, and `*file` to the usual name of the output file. `summary` and `file`
 * may be NULL. */
YOKE_API const char *yoke_exporter(int32_t number, const char **summary, const char **file);

#ifdef __cplusplus
}
#endif

#endif
