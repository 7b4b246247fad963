/*
 * IDX: reads the files of MNIST (LeCun et al., 1998) and of what imitates it into a set
 * (data/images/image_set.h). A file of images has the dimensions number, height, width and,
 * optionally, channels (1 or 3), then one byte for each; the file of labels has one byte for each
 * image. The name of the labels is that of the images with "labels" for "images" and "idx1" for
 * "idx3" or "idx4"; the names say the split: train, val, and test or t10k. Each file may be gzip
 * data. Classes are the numbers from 0 to the largest label.
 */
#ifndef YK_DATA_IMAGES_IDX_H
#define YK_DATA_IMAGES_IDX_H

#include "base/input_stream.h"
#include "data/images/image_set.h"

bool yk_idx_detect(const char *path);
yk_status yk_idx_read(const char *path, struct yk_image_set *set) YK_MUST_USE;

/* Reads images from a stream. `source` is its name, for messages. The split takes over its
 * records, which it frees by free(); its labels are NULL. */
yk_status yk_idx_read_images(struct yk_input_stream *stream, const char *source,
                             struct yk_image_split *out) YK_MUST_USE;

#endif
