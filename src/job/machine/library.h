/*
 * Library: a shared library that some part of yoke uses, as a row of one table.
 *
 * Libraries are looked for by loading them, and stay loaded: some do not survive being unloaded.
 * One thread at a time.
 */
#ifndef YK_JOB_MACHINE_LIBRARY_H
#define YK_JOB_MACHINE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

enum {
    YK_LIBRARY_VERSION_SIZE = 64,
    YK_LIBRARY_MOST_FILES = 3,
};

struct yk_library {
    const char *name;
    const char *needed_for;
    const char *package;                      /* the Debian package that brings it */
    const char *files[YK_LIBRARY_MOST_FILES]; /* names to try, newest first */
    const char *compiled;                     /* the version yoke was compiled with, or NULL */
    /* Writes the version that is there; false when the library does not say. */
    bool (*version)(void *handle, char out[YK_LIBRARY_VERSION_SIZE]);
};

extern const struct yk_library yk_libraries[];
extern const size_t yk_library_count;

/* Writes the version found, or "unknown version" where it does not say. False: missing. */
bool yk_library_find(const struct yk_library *library, char out[YK_LIBRARY_VERSION_SIZE]);

/* "OpenBLAS 0.3.21, kernels for neoversen1": what multiplies matrices on CPUs. False: missing. */
bool yk_library_describe_blas(char out[YK_LIBRARY_VERSION_SIZE]);
/* "cuBLASLt 13.1.0", on NVIDIA GPUs. */
bool yk_library_describe_cublas(char out[YK_LIBRARY_VERSION_SIZE]);

#endif
