/*
 * Fuzz target of the small files of a checkpoint: its manifest, or with FUZZ_STATE its state. What
 * is accepted must keep the promises of manifest.h or checkpoint_state.h.
 */
#include "fuzz/fuzz.h"

#include "base/json.h"
#include "train/checkpoint/folder.h"
#include "train/checkpoint/manifest.h"

#include <string.h>

#ifdef FUZZ_STATE
static void check(const char *bytes, size_t size, struct yk_arena *arena)
{
    struct yk_checkpoint checkpoint = {.arena = arena};
    const char *model = NULL;
    struct yk_json *options = NULL;
    if (yk_checkpoint_state_parse_json(bytes, size, arena, &checkpoint, &model) != YK_OK) {
        return;
    }
    fuzz_accept();
    const struct yk_checkpoint_progress *state = &checkpoint.state;
    fuzz_expect(model && *model, "the model has a name");
    fuzz_expect(state->step >= 0 && state->updates >= 0 && state->samples >= 0 && state->bad >= 0,
                "counts are not negative");
    fuzz_expect(checkpoint.workload.batch >= 0 && checkpoint.workload.sequence >= 0 &&
                    checkpoint.workload.lora_rank >= 0,
                "sizes are not negative");
    fuzz_expect(yk_json_parse(checkpoint.options_json, strlen(checkpoint.options_json), &options) ==
                        YK_OK &&
                    yk_json_is_object(options),
                "options are an object");
    yk_json_destroy(options);
}
#else
static void check(const char *bytes, size_t size, struct yk_arena *arena)
{
    struct yk_manifest manifest = {0};
    struct yk_text again = {0};
    if (yk_manifest_parse_json(bytes, size, arena, &manifest) != YK_OK) {
        return;
    }
    fuzz_accept();
    for (int32_t i = 0; i < manifest.count; i++) {
        const char *name = manifest.files[i].name;
        fuzz_expect(*name && *name != '.' && !strchr(name, '/'), "names are plain");
    }
    yk_manifest_write_json(&manifest, &again);
    fuzz_expect(again.length == size && memcmp(again.bytes, bytes, size) == 0,
                "a manifest is written in one way only");
    yk_text_free(&again);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yk_arena *arena = NULL;
    if (yk_arena_create(&arena) == YK_OK) {
        check((const char *)data, size, arena);
        yk_arena_destroy(arena);
    }
    return 0;
}
