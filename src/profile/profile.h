/*
 * Profile: times that were measured on this machine, in an SQLite file. `measure` writes it, the
 * planner reads it. Every time is a median. Version 5 of the format (PRAGMA application_id
 * 0x796f6b65, user_version 5) has three tables:
 *
 *   layers  device TEXT       type of the device, "rtx3090"; a CPU with its cores, "cpu:2"
 *           part REAL         fraction of the device that was used, up to 1; equal within 0.5 %
 *           shape TEXT        yk_layer.shape: the layer's kind, sizes and precision
 *           sequence INTEGER  tokens per sample
 *           pass TEXT         "forward", "backward", "update"
 *           batch INTEGER     samples
 *           seconds REAL      median
 *           spread REAL       half the interquartile range, divided by the median
 *           samples INTEGER   number of runs
 *           versions TEXT     driver and libraries: "cuda 13.0, cublas 13.1"
 *           min REAL          fastest and slowest run that counted; equal to the median if unknown
 *           max REAL
 *           measured_at INTEGER  seconds since 1970; 0: unknown
 *           host TEXT         name of the machine; "": unknown
 *           cpu TEXT          name of the CPU if the device is a CPU; "": no CPU, or unknown
 *   links   link TEXT         the two devices in alphabetical order, and where they are:
 *                             "a30-titanxp between nodes", "cpu:1-cpu:1 within a node"
 *           collective TEXT   "send", "all_gather", "reduce_scatter", "all_reduce"
 *           ranks INTEGER     ranks that take part; 2 for "send"
 *           bytes INTEGER     size of the whole message
 *           seconds to cpu    as above
 *   facts   subject TEXT      a device or a link, as above
 *           fact TEXT         name of the fact: YK_PROFILE_COMPUTE_SLOWDOWN …
 *           value REAL        median, in the unit of the fact
 *           spread to cpu     as above
 *
 * Version 1 had no facts, versions 1 and 2 no columns after "versions", version 3 no "cpu", and
 * version 4 other names. Older files can be read; missing columns are unknown. Opening such a file
 * for writing upgrades it. Times of CPUs, and of links with a CPU, are used only on machines with
 * the same CPU.
 *
 * Several processes may read and write one file at the same time. A row is visible to others as
 * soon as it is added, or, inside a transaction, when that is committed. A killed process loses
 * only its uncommitted rows. An open profile belongs to one thread at a time, and must not be used
 * in a child of fork().
 *
 * Other files of this folder:
 *   sqlite     wrapper of SQLite
 *   schema     tables and their versions
 *   recreate   replaces a damaged file by a new one
 */
#ifndef YK_PROFILE_PROFILE_H
#define YK_PROFILE_PROFILE_H

#include "base/status.h"
#include "base/system.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_profile;

/* The time at one size: samples of a layer, or bytes of a message. */
struct yk_profile_point {
    double size;
    double seconds;
    double spread; /* half the interquartile range, divided by the median */
};

/* The times of one layer or link, sorted by size. The points belong to the profile and live until
 * the next call that returns a curve. */
struct yk_profile_curve {
    const struct yk_profile_point *points;
    int32_t count; /* 0: not measured */
};

/* The key of a layer's times. */
struct yk_profile_layer_key {
    const char *device;
    double part;
    const char *shape;
    int64_t sequence;
    const char *pass;
};

/* The key of a link's times. */
struct yk_profile_link_key {
    const char *link;
    const char *collective;
    int32_t ranks;
};

/* Names of facts. */
/* Of a link: slowdown factor of computation while a message of the rank is in flight. Also of a
 * device, where the devices of a link differ. */
#define YK_PROFILE_COMPUTE_SLOWDOWN "compute slowdown during communication"
/* Of a link: slowdown factor of a message while one of its ranks computes. */
#define YK_PROFILE_MESSAGE_SLOWDOWN "communication slowdown during compute"
/* Of a device: factor on compute times while the devices that were measured with it are idle, at
 * most 1. Devices may share power, memory or cores. */
#define YK_PROFILE_IDLE_SPEEDUP "compute time factor while others idle"
/* Of a device: bytes that a process uses besides the memory that its program counts. */
#define YK_PROFILE_CONTEXT_BYTES "context bytes"

struct yk_profile_fact_key {
    const char *subject;
    const char *fact;
};

/* A measured value. Some members may be left unset when it is added; the profile then fills them.
 */
struct yk_profile_measurement {
    double value; /* median: seconds for layers and links, the unit of the fact for facts */
    double spread;
    int64_t samples;
    const char *versions;
    double min; /* when added, min and max may both be 0: the median */
    double max;
    int64_t measured_at; /* seconds since 1970; when added, 0: now; when read, 0: unknown */
    const char *host;    /* when added, NULL: this machine; when read, "": unknown */
    const char *cpu;     /* when added, NULL: this machine's CPU, if the device or link has a CPU;
                            when read, "": no CPU, or unknown */
};

/* A row of each table. */
struct yk_profile_layer_row {
    struct yk_profile_layer_key layer;
    int64_t batch;
    struct yk_profile_measurement measurement;
};

struct yk_profile_link_row {
    struct yk_profile_link_key link;
    int64_t bytes;
    struct yk_profile_measurement measurement;
};

struct yk_profile_fact_row {
    struct yk_profile_fact_key fact;
    struct yk_profile_measurement measurement;
};

/* ---- open and close ---- */

/* Opens a profile for reading. */
yk_status yk_profile_open(const char *path, struct yk_profile **out) YK_MUST_USE;

/* Opens a profile for reading and writing; creates a missing file. */
yk_status yk_profile_create(const char *path, struct yk_profile **out) YK_MUST_USE;

/*
 * Like yk_profile_create(), with a check of the whole file. A file that is damaged, not an SQLite
 * database, or a profile of an unknown version is renamed to PATH.damaged (PATH.damaged-2 … if that
 * exists), a new profile is created, and `note` gets a sentence about it. An SQLite database of
 * another program, and a file that cannot be read, is an error.
 */
yk_status yk_profile_open_or_recreate(const char *path, struct yk_text *note,
                                      struct yk_profile **out) YK_MUST_USE;

void yk_profile_close(struct yk_profile *profile);

/* The name of this machine's CPU. All functions below that find or add times of a CPU mean this
 * one.
 */
const char *yk_profile_cpu_name(const struct yk_profile *profile);

/* ---- find ---- */

yk_status yk_profile_find_layer(struct yk_profile *profile,
                                const struct yk_profile_layer_key *layer,
                                struct yk_profile_curve *out) YK_MUST_USE;

/* The measured part of the device that is nearest to `part`, at most `most` away; NAN: none. */
yk_status yk_profile_find_nearest_part(struct yk_profile *profile, const char *device, double part,
                                       double most, double *out) YK_MUST_USE;

/* Whether layers of the device, such as "cpu:2", were measured only on other CPUs than this
 * machine's. `name` is the first such CPU in alphabetical order; "" if its name is unknown. */
yk_status yk_profile_find_other_cpu(struct yk_profile *profile, const char *device, bool *out,
                                    char name[YK_SYSTEM_CPU_NAME_SIZE]) YK_MUST_USE;

/* The measured sequence lengths of the layer next below and next above `layer->sequence`; 0: none.
 */
yk_status yk_profile_find_nearest_sequences(struct yk_profile *profile,
                                            const struct yk_profile_layer_key *layer,
                                            int64_t *out_below, int64_t *out_above) YK_MUST_USE;

yk_status yk_profile_find_link(struct yk_profile *profile, const struct yk_profile_link_key *link,
                               struct yk_profile_curve *out) YK_MUST_USE;

/* The value of a fact; NAN: not measured. */
yk_status yk_profile_find_fact(struct yk_profile *profile, const struct yk_profile_fact_key *fact,
                               double *out) YK_MUST_USE;

/* Whether the row exists and was measured with these versions. */
yk_status yk_profile_has_layer(struct yk_profile *profile, const struct yk_profile_layer_key *layer,
                               int64_t batch, const char *versions, bool *out) YK_MUST_USE;
yk_status yk_profile_has_link(struct yk_profile *profile, const struct yk_profile_link_key *link,
                              int64_t bytes, const char *versions, bool *out) YK_MUST_USE;
yk_status yk_profile_has_fact(struct yk_profile *profile, const struct yk_profile_fact_key *fact,
                              const char *versions, bool *out) YK_MUST_USE;

/* ---- all rows ---- */

/* Adds every row as a line of text, sorted by key, without time and host. Profiles with the same
 * rows have the same text, in whichever order they were written. */
yk_status yk_profile_list_rows(struct yk_profile *profile, struct yk_text *out) YK_MUST_USE;

/* Functions to call for every row, with `argument`; NULL: skip the rows of that table. A row is
 * valid during the call. */
struct yk_profile_visitor {
    void *argument;
    yk_status (*layer)(void *argument, const struct yk_profile_layer_row *row);
    yk_status (*link)(void *argument, const struct yk_profile_link_row *row);
    yk_status (*fact)(void *argument, const struct yk_profile_fact_row *row);
};

/* Visits all rows in the order of yk_profile_list_rows(). An error of the visitor stops that and is
 * returned. */
yk_status yk_profile_visit(struct yk_profile *profile,
                           const struct yk_profile_visitor *visitor) YK_MUST_USE;

/* ---- add ---- */

/* Add a row; a row with the same key is replaced. A part within 0.5 % of a known one counts as that
 * one. */
yk_status yk_profile_add_layer(struct yk_profile *profile, const struct yk_profile_layer_key *layer,
                               int64_t batch,
                               const struct yk_profile_measurement *measurement) YK_MUST_USE;
yk_status yk_profile_add_link(struct yk_profile *profile, const struct yk_profile_link_key *link,
                              int64_t bytes,
                              const struct yk_profile_measurement *measurement) YK_MUST_USE;
yk_status yk_profile_add_fact(struct yk_profile *profile, const struct yk_profile_fact_key *fact,
                              const struct yk_profile_measurement *measurement) YK_MUST_USE;

/* A transaction: the rows between begin and commit are written all together or not at all. Other
 * writers wait meanwhile, so keep it short. */
yk_status yk_profile_begin_transaction(struct yk_profile *profile) YK_MUST_USE;
yk_status yk_profile_commit(struct yk_profile *profile) YK_MUST_USE;

/* How many rows of an imported file were handled in which way. */
struct yk_profile_import_counts {
    int64_t added;
    int64_t replaced; /* the known row was older */
    int64_t left;     /* not imported: the known row is as new, or newer */
};

/* Adds all rows of the profile at `path`, of any version, or none of them. If both files have a row
 * with the same key, the newer one is kept; of two equally new rows, that of `profile`. */
yk_status yk_profile_import(struct yk_profile *profile, const char *path,
                            struct yk_profile_import_counts *out) YK_MUST_USE;

#endif
