#include "job/models/model.h"
#include "base/json_write.h"
#include "base/table.h"
#include "cli/commands/model_table.h"
#include "cli/options/command.h"
#include "cli/options/plan_options.h"
#include "job/workload.h"

struct arguments {
    struct yk_model_request request;
    bool list;
    bool json;
};

static yk_status list_text(const struct yk_model_result *result, struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"model", YK_TABLE_LEFT},
        {"what it is", YK_TABLE_LEFT},
    };
    struct yk_table *table = NULL;
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = 0; i < result->builtin_count; i++) {
        yk_table_add(table, "%s", result->builtins[i].name);
        yk_table_add(table, "%s", result->builtins[i].summary);
    }
    const yk_status status = yk_table_write(table, out);
    yk_table_destroy(table);
    yk_text_add(out,
                "\nA config.json of GPT-2, Llama, Mistral, BERT or Marian is a model, too: yoke "
                "model ./config.json\n");
    return status;
}

static yk_status list_json(const struct yk_model_result *result, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_string(&json, "kind", "models");
    yk_json_write_begin_array(&json, "models");
    for (int32_t i = 0; i < result->builtin_count; i++) {
        yk_json_write_begin_row(&json, 2);
        yk_json_write_string(&json, "name", result->builtins[i].name);
        yk_json_write_string(&json, "summary", result->builtins[i].summary);
        yk_json_write_end_object(&json);
    }
    yk_json_write_end_array(&json);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}

static yk_status write_result(const struct yk_model_result *result, bool json, struct yk_text *out)
{
    if (!result->model) {
        return json ? list_json(result, out) : list_text(result, out);
    }
    return json ? yk_model_table_write_json(result, out) : yk_model_table_write_text(result, out);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_model_result result = {0};
    if (arguments->list && arguments->request.model) {
        return yk_fail(YK_ERROR_USAGE, "--list shows all models; leave out one of it and \"%s\"",
                       arguments->request.model);
    }
    yk_status status = yk_model_run(&arguments->request, &result);
    if (status == YK_OK) {
        status = write_result(&result, arguments->json, out);
    }
    yk_model_result_free(&result);
    return status;
}

static const struct yk_option options[] = {
    YK_WORKLOAD_OPTIONS(struct arguments, request.workload),
    {YK_ROW("list", NULL, YK_OUTPUT_GROUP, "List the built-in models; the same as no MODEL"),
     YK_FLAG, YK_TO(struct arguments, list)},
    {YK_ROW("json", NULL, YK_OUTPUT_GROUP, "Print JSON instead of text, every layer by itself"),
     YK_FLAG, YK_TO(struct arguments, json)},
};

static const struct yk_operand operands[] = {
    {
        .placeholder = "MODEL",
        .help = "A built-in model, or the config.json of a Hugging Face model",
        YK_TO(struct arguments, request.model),
    },
};

static const struct yk_example examples[] = {
    {"yoke model", "List the built-in models"},
    {"yoke model gpt2 --batch 8 --seq 1024", "See what GPT-2 takes to train"},
    {"yoke model llama3-8b --batch 5 --seq 1024 --lora 32 --nf4 --recompute",
     "See what is left of it with QLoRA and recomputation"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_INPUT, "there is no such model, its config makes no sense, or it cannot take such a "
                     "batch"},
    {0, NULL},
};

const struct yk_command yk_command_model = {
    .name = "model",
    .summary = "show what the layers of a model take to train",
    .description =
        "Prints a table of the model's layers: parameters, operations forward and backward, bytes "
        "saved in between and bytes sent to the next layer. Operations are those of matrix "
        "products "
        "and attention; what is saved is what a runtime with flash attention needs. models.md, in "
        "yoke's documentation, tells how everything is counted.",
    YK_COMMAND_PARTS(struct arguments),
};
