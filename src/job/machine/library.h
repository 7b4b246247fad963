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
    YK_DOCTOR_VERSION_SIZE = 64,
    YK_DOCTOR_MAX_FILES = 3,
};

struct yk_doctor_dependency {
    const char *name;
    const char *needed_for;
    const char *package;                    /* the Debian package that brings it */
    const char *files[YK_DOCTOR_MAX_FILES]; /* names to try, newest first */
    const char *compiled;                   /* the version yoke was compiled with, or NULL */
    /* Writes the version that is there; false when the library does not say. */
    bool (*version)(void *handle, char out[YK_DOCTOR_VERSION_SIZE]);
};

extern const struct yk_doctor_dependency yk_doctor_dependencies[];
extern const size_t yk_doctor_dependency_count;

/* Writes the version found, or "unknown version" where it does not say. False: missing. */
bool yk_doctor_find_dependency(const struct yk_doctor_dependency *library,
                               char out[YK_DOCTOR_VERSION_SIZE]);

/* "OpenBLAS 0.3.21, kernels for neoversen1": what multiplies matrices on CPUs. False: missing. */
bool yk_doctor_describe_blas(char out[YK_DOCTOR_VERSION_SIZE]);
/* "cuBLASLt 13.1.0", on NVIDIA GPUs. */
bool yk_doctor_describe_cublas(char out[YK_DOCTOR_VERSION_SIZE]);

#endif
