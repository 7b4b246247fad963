#include "cli/commands/profile_pictures.h"

#include "base/file.h"
#include "base/folder.h"
#include "report/profile_words.h"

#include <ctype.h>

/* What a file is called: letters and digits of `words`, others are hyphens. */
static void add_file_name(const char *words, struct yk_text *out)
{
    for (const char *letter = words; *letter; letter++) {
        const char lower = (char)tolower((unsigned char)*letter);
        const bool plain = isalnum((unsigned char)*letter) && (unsigned char)*letter < 128;
        const bool repeats = out->length > 0 && out->bytes[out->length - 1] == '-';
        if (plain || !repeats) {
            yk_text_add_bytes(out, plain ? &lower : "-", 1);
        }
    }
}

/* Names that differ in other signs only are told apart by their numbers. */
static yk_status write_picture(const char *folder, const char *kind, int32_t number,
                               const char *words, const struct yk_text *picture)
{
    struct yk_text path = {0};
    yk_text_addf(&path, "%s/%s-%d-", folder, kind, (int)number);
    add_file_name(words, &path);
    yk_text_add(&path, ".svg");
    yk_status status = yk_text_status(&path);
    if (status == YK_OK) {
        status = yk_file_write_nofollow(yk_text_chars(&path), picture);
    }
    yk_text_free(&path);
    return status;
}

static yk_status draw_links(const struct yk_profile_report *report, const char *folder,
                            struct yk_arena *arena)
{
    yk_status status = YK_OK;
    for (int32_t i = 0, next = 0, number = 1; i < report->link_count && status == YK_OK;
         i = next, number++) {
        struct yk_text picture = {0};
        status = yk_profile_figure_link(report, i, arena, &picture, &next);
        if (status == YK_OK) {
            status =
                write_picture(folder, "link", number, report->links[i].rows[0].link.link, &picture);
        }
        yk_text_free(&picture);
    }
    return status;
}

static yk_status draw_layers(const struct yk_profile_report *report, const char *folder,
                             struct yk_arena *arena)
{
    yk_status status = YK_OK;
    for (int32_t i = 0; i < report->layer_count && status == YK_OK; i++) {
        const struct yk_profile_layer *layer = &report->layers[i].rows[0].layer;
        struct yk_text picture = {0};
        struct yk_text words = {0};
        yk_profile_say_device(layer, &words);
        yk_text_addf(&words, " %s", layer->shape);
        status = yk_profile_figure_layer(&report->layers[i], arena, &picture);
        if (status == YK_OK) {
            status = write_picture(folder, "layer", i + 1, yk_text_chars(&words), &picture);
        }
        yk_text_free(&words);
        yk_text_free(&picture);
    }
    return status;
}

yk_status yk_profile_pictures_write(const struct yk_profile_report *report, const char *folder,
                                    struct yk_arena *arena)
{
    YK_TRY(yk_folder_create(folder));
    YK_TRY(draw_links(report, folder, arena));
    return draw_layers(report, folder, arena);
}
