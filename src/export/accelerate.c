#include "export/accelerate.h"

yk_status yk_export_accelerate(const struct yk_module_map *map, struct yk_text *out)
{
    yk_text_add(out, "{");
    for (int32_t i = 0; i < map->count; i++) {
        yk_text_add(out, i > 0 ? ",\n  " : "\n  ");
        yk_text_add_json(out, map->entries[i].module);
        yk_text_add(out, ": ");
        yk_module_map_add_place(out, map->entries[i].place);
    }
    yk_text_add(out, "\n}\n");
    return yk_text_status(out);
}
