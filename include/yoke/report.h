/* Report: a plan for the eye, and for other tools. */
#ifndef YOKE_REPORT_H
#define YOKE_REPORT_H

#include <stdint.h>
#include <yoke/plan.h>
#include <yoke/status.h>
#include <yoke/tradeoff.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One HTML page that needs no network: lanes, memory, bottleneck, alternatives, cluster. With a
 * trade-off also its charts; `tradeoff` may be NULL. */
YOKE_API yoke_status yoke_plan_page(const yoke_plan *plan, const yoke_tradeoff *tradeoff,
                                    char **out) YOKE_MUST_USE;

enum yoke_figure {
    YOKE_FIGURE_LANES,   /* ops on every lane of every rank over time */
    YOKE_FIGURE_MEMORY,  /* of one rank over time, by kind, with its limit */
    YOKE_FIGURE_BARS,    /* compute, exposed and idle of every rank */
    YOKE_FIGURE_CLUSTER, /* devices by node, with the speeds of links */
};

/* A picture of the page as an SVG that stands alone; `rank` matters for memory only. */
YOKE_API yoke_status yoke_plan_draw(const yoke_plan *plan, enum yoke_figure figure, int32_t rank,
                                    char **out) YOKE_MUST_USE;

/* The predicted step as Chrome trace events, for Perfetto and chrome://tracing. */
YOKE_API yoke_status yoke_plan_trace(const yoke_plan *plan, char **out) YOKE_MUST_USE;

/* The plan in another tool's words; `*notes` is what the tool cannot do of it, a sentence a line,
 * and may be empty. Both are given back by yoke_free(); `notes` may be NULL. A plan that the tool
 * could only get wrong is refused. */
YOKE_API yoke_status yoke_plan_export(const yoke_plan *plan, const char *exporter, char **out,
                                      char **notes) YOKE_MUST_USE;

/* The exporters by name: `*summary` says what comes out, `*file` what it is usually called; both
 * may be NULL. NULL past the last one. */
YOKE_API const char *yoke_exporter(int32_t number, const char **summary, const char **file);

#ifdef __cplusplus
}
#endif

#endif
