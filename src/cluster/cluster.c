#include "cluster/cluster.h"

#include "base/arena.h"
#include "base/file.h"

#include <string.h>
#include <unistd.h>

void yk_cluster_destroy(struct yk_cluster *cluster)
{
    if (cluster) {
        yk_arena_destroy(cluster->arena);
    }
}

static bool is_file(const char *word)
{
    static const char suffix[] = ".json";
    const size_t length = strlen(word);
    const size_t suffix_length = sizeof suffix - 1;
    return strcmp(word, "-") == 0 || access(word, F_OK) == 0 ||
           (length >= suffix_length && strcmp(word + length - suffix_length, suffix) == 0);
}

yk_status yk_cluster_open(const char *word, struct yk_cluster **out)
{
    if (!is_file(word)) {
        const yk_status status = yk_cluster_parse(word, out);
        return status == YK_OK ? YK_OK : yk_status_prefix(status, "cluster");
    }
    struct yk_text text = {0};
    yk_status status = yk_file_read(word, &text);
    if (status == YK_OK) {
        const char *source = strcmp(word, "-") == 0 ? "standard input" : word;
        status = yk_cluster_read(yk_text_chars(&text), text.length, source, out);
    }
    yk_text_free(&text);
    return status;
}
