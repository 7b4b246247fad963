/*
 * Profile report: what a profile knows, for people: tables and curves for a terminal, JSON, and
 * pictures. Layers of one sort on one device belong together, and so do the messages of one
 * collective on one link, with their knee.
 *
 * The record lives in the arena it was made in. One thread at a time.
 */
#ifndef YK_REPORT_PROFILE_REPORT_H
#define YK_REPORT_PROFILE_REPORT_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "cost/knee.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

/* What is to be shown of it. */
struct yk_profile_report_request {
    const char *path;          /* what the profile is called */
    int64_t now;               /* seconds since 1970, for the age of numbers */
    const char *device;        /* "cpu" or "cpu:2", "h200", "cuda" for all but CPUs; NULL: all */
    const char *const *shapes; /* of layers; NULL: all */
    int32_t shape_count;
    int64_t sequence; /* of layers; 0: all */
};

/* The passes of one sort of layer, by pass and samples. */
struct yk_profile_report_layer {
    const struct yk_profile_layer_row *rows;
    int32_t count;
};

/* One curve: all sizes of one collective on a link. */
struct yk_profile_report_link {
    const struct yk_profile_link_row *rows;
    int32_t count;
    bool has_knee;
    struct yk_knee knee;
};

struct yk_profile_report {
    const char *path;
    int64_t now;
    struct yk_profile_layer_row *layer_rows;
    struct yk_profile_link_row *link_rows;
    struct yk_profile_fact_row *facts;
    struct yk_profile_report_layer *layers;
    struct yk_profile_report_link *links;
    int32_t layer_row_count;
    int32_t link_row_count;
    int32_t fact_count;
    int32_t layer_count;
    int32_t link_count;
    int32_t known; /* numbers that the profile has, shown or not */
};

yk_status yk_profile_report_make(struct yk_profile *profile,
                                 const struct yk_profile_report_request *request,
                                 struct yk_arena *arena, struct yk_profile_report *out) YK_MUST_USE;

/* What each link of the ring carries a second while message number `i` is under way. */
double yk_profile_report_bandwidth(const struct yk_profile_report_link *link, int32_t i);

/* Tables, curves and facts for a terminal of so many columns. */
yk_status yk_profile_report_text(const struct yk_profile_report *report, int columns,
                                 struct yk_text *out) YK_MUST_USE;

/* Every number, and the knees. */
yk_status yk_profile_report_json(const struct yk_profile_report *report,
                                 struct yk_text *out) YK_MUST_USE;

/* A picture of all curves of the link that curve number `first` belongs to; `*next` is the first
 * curve of another link. */
yk_status yk_profile_figure_link(const struct yk_profile_report *report, int32_t first,
                                 struct yk_arena *arena, struct yk_text *out,
                                 int32_t *next) YK_MUST_USE;

/* A picture of one sort of layer: its passes over samples. */
yk_status yk_profile_figure_layer(const struct yk_profile_report_layer *layer,
                                  struct yk_arena *arena, struct yk_text *out) YK_MUST_USE;

#endif
