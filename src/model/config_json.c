#include "model/config.h"

#include "base/json_write.h"
#include "model/architecture.h"
#include "model/config_blocks.h"
#include "model/config_rope.h"

static const char *torch_name(enum yk_precision dtype)
{
    return dtype == YK_PRECISION_FP16   ? "float16"
           : dtype == YK_PRECISION_BF16 ? "bfloat16"
                                        : "float32";
}

static void write_id(struct yk_json_writer *json, const char *key, int64_t id)
{
    if (id < 0) {
        yk_json_write_null(json, key);
    } else {
        yk_json_write_integer(json, key, id);
    }
}

static void write_ids(struct yk_json_writer *json, const struct yk_special_token_ids *ids)
{
    static const char end_key[] = "eos_token_id";
    const int32_t indent = json->line_indent;
    write_id(json, "bos_token_id", ids->begin);
    if (ids->more_end_count > 0) {
        yk_json_write_begin_array(json, end_key);
        json->line_indent = 0;
        yk_json_write_integer(json, NULL, ids->end);
        for (int32_t i = 0; i < ids->more_end_count; i++) {
            yk_json_write_integer(json, NULL, ids->more_ends[i]);
        }
        yk_json_write_end_array(json);
        json->line_indent = indent;
    } else {
        write_id(json, end_key, ids->end);
    }
    write_id(json, "pad_token_id", ids->pad);
}

/* The class that has the heads of the model. In families with several, the first has the head for
 * masked tokens, the second has none, and the third has also a pooler and its head. */
static const char *class_of(const struct yk_model_config *config)
{
    const char *const *classes = config->architecture->classes;
    if (!config->bidirectional || config->classifier) {
        return classes[0];
    }
    return config->masked_head ? classes[config->pooler ? 2 : 0] : classes[1];
}

static void write_class(struct yk_json_writer *json, const char *name)
{
    yk_json_write_begin_array(json, "architectures");
    yk_json_write_newline(json, 4);
    yk_json_write_string(json, NULL, name);
    yk_json_write_newline(json, 2);
    yk_json_write_end_array(json);
}

/* What describes a language model. */
static void write_text_config(struct yk_json_writer *json, const struct yk_model_config *config)
{
    const struct yk_architecture *row = config->architecture;
    yk_json_write_string(json, "model_type", yk_architecture_get_saved_family(row)->model_type);
    yk_config_fields_write(row->fields, config, json);
    if (row->activation_key) {
        yk_json_write_string(json, row->activation_key,
                             yk_config_fields_activation_name(config->activation));
    }
    yk_config_rope_write(config, json);
    yk_config_blocks_write(config, json);
    if (row->write) {
        row->write(config, json);
    }
    if (!yk_model_config_reads_images(config)) {
        write_ids(json, &config->ids);
    }
}

yk_status yk_model_config_to_json(const struct yk_model_config *config, enum yk_precision dtype,
                                  struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    if (config->not_trained) {
        return yk_fail(YK_ERROR_INPUT, "the config of %s cannot be written: %s is not known",
                       config->name, config->not_trained);
    }
    yk_json_write_begin_object(&json, NULL);
    json.line_indent = 2;
    write_class(&json, class_of(config));
    if (config->architecture->text_family) {
        yk_json_write_string(&json, "model_type", config->architecture->model_type);
        yk_json_write_begin_object(&json, "text_config");
        json.line_indent = 4;
        write_text_config(&json, config);
        yk_json_write_newline(&json, 2);
        yk_json_write_end_object(&json);
        json.line_indent = 2;
    } else {
        write_text_config(&json, config);
    }
    yk_json_write_string(&json, "torch_dtype", torch_name(dtype));
    yk_json_write_newline(&json, 0);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}
