/*
 * Image data: chooses which images of an image set are for training, and which for evaluation.
 *
 *   training             the split train, or all images if there are no splits; less what is held
 *                        out
 *   held-out evaluation  the split val, if there is one; otherwise a fraction of the training
 *                        images is held out
 *   final evaluation     the split test, if there is one; otherwise the split val; otherwise all
 *                        images
 *
 * A fraction is one of each class, and its images are chosen at random, always the same ones.
 * Image data is immutable but for its count of faulty images: any number of threads may use it.
 */
#ifndef YK_DATA_IMAGES_IMAGE_DATA_H
#define YK_DATA_IMAGES_IMAGE_DATA_H

#include "base/text.h"
#include "data/images/image_processor.h"
#include "data/images/image_set.h"
#include "data/sampler.h"

struct yk_image_data_request {
    const char *path;
    const struct yk_image_processor *processor; /* must outlive the data */
    double part;                                /* use only this fraction of each class */
    double held_out;                            /* hold out this fraction of what is used */
    bool skip_faulty;                           /* skip images that cannot be decoded */
};

enum yk_image_data_role {
    YK_IMAGE_DATA_TRAINING,
    YK_IMAGE_DATA_HELD_OUT,
    YK_IMAGE_DATA_FINAL,
    YK_IMAGE_DATA_ROLE_COUNT
};

struct yk_image_data;

yk_status yk_image_data_open(const struct yk_image_data_request *request,
                             struct yk_image_data **out) YK_MUST_USE;
void yk_image_data_close(struct yk_image_data *data);

const struct yk_image_set *yk_image_data_set(const struct yk_image_data *data);

/* Calls yk_image_set_renumber_classes(), before any sampler is used. */
yk_status yk_image_data_renumber_classes(struct yk_image_data *data, const char *const *names,
                                         int64_t count, const char *unknown) YK_MUST_USE;

/* Returns the number of different images that were skipped until now. */
int64_t yk_image_data_skipped(const struct yk_image_data *data);

/* Appends a description such as "60000 images of 10 classes (IDX), 10000 to test". */
void yk_image_data_describe(const struct yk_image_data *data, struct yk_text *out);

/* Creates a sampler of the images with a role: shuffled and augmented for training, otherwise
 * sequential. Sets `*out` to NULL if no image has the role. */
yk_status yk_image_data_create_sampler(const struct yk_image_data *data,
                                       enum yk_image_data_role role,
                                       const struct yk_sampler_options *options,
                                       struct yk_sampler **out) YK_MUST_USE;

#endif
