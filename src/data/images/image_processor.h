/*
 * Image processor: how the images of a dataset become the input of a model. The names are those
 * of Hugging Face's preprocessor_config.json.
 *
 * Evaluation: resize, then crop from the centre. Training: if there is augmentation, it replaces
 * or follows this (struct yk_image_augmentation). All of this happens on bytes, as in Pillow. What
 * follows is the work of the device: a pixel x of channel c becomes
 * (x · rescale − mean[c]) / std[c].
 *
 * The struct is a plain record without pointers; it may be copied.
 */
#ifndef YK_DATA_IMAGES_IMAGE_PROCESSOR_H
#define YK_DATA_IMAGES_IMAGE_PROCESSOR_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_IMAGE_PROCESSOR_MAX_CHANNELS = 4,
    YK_IMAGE_PROCESSOR_MAX_SIDE = 8192 /* of an image that a model reads */
};

/* Filters of Pillow, with its numbers. */
enum yk_image_filter {
    YK_IMAGE_FILTER_NEAREST = 0,
    YK_IMAGE_FILTER_LANCZOS = 1,
    YK_IMAGE_FILTER_BILINEAR = 2,
    YK_IMAGE_FILTER_BICUBIC = 3,
    YK_IMAGE_FILTER_BOX = 4,
    YK_IMAGE_FILTER_HAMMING = 5,
    YK_IMAGE_FILTER_COUNT
};

enum yk_image_resize {
    YK_IMAGE_RESIZE_NONE,
    YK_IMAGE_RESIZE_EXACT,         /* to resize_height × resize_width */
    YK_IMAGE_RESIZE_SHORTEST_EDGE, /* the shorter side becomes resize_height; the ratio stays */
};

/* Random changes of training images. {0} means: none. */
struct yk_image_augmentation {
    /* Crop a part of random area and ratio and resize it to the size of the model, instead of
     * resizing and cropping the whole image (Szegedy et al., 2014). The area is a fraction from
     * min_area to max_area of the image, width / height is from min_ratio to max_ratio.
     * max_area = 0 means: none. */
    double min_area, max_area;
    double min_ratio, max_ratio;

    int64_t padding;         /* add so many black pixels at each side of the resized image, then
                                crop a random part of the former size; 0 means: none */
    double flip_probability; /* mirror left and right */
};

struct yk_image_processor {
    int64_t channels; /* 3: red, green, blue; 1: grey */
    int64_t height;   /* of the model's input */
    int64_t width;

    enum yk_image_resize resize;
    int64_t resize_height;
    int64_t resize_width; /* equal to resize_height for the shortest edge */
    enum yk_image_filter filter;
    bool center_crop; /* crop height × width pixels from the centre; pad what is smaller with 0 */

    double rescale;
    double mean[YK_IMAGE_PROCESSOR_MAX_CHANNELS];
    double std[YK_IMAGE_PROCESSOR_MAX_CHANNELS];

    struct yk_image_augmentation augmentation;
};

/* Returns a processor that resizes to the size of a model, with the settings of
 * ViTImageProcessor: bilinear, rescale 1/255, mean 0.5, standard deviation 0.5. */
struct yk_image_processor yk_image_processor_make(int64_t channels, int64_t height, int64_t width);

/* Reads the settings of a model's folder: preprocessor_config.json or, without it, the image
 * processor of processor_config.json. `*processor` holds the settings of the model's size
 * (yk_image_processor_make()); they stay if the folder has neither file. Fails if the settings
 * make images of another size. */
yk_status yk_image_processor_read_folder(const char *folder,
                                         struct yk_image_processor *processor) YK_MUST_USE;

/* Reads the settings from the text of a preprocessor_config.json. `source` is its name, for
 * messages. */
yk_status yk_image_processor_parse(const char *text, size_t length, const char *source,
                                   struct yk_image_processor *processor) YK_MUST_USE;

/*
 * Reads augmentation from a list such as "flip,resized-crop" into `*out`:
 *   none                 no augmentation
 *   flip[=P]             mirror with probability P (0.5)
 *   pad-crop=N           pad N pixels, crop at random
 *   resized-crop[=A:B]   crop a random fraction of A to B of the area (0.08:1), of a ratio from 3:4
 *                        to 4:3, and resize it
 */
yk_status yk_image_processor_parse_augmentation(const char *list,
                                                struct yk_image_augmentation *out) YK_MUST_USE;

/* Appends the text of a preprocessor_config.json, which yk_image_processor_parse() reads as an
 * equal processor but for augmentation. */
yk_status yk_image_processor_to_json(const struct yk_image_processor *processor,
                                     struct yk_text *out) YK_MUST_USE;

/* Returns the bytes of one image as the model reads it: channels · height · width. */
int64_t yk_image_processor_bytes(const struct yk_image_processor *processor);

#endif
