/* Writes all numbers of a cluster, so that the file does not depend on the datasheets. */
#include "base/json_write.h"
#include "base/number.h"
#include "base/units.h"
#include "cluster/cluster.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SHORT_ENOUGH = 8, /* digits that a person still likes to read */
    AMOUNT_SIZE = YK_NUMBER_BUFFER_SIZE + 8,
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
    return yk_units_parse(word, unit, &again) == YK_OK && again == value;
}

/* "24GiB": the first scale on which the number is short, not below 1, and reads back the same. */
static void write_amount(struct yk_json_writer *json, const char *key, double value,
                         enum yk_unit unit)
{
    enum {
        LAST = sizeof scales[0] / sizeof scales[0][0] - 1
    };
    char word[AMOUNT_SIZE];
    for (size_t i = 0; i <= LAST; i++) {
        const struct scale *scale = &scales[unit][i];
        char digits[YK_NUMBER_BUFFER_SIZE];
        yk_number_format(value / scale->factor, digits);
        (void)snprintf(word, sizeof word, "%s%s", digits, scale->suffix);
        if (i == LAST || (strlen(digits) <= SHORT_ENOUGH && value >= scale->factor &&
                          reads_back(word, unit, value))) {
            break;
        }
    }
    yk_json_write_string(json, key, word);
}

static void write_known(struct yk_json_writer *json, const char *key, const char *text)
{
    if (text) {
        yk_json_write_string(json, key, text);
    }
}

/* 0 is not known. */
static void write_count(struct yk_json_writer *json, const char *key, int64_t count)
{
    if (count > 0) {
        yk_json_write_integer(json, key, count);
    }
}

static void write_rates(struct yk_json_writer *json, const struct yk_device *device)
{
    yk_json_write_newline(json, 3);
    yk_json_write_begin_object(json, "rates");
    yk_json_write_begin_object(json, "matrix");
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        write_amount(json, yk_precision_name((enum yk_precision)i), device->matrix_flops[i],
                     YK_UNIT_FLOPS);
    }
    yk_json_write_end_object(json);
    write_amount(json, "vector", device->vector_flops, YK_UNIT_FLOPS);
    yk_json_write_end_object(json);
}

static void write_measured(struct yk_json_writer *json,
                           const struct yk_measured_layer_time *measured)
{
    yk_json_write_begin_object_on_new_line(json, 4);
    yk_json_write_string(json, "layer", measured->layer);
    write_known(json, "model", measured->model);
    write_known(json, "precision", measured->precision);
    write_count(json, "sequence", measured->sequence);
    yk_json_write_integer(json, "batch", measured->batch);
    write_amount(json, "forward", measured->forward_s, YK_UNIT_SECONDS);
    write_amount(json, "backward", measured->backward_s, YK_UNIT_SECONDS);
    if (!isnan(measured->update_s)) {
        write_amount(json, "update", measured->update_s, YK_UNIT_SECONDS);
    }
    yk_json_write_end_object(json);
}

static void write_device(struct yk_json_writer *json, const struct yk_device *device)
{
    yk_json_write_begin_object_on_new_line(json, 2);
    yk_json_write_string(json, "name", device->name);
    write_known(json, "type", device->type);
    if (device->fraction != 1) {
        yk_json_write_number(json, "part", device->fraction);
    }
    write_count(json, "cores", device->cores);
    yk_json_write_integer(json, "node", device->node);
    write_amount(json, "memory", device->memory_bytes, YK_UNIT_BYTES);
    write_amount(json, "memory_bandwidth", device->memory_bytes_per_s, YK_UNIT_BYTES_PER_S);
    write_rates(json, device);
    if (device->measured_count > 0) {
        yk_json_write_newline(json, 3);
        yk_json_write_begin_array(json, "measured");
        for (int32_t i = 0; i < device->measured_count; i++) {
            write_measured(json, &device->measured[i]);
        }
        yk_json_write_end_array(json);
    }
    yk_json_write_end_object(json);
}

static bool is_same(const struct yk_link *a, const struct yk_link *b)
{
    return a->latency_s == b->latency_s && a->bytes_per_s == b->bytes_per_s;
}

static void write_link(struct yk_json_writer *json, const struct yk_link *link)
{
    write_amount(json, "bandwidth", link->bytes_per_s, YK_UNIT_BYTES_PER_S);
    write_amount(json, "latency", link->latency_s, YK_UNIT_SECONDS);
}

static bool is_uniform(const struct yk_cluster *cluster, const struct yk_link *common)
{
    for (int32_t a = 0; a < cluster->device_count; a++) {
        for (int32_t b = a + 1; b < cluster->device_count; b++) {
            if (!is_same(yk_cluster_link_between(cluster, a, b), common)) {
                return false;
            }
        }
    }
    return true;
}

static void write_other_links(struct yk_json_writer *json, const struct yk_cluster *cluster,
                              const struct yk_link *common)
{
    for (int32_t a = 0; a < cluster->device_count; a++) {
        for (int32_t b = a + 1; b < cluster->device_count; b++) {
            const struct yk_link *link = yk_cluster_link_between(cluster, a, b);
            if (is_same(link, common)) {
                continue;
            }
            yk_json_write_begin_object_on_new_line(json, 2);
            yk_json_write_begin_array(json, "between");
            yk_json_write_string(json, NULL, cluster->devices[a].name);
            yk_json_write_string(json, NULL, cluster->devices[b].name);
            yk_json_write_end_array(json);
            write_link(json, link);
            yk_json_write_end_object(json);
        }
    }
}

/* The link of the first and the last device, often that between nodes, stands for all alike. */
static void write_links(struct yk_json_writer *json, const struct yk_cluster *cluster)
{
    const struct yk_link *common = yk_cluster_link_between(cluster, 0, cluster->device_count - 1);
    yk_json_write_newline(json, 1);
    if (is_uniform(cluster, common)) {
        yk_json_write_begin_object(json, "links");
        write_link(json, common);
        yk_json_write_end_object(json);
        return;
    }
    yk_json_write_begin_array(json, "links");
    yk_json_write_begin_object_on_new_line(json, 2);
    write_link(json, common);
    yk_json_write_end_object(json);
    write_other_links(json, cluster, common);
    yk_json_write_end_array(json);
}

yk_status yk_cluster_write_json(const struct yk_cluster *cluster, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_string(&json, "kind", "cluster");
    write_known(&json, "comment", cluster->assumption);
    if (cluster->host_memory_bytes > 0) {
        write_amount(&json, "host_memory", cluster->host_memory_bytes, YK_UNIT_BYTES);
    }
    yk_json_write_newline(&json, 1);
    yk_json_write_begin_array(&json, "devices");
    for (int32_t i = 0; i < cluster->device_count; i++) {
        write_device(&json, &cluster->devices[i]);
    }
    yk_json_write_end_array(&json);
    if (cluster->device_count > 1) {
        write_links(&json, cluster);
    }
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}
