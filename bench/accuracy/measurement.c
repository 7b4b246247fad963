#include "accuracy/measurement.h"

#include "accuracy/sources.h"
#include "cost/roofline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool find_device(const struct device_name *names, const char *said, struct yk_device *out)
{
    for (; names->said; names++) {
        if (strcmp(names->said, said) == 0) {
            struct yk_cluster *cluster = NULL;
            if (yk_cluster_parse_line(names->sheet, &cluster) != YK_OK) {
                fprintf(stderr, "%s: %s\n", names->sheet, yk_status_message());
                exit(1);
            }
            *out = cluster->devices[0];
            out->type = names->sheet;
            out->name = names->said;
            if (names->memory_bytes_per_s > 0) {
                out->memory_bytes_per_s = names->memory_bytes_per_s;
            }
            yk_cluster_destroy(cluster);
            return true;
        }
    }
    return false;
}

const struct source sources[] = {
    {"benson-guo/cephalo", "cephalo", describe_cephalo},
    {"mosaicml/llm-foundry", "llm-foundry", describe_foundry},
    {"eth-easl/sailor", "sailor", describe_sailor},
    {"lambdal/", "lambdal", describe_lambda},
    {"karpathy/nanoGPT", "nanoGPT", describe_nanogpt},
    {"pytorch/torchtitan", "torchtitan", leave_out_titan},
    {"torchtitan", "torchtitan", leave_out_titan},
    {"modula-systems", "modula", leave_out_shape},
    {"Youhe-Jiang/", "OSDP", leave_out_shape},
    {"cli99/", "MT-NLG", leave_out_pipeline},
};
const size_t source_count = sizeof sources / sizeof sources[0];

double predict(const struct measurement *measurement,
               const struct yk_device_efficiency *efficiencies)
{
    const struct works *works = &measurement->works;
    double seconds = 0;
    for (int i = 0; i < works->count; i++) {
        seconds += works->times[i] *
                   yk_roofline_time(&measurement->device, efficiencies, &works->items[i]);
    }
    return seconds;
}
