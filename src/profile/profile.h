/*
 * Profile: what was measured on this machine, in an SQLite file. Written by measure, read by the
 * planner; every time in it is a median. Version 5 (PRAGMA application_id 0x796f6b65, user_version
 * 5) has three tables:
 *
 *   layers  device TEXT       the device's type, "rtx3090"; a CPU's with its cores, "cpu:2"
 *           part REAL         of the whole device: 1, or less; equal within half a percent
 *           shape TEXT        yk_layer.shape: the layer's kind, sizes and precision
 *           sequence INTEGER  tokens a sample
 *           pass TEXT         "forward", "backward", "update"
 *           batch INTEGER     samples
 *           seconds REAL      median
 *           spread REAL       half the distance between the quartiles, over the median
 *           samples INTEGER   how many times it was run
 *           versions TEXT     driver and libraries, as in "cuda 13.0, cublas 13.1"
 *           min REAL          the fastest and the slowest run that counted, or the median
 *           max REAL
 *           measured_at INTEGER  seconds since 1970; 0: unknown
 *           host TEXT         the name of the machine; "": unknown
 *           cpu TEXT          the CPU's name, where the device is a CPU; "": none, or unknown
 *   links   link TEXT         the two devices, in alphabetical order, and where they are:
 *                             "a30-titanxp between nodes", "cpu:1-cpu:1 within a node"
 *           collective TEXT   "send", "all_gather", "reduce_scatter", "all_reduce"
 *           ranks INTEGER     how many take part; 2 for "send"
 *           bytes INTEGER     of the whole message
 *           seconds to cpu    as above
 *   facts   subject TEXT      a device or a link, as above
 *           fact TEXT         what is said of it, see below
 *           value REAL        median, in the fact's own unit
 *           spread to cpu     as above
 *
 * Version 1 had no facts, versions 1 and 2 nothing after the versions, version 3 no CPU, and
 * version 4 other names; such files are read with what they lack unknown, and upgraded when they
 * are opened for adding. Numbers of CPUs, and of links with one, count only on machines with the
 * same CPU.
 *
 * Several processes may read and write one file at the same time. What one adds is visible to the
 * others at once, or, between begin and commit, when it is committed; of a process that is
 * killed only what it has not committed is missing. An open profile belongs to one thread at a
 * time, and not to a child of fork(). The rest of the room:
 *   database   SQLite                 import     adds the numbers of another profile
 *   schema     tables and versions    set_aside  renames a damaged file
 */
#ifndef YK_PROFILE_PROFILE_H
#define YK_PROFILE_PROFILE_H

#include "base/status.h"
#include "base/system.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_profile;

/* A time at a size: samples of a layer, bytes of a message. */
struct yk_profile_point {
    double size;
    double seconds;
    double spread; /* half the distance between the quartiles, over the median */
};

/* The times of one layer or link over size, smallest first. They live in the profile, until it is
 * asked again. */
struct yk_profile_curve {
    const struct yk_profile_point *points;
    int32_t count; /* 0: nothing was measured */
};

/* Which layer, on what. */
struct yk_profile_layer {
    const char *device;
    double part;
    const char *shape;
    int64_t sequence;
    const char *pass;
};

/* Which link, used how. */
struct yk_profile_link {
    const char *link;
    const char *collective;
    int32_t ranks;
};

/* Facts. Of a link: the slowdown factor of computation while a message of its rank is in flight,
 * and of a message while a rank of it computes. The first is also of a device, where devices
 * differ. */
#define YK_PROFILE_COMPUTE_SLOWDOWN "compute slowdown during communication"
#define YK_PROFILE_MESSAGE_SLOWDOWN "communication slowdown during compute"
/* Of a device: the factor on compute times while the others that were measured with it are idle, at
 * most 1: devices may share power, memory or cores. */
#define YK_PROFILE_IDLE_SPEEDUP "compute time factor while others idle"
/* Of a device: bytes that a process holds besides what its program counts. */
#define YK_PROFILE_CONTEXT_BYTES "context bytes"

struct yk_profile_fact {
    const char *subject;
    const char *fact;
};

/* How one number was found. */
struct yk_profile_measurement {
    double value; /* the median; of layers and links in seconds, of facts in their own unit */
    double spread;
    int64_t samples;
    const char *versions;
    double min; /* the fastest and the slowest that counted; both 0: not known, the median */
    double max;
    int64_t measured_at; /* seconds since 1970; to be added: 0 is now; read: 0 is not known */
    const char *host;    /* the machine's name; to be added: NULL is this one; read: "" not known */
    /* The CPU's name, where one takes part; to be added: NULL is this machine's; read: "" is none,
     * or not known. */
    const char *cpu;
};

/* One number with what it is known by. */
struct yk_profile_layer_row {
    struct yk_profile_layer layer;
    int64_t batch;
    struct yk_profile_measurement measurement;
};

struct yk_profile_link_row {
    struct yk_profile_link link;
    int64_t bytes;
    struct yk_profile_measurement measurement;
};

struct yk_profile_fact_row {
    struct yk_profile_fact fact;
    struct yk_profile_measurement measurement;
};

/* Opens a profile for reading. */
yk_status yk_profile_open(const char *path, struct yk_profile **out) YK_MUST_USE;

/* Opens a profile for reading and adding; begins one where there is no file. */
yk_status yk_profile_create(const char *path, struct yk_profile **out) YK_MUST_USE;

void yk_profile_close(struct yk_profile *profile);

yk_status yk_profile_find_layer(struct yk_profile *profile, const struct yk_profile_layer *layer,
                                struct yk_profile_curve *out) YK_MUST_USE;

/* The part of the device nearest to `part` that layers were measured on, no further off than
 * `most`; NAN where there is none. */
yk_status yk_profile_find_part(struct yk_profile *profile, const char *device, double part,
                               double most, double *out) YK_MUST_USE;

/* This machine's CPU, which what is found and added is of wherever a CPU takes part. */
const char *yk_profile_cpu(const struct yk_profile *profile);

/* Whether layers of the device, such as "cpu:2", are known of other CPUs alone, and the first of
 * these by name; "" where its name is not known. */
yk_status yk_profile_find_other_cpu(struct yk_profile *profile, const char *device, bool *out,
                                    char name[YK_SYSTEM_CPU_NAME_SIZE]) YK_MUST_USE;

/* The nearest sequences on either side of the layer's that it was measured at, 0 where there is
 * none. */
yk_status yk_profile_find_sequences(struct yk_profile *profile,
                                    const struct yk_profile_layer *layer, int64_t *out_below,
                                    int64_t *out_above) YK_MUST_USE;

yk_status yk_profile_find_link(struct yk_profile *profile, const struct yk_profile_link *link,
                               struct yk_profile_curve *out) YK_MUST_USE;

/* The fact's value; NAN where it was not measured. */
yk_status yk_profile_find_fact(struct yk_profile *profile, const struct yk_profile_fact *fact,
                               double *out) YK_MUST_USE;

/* Whether the number is known and was measured with these versions: then there is no need to
 * measure it again. */
yk_status yk_profile_has_layer(struct yk_profile *profile, const struct yk_profile_layer *layer,
                               int64_t batch, const char *versions, bool *out) YK_MUST_USE;
yk_status yk_profile_has_link(struct yk_profile *profile, const struct yk_profile_link *link,
                              int64_t bytes, const char *versions, bool *out) YK_MUST_USE;
yk_status yk_profile_has_fact(struct yk_profile *profile, const struct yk_profile_fact *fact,
                              const char *versions, bool *out) YK_MUST_USE;

/* Adds every number as a line, in an order that does not depend on when it was written down: what
 * two profiles are compared by; when and where they were measured is not in it. */
yk_status yk_profile_list(struct yk_profile *profile, struct yk_text *out) YK_MUST_USE;

/* Show every number to `visit`, in the order of yk_profile_list; what it returns but YK_OK ends
 * that and is passed on. A row lasts until `visit` returns. */
yk_status yk_profile_visit_layers(struct yk_profile *profile,
                                  yk_status (*visit)(void *argument,
                                                     const struct yk_profile_layer_row *row),
                                  void *argument) YK_MUST_USE;
yk_status yk_profile_visit_links(struct yk_profile *profile,
                                 yk_status (*visit)(void *argument,
                                                    const struct yk_profile_link_row *row),
                                 void *argument) YK_MUST_USE;
yk_status yk_profile_visit_facts(struct yk_profile *profile,
                                 yk_status (*visit)(void *argument,
                                                    const struct yk_profile_fact_row *row),
                                 void *argument) YK_MUST_USE;

/* Write one number down; what was known for the same layer and batch, link and bytes, or fact,
 * goes. A part that is within half a percent of a known one is that one. */
yk_status yk_profile_add_layer(struct yk_profile *profile, const struct yk_profile_layer *layer,
                               int64_t batch,
                               const struct yk_profile_measurement *measurement) YK_MUST_USE;
yk_status yk_profile_add_link(struct yk_profile *profile, const struct yk_profile_link *link,
                              int64_t bytes,
                              const struct yk_profile_measurement *measurement) YK_MUST_USE;
yk_status yk_profile_add_fact(struct yk_profile *profile, const struct yk_profile_fact *fact,
                              const struct yk_profile_measurement *measurement) YK_MUST_USE;

/* What is added between the two is written at once, or not at all; others who add wait for it, so
 * nothing that takes long belongs in between. */
yk_status yk_profile_begin(struct yk_profile *profile) YK_MUST_USE;
yk_status yk_profile_commit(struct yk_profile *profile) YK_MUST_USE;

/* What became of the numbers of the other file. */
struct yk_profile_import_counts {
    int64_t added;
    int64_t replaced; /* what was known is older */
    int64_t left;     /* what was known is as new, or newer */
};

/* Adds every number of the profile at `path`, of any form, to `profile`, or none of them. Of two
 * numbers for the same the one that was measured later stays; what is known stays of two as new. */
yk_status yk_profile_import(struct yk_profile *profile, const char *path,
                            struct yk_profile_import_counts *out) YK_MUST_USE;

/*
 * Opens a profile for reading and adding, as yk_profile_create does, and looks through all of it.
 * Where the file is damaged, no database at all, or a profile of a form that is not known here, it
 * is renamed to PATH.damaged (PATH.damaged-2, … where that is taken), a new one is begun, and
 * `note` gets a sentence about it. A database of something else is refused, and a file that cannot
 * be read.
 */
yk_status yk_profile_create_or_set_aside(const char *path, struct yk_text *note,
                                         struct yk_profile **out) YK_MUST_USE;

#endif
