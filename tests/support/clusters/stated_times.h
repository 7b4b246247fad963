/* Made up: clusters whose times for layers are stated, so that the times of steps follow by hand.
 */
#ifndef YK_TESTS_MADE_UP_H
#define YK_TESTS_MADE_UP_H

#include "cluster/cluster.h"

/* One device: seconds for one sample of each layer kind of a GPT, forward; backward takes twice as
 * long, updates next to nothing. */
struct made_up_device {
    const char *memory; /* "1GiB" */
    double embed_s;
    double block_s;
    double norm_s;
    double head_s;
};

/* Devices named d0, d1 …, all pairs joined by the same link. */
struct yk_cluster *made_up_cluster(const struct made_up_device *devices, int count,
                                   const char *bandwidth);

#endif
