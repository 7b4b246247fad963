#include "comm/load.h"

#include "comm/plugin.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

/* What brings the library that a plug-in cannot find. */
static const struct {
    const char *library;
    const char *words;
} packages[] = {
    {"libmpi", "install Open MPI (Debian and Ubuntu: libopenmpi3 and openmpi-bin)"},
    {"libnccl", "install NCCL (libnccl2)"},
    {"libcuda", "install the NVIDIA driver"},
};

static yk_status refuse_file(const char *path)
{
    const char *words = dlerror();
    if (access(path, R_OK) != 0) {
        return yk_fail(YK_ERROR_SYSTEM,
                       "%s is not there: it is built with yoke where Open MPI is installed "
                       "(Debian and Ubuntu: libopenmpi-dev and openmpi-bin)",
                       path);
    }
    for (size_t i = 0; words && i < sizeof packages / sizeof packages[0]; i++) {
        if (strstr(words, packages[i].library)) {
            return yk_fail(YK_ERROR_SYSTEM, "%s: %s; %s", path, words, packages[i].words);
        }
    }
    return yk_fail(YK_ERROR_SYSTEM, "%s cannot be loaded: %s", path,
                   words ? words : "the system does not say why");
}

yk_status yk_comm_load(const char *path, const struct yk_comm **out)
{
    /* Open MPI loads parts of its own that look for its symbols among all that there are. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        return refuse_file(path);
    }
    const struct yk_comm *comm = dlsym(library, YK_COMM_PLUGIN_TABLE);
    yk_comm_plugin_fail_function *fail = dlsym(library, YK_COMM_PLUGIN_FAIL);
    if (!comm || !fail) {
        (void)dlclose(library);
        return yk_fail(YK_ERROR_INPUT, "%s is no plug-in of yoke for exchanges between ranks",
                       path);
    }
    if (comm->abi != YK_COMM_ABI) {
        const int abi = (int)comm->abi;
        (void)dlclose(library);
        return yk_fail(YK_ERROR_INPUT,
                       "%s is of another version of yoke: its table of exchanges has number %d, "
                       "this yoke wants %d; install both from one release",
                       path, abi, YK_COMM_ABI);
    }
    *fail = (yk_fail);
    *out = comm;
    return YK_OK;
}
