/*
 * Fuzz target of clusters: of cluster files, or with FUZZ_LINE of lines. A cluster that is accepted
 * must keep every promise of cluster.h, and read back the same once written.
 */
#include "fuzz/fuzz.h"

#include "cluster/cluster.h"
#include "support/clusters/same_cluster.h"

#include <stdio.h>
#include <stdlib.h>

static void check(const char *broken)
{
    if (broken) {
        fprintf(stderr, "broken promise: %s\n", broken);
        abort();
    }
}

static yk_status read_input(const uint8_t *data, size_t size, struct yk_cluster **out)
{
    struct yk_text text = {0};
    yk_text_add_bytes(&text, (const char *)data, size);
#ifdef FUZZ_LINE
    const yk_status status = yk_cluster_parse_line(yk_text_chars(&text), out);
#else
    const yk_status status = yk_cluster_read_json((const char *)data, size, "fuzz", out);
#endif
    yk_text_free(&text);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yk_cluster *cluster = NULL;
    if (read_input(data, size, &cluster) != YK_OK) {
        return 0;
    }
    fuzz_accept();
    check(support_cluster_broken_promise(cluster));
    struct yk_text text = {0};
    struct yk_cluster *again = NULL;
    if (yk_cluster_write_json(cluster, &text) == YK_OK) {
        const yk_status status =
            yk_cluster_read_json(yk_text_chars(&text), text.length, "written", &again);
        check(status == YK_OK ? support_cluster_difference(cluster, again) : yk_status_message());
    }
    yk_cluster_destroy(again);
    yk_cluster_destroy(cluster);
    yk_text_free(&text);
    return 0;
}
