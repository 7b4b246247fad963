/*
 * Profile: what was measured on this machine, in an SQLite file. Written by measure, read by
 * whoever plans; every time in it is a median.
 *
 * Form 1 (PRAGMA application_id 0x796f6b65, user_version 1):
 *
 *   layers  device TEXT       the device's type, "rtx3090"
 *           part REAL         of the whole device: 1, or less
 *           shape TEXT        yk_layer.shape: the layer's kind, sizes and precision
 *           sequence INTEGER  tokens a sample
 *           pass TEXT         "forward", "backward", "update"
 *           batch INTEGER     samples
 *           seconds REAL      median
 *           spread REAL       half the distance between the quartiles, over the median
 *           samples INTEGER   how many times it was run
 *           versions TEXT     driver and libraries, as in "cuda 13.0, cublas 13.1"
 *   links   link TEXT         the types of the two devices in alphabetical order, and where they
 *                             are: "a30-titanxp between nodes", "h100-h100 within a node"
 *           collective TEXT   "send", "gather", "scatter", "reduce"
 *           ranks INTEGER     how many take part; 2 for "send"
 *           bytes INTEGER     of the whole message
 *           seconds, spread, samples, versions as above
 *
 * A profile belongs to one thread at a time.
 */
#ifndef YK_PROFILE_PROFILE_H
#define YK_PROFILE_PROFILE_H

#include "base/status.h"
#include "base/text.h"

#include <stdint.h>

struct yk_profile;

/* A time at a size: samples of a layer, bytes of a message. */
struct yk_profile_point {
    double size;
    double seconds;
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

/* How one time was found. */
struct yk_profile_measurement {
    double seconds;
    double spread;
    int64_t samples;
    const char *versions;
};

/* Opens a profile for reading. */
yk_status yk_profile_open(const char *path, struct yk_profile **out) YK_MUST_USE;

/* Opens a profile for reading and adding; begins one where there is no file. */
yk_status yk_profile_create(const char *path, struct yk_profile **out) YK_MUST_USE;

void yk_profile_close(struct yk_profile *profile);

yk_status yk_profile_find_layer(struct yk_profile *profile, const struct yk_profile_layer *layer,
                                struct yk_profile_curve *out) YK_MUST_USE;
yk_status yk_profile_find_link(struct yk_profile *profile, const struct yk_profile_link *link,
                               struct yk_profile_curve *out) YK_MUST_USE;

/* Adds every time as a line, in an order that does not depend on when it was written down: what two
 * profiles are compared by. */
yk_status yk_profile_list(struct yk_profile *profile, struct yk_text *out) YK_MUST_USE;

/* Write one time down; what was known for the same layer and batch, or link and bytes, goes. */
yk_status yk_profile_add_layer(struct yk_profile *profile, const struct yk_profile_layer *layer,
                               int64_t batch,
                               const struct yk_profile_measurement *measurement) YK_MUST_USE;
yk_status yk_profile_add_link(struct yk_profile *profile, const struct yk_profile_link *link,
                              int64_t bytes,
                              const struct yk_profile_measurement *measurement) YK_MUST_USE;

#endif
