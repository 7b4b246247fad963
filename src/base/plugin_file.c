#include "base/plugin_file.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

/* The package that contains a library which a plug-in needs. */
static const struct {
    const char *library;
    const char *words;
} packages[] = {
    {"libmpi", "install Open MPI (Debian and Ubuntu: libopenmpi3 and openmpi-bin)"},
    {"libnccl", "install NCCL (libnccl2)"},
    {"libcudnn", "install cuDNN (cudnn9-cuda-13 or the like, of NVIDIA)"},
    {"libcublas", "install the CUDA toolkit's libraries (libcublas, of NVIDIA)"},
    {"libcudart", "install the CUDA toolkit's libraries (cuda-cudart, of NVIDIA)"},
    {"libcuda", "install the NVIDIA driver"},
};

static yk_status refuse_file(const char *path, const struct yk_plugin_file_request *request)
{
    const char *words = dlerror();
    if (access(path, R_OK) != 0) {
        return yk_fail(YK_ERROR_SYSTEM, "%s is not there: it is built with yoke where %s", path,
                       request->built_with);
    }
    for (size_t i = 0; words && i < sizeof packages / sizeof packages[0]; i++) {
        if (strstr(words, packages[i].library)) {
            return yk_fail(YK_ERROR_SYSTEM, "%s: %s; %s", path, words, packages[i].words);
        }
    }
    return yk_fail(YK_ERROR_SYSTEM, "%s cannot be loaded: %s", path,
                   words ? words : "the system does not say why");
}

yk_status yk_plugin_file_load(const char *path, const struct yk_plugin_file_request *request,
                              const void **out)
{
    void *library = dlopen(path, RTLD_NOW | (request->global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (!library) {
        return refuse_file(path, request);
    }
    const void *table = dlsym(library, request->table);
    yk_plugin_fail_function *fail = dlsym(library, YK_PLUGIN_FAIL_SYMBOL);
    if (!table || !fail) {
        (void)dlclose(library);
        return yk_fail(YK_ERROR_INPUT, "%s is no plug-in of yoke for %s", path, request->purpose);
    }
    *fail = (yk_fail);
    *out = table;
    return YK_OK;
}

yk_status yk_plugin_file_check_version(const char *path, const char *what, int found, int wanted)
{
    return found == wanted
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT,
                         "%s is of another version of yoke: its table of %s has number %d, this "
                         "yoke wants %d; install both from one release",
                         path, what, found, wanted);
}
