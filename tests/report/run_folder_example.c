/*
 * Writes the folder of a run that never was, out of a step as it was predicted:
 *
 *   run_folder_example PREDICTED.json FOLDER STEPS SHARE MEBIBYTES
 *
 * Its "measured" step is the predicted one with uneven time: all of it takes 1 to 1.3 times as
 * long, computations end up to a tenth early, and ranks come to a message before the others do. In
 * the metrics the last rank becomes slow after a half of the steps, and shares change after three
 * fourths. One input gives one folder.
 */
#include "base/file.h"
#include "base/random.h"
#include "report/run/summary.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_RANKS = 256,
    PARTS = 16, /* of the step, each with its own pace */
};

struct run {
    const char *folder;
    int32_t steps;
    double share;     /* of every rank */
    double mebibytes; /* that each holds, or up to a tenth more */
    struct yk_random random;
    struct yk_trace *predicted;
    struct yk_trace *measured;
    double step_s;
    double paces[PARTS];
    struct yk_run_rank_summary ranks[MOST_RANKS];
    int32_t rank_count;
};

static void check(yk_status status)
{
    if (status != YK_OK) {
        fprintf(stderr, "%s\n", yk_status_message());
        exit(1);
    }
}

/* From 0 to 1. */
static double draw(struct run *run)
{
    return (double)yk_random_below(&run->random, 1000) / 1000;
}

static void save(const struct run *run, const char *name, struct yk_text *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", run->folder, name);
    check(yk_text_status(text));
    check(yk_file_write(path, text));
    yk_text_free(text);
}

/* When what was predicted for `at_s` happened. */
static double happened_s(const struct run *run, double at_s)
{
    const double part_s = run->step_s / PARTS;
    double passed_s = 0;
    for (int i = 0; i < PARTS; i++) {
        const double rest_s = at_s - i * part_s;
        const bool last = i == PARTS - 1;
        passed_s += run->paces[i] * (last ? fmax(rest_s, 0) : fmin(fmax(rest_s, 0), part_s));
    }
    return passed_s + fmin(at_s, 0);
}

static void measure(struct run *run)
{
    double free_s[MOST_RANKS * YK_LANE_COUNT] = {0};
    for (int i = 0; i < PARTS; i++) {
        run->paces[i] = 1 + 0.3 * draw(run);
    }
    check(yk_trace_create(&run->measured));
    for (int32_t r = 0; r < run->rank_count; r++) {
        check(yk_trace_add_rank(run->measured, yk_trace_rank_device_name(run->predicted, r)));
    }
    for (int32_t i = 0; i < yk_trace_event_count(run->predicted); i++) {
        struct yk_trace_event event = *yk_trace_event_at(run->predicted, i);
        double *lane_s = &free_s[event.rank * YK_LANE_COUNT + (int32_t)event.lane];
        const double start_s = happened_s(run, event.start_s);
        const double end_s = happened_s(run, event.end_s);
        const bool comm = event.lane == YK_LANE_COMM;
        event.start_s =
            comm ? fmax(fmin(*lane_s, start_s), start_s - 0.5 * draw(run) * (end_s - start_s))
                 : start_s;
        event.end_s = comm ? end_s : end_s - 0.1 * draw(run) * (end_s - start_s);
        event.start_s = round(event.start_s * 1e9) / 1e9;
        event.end_s = round(event.end_s * 1e9) / 1e9;
        *lane_s = event.end_s;
        check(yk_trace_add_event(run->measured, &event, NULL));
    }
}

static void sum_up(struct run *run)
{
    struct yk_trace_breakdown predicted[MOST_RANKS] = {{0}};
    struct yk_trace_breakdown measured[MOST_RANKS] = {{0}};
    check(yk_trace_breakdown_compute(run->predicted, run->step_s, predicted));
    check(yk_trace_breakdown_compute(run->measured, yk_trace_breakdown_step_length_s(run->measured),
                                     measured));
    for (int32_t r = 0; r < run->rank_count; r++) {
        run->ranks[r] = yk_run_summary_make_unknown_rank();
        run->ranks[r].device = yk_trace_rank_device_name(run->predicted, r);
        run->ranks[r].share = run->share;
        run->ranks[r].predicted = predicted[r];
        run->ranks[r].measured = measured[r];
        run->ranks[r].measured_bytes = floor(run->mebibytes * (1 + 0.1 * draw(run)) * 0x1p20);
    }
}

static void add_list(const char *name, const double *values, int32_t count, struct yk_text *out)
{
    yk_text_addf(out, ", \"%s\": [", name);
    for (int32_t i = 0; i < count; i++) {
        yk_text_add(out, i > 0 ? ", " : "");
        yk_text_add_number(out, round(values[i] * 1e7) / 1e7);
    }
    yk_text_add(out, "]");
}

static void add_step(struct run *run, int32_t step, struct yk_text *out)
{
    const bool slow = step > run->steps / 2;
    const bool rebalanced = step > run->steps * 3 / 4;
    double ranks_s[MOST_RANKS] = {0};
    double longest = 0;
    for (int32_t r = 0; r < run->rank_count; r++) {
        const double factor = r < run->rank_count - 1 ? (rebalanced ? 1.15 : 1)
                              : slow                  ? (rebalanced ? 1.15 : 1.6)
                                                      : 1;
        ranks_s[r] = run->ranks[r].measured.compute_s * factor * (0.97 + 0.06 * draw(run));
        longest = fmax(longest, factor);
    }
    /* One after the other: compilers evaluate the arguments of a call in any order. */
    const double seconds = run->step_s * 1.15 * longest * (0.98 + 0.04 * draw(run));
    const double loss = 1.5 + 2.5 / sqrt(step) + 0.1 * draw(run);
    const double norm = 1 + draw(run);
    yk_text_addf(out, "{\"step\": %d, \"loss\": %.4f, \"norm\": %.3f, \"lr\": 0.0003, ", (int)step,
                 loss, norm);
    yk_text_addf(out, "\"seconds\": %.7f, \"tokens_per_s\": %.0f", seconds, 1536 / seconds);
    add_list("ranks_s", ranks_s, run->rank_count, out);
    yk_text_add(out, "}\n");
}

static void add_rebalancing(const struct run *run, int32_t step, struct yk_text *out)
{
    double shares[MOST_RANKS] = {0};
    double predicted_s[MOST_RANKS] = {0};
    for (int32_t r = 0; r < run->rank_count; r++) {
        shares[r] = run->ranks[r].share + (r == 0) - (r == run->rank_count - 1);
        predicted_s[r] = run->ranks[r].predicted.compute_s * 1.1;
    }
    yk_text_addf(out, "{\"step\": %d, \"rebalanced\": true", (int)step);
    add_list("shares", shares, run->rank_count, out);
    add_list("predicted_s", predicted_s, run->rank_count, out);
    yk_text_add(out, "}\n");
}

static void write_files(struct run *run)
{
    struct yk_text text = {0};
    check(yk_chrome_trace_write_json(run->predicted, &text));
    save(run, "trace-predicted.json", &text);
    text = (struct yk_text){0};
    check(yk_chrome_trace_write_json(run->measured, &text));
    save(run, "trace.json", &text);
    text = (struct yk_text){0};
    for (int32_t step = 1; step <= run->steps; step++) {
        add_step(run, step, &text);
        if (step == run->steps * 3 / 4) {
            add_rebalancing(run, step, &text);
        }
    }
    save(run, "metrics.jsonl", &text);
    text = (struct yk_text){0};
    yk_text_add(&text, "{\"yoke\":1,\"kind\":\"training\",\"ranks\":");
    yk_run_summary_write_ranks_json(run->ranks, run->rank_count, &text);
    yk_text_add(&text, "}\n");
    save(run, "summary.json", &text);
}

int main(int count, char **words)
{
    static struct run run;
    struct yk_text text = {0};
    if (count != 6) {
        fprintf(stderr, "usage: run_folder_example PREDICTED.json FOLDER STEPS SHARE MEBIBYTES\n");
        return 2;
    }
    run.folder = words[2];
    run.steps = (int32_t)strtol(words[3], NULL, 10);
    run.share = strtod(words[4], NULL);
    run.mebibytes = strtod(words[5], NULL);
    run.random = yk_random_from_seed(7);
    check(yk_file_read_document(words[1], &text));
    check(yk_chrome_trace_parse_json(text.bytes, text.length, words[1], &run.predicted));
    yk_text_free(&text);
    run.rank_count = yk_trace_rank_count(run.predicted);
    run.step_s = yk_trace_breakdown_step_length_s(run.predicted);
    if (run.rank_count > MOST_RANKS || !(run.step_s > 0)) {
        fprintf(stderr, "%s: no step of 1 to %d ranks\n", words[1], MOST_RANKS);
        return 1;
    }
    measure(&run);
    sum_up(&run);
    write_files(&run);
    yk_trace_destroy(run.predicted);
    yk_trace_destroy(run.measured);
    return 0;
}
