#include "model/model.h"
#include "base/table.h"
#include "cli/commands/model_table.h"
#include "cli/options/command.h"
#include "cli/options/plan_rows.h"
#include "job/workload.h"
#include "model/config.h"

struct arguments {
    const char *model;
    struct yk_workload_request workload;
    bool list;
    bool json;
};

static yk_status list_text(struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"model", YK_TABLE_LEFT},
        {"what it is", YK_TABLE_LEFT},
    };
    struct yk_table *table = NULL;
    const char *name = NULL;
    const char *summary = NULL;
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (size_t i = 0; yk_model_config_builtin(i, &name, &summary); i++) {
        yk_table_add(table, "%s", name);
        yk_table_add(table, "%s", summary);
    }
    const yk_status status = yk_table_write(table, out);
    yk_table_destroy(table);
    yk_text_add(out,
                "\nA config.json of GPT-2, Llama, Mistral, BERT or Marian is a model, too: yoke "
                "model ./config.json\n");
    return status;
}

static yk_status list_json(struct yk_text *out)
{
    const char *name = NULL;
    const char *summary = NULL;
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"models\",\"models\":[");
    for (size_t i = 0; yk_model_config_builtin(i, &name, &summary); i++) {
        yk_text_add(out, i > 0 ? ",\n  {\"name\":" : "\n  {\"name\":");
        yk_text_add_json(out, name);
        yk_text_add(out, ",\"summary\":");
        yk_text_add_json(out, summary);
        yk_text_add(out, "}");
    }
    yk_text_add(out, "]}\n");
    return yk_text_status(out);
}

static yk_status describe(const struct arguments *arguments, struct yk_arena *arena,
                          struct yk_text *out)
{
    const struct yk_model_config *config = NULL;
    const struct yk_model *model = NULL;
    struct yk_workload workload = {0};
    YK_TRY(yk_model_config_open(arguments->model, arena, &config));
    YK_TRY(yk_workload_read(&arguments->workload, config, &workload));
    YK_TRY(yk_model_describe(config, &workload, arena, &model));
    return arguments->json ? yk_model_table_write_json(model, out)
                           : yk_model_table_write_text(model, out);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    if (arguments->list && arguments->model) {
        return yk_fail(YK_ERROR_USAGE, "--list shows all models; leave out one of it and \"%s\"",
                       arguments->model);
    }
    if (!arguments->model) {
        return arguments->json ? list_json(out) : list_text(out);
    }
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = describe(arguments, arena, out);
    yk_arena_destroy(arena);
    return status;
}

#define OUTPUT "Output options"

static const struct yk_option options[] = {
    YK_WORKLOAD_OPTIONS(struct arguments, workload),
    {
        .name = "list",
        .help = "List the built-in models; the same as no MODEL",
        .group = OUTPUT,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, list),
    },
    {
        .name = "json",
        .help = "Print JSON instead of text, every layer by itself",
        .group = OUTPUT,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, json),
    },
};

static const struct yk_operand operands[] = {
    {
        .placeholder = "MODEL",
        .help = "A built-in model, or the config.json of a Hugging Face model",
        .offset = offsetof(struct arguments, model),
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
    .examples = examples,
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands = operands,
    .operand_count = sizeof operands / sizeof operands[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
