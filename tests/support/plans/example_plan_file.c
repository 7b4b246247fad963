#include "support/plans/example_plan_file.h"

#include "plan/plan_provenance.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

const char written_plan_text[] =
    "{\"yoke\": 2, \"kind\": \"plan\",\n"
    " \"model\": {\"source\": \"gpt2\", \"hash\": \"MODEL\",\n"
    "  \"layers\": 12, \"parameters\": 124439808},\n"
    " \"cluster\": {\"source\": \"1xrtx3090 + 2xv100 @ 10GB/s\", \"hash\": \"CLUSTER\", "
    "\"links\": \"LINKS\", \"devices\": [\n"
    "  {\"name\": \"gpu0\", \"type\": \"rtx3090\", \"memory\": \"24GiB\"},\n"
    "  {\"name\": \"gpu1\", \"type\": \"v100-16\", \"memory\": \"16GiB\"},\n"
    "  {\"name\": \"gpu2\", \"type\": \"v100-16\", \"memory\": \"16GiB\"}]},\n"
    " \"profile\": null,\n"
    " \"workload\": {\"batch\": 12, \"sequence\": 1024, \"target_sequence\": 0,\n"
    "  \"precision\": \"bf16\", \"lora\": 0, \"nf4\": false},\n"
    " \"micro_batches\": 1, \"pipeline\": \"gpipe\", \"no_sync\": false, \"clip\": true,\n"
    " \"prefetch\": 1, \"block\": \"5MiB\", \"bucket\": \"25MiB\",\n"
    " \"ranks\": [\n"
    "  {\"device\": \"gpu2\", \"limit\": \"15.5GiB\"},\n"
    "  {\"device\": \"gpu0\", \"limit\": \"20000000001B\"}],\n"
    " \"groups\": [\n"
    "  {\"members\": [{\"rank\": 0, \"share\": 5, \"part\": 0.25},\n"
    "   {\"rank\": 1, \"share\": 7, \"part\": 0.75}]}],\n"
    " \"layers\": [\n"
    "  {\"from\": \"embed\", \"group\": 0, \"strategy\": \"replicated\", \"recompute\": false},\n"
    "  {\"from\": \"layer 0\", \"to\": \"layer 10\", \"group\": 0, \"strategy\": "
    "\"fully-sharded\", \"recompute\": true},\n"
    "  {\"from\": \"layer 11\", \"to\": \"norm\", \"group\": 0, \"strategy\": \"kept\", "
    "\"recompute\": false},\n"
    "  {\"from\": \"head\", \"group\": 0, \"strategy\": \"replicated\", \"recompute\": false}],\n"
    " \"order\": [\n"
    "  {\"during\": \"forward layer 3\", \"do\": [\"all_gather layer 4\"]},\n"
    "  {\"during\": \"middle\", \"do\": [\"all_gather layer 10 block 2\"]},\n"
    "  {\"during\": \"backward layer 1\", \"do\": [\"reduce_scatter layer 2 blocks 0-1\", "
    "\"all_gather layer 0\"]},\n"
    "  {\"during\": \"end\", \"do\": [\"all_reduce embed\"]},\n"
    "  {\"during\": \"begin\", \"do\": [\"all_gather layer 11\"]}]}\n";

char *written_plan_replace(struct yk_arena *arena, const char *text, const char *from,
                           const char *to)
{
    struct yk_text changed = {0};
    const char *found = strstr(text, from);
    assert_non_null(found);
    yk_text_add_bytes(&changed, text, (size_t)(found - text));
    yk_text_add(&changed, to);
    yk_text_add(&changed, found + strlen(from));
    assert_ok(yk_text_status(&changed));
    char *result = yk_arena_copy_text(arena, changed.bytes, changed.length);
    assert_non_null(result);
    yk_text_free(&changed);
    return result;
}

int written_plan_make(void **state)
{
    static struct written_plan made;
    const struct yk_model_config *config = NULL;
    char hash[YK_PLAN_PROVENANCE_HASH_SIZE];
    assert_ok(yk_arena_create(&made.arena));
    assert_ok(yk_cluster_parse_line("1xrtx3090 + 2xv100 @ 10GB/s", &made.cluster));
    assert_ok(yk_model_config_find_builtin("gpt2", &config));
    made.context = (struct yk_plan_file_context){.config = config, .cluster = made.cluster};
    assert_ok(yk_plan_provenance_hash_model(config, hash));
    made.text = written_plan_replace(made.arena, written_plan_text, "MODEL", hash);
    assert_ok(yk_plan_provenance_hash_cluster(made.cluster, hash));
    made.text = written_plan_replace(made.arena, made.text, "CLUSTER", hash);
    assert_ok(yk_plan_provenance_hash_links(made.cluster, hash));
    made.text = written_plan_replace(made.arena, made.text, "LINKS", hash);
    *state = &made;
    return 0;
}

int written_plan_unmake(void **state)
{
    struct written_plan *made = *state;
    yk_cluster_destroy(made->cluster);
    yk_arena_destroy(made->arena);
    return 0;
}

yk_status written_plan_read(void **state, const char *text, const struct yk_plan **out)
{
    struct written_plan *made = *state;
    return yk_plan_file_parse(text, strlen(text), "p.json", &made->context, made->arena, out);
}

void written_plan_assert_refused(void **state, const char *text, const char *message,
                                 const char *what, const char *file, int line)
{
    const struct yk_plan *plan = NULL;
    char sentence[1024];
    const yk_status status = written_plan_read(state, text, &plan);
    snprintf(sentence, sizeof sentence, "p.json: %s", message);
    if (status != YK_ERROR_INPUT || strcmp(yk_status_message(), sentence) != 0) {
        print_error("%s\n  status %d: %s\n  wanted: %s\n", what, (int)status,
                    status == YK_OK ? "accepted" : yk_status_message(), sentence);
        _fail(file, line);
    }
    assert_null(plan);
}
