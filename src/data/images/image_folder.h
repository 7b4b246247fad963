/*
 * Image folder: reads the names of a folder tree of images into a set (data/images/image_set.h).
 *
 * The sub-folders of FOLDER or, if it has splits, of its splits, are classes; the splits train,
 * val (also valid, validation, dev) and test (also eval) are recognized if train is there. Class
 * names are those of all splits together, sorted by their bytes. Every class needs an image in
 * training. Hidden files are ignored, and so are files whose names do not end like those of
 * images.
 */
#ifndef YK_DATA_IMAGES_IMAGE_FOLDER_H
#define YK_DATA_IMAGES_IMAGE_FOLDER_H

#include "data/images/image_set.h"

bool yk_image_folder_detect(const char *path);
yk_status yk_image_folder_read(const char *path, struct yk_image_set *set) YK_MUST_USE;

#endif
