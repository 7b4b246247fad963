/*
 * Fuzz target of a run's summary. Ranks that are accepted, once written, read back the same; and
 * they have a page.
 */
#include "fuzz/fuzz.h"

#include "report/run/report.h"

#include <string.h>

static void write_ranks(const struct yk_run_summary *summary, struct yk_text *out)
{
    yk_text_add(out, "{\"ranks\":");
    yk_run_summary_write_ranks_json(summary->ranks, summary->rank_count, out);
    yk_text_add(out, "}");
    fuzz_expect(!out->failed, "there is memory");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yk_arena *arena = NULL;
    struct yk_run_summary summary = {0};
    struct yk_text first = {0};
    struct yk_text second = {0};
    struct yk_text page = {0};
    fuzz_expect(yk_arena_create(&arena) == YK_OK, "there is memory");
    if (yk_run_summary_parse((const char *)data, size, "fuzz", arena, &summary) == YK_OK) {
        fuzz_accept();
        const struct yk_run_report report = {
            .title = "fuzz",
            .predicted_step_s = summary.predicted_step_s,
            .ranks = summary.ranks,
            .rank_count = summary.rank_count,
        };
        write_ranks(&summary, &first);
        fuzz_expect(yk_run_summary_parse(first.bytes, first.length, "written", arena, &summary) ==
                        YK_OK,
                    "what was written is read");
        write_ranks(&summary, &second);
        fuzz_expect(strcmp(first.bytes, second.bytes) == 0, "it is the same");
        fuzz_expect(yk_run_page_write(&report, &page) == YK_OK, "there is a page");
    }
    yk_text_free(&first);
    yk_text_free(&second);
    yk_text_free(&page);
    yk_arena_destroy(arena);
    return 0;
}
