#include "comm/load.h"

#include "base/plugin_file.h"
#include "comm/plugin.h"

yk_status yk_comm_load(const char *path, const struct yk_comm **out)
{
    const struct yk_plugin_wish wish = {
        .table = YK_COMM_PLUGIN_TABLE,
        .purpose = "exchanges between ranks",
        .built_with = "Open MPI is installed (Debian and Ubuntu: libopenmpi-dev and openmpi-bin)",
        .global = true, /* Open MPI loads parts of its own */
    };
    const void *table = NULL;
    YK_TRY(yk_plugin_file_load(path, &wish, &table));
    const struct yk_comm *comm = table;
    YK_TRY(yk_plugin_file_check(path, "exchanges", (int)comm->abi, YK_COMM_ABI));
    *out = comm;
    return YK_OK;
}
