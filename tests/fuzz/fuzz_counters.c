/*
 * Fuzz target of a run's counters. Those that are accepted, once written, read back and are written
 * the same; and they have a page.
 */
#include "fuzz/fuzz.h"

#include "report/run/report.h"
#include "trace/counters_file.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yk_arena *arena = NULL;
    struct yk_counter_run_data ranks = {0};
    struct yk_text first = {0};
    struct yk_text second = {0};
    struct yk_text page = {0};
    fuzz_expect(yk_arena_create(&arena) == YK_OK, "there is memory");
    if (yk_counters_file_parse_json((const char *)data, size, "fuzz", arena, &ranks) == YK_OK) {
        fuzz_accept();
        const struct yk_run_report report = {.title = "fuzz", .counters = &ranks};
        fuzz_expect(yk_run_page_write(&report, &page) == YK_OK, "there is a page");
        fuzz_expect(yk_counters_file_write_json(&ranks, &first) == YK_OK, "there is memory");
        fuzz_expect(yk_counters_file_parse_json(first.bytes, first.length, "written", arena,
                                                &ranks) == YK_OK,
                    "what was written is read");
        fuzz_expect(yk_counters_file_write_json(&ranks, &second) == YK_OK, "there is memory");
        fuzz_expect(strcmp(first.bytes, second.bytes) == 0, "it is the same");
    }
    yk_text_free(&first);
    yk_text_free(&second);
    yk_text_free(&page);
    yk_arena_destroy(arena);
    return 0;
}
