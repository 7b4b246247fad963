/* A cluster as a file: everything is said, so that it means the same whatever the datasheets say.
 */
#include "base/number.h"
#include "base/text.h"
#include "base/units.h"
#include "cluster/cluster.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SHORT_ENOUGH = 8, /* digits that a person still likes to read */
    AMOUNT_SIZE = YK_NUMBER_SIZE + 8,
};

struct scale {
    const char *suffix;
    double factor;
};

/* The last one of each has the factor 1, and so always reads back as it was. */
static const struct scale scales[][5] = {
    [YK_UNIT_BYTES] = {{"TiB", 1099511627776.0},
                       {"GiB", 1073741824.0},
                       {"MiB", 1048576.0},
                       {"GB", 1e9},
                       {"B", 1}},
    [YK_UNIT_BYTES_PER_S] =
        {{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"KB/s", 1e3}, {"B/s", 1}},
    [YK_UNIT_SECONDS] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"s", 1}},
    [YK_UNIT_FLOPS] =
        {{"PFLOPS", 1e15}, {"TFLOPS", 1e12}, {"GFLOPS", 1e9}, {"MFLOPS", 1e6}, {"FLOPS", 1}},
};

/* Whether `word`, if short, is read as exactly `value`. */
static bool reads_back(const char *word, enum yk_unit unit, double value)
{
    double again = 0;
    return yk_units_read(word, unit, &again) == YK_OK && again == value;
}

/* "24GiB": the first scale on which the number is short, not below 1, and reads back the same. */
static void add_amount(struct yk_text *out, double value, enum yk_unit unit)
{
    enum {
        LAST = sizeof scales[0] / sizeof scales[0][0] - 1
    };
    char word[AMOUNT_SIZE];
    for (size_t i = 0; i <= LAST; i++) {
        const struct scale *scale = &scales[unit][i];
        char digits[YK_NUMBER_SIZE];
        yk_number_format(value / scale->factor, digits);
        (void)snprintf(word, sizeof word, "%s%s", digits, scale->suffix);
        if (i == LAST || (strlen(digits) <= SHORT_ENOUGH && value >= scale->factor &&
                          reads_back(word, unit, value))) {
            break;
        }
    }
    yk_text_addf(out, "\"%s\"", word);
}

static void add_member(struct yk_text *out, const char *key, double value, enum yk_unit unit)
{
    yk_text_addf(out, ", \"%s\": ", key);
    add_amount(out, value, unit);
}

static void add_text_member(struct yk_text *out, const char *key, const char *words)
{
    if (words) {
        yk_text_addf(out, ", \"%s\": ", key);
        yk_text_add_json(out, words);
    }
}

static void add_rates(struct yk_text *out, const struct yk_device *device)
{
    yk_text_add(out, ",\n   \"rates\": {\"matrix\": {");
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        yk_text_addf(out, "%s\"%s\": ", i > 0 ? ", " : "", yk_precision_name((enum yk_precision)i));
        add_amount(out, device->matrix_flops[i], YK_UNIT_FLOPS);
    }
    yk_text_add(out, "}");
    add_member(out, "vector", device->vector_flops, YK_UNIT_FLOPS);
    yk_text_add(out, "}");
}

static void add_measured(struct yk_text *out, const struct yk_measured_layer *measured)
{
    yk_text_add(out, "\n    {\"layer\": ");
    yk_text_add_json(out, measured->layer);
    add_text_member(out, "model", measured->model);
    add_text_member(out, "precision", measured->precision);
    if (measured->sequence > 0) {
        yk_text_addf(out, ", \"sequence\": %lld", (long long)measured->sequence);
    }
    yk_text_addf(out, ", \"batch\": %lld", (long long)measured->batch);
    add_member(out, "forward", measured->forward_s, YK_UNIT_SECONDS);
    add_member(out, "backward", measured->backward_s, YK_UNIT_SECONDS);
    if (!isnan(measured->update_s)) {
        add_member(out, "update", measured->update_s, YK_UNIT_SECONDS);
    }
    yk_text_add(out, "}");
}

static void add_device(struct yk_text *out, const struct yk_device *device)
{
    yk_text_add(out, "\n  {\"name\": ");
    yk_text_add_json(out, device->name);
    add_text_member(out, "type", device->type);
    if (device->part != 1) {
        yk_text_add(out, ", \"part\": ");
        yk_text_add_number(out, device->part);
    }
    if (device->cores > 0) {
        yk_text_addf(out, ", \"cores\": %d", (int)device->cores);
    }
    yk_text_addf(out, ", \"node\": %d", (int)device->node);
    add_member(out, "memory", device->memory_bytes, YK_UNIT_BYTES);
    add_member(out, "memory_bandwidth", device->memory_bytes_per_s, YK_UNIT_BYTES_PER_S);
    add_rates(out, device);
    for (int32_t i = 0; i < device->measured_count; i++) {
        yk_text_add(out, i > 0 ? "," : ",\n   \"measured\": [");
        add_measured(out, &device->measured[i]);
    }
    yk_text_add(out, device->measured_count > 0 ? "]}" : "}");
}

static bool is_same(const struct yk_link *a, const struct yk_link *b)
{
    return a->latency_s == b->latency_s && a->bytes_per_s == b->bytes_per_s;
}

static void add_link(struct yk_text *out, const struct yk_link *link)
{
    yk_text_add(out, "\"bandwidth\": ");
    add_amount(out, link->bytes_per_s, YK_UNIT_BYTES_PER_S);
    add_member(out, "latency", link->latency_s, YK_UNIT_SECONDS);
    yk_text_add(out, "}");
}

/* The link of the first and the last device, often that between nodes, stands for all alike. */
static void add_links(struct yk_text *out, const struct yk_cluster *cluster)
{
    const int32_t count = cluster->device_count;
    const struct yk_link *common = yk_cluster_link(cluster, 0, count - 1);
    struct yk_text others = {0};
    for (int32_t a = 0; a < count; a++) {
        for (int32_t b = a + 1; b < count; b++) {
            const struct yk_link *link = yk_cluster_link(cluster, a, b);
            if (!is_same(link, common)) {
                yk_text_add(&others, ",\n  {\"between\": [");
                yk_text_add_json(&others, cluster->devices[a].name);
                yk_text_add(&others, ", ");
                yk_text_add_json(&others, cluster->devices[b].name);
                yk_text_add(&others, "], ");
                add_link(&others, link);
            }
        }
    }
    const bool uniform = others.length == 0;
    out->failed |= others.failed;
    yk_text_add(out, uniform ? ",\n \"links\": {" : ",\n \"links\": [\n  {");
    add_link(out, common);
    yk_text_add_bytes(out, yk_text_chars(&others), others.length);
    yk_text_add(out, uniform ? "" : "]");
    yk_text_free(&others);
}

yk_status yk_cluster_write(const struct yk_cluster *cluster, struct yk_text *out)
{
    yk_text_add(out, "{\"yoke\": 1, \"kind\": \"cluster\"");
    add_text_member(out, "comment", cluster->assumption);
    if (cluster->host_memory_bytes > 0) {
        add_member(out, "host_memory", cluster->host_memory_bytes, YK_UNIT_BYTES);
    }
    yk_text_add(out, ",\n \"devices\": [");
    for (int32_t i = 0; i < cluster->device_count; i++) {
        yk_text_add(out, i > 0 ? "," : "");
        add_device(out, &cluster->devices[i]);
    }
    yk_text_add(out, "]");
    if (cluster->device_count > 1) {
        add_links(out, cluster);
    }
    yk_text_add(out, "}\n");
    return yk_text_status(out);
}
