/*
 * CIFAR: reads the binary form of CIFAR-10 and CIFAR-100 (Krizhevsky, 2009) into a set
 * (data/images/image_set.h). A record is a label and 32 × 32 pixels as three planes, red, green and
 * blue; CIFAR-100 has a coarse label before the fine one, which counts. Names of classes are in
 * batches.meta.txt or fine_label_names.txt, one a line; a class without a name is a number. Of the
 * batches of CIFAR-10, the last ones may be missing, but none before another.
 */
#ifndef YK_DATA_IMAGES_CIFAR_H
#define YK_DATA_IMAGES_CIFAR_H

#include "data/images/image_set.h"

bool yk_cifar_detect(const char *path);
yk_status yk_cifar_read(const char *path, struct yk_image_set *set) YK_MUST_USE;

/* Checks the records in memory and makes a split of them. `*records` was allocated by malloc();
 * the split takes it over on success. `coarse_labels` is 1 for CIFAR-100. */
yk_status yk_cifar_parse(uint8_t **records, size_t length, int coarse_labels, const char *source,
                         struct yk_arena *arena, struct yk_image_split *out) YK_MUST_USE;

#endif
