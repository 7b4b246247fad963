/*
 * Profile report: shows the contents of a profile as tables and curves for a terminal, as JSON, and
 * as pictures. Rows are grouped: the times of one layer (shape and sequence) on one device are one
 * table, and the times of one collective on one link are one curve. The knee of a curve is the
 * smallest message that reaches most of the bandwidth (cost/saturation_size.h).
 *
 * The report lives in the arena that is passed to yk_profile_report_make(). Only one thread at a
 * time may use it.
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
    const char *path;   /* name of the profile in the output */
    int64_t now;        /* current time, in seconds since 1970, to compute ages of measurements */
    const char *device; /* "cpu:2", "h200", "cpu" for all CPUs, "cuda" for all other devices;
                           NULL means: all */
    const char *const *shapes; /* shapes of layers; NULL means: all */
    int32_t shape_count;
    int64_t sequence; /* sequence length of layers; 0 means: all */
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
    int32_t known; /* number of all rows in the profile, shown or not */
};

yk_status yk_profile_report_make(struct yk_profile *profile,
                                 const struct yk_profile_report_request *request,
                                 struct yk_arena *arena, struct yk_profile_report *out) YK_MUST_USE;

/* Returns the bandwidth of row `i` of the curve: the bytes per second that each link of the ring
 * carries during this collective. */
double yk_profile_report_curve_row_bandwidth(const struct yk_profile_report_link_curve *link,
                                             int32_t i);

/* Writes tables, curves and facts for a terminal with `columns` columns. */
yk_status yk_profile_report_write_text(const struct yk_profile_report *report, int columns,
                                       struct yk_text *out) YK_MUST_USE;

/* Writes all rows and knees as JSON. */
yk_status yk_profile_report_write_json(const struct yk_profile_report *report,
                                       struct yk_text *out) YK_MUST_USE;

/* The next four functions write parts of this JSON. Other commands use them, too. The first
 * function begins an array on a new line. The other three begin an object in the array and write
 * the key of a row (device, shape …) into it. The caller adds more members and ends the object. The
 * key of a link row does not include the message size. */
void yk_profile_json_begin_array(const char *name, struct yk_json_writer *json);
void yk_profile_json_begin_layer_row(const struct yk_profile_layer_key *layer, int64_t batch,
                                     struct yk_json_writer *json);
void yk_profile_json_begin_link_row(const struct yk_profile_link_key *link,
                                    struct yk_json_writer *json);
void yk_profile_json_begin_fact_row(const struct yk_profile_fact_key *fact,
                                    struct yk_json_writer *json);

/* Draws all curves of one link as an SVG file. `first` is the index of the link's first curve in
 * report->links. Sets `*next` to the index of the first curve of the next link. */
yk_status yk_profile_figures_draw_link_curves(const struct yk_profile_report *report, int32_t first,
                                              struct yk_arena *arena, struct yk_text *out,
                                              int32_t *next) YK_MUST_USE;

/* Draws the times of all passes of a layer as an SVG file. The x axis is the batch size. */
yk_status yk_profile_figures_draw_layer_times(const struct yk_profile_report_layer_group *layer,
                                              struct yk_arena *arena,
                                              struct yk_text *out) YK_MUST_USE;

/* ---- phrases (describe.c) ---- */

/* Adds "3 days ago", or "at an unknown time" if `then` is 0. `then` and `now` are seconds since
 * 1970. */
void yk_profile_describe_age(int64_t then, int64_t now, struct yk_text *out);

/* Adds the device: "cpu:2", or "cpu:2, 40 % of it" for a fraction of a device. */
void yk_profile_describe_device(const struct yk_profile_layer_key *layer, struct yk_text *out);

/* Adds the collective: "all_gather among 4 ranks", "send", "to device". */
void yk_profile_describe_collective(const struct yk_profile_link_key *link, struct yk_text *out);

/* Adds the knee of a curve, "knee 2.1MiB: 90 % of 8.5GB/s, latency 12us", and how uncertain it is.
 */
void yk_profile_describe_curve_knee(const struct yk_profile_report_link_curve *link,
                                    struct yk_text *out);

/* Adds a fact as a sentence about its subject. */
void yk_profile_describe_fact(const struct yk_profile_fact_row *row, struct yk_text *out);

#endif
