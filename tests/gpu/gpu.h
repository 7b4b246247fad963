/*
 * GPU: loads the CUDA plug-in for the tests in this folder. The environment variable
 * YOKE_CUDA_PLUGIN names the file. Without it, the plug-in is yoke-cuda.so in a parent folder of
 * the program.
 */
#ifndef YK_TESTS_GPU_H
#define YK_TESTS_GPU_H

#include "backend/backend.h"

enum {
    GPU_SKIPPED = 77, /* exit code of a test program without a GPU */
};

/* Loads the plug-in and opens a GPU as a test. Returns 0 on success. Otherwise prints the reason
 * and returns the exit code for main(): GPU_SKIPPED without a plug-in or a GPU, 1 if the plug-in
 * cannot be used. */
int gpu_find(const struct yk_backend **out);

#endif
