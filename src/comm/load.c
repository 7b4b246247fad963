#include "comm/comm.h"

#include "base/plugin_file.h"

#include <string.h>

/* What a plug-in is built with, by the name of its file; the first where it has another. */
static const struct {
    const char *file;
    const char *built_with;
    bool global;
} kinds[] = {
    {"yoke-mpi.so", "Open MPI is installed (Debian and Ubuntu: libopenmpi-dev and openmpi-bin)",
     true /* Open MPI loads parts of its own */},
    {"yoke-nccl.so", "CUDA and NCCL are installed (libnccl-dev, of NVIDIA)", false},
};

static size_t kind_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(file, kinds[i].file) == 0) {
            return i;
        }
    }
    return 0;
}

yk_status yk_comm_load_plugin(const char *path, const struct yk_comm_backend **out)
{
    const size_t kind = kind_of(path);
    const struct yk_plugin_file_request request = {
        .table = "yk_comm_plugin",
        .purpose = "exchanges between ranks",
        .built_with = kinds[kind].built_with,
        .global = kinds[kind].global,
    };
    const void *table = NULL;
    YK_TRY(yk_plugin_file_load(path, &request, &table));
    const struct yk_comm_backend *comm = table;
    YK_TRY(yk_plugin_file_check_version(path, "exchanges", (int)comm->abi, YK_COMM_ABI_VERSION));
    *out = comm;
    return YK_OK;
}
