/*
 * Profile: times that were measured on this machine, in an SQLite file. The code in measure/ writes
 * the file, and the planner reads it. Every time is a median. Version 5 of the format (PRAGMA
 * application_id 0x796f6b65, user_version 5) has three tables:
 *
 *   layers  device TEXT       type of the device: "rtx3090", or for a CPU with 2 cores "cpu:2"
 *           part REAL         fraction of the device that was used, at most 1; two fractions that
 *                             differ by at most 0.5 % count as equal
 *           shape TEXT        yk_layer.shape: the layer's kind, sizes and precision
 *           sequence INTEGER  tokens per sample
 *           pass TEXT         "forward", "backward", "update"
 *           batch INTEGER     number of samples
 *           seconds REAL      median time
 *           spread REAL       half the interquartile range, divided by the median
 *           samples INTEGER   number of runs
 *           versions TEXT     driver and libraries: "cuda 13.0, cublas 13.1"
 *           min REAL          fastest run that was counted; the median if unknown
 *           max REAL          slowest run that was counted; the median if unknown
 *           measured_at INTEGER  seconds since 1970; 0 means: unknown
 *           host TEXT         name of the machine; "" means: unknown
 *           cpu TEXT          name of the CPU if the device is a CPU; "" means: no CPU, or unknown
 *   links   link TEXT         the two devices in alphabetical order, and their location:
 *                             "a30-titanxp between nodes", "cpu:1-cpu:1 within a node";
 *                             "h200-host" is a host link: from a device to the memory of its host
 *           collective TEXT   "send", "all_gather", "reduce_scatter", "all_reduce"; for a
 *                             host link "to device", "from device"
 *           ranks INTEGER     number of ranks that take part; 2 for "send", 1 for a host link
 *           bytes INTEGER     size of the whole message
 *           seconds … cpu     the same columns as in `layers`, from `seconds` to `cpu`
 *   facts   subject TEXT      a device, a device with a model, or a link (cost/profile_key.h)
 *           fact TEXT         name of the fact: YK_PROFILE_FACT_COMPUTE_SLOWDOWN …
 *           value REAL        median, in the unit of the fact
 *           spread … cpu      the same columns as in `layers`, from `spread` to `cpu`
 *
 * Version 1 had no table `facts`. Versions 1 and 2 had no columns after `versions`. Version 3 had
 * no column `cpu`. Version 4 had other names of columns. Older files can be read; values of missing
 * columns are unknown. Opening an older file for writing upgrades it. Times of CPUs, and of links
 * with a CPU, are used only on machines with the same CPU.
 *
 * Several processes may read and write one file at the same time. Other processes see a row as soon
 * as it is added or, inside a transaction, when the transaction is committed. A killed process
 * loses only its uncommitted rows. Only one thread at a time may use an open profile, and a child
 * of fork() must not use it.
 *
 * Other files of this folder:
 *   sqlite     wrapper of SQLite
 *   schema     the tables and their versions
 *   rows       visits all rows
 *   recreate   replaces a damaged file with a new one
 */
#ifndef YK_PROFILE_PROFILE_H
#define YK_PROFILE_PROFILE_H

#include "base/status.h"
#include "base/system.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_profile;

/* The time for one size: the number of samples of a layer, or the number of bytes of a message. */
struct yk_profile_point {
    double size;
    double seconds;
    double spread; /* half the interquartile range, divided by the median */
};

/* The times of one layer or link, sorted by size. The points belong to the profile and are valid
 * until the next call that returns a curve. */
struct yk_profile_curve {
    const struct yk_profile_point *points;
    int32_t count; /* 0 means: not measured */
};

/* The key of the times of a layer: columns of the table `layers`. */
struct yk_profile_layer_key {
    const char *device;
    double part;
    const char *shape;
    int64_t sequence;
    const char *pass;
};

/* The key of the times of a link: columns of the table `links`. */
struct yk_profile_link_key {
    const char *link;
    const char *collective;
    int32_t ranks;
};

/* Names of facts. */
/* For a link: slowdown factor of computation while a message of the same rank is in flight. If the
 * two devices of a link differ, there is also one such fact for each of the two devices. */
#define YK_PROFILE_FACT_COMPUTE_SLOWDOWN "compute slowdown during communication"
/* For a link: slowdown factor of a message while one of its ranks computes. */
#define YK_PROFILE_FACT_MESSAGE_SLOWDOWN "communication slowdown during compute"
/* For a device: factor on its compute times while the devices that were measured together with it
 * are idle. The factor is at most 1. (Devices may share power, memory or cores.) */
#define YK_PROFILE_FACT_IDLE_SPEEDUP "compute time factor while others idle"
/* For a device: number of bytes that a process uses in addition to the memory that is counted for
 * its program; mostly driver and libraries. */
#define YK_PROFILE_FACT_CONTEXT_BYTES "context bytes"

struct yk_profile_fact_key {
    const char *subject;
    const char *fact;
};

/* A measured value. A caller that adds a measurement may leave the last five members 0 or NULL; the
 * profile then fills them. */
struct yk_profile_measurement {
    double value; /* median, in seconds for layers and links, in the unit of the fact for facts */
    double spread;
    int64_t samples;
    const char *versions;
    double min; /* when added, if `min` and `max` are both 0, both become the median */
    double max;
    int64_t measured_at; /* seconds since 1970; 0 means: now when added, unknown when read */
    const char *host;    /* when added, NULL means: this machine; when read, "" means: unknown */
    const char *cpu;     /* when added, NULL means: this machine's CPU if the device or link has a
                            CPU; when read, "" means: no CPU, or unknown */
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
yk_status yk_profile_open_for_reading(const char *path, struct yk_profile **out) YK_MUST_USE;

/* Opens a profile for reading and writing. Creates the file if it is missing. */
yk_status yk_profile_open_or_create(const char *path, struct yk_profile **out) YK_MUST_USE;

/*
 * Does the same as yk_profile_open_or_create(), and checks the whole file. If the file is damaged,
 * is not an SQLite database, or is a profile of an unknown version, it is renamed to PATH.damaged
 * (PATH.damaged-2 … if that name is taken). Then a new profile is created, and `note` gets a
 * sentence about it. Fails if the file is an SQLite database of another program, or cannot be read.
 */
yk_status yk_profile_open_or_recreate(const char *path, struct yk_text *note,
                                      struct yk_profile **out) YK_MUST_USE;

void yk_profile_close(struct yk_profile *profile);

/* Returns the name of the CPU of this machine. The functions below that find times of a CPU find
 * only times that were measured on a CPU with this name. */
const char *yk_profile_cpu_name(const struct yk_profile *profile);

/* ---- find ---- */

yk_status yk_profile_find_layer_times(struct yk_profile *profile,
                                      const struct yk_profile_layer_key *layer,
                                      struct yk_profile_curve *out) YK_MUST_USE;

/* Finds the measured fraction of the device that is nearest to `part`. `*out` is NAN if every
 * measured fraction differs from `part` by more than `most`. */
yk_status yk_profile_find_nearest_fraction(struct yk_profile *profile, const char *device,
                                           double part, double most, double *out) YK_MUST_USE;

/* Finds out whether the layers of the device, such as "cpu:2", were measured, but not on the CPU of
 * this machine. If so, `name` is the first name of these other CPUs in alphabetical order, or "" if
 * no name is known. */
yk_status yk_profile_has_only_other_cpus(struct yk_profile *profile, const char *device, bool *out,
                                         char name[YK_SYSTEM_CPU_NAME_SIZE]) YK_MUST_USE;

/* Finds the two measured sequence lengths of the layer that are closest to `layer->sequence`: the
 * longest that is shorter, and the shortest that is longer. 0 means: there is none. */
yk_status yk_profile_find_nearest_sequence_lengths(struct yk_profile *profile,
                                                   const struct yk_profile_layer_key *layer,
                                                   int64_t *out_below,
                                                   int64_t *out_above) YK_MUST_USE;

yk_status yk_profile_find_link_times(struct yk_profile *profile,
                                     const struct yk_profile_link_key *link,
                                     struct yk_profile_curve *out) YK_MUST_USE;

/* Finds the value of a fact. NAN means: not measured. */
yk_status yk_profile_find_fact_value(struct yk_profile *profile,
                                     const struct yk_profile_fact_key *fact,
                                     double *out) YK_MUST_USE;

/* These three functions find out whether a row exists that was measured with these versions of
 * driver and libraries. If `profile` is NULL, no row exists. */
yk_status yk_profile_has_layer_time(struct yk_profile *profile,
                                    const struct yk_profile_layer_key *layer, int64_t batch,
                                    const char *versions, bool *out) YK_MUST_USE;
yk_status yk_profile_has_link_time(struct yk_profile *profile,
                                   const struct yk_profile_link_key *link, int64_t bytes,
                                   const char *versions, bool *out) YK_MUST_USE;
yk_status yk_profile_has_fact(struct yk_profile *profile, const struct yk_profile_fact_key *fact,
                              const char *versions, bool *out) YK_MUST_USE;

/* ---- all rows ---- */

/* Adds every row as a line of text, sorted by key, without the columns min, max, measured_at and
 * host. Profiles with the same rows give the same text, even if the rows were added in a different
 * order. */
yk_status yk_profile_write_rows_as_text(struct yk_profile *profile,
                                        struct yk_text *out) YK_MUST_USE;

/* Functions that yk_profile_visit_rows() calls for every row, with `argument`. A function may be
 * NULL, which means: skip the rows of its table. `row` is valid only during the call. */
struct yk_profile_visitor {
    void *argument;
    yk_status (*layer)(void *argument, const struct yk_profile_layer_row *row);
    yk_status (*link)(void *argument, const struct yk_profile_link_row *row);
    yk_status (*fact)(void *argument, const struct yk_profile_fact_row *row);
};

/* Calls the visitor for all rows, in the order of yk_profile_write_rows_as_text(). If the visitor
 * fails, stops and returns its failure. */
yk_status yk_profile_visit_rows(struct yk_profile *profile,
                                const struct yk_profile_visitor *visitor) YK_MUST_USE;

/* ---- add ---- */

/* These three functions add a row, or replace the row with the same key. In the key of a layer, two
 * values of `part` that differ by at most 0.5 % count as equal; the row keeps the old `part`. */
yk_status yk_profile_add_layer_time(struct yk_profile *profile,
                                    const struct yk_profile_layer_key *layer, int64_t batch,
                                    const struct yk_profile_measurement *measurement) YK_MUST_USE;
yk_status yk_profile_add_link_time(struct yk_profile *profile,
                                   const struct yk_profile_link_key *link, int64_t bytes,
                                   const struct yk_profile_measurement *measurement) YK_MUST_USE;
yk_status yk_profile_add_fact(struct yk_profile *profile, const struct yk_profile_fact_key *fact,
                              const struct yk_profile_measurement *measurement) YK_MUST_USE;

/* A transaction: the rows that are added between begin and commit are written all together or not
 * at all. Other writers wait until the commit, so a transaction should be short. */
yk_status yk_profile_begin_transaction(struct yk_profile *profile) YK_MUST_USE;
yk_status yk_profile_commit(struct yk_profile *profile) YK_MUST_USE;

/* Numbers of rows of an imported file. */
struct yk_profile_import_counts {
    int64_t added;
    int64_t replaced; /* imported in place of an older row of the profile */
    int64_t left;     /* not imported, because the row of the profile is newer or equally new */
};

/* Adds the rows of the profile at `path`, which may have any version. If both files have a row with
 * the same key, keeps the newer row or, if both are equally new, the row of `profile`. After a
 * failure, `profile` is unchanged. */
yk_status yk_profile_import(struct yk_profile *profile, const char *path,
                            struct yk_profile_import_counts *out) YK_MUST_USE;

#endif
