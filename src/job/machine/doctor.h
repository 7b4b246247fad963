/*
 * Doctor: what this machine offers to yoke: libraries, plug-ins, backends and devices, found by
 * trying them. Libraries stay loaded: some do not survive being unloaded. One thread at a time.
 */
#ifndef YK_JOB_MACHINE_DOCTOR_H
#define YK_JOB_MACHINE_DOCTOR_H

#include "base/status.h"
#include "base/text.h"
#include "cluster/discover.h"
#include "job/plugin.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    YK_DOCTOR_VERSION_SIZE = 64,
    YK_DOCTOR_BACKENDS = 2,
    YK_DOCTOR_MAX_LIBRARIES = 16,
    YK_DOCTOR_MAX_PLUGINS = 4,
};

/* A shared library that some part of yoke uses. */
struct yk_doctor_library {
    const char *name;
    const char *needed_for;
    const char *package;  /* the Debian package that brings it */
    const char *compiled; /* the version yoke was compiled with, or NULL */
    bool found;
    char version[YK_DOCTOR_VERSION_SIZE]; /* "unknown version" where it does not say */
};

struct yk_doctor_plugin {
    const struct yk_plugin *plugin;
    bool found;
    char path[YK_PLUGIN_PATH_SIZE]; /* where it is found */
};

/* A backend on the machine's first device of its kind. */
struct yk_doctor_backend {
    const char *name;
    bool usable;
    struct yk_text device;   /* what it says of the device, or why it cannot be used */
    struct yk_text versions; /* what its times depend on */
    const char *blas;        /* what multiplies matrices */
    bool blas_found;
    char blas_version[YK_DOCTOR_VERSION_SIZE]; /* where it is found */
};

/* Starts as {0}. */
struct yk_doctor_result {
    struct yk_doctor_backend backends[YK_DOCTOR_BACKENDS];
    struct yk_doctor_library libraries[YK_DOCTOR_MAX_LIBRARIES];
    struct yk_doctor_plugin plugins[YK_DOCTOR_MAX_PLUGINS];
    size_t library_count;
    size_t plugin_count;
    struct yk_machine machine;
};

yk_status yk_doctor_run(struct yk_doctor_result *out) YK_MUST_USE;
void yk_doctor_result_free(struct yk_doctor_result *result);

#endif
