/*
 * Fuzz target of traces and of metrics. A trace that is accepted, once written, reads back and is
 * written the same again; metrics that are accepted have a page.
 */
#include "fuzz/fuzz.h"

#include "report/run/metrics.h"
#include "trace/trace.h"

#include <string.h>

#ifdef FUZZ_METRICS
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yk_arena *arena = NULL;
    struct yk_run_metrics metrics = {0};
    struct yk_text page = {0};
    fuzz_expect(yk_arena_create(&arena) == YK_OK, "there is memory");
    if (yk_run_metrics_parse((const char *)data, size, "fuzz", arena, &metrics) == YK_OK) {
        fuzz_accept();
        const struct yk_run_report report = {
            .title = "fuzz",
            .steps = metrics.steps,
            .step_count = metrics.step_count,
            .evaluations = metrics.evaluations,
            .evaluation_count = metrics.evaluation_count,
            .rebalancings = metrics.rebalancings,
            .rebalancing_count = metrics.rebalancing_count,
            .measured_step_s = metrics.median_step_s,
            .measured_low_s = metrics.low_step_s,
            .measured_high_s = metrics.high_step_s,
        };
        fuzz_expect(yk_run_page_write(&report, &page) == YK_OK, "there is a page");
        fuzz_expect(!strstr(page.bytes, "=\"nan") && !strstr(page.bytes, "=\"-nan"),
                    "pictures are made of numbers");
    }
    yk_text_free(&page);
    yk_arena_destroy(arena);
    return 0;
}
#else
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yk_trace *trace = NULL;
    struct yk_trace *again = NULL;
    struct yk_text first = {0};
    struct yk_text second = {0};
    if (yk_chrome_trace_parse_json((const char *)data, size, "fuzz", &trace) == YK_OK) {
        fuzz_accept();
        fuzz_expect(yk_chrome_trace_write_json(trace, &first) == YK_OK, "it can be written");
        fuzz_expect(yk_chrome_trace_parse_json(first.bytes, first.length, "written", &again) ==
                        YK_OK,
                    "what was written is read");
        fuzz_expect(yk_chrome_trace_write_json(again, &second) == YK_OK, "it can be written again");
        fuzz_expect(strcmp(first.bytes, second.bytes) == 0, "it is the same");
    }
    yk_text_free(&first);
    yk_text_free(&second);
    yk_trace_destroy(trace);
    yk_trace_destroy(again);
    return 0;
}
#endif
