#include "export/accelerate.h"

#include "base/json_write.h"

yk_status yk_export_accelerate(const struct yk_module_map *map, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    json.lines = 2;
    for (int32_t i = 0; i < map->count; i++) {
        yk_json_write_key(&json, map->entries[i].module);
        yk_module_map_add_place(out, map->entries[i].place);
    }
    yk_json_write_line(&json, 0);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}
