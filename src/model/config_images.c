#include "model/config_images.h"

#include "model/architecture.h"
#include "model/config_fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    /* Presets of transformers. */
    IMAGE_SIDE = 224,
    PATCH_SIDE = 16,
    CHANNELS = 3,
    CLASSES = 2,

    MAX_CLASSES = 1 << 20,
    KEY_SIZE = 24,
    LABEL_SIZE = 32,
};

static yk_status fail_size(const char *key, int64_t max)
{
    return yk_fail(YK_ERROR_INPUT,
                   "\"%s\" must be a whole number from 1 to %" PRId64
                   ", or a list of two, height and width",
                   key, max);
}

static bool read_side(const struct yk_json *node, int64_t max, int64_t *out)
{
    double value = 0;
    if (!yk_json_number_value(node, &value) || value != floor(value) || !(value >= 1) ||
        value > (double)max) {
        return false;
    }
    *out = (int64_t)value;
    return true;
}

/* Reads a height and a width: one number for both, or a list of two. */
static yk_status read_sides(const struct yk_json *json, const char *key, int64_t preset,
                            int64_t *height, int64_t *width)
{
    const struct yk_json *node = yk_json_get_member(json, key);
    *height = preset;
    *width = preset;
    if (!node || yk_json_is_null(node)) {
        return YK_OK;
    }
    const bool pair = yk_json_is_array(node) && yk_json_array_count(node) == 2;
    if (!read_side(pair ? yk_json_array_at(node, 0) : node, YK_MAX_IMAGE_SIDE, height) ||
        !read_side(pair ? yk_json_array_at(node, 1) : node, YK_MAX_IMAGE_SIDE, width)) {
        return fail_size(key, YK_MAX_IMAGE_SIDE);
    }
    return YK_OK;
}

static yk_status read_image(const struct yk_json *json, struct yk_image_shape *image)
{
    YK_TRY(read_sides(json, "image_size", IMAGE_SIDE, &image->height, &image->width));
    YK_TRY(read_sides(json, "patch_size", PATCH_SIDE, &image->patch_height, &image->patch_width));
    YK_TRY(yk_config_fields_read_size(json, "num_channels", CHANNELS, "the number of channels",
                                      &image->channels));
    if (image->channels > YK_MAX_IMAGE_CHANNELS) {
        return yk_fail(YK_ERROR_INPUT, "\"num_channels\" is %" PRId64 "; images have at most %d",
                       image->channels, YK_MAX_IMAGE_CHANNELS);
    }
    if (image->patch_height > image->height || image->patch_width > image->width) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"patch_size\" is %" PRId64 " × %" PRId64
                       ", but \"image_size\" is only %" PRId64 " × %" PRId64,
                       image->patch_height, image->patch_width, image->height, image->width);
    }
    return YK_OK;
}

/* Returns whether `name` is what a class without a name is called. */
static bool is_usual_label(const char *name, int64_t number)
{
    char usual[LABEL_SIZE];
    (void)snprintf(usual, sizeof usual, "LABEL_%" PRId64, number);
    return strcmp(name, usual) == 0;
}

/* Reads the names of classes from {"0": "cat", "1": "dog"}. */
static yk_status read_labels(const struct yk_json *names, int64_t count, struct yk_arena *arena,
                             const char *const **out)
{
    const char **labels = NULL;
    bool usual = true;
    YK_TRY_NEW(arena, labels, count);
    for (int64_t i = 0; i < count; i++) {
        char key[KEY_SIZE];
        (void)snprintf(key, sizeof key, "%" PRId64, i);
        const char *name = yk_json_string_value(yk_json_get_member(names, key));
        if (!name) {
            return yk_fail(YK_ERROR_INPUT,
                           "\"id2label\" has %" PRId64 " classes, but no name of class \"%s\"",
                           count, key);
        }
        usual = usual && is_usual_label(name, i);
        YK_TRY(yk_arena_strdup(arena, name, &labels[i]));
    }
    *out = usual ? NULL : labels;
    return YK_OK;
}

static yk_status read_classes(const struct yk_json *json, struct yk_arena *arena,
                              struct yk_model_config *config)
{
    const struct yk_json *names = yk_json_get_member(json, "id2label");
    if (names && !yk_json_is_null(names) && !yk_json_is_object(names)) {
        return yk_fail(YK_ERROR_INPUT, "\"id2label\" must be an object of names, not %s",
                       yk_json_type_name(names));
    }
    if (yk_json_member_count(names) == 0) {
        YK_TRY(yk_config_fields_read_size(json, "num_labels", CLASSES, "the number of classes",
                                          &config->vocabulary));
    } else {
        config->vocabulary = (int64_t)yk_json_member_count(names);
    }
    if (config->vocabulary > MAX_CLASSES) {
        return yk_fail(YK_ERROR_INPUT, "%" PRId64 " classes are too many; at most %d are counted",
                       config->vocabulary, MAX_CLASSES);
    }
    return yk_json_member_count(names) > 0
               ? read_labels(names, config->vocabulary, arena, &config->labels)
               : YK_OK;
}

yk_status yk_config_images_read(const struct yk_json *json, struct yk_arena *arena,
                                struct yk_model_config *config)
{
    struct yk_image_shape *image = &config->image;
    const char *class =
        yk_json_string_value(yk_json_array_at(yk_json_get_member(json, "architectures"), 0));
    config->new_head = class && strcmp(class, config->architecture->classes[0]) != 0;
    YK_TRY(read_image(json, image));
    YK_TRY(read_classes(json, arena, config));
    /* Patches do not overlap; pixels behind the last whole patch are not used. */
    config->positions =
        1 + (image->height / image->patch_height) * (image->width / image->patch_width);
    return YK_OK;
}

static void write_sides(struct yk_json_writer *json, const char *key, int64_t height, int64_t width)
{
    if (height == width) {
        yk_json_write_integer(json, key, height);
    } else {
        yk_json_write_integers(json, key, (const int64_t[]){height, width}, 2);
    }
}

void yk_config_images_write(const struct yk_model_config *config, struct yk_json_writer *json)
{
    const struct yk_image_shape *image = &config->image;
    const int32_t indent = json->line_indent;
    write_sides(json, "image_size", image->height, image->width);
    write_sides(json, "patch_size", image->patch_height, image->patch_width);
    yk_json_write_integer(json, "num_channels", image->channels);
    for (int direction = 0; direction < 2; direction++) {
        yk_json_write_begin_object(json, direction == 0 ? "id2label" : "label2id");
        json->line_indent = indent + 2;
        for (int64_t i = 0; i < config->vocabulary; i++) {
            char number[KEY_SIZE];
            char usual[LABEL_SIZE];
            (void)snprintf(number, sizeof number, "%" PRId64, i);
            (void)snprintf(usual, sizeof usual, "LABEL_%" PRId64, i);
            const char *label = config->labels ? config->labels[i] : usual;
            if (direction == 0) {
                yk_json_write_string(json, number, label);
            } else {
                yk_json_write_integer(json, label, i);
            }
        }
        yk_json_write_newline(json, indent);
        yk_json_write_end_object(json);
        json->line_indent = indent;
    }
}
