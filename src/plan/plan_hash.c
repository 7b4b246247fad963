#include "plan/plan_hash.h"

#include "base/text.h"
#include "model/architecture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void yk_plan_origin_hash(const char *bytes, size_t length, char out[YK_PLAN_HASH_SIZE])
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) {
        hash ^= (unsigned char)bytes[i];
        hash *= UINT64_C(0x100000001b3);
    }
    (void)snprintf(out, YK_PLAN_HASH_SIZE, "%016" PRIx64, hash);
}

/* Takes the text over: it is freed whatever comes. */
static yk_status hash_text(yk_status status, struct yk_text *text, char out[YK_PLAN_HASH_SIZE])
{
    if (status == YK_OK) {
        status = yk_text_status(text);
    }
    if (status == YK_OK) {
        yk_plan_origin_hash(yk_text_chars(text), text->length, out);
    }
    yk_text_free(text);
    return status;
}

yk_status yk_plan_origin_hash_model(const struct yk_model_config *config,
                                    char out[YK_PLAN_HASH_SIZE])
{
    const struct {
        const char *name;
        int64_t value;
    } fields[] = {
        {"vocabulary", config->vocabulary},
        {"target_vocabulary", config->target_vocabulary},
        {"width", config->width},
        {"positions", config->positions},
        {"token_types", config->token_types},
        {"layers", config->layers},
        {"encoder_layers", config->encoder_layers},
        {"heads", config->heads},
        {"kv_heads", config->kv_heads},
        {"head_size", config->head_size},
        {"encoder_heads", config->encoder_heads},
        {"inner", config->inner},
        {"encoder_inner", config->encoder_inner},
        {"tied", config->tied},
        {"shared", config->shared},
        {"relu", config->relu},
        {"linear_bias", config->linear_bias},
        {"inner_bias", config->inner_bias},
        {"pooler", config->pooler},
        {"masked_head", config->masked_head},
    };
    struct yk_text text = {0};
    yk_text_addf(&text, "architecture %s\n", config->architecture->name);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        yk_text_addf(&text, "%s %" PRId64 "\n", fields[i].name, fields[i].value);
    }
    return hash_text(YK_OK, &text, out);
}

/* A number by its bits: there are as many links as pairs of devices, and digits take time. */
static void add_bits(struct yk_text *text, double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    yk_text_addf(text, "%016" PRIx64 "\n", bits);
}

static void add_links(const struct yk_cluster *cluster, struct yk_text *text)
{
    for (int32_t a = 0; a < cluster->device_count; a++) {
        for (int32_t b = a + 1; b < cluster->device_count; b++) {
            const struct yk_link *link = yk_cluster_link(cluster, a, b);
            add_bits(text, link->latency_s);
            add_bits(text, link->bytes_per_s);
        }
    }
}

/* Every device as the file of a cluster that has no other, which says no links; then those. */
static yk_status write_cluster(const struct yk_cluster *cluster, struct yk_text *text)
{
    for (int32_t i = 0; i < cluster->device_count; i++) {
        const struct yk_cluster alone = {
            .device_count = 1,
            .devices = &cluster->devices[i],
            .host_memory_bytes = cluster->host_memory_bytes,
        };
        YK_TRY(yk_cluster_write(&alone, text));
    }
    add_links(cluster, text);
    return YK_OK;
}

yk_status yk_plan_origin_hash_cluster(const struct yk_cluster *cluster, char out[YK_PLAN_HASH_SIZE])
{
    struct yk_text text = {0};
    return hash_text(write_cluster(cluster, &text), &text, out);
}

yk_status yk_plan_origin_hash_links(const struct yk_cluster *cluster, char out[YK_PLAN_HASH_SIZE])
{
    struct yk_text text = {0};
    add_links(cluster, &text);
    return hash_text(YK_OK, &text, out);
}

yk_status yk_plan_origin_hash_profile(struct yk_profile *profile, char out[YK_PLAN_HASH_SIZE])
{
    struct yk_text text = {0};
    return hash_text(yk_profile_list(profile, &text), &text, out);
}
