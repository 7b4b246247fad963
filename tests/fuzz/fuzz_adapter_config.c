/* Fuzz target of adapter_config.json: what is accepted must keep the promises of adapter_config.h,
 * and scale adapters by a number. */
#include "fuzz/fuzz.h"

#include "nn/weights/adapter_config.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yk_arena *arena = NULL;
    struct yk_adapter_config config = {.rank = -1};
    fuzz_expect(yk_arena_create(&arena) == YK_OK, "there is memory");
    if (yk_adapter_config_parse((const char *)data, size, arena, &config) == YK_OK) {
        fuzz_accept();
        fuzz_expect(config.rank > 0, "adapters have a rank");
        fuzz_expect(config.alpha > 0 && isfinite(config.alpha / (double)config.rank),
                    "the scale is a number");
        fuzz_expect(!config.base || strlen(config.base) <= size, "the base is of the file");
    } else {
        fuzz_expect(config.rank == -1, "nothing is given where the file is refused");
        fuzz_expect(yk_status_message()[0] != '\0', "a refusal says why");
    }
    yk_arena_destroy(arena);
    return 0;
}
