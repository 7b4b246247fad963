#include "base/json_write.h"
#include "base/text_table.h"
#include "base/units.h"
#include "cli/options/command.h"
#include "cli/options/plan_options.h"
#include "job/models/model_summary.h"
#include "report/label.h"

#include <inttypes.h>
#include <string.h>

/* Operations, not operations per second: "1.25TFLOP". */
static const char *operations(double count, char out[YK_UNITS_BUFFER_SIZE])
{
    if (count == 0) {
        return "–";
    }
    yk_units_format(count, YK_UNIT_FLOPS, out);
    out[strlen(out) - 1] = '\0';
    return out;
}

/* Blocks with one shape share a row, wherever they are in the model. */
static bool share_row(const struct yk_layer *a, const struct yk_layer *b)
{
    return a->role == YK_LAYER_ROLE_BLOCK && b->role == YK_LAYER_ROLE_BLOCK &&
           strcmp(a->shape, b->shape) == 0;
}

/* The layers that share a row with layer `first`, which is the first of them. */
struct row {
    int32_t first;
    int32_t second; /* only if count > 1 */
    int32_t last;
    int32_t count; /* 0 means: an earlier layer has the row */
};

static struct row find_row(const struct yk_model *model, int32_t first)
{
    const struct yk_layer *layers = model->layers;
    struct row row = {.first = first, .last = first, .count = 1};
    for (int32_t i = 0; i < first; i++) {
        if (share_row(&layers[i], &layers[first])) {
            return (struct row){0};
        }
    }
    for (int32_t i = first + 1; i < model->layer_count; i++) {
        if (share_row(&layers[first], &layers[i])) {
            row.second = row.count == 1 ? i : row.second;
            row.last = i;
            row.count++;
        }
    }
    return row;
}

static double vector_flops(const struct yk_model_summary_layer_cost *cost)
{
    return cost->forward_vector_flops + cost->backward_vector_flops;
}

static void add_cells(struct yk_text_table *table, int64_t parameters, int64_t trainable,
                      const struct yk_model_summary_layer_cost *cost)
{
    char word[YK_UNITS_BUFFER_SIZE];
    yk_text_table_add_cell(table, "%s", YK_LABEL_COUNT(parameters));
    yk_text_table_add_cell(table, "%s", YK_LABEL_COUNT(trainable));
    yk_text_table_add_cell(table, "%s", operations(cost->forward_flops, word));
    yk_text_table_add_cell(table, "%s", operations(cost->backward_flops, word));
    yk_text_table_add_cell(table, "%s",
                           YK_UNITS_FORMAT_TEMPORARY(cost->saved_bytes, YK_UNIT_BYTES));
}

/* "layer 0–31", or "layer 0, 2 … 24" if other layers are between them. */
static void add_name(struct yk_text_table *table, const struct yk_model *model,
                     const struct row *row)
{
    const struct yk_layer *layers = model->layers;
    const bool adjacent = row->last - row->first + 1 == row->count;
    if (row->count == 1) {
        yk_text_table_add_cell(table, "%s", layers[row->first].name);
    } else if (adjacent) {
        yk_text_table_add_cell(table, "%s–%d", layers[row->first].name, layers[row->last].block);
    } else {
        yk_text_table_add_cell(table, "%s, %d%s%d", layers[row->first].name,
                               layers[row->second].block, " … ", layers[row->last].block);
    }
}

static void add_row(struct yk_text_table *table, const struct yk_model_summary_result *result,
                    const struct row *row)
{
    const struct yk_layer *layer = &result->model->layers[row->first];
    const struct yk_model_summary_layer_cost *cost = &result->layers[row->first];
    add_name(table, result->model, row);
    if (row->count > 1) {
        yk_text_table_add_cell(table, "×%d", row->count);
    } else {
        yk_text_table_add_cell(table, "%s", "");
    }
    add_cells(table, layer->parameters, layer->trainable, cost);
    yk_text_table_add_cell(table, "%s",
                           cost->sent_bytes > 0
                               ? YK_UNITS_FORMAT_TEMPORARY((double)cost->sent_bytes, YK_UNIT_BYTES)
                               : "–");
}

static yk_status add_table(const struct yk_model_summary_result *result, struct yk_text *out)
{
    const struct yk_model *model = result->model;
    static const struct yk_text_table_column columns[] = {
        {"layer", YK_TEXT_TABLE_LEFT},       {"", YK_TEXT_TABLE_RIGHT},
        {"parameters", YK_TEXT_TABLE_RIGHT}, {"trainable", YK_TEXT_TABLE_RIGHT},
        {"forward", YK_TEXT_TABLE_RIGHT},    {"backward", YK_TEXT_TABLE_RIGHT},
        {"saved", YK_TEXT_TABLE_RIGHT},      {"sent", YK_TEXT_TABLE_RIGHT},
    };
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = 0; i < model->layer_count; i++) {
        const struct row row = find_row(model, i);
        if (row.count > 0) {
            add_row(table, result, &row);
        }
    }
    yk_text_table_add_cell(table, "total");
    yk_text_table_add_cell(table, "%s", "");
    add_cells(table, model->parameters, model->trainable, &result->total);
    yk_text_table_add_cell(table, "%s", "");
    return yk_text_table_write_and_destroy(table, out);
}

/* "gpt2: 5 × 1,024 tokens, bf16, LoRA of rank 32 on NF4 weights, blocks recomputed". */
static void add_heading(const struct yk_model *model, struct yk_text *out)
{
    const struct yk_workload *workload = &model->workload;
    yk_text_addf(out, "%s: ", model->config->name);
    if (yk_model_config_reads_images(model->config)) {
        yk_workload_write_batch(model->config, workload, out);
    } else {
        yk_text_addf(out, "%s × %s tokens", YK_LABEL_COUNT(workload->batch),
                     YK_LABEL_COUNT(workload->sequence));
    }
    if (workload->target_sequence > 0) {
        yk_text_addf(out, " to %s", YK_LABEL_COUNT(workload->target_sequence));
    }
    yk_text_addf(out, ", %s", yk_precision_name(workload->precision));
    if (workload->lora_rank > 0) {
        yk_text_addf(out, ", LoRA of rank %" PRId64 " on %s weights", workload->lora_rank,
                     workload->nf4 ? "NF4" : "frozen");
    }
    yk_text_add(out, workload->recompute ? ", blocks recomputed\n\n" : "\n\n");
}

static void add_sentences(const struct yk_model_summary_result *result, struct yk_text *out)
{
    const struct yk_model *model = result->model;
    const struct yk_model_summary_layer_cost *total = &result->total;
    char first[YK_UNITS_BUFFER_SIZE];
    char second[YK_UNITS_BUFFER_SIZE];
    yk_text_addf(out, "\n%s parameters", YK_LABEL_COUNT(model->parameters));
    if (model->active < model->parameters) {
        yk_text_addf(out, ", %s of them active for a token", YK_LABEL_COUNT(model->active));
    }
    if (model->trainable < model->parameters) {
        yk_text_addf(out, ": %s frozen and %s in adapters",
                     YK_LABEL_COUNT(model->parameters - model->trainable),
                     YK_LABEL_COUNT(model->trainable));
    }
    for (int32_t i = 0; i < model->layer_count; i++) {
        const struct yk_layer *layer = &model->layers[i];
        if (layer->shares_weights_of != YK_LAYER_NONE) {
            yk_text_addf(out, "; %s uses the weights of %s", layer->name,
                         model->layers[layer->shares_weights_of].name);
        }
    }
    if (model->config->not_trained) {
        yk_text_addf(out, ".\nThe model can be planned, but not trained yet, because of %s",
                     model->config->not_trained);
    }
    yk_text_addf(out, ".\nA step takes %s and %s of vector work beside.\n",
                 operations(total->forward_flops + total->backward_flops, first),
                 operations(vector_flops(total), second));
    yk_text_add(out, "A product (m, k) × (k, n) is 2mkn operations. ");
    yk_text_add(out, result->causal
                         ? "Causal attention is halved: T(T+1)/2 pairs of positions count.\n"
                         : "Attention looks at all T·T pairs of positions.\n");
    yk_text_add(out, "Rows of several layers show one of them; sent is what goes to the next layer "
                     "and, as a gradient, comes back.\n");
}

static yk_status write_text(const struct yk_model_summary_result *result, struct yk_text *out)
{
    add_heading(result->model, out);
    YK_TRY(add_table(result, out));
    add_sentences(result, out);
    return yk_text_status(out);
}

static void write_layer(const struct yk_model_summary_result *result, int32_t number,
                        struct yk_json_writer *json)
{
    const struct yk_layer *layer = &result->model->layers[number];
    const struct yk_model_summary_layer_cost *cost = &result->layers[number];
    yk_json_write_begin_object_on_new_line(json, 2);
    yk_json_write_string(json, "name", layer->name);
    yk_json_write_string(json, "kind", layer->kind);
    yk_json_write_string(json, "shape", layer->shape);
    yk_json_write_begin_array(json, "modules");
    for (int32_t i = 0; i < layer->module_count; i++) {
        yk_json_write_string(json, NULL, layer->modules[i]);
    }
    yk_json_write_end_array(json);
    if (layer->shares_weights_of != YK_LAYER_NONE) {
        yk_json_write_string(json, "shares", result->model->layers[layer->shares_weights_of].name);
    }
    yk_json_write_integer(json, "parameters", layer->parameters);
    yk_json_write_integer(json, "trainable", layer->trainable);
    yk_json_write_integer(json, "quantised", layer->quantised);
    yk_json_write_integer(json, "full_width", layer->full_width);
    yk_json_write_number(json, "forward_flops", cost->forward_flops);
    yk_json_write_number(json, "backward_flops", cost->backward_flops);
    yk_json_write_number(json, "forward_vector_flops", cost->forward_vector_flops);
    yk_json_write_number(json, "backward_vector_flops", cost->backward_vector_flops);
    yk_json_write_integer(json, "saved_bytes", layer->saved_bytes);
    yk_json_write_integer(json, "workspace_bytes", layer->workspace_bytes);
    yk_json_write_integer(json, "sent_bytes", cost->sent_bytes);
    yk_json_write_end_object(json);
}

static void write_edge(const struct yk_model *model, const struct yk_layer_edge *edge,
                       struct yk_json_writer *json)
{
    yk_json_write_begin_object_on_new_line(json, 2);
    yk_json_write_string(json, "from", model->layers[edge->from].name);
    yk_json_write_string(json, "to", model->layers[edge->to].name);
    yk_json_write_integer(json, "bytes", edge->bytes);
    yk_json_write_end_object(json);
}

static void write_workload(const struct yk_workload *workload, struct yk_json_writer *json)
{
    yk_json_write_integer(json, "batch", workload->batch);
    yk_json_write_integer(json, "sequence", workload->sequence);
    if (workload->target_sequence > 0) {
        yk_json_write_integer(json, "target_sequence", workload->target_sequence);
    }
    yk_json_write_string(json, "precision", yk_precision_name(workload->precision));
    yk_json_write_integer(json, "lora", workload->lora_rank);
    yk_json_write_bool(json, "nf4", workload->nf4);
    yk_json_write_bool(json, "recompute", workload->recompute);
}

static yk_status write_json(const struct yk_model_summary_result *result, struct yk_text *out)
{
    const struct yk_model *model = result->model;
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_yoke_document(&json, "model");
    yk_json_write_string(&json, "name", model->config->name);
    yk_json_write_string(&json, "architecture", result->architecture);
    write_workload(&model->workload, &json);
    yk_json_write_newline(&json, 1);
    yk_json_write_integer(&json, "parameters", model->parameters);
    yk_json_write_integer(&json, "active", model->active);
    yk_json_write_integer(&json, "trainable", model->trainable);
    yk_json_write_number(&json, "forward_flops", result->total.forward_flops);
    yk_json_write_number(&json, "backward_flops", result->total.backward_flops);
    yk_json_write_number(&json, "vector_flops", vector_flops(&result->total));
    yk_json_write_number(&json, "saved_bytes", result->total.saved_bytes);
    yk_json_write_newline(&json, 1);
    yk_json_write_begin_array(&json, "layers");
    for (int32_t i = 0; i < model->layer_count; i++) {
        write_layer(result, i, &json);
    }
    yk_json_write_end_array(&json);
    yk_json_write_newline(&json, 1);
    yk_json_write_begin_array(&json, "edges");
    for (int32_t i = 0; i < model->edge_count; i++) {
        write_edge(model, &model->edges[i], &json);
    }
    yk_json_write_end_array(&json);
    return yk_json_write_end_yoke_document(&json);
}

struct arguments {
    struct yk_model_summary_request request;
    bool list;
    bool json;
};

static yk_status list_text(const struct yk_model_summary_result *result, struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"model", YK_TEXT_TABLE_LEFT},
        {"what it is", YK_TEXT_TABLE_LEFT},
    };
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = 0; i < result->builtin_count; i++) {
        yk_text_table_add_cell(table, "%s", result->builtins[i].name);
        yk_text_table_add_cell(table, "%s", result->builtins[i].summary);
    }
    const yk_status status = yk_text_table_write_and_destroy(table, out);
    yk_text_add(out, "\nA Hugging Face config.json of these families is a model, too: yoke model "
                     "./config.json\n");
    return status;
}

static yk_status list_json(const struct yk_model_summary_result *result, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_yoke_document(&json, "models");
    yk_json_write_begin_array(&json, "models");
    for (int32_t i = 0; i < result->builtin_count; i++) {
        yk_json_write_begin_object_on_new_line(&json, 2);
        yk_json_write_string(&json, "name", result->builtins[i].name);
        yk_json_write_string(&json, "summary", result->builtins[i].summary);
        yk_json_write_end_object(&json);
    }
    yk_json_write_end_array(&json);
    return yk_json_write_end_yoke_document(&json);
}

static yk_status write_result(const struct yk_model_summary_result *result, bool json,
                              struct yk_text *out)
{
    if (!result->model) {
        return json ? list_json(result, out) : list_text(result, out);
    }
    return json ? write_json(result, out) : write_text(result, out);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_model_summary_result result = {0};
    if (arguments->list && arguments->request.model) {
        return yk_fail(YK_ERROR_USAGE, "--list shows all models; leave out one of it and \"%s\"",
                       arguments->request.model);
    }
    yk_status status = yk_model_summary_run(&arguments->request, &result);
    YK_IF_OK(write_result(&result, arguments->json, out));
    yk_model_summary_result_free(&result);
    return status;
}

static const struct yk_option options[] = {
    YK_WORKLOAD_OPTIONS(struct arguments, request.workload),
    {YK_OPTION_ROW("list", NULL, YK_OUTPUT_OPTION_HEADING,
                   "List the built-in models; the same as no MODEL"),
     YK_OPTION_INIT_FLAG, YK_OPTION_OFFSET_OF(struct arguments, list)},
    {YK_OPTION_ROW("json", NULL, YK_OUTPUT_OPTION_HEADING,
                   "Print JSON instead of text, every layer by itself"),
     YK_OPTION_INIT_FLAG, YK_OPTION_OFFSET_OF(struct arguments, json)},
};

static const struct yk_operand operands[] = {
    {
        .placeholder = "MODEL",
        .help = "A built-in model, or a Hugging Face model: its folder or its config.json",
        YK_OPTION_OFFSET_OF(struct arguments, request.model),
    },
};

static const struct yk_command_example examples[] = {
    {"yoke model", "List the built-in models"},
    {"yoke model gpt2 --batch 8 --seq 1024", "See what GPT-2 takes to train"},
    {"yoke model llama3-8b --batch 5 --seq 1024 --lora 32 --nf4 --recompute",
     "See what is left of it with QLoRA and recomputation"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_INPUT, "there is no such model, its config makes no sense, or it cannot take such a "
                     "batch"},
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
    YK_COMMAND_INITIALIZERS(struct arguments),
};
