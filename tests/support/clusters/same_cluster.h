/* Same cluster: compares two clusters field by field, for tests and fuzz targets. */
#ifndef YK_TESTS_SAME_CLUSTER_H
#define YK_TESTS_SAME_CLUSTER_H

#include "cluster/cluster.h"

/* What differs, in words; NULL when nothing but the source and the assumption may. */
const char *support_cluster_difference(const struct yk_cluster *a, const struct yk_cluster *b);

/* The first promise of cluster.h that `cluster` breaks, in words; NULL when it keeps all. */
const char *support_cluster_broken_promise(const struct yk_cluster *cluster);

#endif
