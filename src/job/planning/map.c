#include "job/planning/map.h"

#include "base/file.h"

yk_status yk_planning_open_map(const char *path, const struct yk_model_config *config,
                               int32_t device_count, struct yk_arena *arena,
                               const struct yk_module_map **out)
{
    const struct yk_modules *modules = NULL;
    struct yk_text text = {0};
    YK_TRY(yk_modules_list(config, arena, &modules));
    yk_status status = yk_file_read(path, &text);
    if (status == YK_OK) {
        status = yk_module_map_read(yk_text_chars(&text), text.length, path, modules, device_count,
                                    arena, out);
    }
    yk_text_free(&text);
    return status;
}
