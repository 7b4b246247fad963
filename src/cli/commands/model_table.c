#include "cli/commands/model_table.h"

#include "base/table.h"
#include "base/units.h"
#include "model/architecture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    NUMBER_SIZE = 32
};

struct sums {
    double forward; /* products and attention */
    double backward;
    double vector; /* forward and backward */
    double saved_bytes;
};

/* 124439808 as "124,439,808". */
static const char *grouped(int64_t number, char out[NUMBER_SIZE])
{
    char digits[NUMBER_SIZE];
    const int length = snprintf(digits, sizeof digits, "%" PRId64, number);
    char *end = out;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *end++ = ',';
        }
        *end++ = digits[i];
    }
    *end = '\0';
    return out;
}

/* Operations, not operations per second: "1.25TFLOP". */
static const char *operations(double count, char out[YK_UNITS_SIZE])
{
    if (count == 0) {
        return "–";
    }
    yk_units_format(count, YK_UNIT_FLOPS, out);
    out[strlen(out) - 1] = '\0';
    return out;
}

static const char *bytes(double count, char out[YK_UNITS_SIZE])
{
    yk_units_format(count, YK_UNIT_BYTES, out);
    return out;
}

/* Products and attention: what is called a model's operations. */
static double products(const struct yk_work_list *list)
{
    return yk_work_operations(list, YK_WORK_MATRIX) + yk_work_operations(list, YK_WORK_ATTENTION);
}

static double vector(const struct yk_work_list *list)
{
    return yk_work_operations(list, YK_WORK_VECTOR);
}

/* What it sends to one layer; several get the same. */
static int64_t sent_bytes(const struct yk_model *model, int32_t layer)
{
    int64_t most = 0;
    for (int32_t i = 0; i < model->edge_count; i++) {
        if (model->edges[i].from == layer && model->edges[i].bytes > most) {
            most = model->edges[i].bytes;
        }
    }
    return most;
}

static struct sums sum_up(const struct yk_model *model)
{
    struct sums sums = {0};
    for (int32_t i = 0; i < model->layer_count; i++) {
        const struct yk_layer *layer = &model->layers[i];
        sums.forward += products(&layer->forward);
        sums.backward += products(&layer->backward);
        sums.vector += vector(&layer->forward) + vector(&layer->backward);
        sums.saved_bytes += (double)layer->saved_bytes;
    }
    return sums;
}

/* How many layers from `first` on are the same blocks: those share their works. */
static int32_t run_length(const struct yk_model *model, int32_t first)
{
    int32_t count = 1;
    while (first + count < model->layer_count &&
           model->layers[first + count].forward.items == model->layers[first].forward.items) {
        count++;
    }
    return count;
}

static void add_cells(struct yk_table *table, int64_t parameters, int64_t trainable, double forward,
                      double backward, double saved)
{
    char word[YK_UNITS_SIZE];
    yk_table_add(table, "%s", grouped(parameters, word));
    yk_table_add(table, "%s", grouped(trainable, word));
    yk_table_add(table, "%s", operations(forward, word));
    yk_table_add(table, "%s", operations(backward, word));
    yk_table_add(table, "%s", bytes(saved, word));
}

static void add_row(struct yk_table *table, const struct yk_model *model, int32_t first,
                    int32_t count)
{
    const struct yk_layer *layer = &model->layers[first];
    char word[YK_UNITS_SIZE];
    if (count > 1) {
        yk_table_add(table, "%s–%d", layer->name, count - 1);
        yk_table_add(table, "×%d", count);
    } else {
        yk_table_add(table, "%s", layer->name);
        yk_table_add(table, "%s", "");
    }
    add_cells(table, layer->parameters, layer->trainable, products(&layer->forward),
              products(&layer->backward), (double)layer->saved_bytes);
    const int64_t sent = sent_bytes(model, first);
    yk_table_add(table, "%s", sent > 0 ? bytes((double)sent, word) : "–");
}

static yk_status add_table(const struct yk_model *model, const struct sums *sums,
                           struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"layer", YK_TABLE_LEFT},      {"", YK_TABLE_RIGHT},        {"parameters", YK_TABLE_RIGHT},
        {"trainable", YK_TABLE_RIGHT}, {"forward", YK_TABLE_RIGHT}, {"backward", YK_TABLE_RIGHT},
        {"saved", YK_TABLE_RIGHT},     {"sent", YK_TABLE_RIGHT},
    };
    struct yk_table *table = NULL;
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t first = 0; first < model->layer_count;) {
        const int32_t count = run_length(model, first);
        add_row(table, model, first, count);
        first += count;
    }
    yk_table_add(table, "total");
    yk_table_add(table, "%s", "");
    add_cells(table, model->parameters, model->trainable, sums->forward, sums->backward,
              sums->saved_bytes);
    yk_table_add(table, "%s", "");
    const yk_status status = yk_table_write(table, out);
    yk_table_destroy(table);
    return status;
}

/* "gpt2, 5 samples of 1,024 tokens, bf16, LoRA of rank 32 beside NF4, recomputed". */
static void add_heading(const struct yk_model *model, struct yk_text *out)
{
    const struct yk_workload *workload = &model->workload;
    char batch[NUMBER_SIZE];
    char length[NUMBER_SIZE];
    yk_text_addf(out, "%s: %s × %s tokens", model->config->name, grouped(workload->batch, batch),
                 grouped(workload->sequence, length));
    if (workload->target_sequence > 0) {
        yk_text_addf(out, " to %s", grouped(workload->target_sequence, length));
    }
    yk_text_addf(out, ", %s", yk_precision_name(workload->precision));
    if (workload->lora_rank > 0) {
        yk_text_addf(out, ", LoRA of rank %" PRId64 " on %s weights", workload->lora_rank,
                     workload->nf4 ? "NF4" : "frozen");
    }
    yk_text_add(out, workload->recompute ? ", blocks recomputed\n\n" : "\n\n");
}

static bool is_causal(const struct yk_model *model)
{
    return model->config->architecture != &yk_architecture_bert;
}

static void add_sentences(const struct yk_model *model, const struct sums *sums,
                          struct yk_text *out)
{
    char first[YK_UNITS_SIZE];
    char second[YK_UNITS_SIZE];
    yk_text_addf(out, "\n%s parameters", grouped(model->parameters, first));
    if (model->trainable < model->parameters) {
        yk_text_addf(out, ": %s frozen", grouped(model->parameters - model->trainable, first));
        yk_text_addf(out, " and %s in adapters", grouped(model->trainable, first));
    }
    for (int32_t i = 0; i < model->layer_count; i++) {
        const struct yk_layer *layer = &model->layers[i];
        if (layer->shares != YK_LAYER_NONE) {
            yk_text_addf(out, "; %s uses the weights of %s", layer->name,
                         model->layers[layer->shares].name);
        }
    }
    yk_text_addf(out, ".\nA step takes %s", operations(sums->forward + sums->backward, first));
    yk_text_addf(out, " and %s of vector work beside.\n", operations(sums->vector, second));
    yk_text_add(out, "A product (m, k) × (k, n) is 2mkn operations. ");
    yk_text_add(out, is_causal(model)
                         ? "Causal attention is halved: T(T+1)/2 pairs of positions count.\n"
                         : "Attention looks at all T·T pairs of positions.\n");
    yk_text_add(out, "Rows of several layers show one of them; sent is what goes to the next layer "
                     "and, as a gradient, comes back.\n");
}

yk_status yk_model_table_write_text(const struct yk_model *model, struct yk_text *out)
{
    const struct sums sums = sum_up(model);
    add_heading(model, out);
    YK_TRY(add_table(model, &sums, out));
    add_sentences(model, &sums, out);
    return yk_text_status(out);
}

static void add_text_member(struct yk_text *out, const char *key, const char *words)
{
    yk_text_addf(out, ",\"%s\":", key);
    yk_text_add_json(out, words);
}

static void add_integer_member(struct yk_text *out, const char *key, int64_t value)
{
    yk_text_addf(out, ",\"%s\":%" PRId64, key, value);
}

static void add_number_member(struct yk_text *out, const char *key, double value)
{
    yk_text_addf(out, ",\"%s\":", key);
    yk_text_add_number(out, value);
}

static void add_flag_member(struct yk_text *out, const char *key, bool value)
{
    yk_text_addf(out, ",\"%s\":%s", key, value ? "true" : "false");
}

static void add_modules(const struct yk_layer *layer, struct yk_text *out)
{
    yk_text_add(out, ",\"modules\":[");
    for (int32_t i = 0; i < layer->module_count; i++) {
        yk_text_add(out, i > 0 ? "," : "");
        yk_text_add_json(out, layer->modules[i]);
    }
    yk_text_add(out, "]");
}

static void add_layer(const struct yk_model *model, int32_t number, struct yk_text *out)
{
    const struct yk_layer *layer = &model->layers[number];
    yk_text_add(out, number > 0 ? ",\n  {\"name\":" : "\n  {\"name\":");
    yk_text_add_json(out, layer->name);
    add_text_member(out, "kind", layer->kind);
    add_text_member(out, "shape", layer->shape);
    add_modules(layer, out);
    if (layer->shares != YK_LAYER_NONE) {
        add_text_member(out, "shares", model->layers[layer->shares].name);
    }
    add_integer_member(out, "parameters", layer->parameters);
    add_integer_member(out, "trainable", layer->trainable);
    add_integer_member(out, "quantised", layer->quantised);
    add_integer_member(out, "full_width", layer->full_width);
    add_number_member(out, "forward_flops", products(&layer->forward));
    add_number_member(out, "backward_flops", products(&layer->backward));
    add_number_member(out, "forward_vector_flops", vector(&layer->forward));
    add_number_member(out, "backward_vector_flops", vector(&layer->backward));
    add_integer_member(out, "saved_bytes", layer->saved_bytes);
    add_integer_member(out, "workspace_bytes", layer->workspace_bytes);
    add_integer_member(out, "sent_bytes", sent_bytes(model, number));
    yk_text_add(out, "}");
}

static void add_edges(const struct yk_model *model, struct yk_text *out)
{
    for (int32_t i = 0; i < model->edge_count; i++) {
        const struct yk_layer_edge *edge = &model->edges[i];
        yk_text_add(out, i > 0 ? ",\n  {\"from\":" : "\n  {\"from\":");
        yk_text_add_json(out, model->layers[edge->from].name);
        add_text_member(out, "to", model->layers[edge->to].name);
        add_integer_member(out, "bytes", edge->bytes);
        yk_text_add(out, "}");
    }
}

static void add_workload(const struct yk_workload *workload, struct yk_text *out)
{
    add_integer_member(out, "batch", workload->batch);
    add_integer_member(out, "sequence", workload->sequence);
    if (workload->target_sequence > 0) {
        add_integer_member(out, "target_sequence", workload->target_sequence);
    }
    add_text_member(out, "precision", yk_precision_name(workload->precision));
    add_integer_member(out, "lora", workload->lora_rank);
    add_flag_member(out, "nf4", workload->nf4);
    add_flag_member(out, "recompute", workload->recompute);
}

yk_status yk_model_table_write_json(const struct yk_model *model, struct yk_text *out)
{
    const struct sums sums = sum_up(model);
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"model\"");
    add_text_member(out, "name", model->config->name);
    add_text_member(out, "architecture", model->config->architecture->name);
    add_workload(&model->workload, out);
    yk_text_add(out, ",\n ");
    yk_text_addf(out, "\"parameters\":%" PRId64, model->parameters);
    add_integer_member(out, "trainable", model->trainable);
    add_number_member(out, "forward_flops", sums.forward);
    add_number_member(out, "backward_flops", sums.backward);
    add_number_member(out, "vector_flops", sums.vector);
    add_number_member(out, "saved_bytes", sums.saved_bytes);
    yk_text_add(out, ",\n \"layers\":[");
    for (int32_t i = 0; i < model->layer_count; i++) {
        add_layer(model, i, out);
    }
    yk_text_add(out, "],\n \"edges\":[");
    add_edges(model, out);
    yk_text_add(out, "]}\n");
    return yk_text_status(out);
}
