/* Fuzz target of run.json: options that are accepted have names and values, and a page. */
#include "fuzz/fuzz.h"

#include "job/reporting/run_report.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yk_arena *arena = NULL;
    const struct yk_run_report_option *options = NULL;
    int32_t count = -1;
    fuzz_expect(yk_arena_create(&arena) == YK_OK, "there is memory");
    if (yk_run_options_parse_json((const char *)data, size, "fuzz", arena, &options, &count) ==
        YK_OK) {
        struct yk_text page = {0};
        const struct yk_run_report report = {
            .title = "fuzz", .options = options, .option_count = count};
        fuzz_accept();
        fuzz_expect(count >= 0, "options can be counted");
        for (int32_t i = 0; i < count; i++) {
            fuzz_expect(options[i].name && options[i].value, "options are whole");
            fuzz_expect(strcmp(options[i].name, "yoke") != 0 &&
                            strcmp(options[i].name, "kind") != 0,
                        "what the file is, is no setting");
        }
        fuzz_expect(yk_run_page_write(&report, &page) == YK_OK, "there is a page");
        yk_text_free(&page);
    } else {
        fuzz_expect(strncmp(yk_status_message(), "fuzz", 4) == 0, "a refusal names the file");
    }
    yk_arena_destroy(arena);
    return 0;
}
