/*
 * Doctor: checks which libraries, plug-ins, backends and devices yoke can use on this machine. For
 * this, it loads the libraries and does not unload them, because some of them crash when they are
 * unloaded. Not thread-safe.
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
    YK_DOCTOR_BACKEND_COUNT = 2,
    YK_DOCTOR_MAX_LIBRARIES = 16,
    YK_DOCTOR_MAX_PLUGINS = 4,
};

/* A shared library that yoke uses. */
struct yk_doctor_library {
    const char *name;
    const char *needed_for;
    const char *package;  /* Debian package that contains the library */
    const char *compiled; /* version that yoke was compiled with; NULL means: not known */
    bool found;
    char version[YK_DOCTOR_VERSION_SIZE]; /* "unknown version" if the library does not report it */
};

struct yk_doctor_plugin {
    const struct yk_plugin *plugin;
    bool found;
    char path[YK_PLUGIN_PATH_SIZE]; /* valid if found */
};

/* A backend, which was tested on the first device that it can use. */
struct yk_doctor_backend {
    const char *name;
    bool usable;
    struct yk_text device;   /* description of the device, or why the backend is not usable */
    struct yk_text versions; /* versions of the software that affect the backend's speed */
    const char *blas;        /* name of the backend's matrix library */
    bool blas_found;
    char blas_version[YK_DOCTOR_VERSION_SIZE]; /* valid if blas_found */
};

/* Starts as {0}. */
struct yk_doctor_result {
    struct yk_doctor_backend backends[YK_DOCTOR_BACKEND_COUNT];
    struct yk_doctor_library libraries[YK_DOCTOR_MAX_LIBRARIES];
    struct yk_doctor_plugin plugins[YK_DOCTOR_MAX_PLUGINS];
    size_t library_count;
    size_t plugin_count;
    struct yk_machine machine;
};

yk_status yk_doctor_run(struct yk_doctor_result *out) YK_MUST_USE;
void yk_doctor_result_free(struct yk_doctor_result *result);

#endif
