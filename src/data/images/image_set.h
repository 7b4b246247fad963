/*
 * Image set: pictures and their classes. The source is one of
 *   folder tree   FOLDER/CLASS/picture: each sub-folder is a class; pictures are PNG or JPEG files
 *                 in the sub-folder or below it. If FOLDER has sub-folders train, and val or
 *                 test, and so on, these are splits, not classes.
 *   CIFAR         data_batch_1.bin …, test_batch.bin (CIFAR-10) or train.bin, test.bin (CIFAR-100)
 *   IDX           train-images-idx3-ubyte and train-labels-idx1-ubyte, t10k-… (MNIST), also .gz
 * Classes are sorted by name, as in torchvision's ImageFolder, or have the numbers of the file.
 *
 * The pictures of a folder are opened and decoded when they are asked for; those of CIFAR and IDX
 * are in memory. A set is immutable but for its count of pictures that were left out: any number of
 * threads may use it.
 */
#ifndef YK_DATA_IMAGES_IMAGE_SET_H
#define YK_DATA_IMAGES_IMAGE_SET_H

#include <stdbool.h>

/* Returns whether a path holds images in one of the forms of a set. */
bool yk_image_set_detect(const char *path);

#endif
