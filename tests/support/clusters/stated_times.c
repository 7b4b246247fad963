#include "support/clusters/stated_times.h"

#include "support/support.h"

#include <string.h>

static void add_layer(struct yk_text *text, const char *kind, double forward_s)
{
    yk_text_addf(text,
                 "{\"layer\":\"%s\",\"batch\":1,\"forward\":\"%.6fs\",\"backward\":\"%.6fs\","
                 "\"update\":\"1ns\"}",
                 kind, forward_s, 2 * forward_s);
}

struct yk_cluster *made_up_cluster(const struct made_up_device *devices, int count,
                                   const char *bandwidth)
{
    struct yk_text text = {0};
    struct yk_cluster *cluster = NULL;
    yk_text_add(&text, "{\"yoke\":1,\"kind\":\"cluster\",\"devices\":[");
    for (int i = 0; i < count; i++) {
        yk_text_addf(&text,
                     "%s{\"name\":\"d%d\",\"memory\":\"%s\",\"rates\":{\"matrix\":\"1TFLOPS\","
                     "\"vector\":\"1TFLOPS\"},\"memory_bandwidth\":\"1TB/s\",\"measured\":[",
                     i > 0 ? "," : "", i, devices[i].memory);
        add_layer(&text, "embed", devices[i].embed_s);
        yk_text_add(&text, ",");
        add_layer(&text, "gpt-block", devices[i].block_s);
        yk_text_add(&text, ",");
        add_layer(&text, "norm", devices[i].norm_s);
        yk_text_add(&text, ",");
        add_layer(&text, "head", devices[i].head_s);
        yk_text_add(&text, "]}");
    }
    yk_text_addf(&text, "],\"links\":{\"bandwidth\":\"%s\",\"latency\":\"1ns\"}}", bandwidth);
    assert_ok(yk_text_status(&text));
    assert_ok(yk_cluster_read_json(text.bytes, text.length, "made up", &cluster));
    yk_text_free(&text);
    return cluster;
}
