#include "backend/backend.h"

#include "base/plugin_file.h"

yk_status yk_backend_load_plugin(const char *path, const struct yk_backend **out)
{
    const struct yk_plugin_file_request request = {
        .table = YK_BACKEND_PLUGIN_SYMBOL,
        .purpose = "devices",
        .built_with = "the CUDA toolkit is installed (nvcc, with cuBLAS and, for attention, cuDNN)",
    };
    const void *table = NULL;
    YK_TRY(yk_plugin_file_load(path, &request, &table));
    const struct yk_backend *backend = table;
    YK_TRY(yk_plugin_file_check_version(path, "ops", (int)backend->abi, YK_BACKEND_ABI));
    *out = backend;
    return YK_OK;
}
