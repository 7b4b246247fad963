/*
 * Fuzz target of traces as bytes: as they are, and as the body of bytes whose hash is right, so
 * that what comes after the hash is reached, too. What is accepted packs to the same bytes.
 */
#include "fuzz/fuzz.h"

#include "base/hash.h"
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_sums(const struct yk_trace *trace)
{
    const size_t count = (size_t)yk_trace_rank_count(trace);
    const double step_s = yk_trace_breakdown_step_length_s(trace);
    struct yk_trace_breakdown *sums = calloc(count + 1, sizeof *sums);
    fuzz_expect(sums != NULL, "there is memory");
    fuzz_expect(yk_trace_breakdown_compute(trace, step_s, sums) == YK_OK, "a trace has sums");
    for (size_t i = 0; i < count && step_s > 0 && step_s < 1e6; i++) {
        const double all_s = sums[i].compute_s + sums[i].exposed_s + sums[i].idle_s;
        fuzz_expect(fabs(all_s - step_s) <= 1e-6 * step_s, "sums add up to the step");
    }
    free(sums);
}

static void try(const char *bytes, size_t length)
{
    struct yk_trace *trace = NULL;
    struct yk_text again = {0};
    if (yk_trace_bytes_unpack(bytes, length, "fuzz", &trace) == YK_OK) {
        fuzz_accept();
        fuzz_expect(yk_trace_bytes_pack(trace, &again) == YK_OK, "it can be packed");
        fuzz_expect(again.length == length && memcmp(again.bytes, bytes, length) == 0,
                    "it packs to the same bytes");
        check_sums(trace);
    }
    yk_text_free(&again);
    yk_trace_destroy(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint64_t hash = yk_hash_bytes(data, size);
    struct yk_text text = {0};
    try((const char *)data, size);
    yk_text_add(&text, "yktrace1");
    for (int i = 0; i < 8; i++) {
        const char byte = (char)(unsigned char)(hash >> (8 * i) & 0xff);
        yk_text_add_bytes(&text, &byte, 1);
    }
    yk_text_add_bytes(&text, (const char *)data, size);
    fuzz_expect(!text.failed, "there is memory");
    try(text.bytes, text.length);
    yk_text_free(&text);
    return 0;
}
