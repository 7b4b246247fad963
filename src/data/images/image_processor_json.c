/* Writes the settings of an image processor as a preprocessor_config.json of Hugging Face. */
#include "data/images/image_processor.h"

#include "base/json_write.h"

/* The class whose presets are nearest to what is done. */
static const char *class_of(const struct yk_image_processor *processor)
{
    if (!processor->center_crop) {
        return "ViTImageProcessor";
    }
    return processor->resize == YK_IMAGE_RESIZE_EXACT ? "DeiTImageProcessor" : "CLIPImageProcessor";
}

static void write_size(struct yk_json_writer *json, const char *key, int64_t height, int64_t width)
{
    const int32_t indent = json->line_indent;
    yk_json_write_begin_object(json, key);
    json->line_indent = indent + 2;
    yk_json_write_integer(json, "height", height);
    yk_json_write_integer(json, "width", width);
    yk_json_write_newline(json, indent);
    yk_json_write_end_object(json);
    json->line_indent = indent;
}

static void write_resize(struct yk_json_writer *json, const struct yk_image_processor *processor)
{
    const int32_t indent = json->line_indent;
    yk_json_write_bool(json, "do_resize", processor->resize != YK_IMAGE_RESIZE_NONE);
    yk_json_write_integer(json, "resample", (int64_t)processor->filter);
    if (processor->resize == YK_IMAGE_RESIZE_SHORTEST_EDGE) {
        yk_json_write_begin_object(json, "size");
        json->line_indent = indent + 2;
        yk_json_write_integer(json, "shortest_edge", processor->resize_height);
        yk_json_write_newline(json, indent);
        yk_json_write_end_object(json);
        json->line_indent = indent;
    } else if (processor->resize == YK_IMAGE_RESIZE_EXACT) {
        write_size(json, "size", processor->resize_height, processor->resize_width);
    } else {
        write_size(json, "size", processor->height, processor->width);
    }
}

static void write_numbers(struct yk_json_writer *json, const char *key, const double *numbers,
                          int64_t count)
{
    const int32_t indent = json->line_indent;
    yk_json_write_begin_array(json, key);
    json->line_indent = 0;
    for (int64_t i = 0; i < count; i++) {
        yk_json_write_number(json, NULL, numbers[i]);
    }
    yk_json_write_end_array(json);
    json->line_indent = indent;
}

yk_status yk_image_processor_to_json(const struct yk_image_processor *processor,
                                     struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    json.line_indent = 2;
    yk_json_write_string(&json, "image_processor_type", class_of(processor));
    write_resize(&json, processor);
    yk_json_write_bool(&json, "do_center_crop", processor->center_crop);
    if (processor->center_crop) {
        write_size(&json, "crop_size", processor->height, processor->width);
    }
    yk_json_write_bool(&json, "do_rescale", true);
    yk_json_write_number(&json, "rescale_factor", processor->rescale);
    yk_json_write_bool(&json, "do_normalize", true);
    write_numbers(&json, "image_mean", processor->mean, processor->channels);
    write_numbers(&json, "image_std", processor->std, processor->channels);
    yk_json_write_newline(&json, 0);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}
