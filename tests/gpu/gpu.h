/*
 * GPU: the plug-in for NVIDIA GPUs, as the tests in this folder get it: the file that the
 * environment's YOKE_CUDA_PLUGIN names, or yoke-cuda.so in a folder that this program lies in.
 */
#ifndef YK_TESTS_GPU_H
#define YK_TESTS_GPU_H

#include "backend/backend.h"

enum {
    GPU_SKIPPED = 77, /* what a program returns that has no GPU to test on */
};

/* Loads the plug-in and sees whether a GPU can be opened. 0, or what main() returns at once after a
 * sentence that says why: GPU_SKIPPED without a plug-in or a GPU, 1 where the plug-in is of no
 * use. */
int gpu_find(const struct yk_backend **out);

#endif
