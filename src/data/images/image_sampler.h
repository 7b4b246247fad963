/*
 * Image sampler: a sample is one image of an image set and its class (data/sampler.h).
 *
 * In training, every epoch has its own order, in which each image occurs exactly once, and each
 * image is augmented. The seed and the sample number determine both. If sequential, images come
 * in the order of the list, and are not augmented.
 *
 * The images of a slice are decoded by several threads, up to one for each core that the calling
 * thread may use. The result does not depend on their number.
 *
 * An image that cannot be decoded is an error: of the header of a file when the sampler is
 * created, of its pixels when they are fetched. If faulty images are skipped, training takes the
 * next image in the order of the epoch instead, and a sequential sampler returns a black image
 * without a target.
 */
#ifndef YK_DATA_IMAGES_IMAGE_SAMPLER_H
#define YK_DATA_IMAGES_IMAGE_SAMPLER_H

#include "data/images/image_processor.h"
#include "data/images/image_set.h"
#include "data/sampler.h"

#include <stdatomic.h>

/* The images of a split that turned out to be faulty. */
struct yk_image_faults {
    atomic_uchar *known; /* (number of images of the split) */
    atomic_llong count;
};

struct yk_image_sampler_request {
    const struct yk_image_split *split;
    const int64_t *items; /* (count) images of the split that are sampled */
    int64_t count;        /* at least 1 */
    const struct yk_image_processor *processor;
    struct yk_image_faults *faults; /* NULL means: a faulty image is an error */
    struct yk_sampler_options options;
};

/* Everything that the request points to must outlive the sampler. Reads the first bytes of every
 * file, for at most half a minute. */
yk_status yk_image_sampler_create(const struct yk_image_sampler_request *request,
                                  struct yk_sampler **out) YK_MUST_USE;

#endif
