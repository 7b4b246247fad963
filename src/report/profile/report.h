/*
 * Profile report: what a profile contains: as tables and curves for a terminal, as JSON, and as
 * pictures. Rows are grouped: times of one layer on one device (shape, sequence) are one table,
 * times of one collective on one link are one curve with its knee.
 *
 * The record lives in the arena that yk_profile_report_make() gets. One thread at a time.
 */
#ifndef YK_REPORT_PROFILE_REPORT_H
#define YK_REPORT_PROFILE_REPORT_H

#include "base/arena.h"
#include "base/json_write.h"
#include "base/status.h"
#include "base/text.h"
#include "cost/saturation_size.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

/* Which rows of a profile to show. */
struct yk_profile_report_request {
    const char *path;          /* the profile's name in the output */
    int64_t now;               /* seconds since 1970; ages of measurements are relative to it */
    const char *device;        /* "cpu:2", "h200", "cpu" for all CPUs, "cuda" for all other devices;
                                  NULL: all */
    const char *const *shapes; /* shapes of layers; NULL: all */
    int32_t shape_count;
    int64_t sequence; /* sequence length of layers; 0: all */
};

/* All passes and batch sizes of one layer (shape, sequence) on one device. */
struct yk_profile_report_layer_group {
    const struct yk_profile_layer_row *rows; /* sorted by pass, then by batch */
    int32_t count;
};

/* One curve: all message sizes of one collective on one link. */
struct yk_profile_report_link_curve {
    const struct yk_profile_link_row *rows; /* sorted by bytes */
    int32_t count;
    bool has_knee;
    struct yk_saturation_size saturation;
};

struct yk_profile_report {
    const char *path;
    int64_t now;
    struct yk_profile_layer_row *layer_rows;
    struct yk_profile_link_row *link_rows;
    struct yk_profile_fact_row *facts;
    struct yk_profile_report_layer_group *layers;
    struct yk_profile_report_link_curve *links;
    int32_t layer_row_count;
    int32_t link_row_count;
    int32_t fact_count;
    int32_t layer_count;
    int32_t link_count;
    int32_t known; /* rows in the profile, shown or not */
};

yk_status yk_profile_report_make(struct yk_profile *profile,
                                 const struct yk_profile_report_request *request,
                                 struct yk_arena *arena, struct yk_profile_report *out) YK_MUST_USE;

/* Bytes per second that every link of the ring carries in row `i` of the curve. */
double yk_profile_report_bandwidth(const struct yk_profile_report_link_curve *link, int32_t i);

/* Tables, curves and facts for a terminal of `columns` columns. */
yk_status yk_profile_report_write_text(const struct yk_profile_report *report, int columns,
                                       struct yk_text *out) YK_MUST_USE;

/* All rows and knees as JSON. */
yk_status yk_profile_report_write_json(const struct yk_profile_report *report,
                                       struct yk_text *out) YK_MUST_USE;

/* Parts of that JSON. The first function begins an array on a new line; the others begin an object
 * in it with the key of a row, and the caller adds more members and ends it. The key of a link does
 * not include the message size. */
void yk_profile_json_begin_table(const char *name, struct yk_json_writer *json);
void yk_profile_json_begin_layer(const struct yk_profile_layer_key *layer, int64_t batch,
                                 struct yk_json_writer *json);
void yk_profile_json_begin_link(const struct yk_profile_link_key *link,
                                struct yk_json_writer *json);
void yk_profile_json_begin_fact(const struct yk_profile_fact_key *fact,
                                struct yk_json_writer *json);

/* Draws all curves of one link as an SVG file, beginning with curve number `first`. `*next` is the
 * number of the first curve of the next link. */
yk_status yk_profile_figure_draw_link(const struct yk_profile_report *report, int32_t first,
                                      struct yk_arena *arena, struct yk_text *out,
                                      int32_t *next) YK_MUST_USE;

/* Draws the times of a layer's passes over the batch size as an SVG file. */
yk_status yk_profile_figure_draw_layer(const struct yk_profile_report_layer_group *layer,
                                       struct yk_arena *arena, struct yk_text *out) YK_MUST_USE;

/* ---- phrases (describe.c) ---- */

/* "3 days ago"; "at an unknown time" if `then` is 0. Both are seconds since 1970. */
void yk_profile_describe_age(int64_t then, int64_t now, struct yk_text *out);

/* "cpu:2", "cpu:2, 40 % of it". */
void yk_profile_describe_device(const struct yk_profile_layer_key *layer, struct yk_text *out);

/* "all_gather among 4 ranks", "send", "to device". */
void yk_profile_describe_collective(const struct yk_profile_link_key *link, struct yk_text *out);

/* "knee 2.1MiB: 90 % of 8.5GB/s, latency 12us", and the uncertainty of that. */
void yk_profile_describe_knee(const struct yk_profile_report_link_curve *link, struct yk_text *out);

/* A fact as a sentence about its subject. */
void yk_profile_describe_fact(const struct yk_profile_fact_row *row, struct yk_text *out);

#endif
