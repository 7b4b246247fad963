#include "job/machine/doctor.h"

#include "job/device.h"

#include <assert.h>

static void try_backend(bool gpu, struct yk_doctor_backend *out)
{
    out->name = gpu ? "cuda" : "cpu";
    out->blas = gpu ? "cuBLASLt" : "a BLAS";
    out->usable = yk_device_describe(&(struct yk_device_choice){.gpu = gpu}, &out->device,
                                     &out->versions) == YK_OK;
    if (!out->usable) {
        yk_text_free(&out->device);
        yk_text_add(&out->device, yk_status_message());
    }
    out->blas_found = gpu ? yk_doctor_describe_cublas(out->blas_version)
                          : yk_doctor_describe_blas(out->blas_version);
}

static void find_libraries(struct yk_doctor_result *result)
{
    assert(yk_doctor_dependency_count <= YK_DOCTOR_MAX_LIBRARIES);
    result->library_count = yk_doctor_dependency_count;
    for (size_t i = 0; i < yk_doctor_dependency_count; i++) {
        struct yk_doctor_library *row = &result->libraries[i];
        row->library = &yk_doctor_dependencies[i];
        row->found = yk_doctor_find_dependency(row->library, row->version);
    }
}

static void find_plugins(struct yk_doctor_result *result)
{
    assert(yk_plugin_count <= YK_DOCTOR_MAX_PLUGINS);
    result->plugin_count = yk_plugin_count;
    for (size_t i = 0; i < yk_plugin_count; i++) {
        struct yk_doctor_plugin *row = &result->plugins[i];
        row->plugin = &yk_plugins[i];
        row->found = yk_plugin_find(row->plugin, row->path);
    }
}

yk_status yk_doctor_run(struct yk_doctor_result *out)
{
    YK_TRY(yk_discover(NULL, &out->machine));
    /* Before libraries: one that a plug-in has found by a path of its own is there. */
    try_backend(false, &out->backends[0]);
    try_backend(true, &out->backends[1]);
    find_libraries(out);
    find_plugins(out);
    return YK_OK;
}

void yk_doctor_result_free(struct yk_doctor_result *result)
{
    for (size_t i = 0; i < YK_DOCTOR_BACKENDS; i++) {
        yk_text_free(&result->backends[i].device);
        yk_text_free(&result->backends[i].versions);
    }
}
