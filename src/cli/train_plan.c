#include "cli/train_plan.h"

#include "base/file.h"
#include "cli/search.h"
#include "cli/terminal.h"
#include "cli/workload.h"
#include "cluster/topology.h"
#include "planner/planned_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    /* Counted, not timed: one setting gives one plan, so that a run goes on as it began. */
    TRIALS = 64,
    LINE_SIZE = 64,
};

#define MIB (1024.0 * 1024.0)

yk_status yk_train_plan_workload(const struct yk_train_words *words,
                                 const struct yk_model_config *config, struct yk_workload *out)
{
    const struct yk_workload_words workload = {
        .batch = words->batch,
        .sequence = words->sequence,
        .precision = words->precision,
        .lora_rank = words->lora_rank,
        .nf4 = words->nf4,
        .recompute = words->recompute,
    };
    return yk_workload_read(&workload, config, out);
}

/* This machine's cores and memory as a line that a plan's file can keep. */
static yk_status describe_machine(int64_t threads, struct yk_arena *arena, const char **out)
{
    struct yk_topology machine;
    char line[LINE_SIZE];
    YK_TRY(yk_topology_find(&machine));
    int64_t cores = machine.core_count > 0 ? machine.core_count : machine.thread_count;
    cores = threads > 0 ? threads : cores > 0 ? cores : 1;
    int length = snprintf(line, sizeof line, "cpu:%" PRId64, cores);
    if (machine.memory_bytes > MIB) {
        length += snprintf(line + length, sizeof line - (size_t)length, ":%.0fMiB",
                           machine.memory_bytes / MIB - 0.5);
    }
    *out = yk_arena_copy_text(arena, line, (size_t)length);
    return *out ? YK_OK : yk_fail_out_of_memory();
}

/* `planned` is what the file of --plan says it is for, if there is one. */
static yk_status open_cluster(const struct yk_train_words *words,
                              const struct yk_plan_sources *planned, struct yk_arena *arena,
                              struct yk_train_plan *out)
{
    const char *source = words->cluster;
    const bool from_plan = source && planned->cluster && strcmp(source, planned->cluster) == 0;
    if (!source) {
        YK_TRY(describe_machine(words->threads, arena, &source));
    }
    YK_TRY(yk_cluster_open(source, &out->cluster));
    if (out->cluster->device_count != 1 || !out->cluster->devices[0].is_cpu) {
        return from_plan ? yk_fail(YK_ERROR_INPUT,
                                   "%s: the plan is for %s, but training runs on one CPU so far; "
                                   "make a plan for one, such as cpu:8, or leave --plan out",
                                   words->plan, source)
                         : yk_fail(YK_ERROR_INPUT,
                                   "%s: training runs on one CPU so far; name one, such as cpu:8, "
                                   "or leave --cluster out",
                                   source);
    }
    out->request.cluster_source = source;
    return YK_OK;
}

static void ask(const struct yk_train_words *words, const struct yk_model_config *config,
                const struct yk_workload *workload, const char *model_source,
                struct yk_train_plan *out)
{
    const struct yk_search_words search = {.moves = TRIALS, .seed = 1};
    struct yk_plan_request *request = &out->request;
    out->book = (struct yk_cost_book){.cluster = out->cluster};
    request->book = &out->book;
    request->config = config;
    request->workload = *workload;
    request->model_source = model_source;
    request->memory_bytes = words->memory_bytes;
    request->micro_batches = (int32_t)words->micro_batches;
    request->clip = words->clip > 0;
    request->strategy = YK_STRATEGY_COUNT;
    request->decisions = YK_DECIDE_ALL;
    if (words->recompute) {
        request->decisions &= ~(uint32_t)YK_DECIDE_RECOMPUTATION;
    }
    request->search = yk_search_options(&search);
}

static yk_status fail_other(const char *path, const char *what, int64_t planned, int64_t asked)
{
    return yk_fail(YK_ERROR_INPUT,
                   "%s: the plan is for %s of %" PRId64 ", not %" PRId64
                   "; leave that out, or make another plan",
                   path, what, planned, asked);
}

static yk_status check_plan(const struct yk_train_words *words, const struct yk_workload *workload,
                            const struct yk_plan *plan)
{
    const struct yk_workload *planned = &plan->workload;
    if (plan->rank_count != 1) {
        return yk_fail(YK_ERROR_INPUT, "%s: the plan has %d ranks; training runs on one so far",
                       words->plan, (int)plan->rank_count);
    }
    if (planned->batch != workload->batch) {
        return fail_other(words->plan, "a batch", planned->batch, workload->batch);
    }
    if (planned->sequence != workload->sequence) {
        return fail_other(words->plan, "a sequence", planned->sequence, workload->sequence);
    }
    if (planned->lora_rank != workload->lora_rank) {
        return fail_other(words->plan, "adapters", planned->lora_rank, workload->lora_rank);
    }
    if (planned->precision != workload->precision || planned->nf4 != workload->nf4) {
        return yk_fail(YK_ERROR_INPUT, "%s: the plan is for %s%s, not for %s%s", words->plan,
                       yk_precision_name(planned->precision), planned->nf4 ? " and NF4" : "",
                       yk_precision_name(workload->precision), workload->nf4 ? " and NF4" : "");
    }
    if (plan->clip != (words->clip > 0)) {
        return yk_fail(YK_ERROR_INPUT, "%s: the plan is for gradients that are %s; see --clip",
                       words->plan, plan->clip ? "clipped" : "not clipped");
    }
    return YK_OK;
}

static yk_status read_sources(const char *path, struct yk_arena *arena, struct yk_plan_sources *out)
{
    struct yk_text text = {0};
    yk_status status = yk_file_read(path, &text);
    if (status == YK_OK) {
        status = yk_plan_file_sources(yk_text_chars(&text), text.length, path, arena, out);
    }
    yk_text_free(&text);
    return status;
}

/* The model that the plan names, but with the vocabulary of a text, is another. */
static yk_status check_vocabulary(const struct yk_train_words *words,
                                  const struct yk_model_config *config,
                                  const struct yk_plan_sources *planned, struct yk_arena *arena)
{
    const struct yk_model_config *meant = NULL;
    if (!words->model || strcmp(words->model, planned->model) != 0 ||
        yk_model_config_open(planned->model, arena, &meant) != YK_OK ||
        meant->vocabulary == config->vocabulary) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "%s: the plan is for %s with %" PRId64
                   " tokens, but the characters of this text make a model with %" PRId64
                   "; take the plan.json of a run on this text, or leave --plan out: --dry-run "
                   "shows the plan that is found",
                   words->plan, planned->model, meant->vocabulary, config->vocabulary);
}

static yk_status read_plan(const struct yk_train_words *words, struct yk_arena *arena,
                           struct yk_train_plan *out)
{
    const struct yk_plan_context context = yk_train_plan_context(out);
    const struct yk_plan *plan = NULL;
    struct yk_text text = {0};
    yk_status status = yk_file_read(words->plan, &text);
    if (status == YK_OK) {
        status = yk_plan_file_read(yk_text_chars(&text), text.length, words->plan, &context, arena,
                                   &plan);
    }
    yk_text_free(&text);
    YK_TRY(status);
    YK_TRY(check_plan(words, &out->request.workload, plan));
    YK_TRY(yk_planned_examine(&out->request, plan, false, &out->planned));
    return yk_planned_fail_unfit(out->planned);
}

yk_status yk_train_plan_find(const struct yk_train_words *words,
                             const struct yk_model_config *config,
                             const struct yk_workload *workload, const char *model_source,
                             struct yk_arena *arena, struct yk_train_plan *out)
{
    struct yk_plan_sources planned = {0};
    if (words->plan) {
        YK_TRY(read_sources(words->plan, arena, &planned));
    }
    YK_TRY(open_cluster(words, &planned, arena, out));
    ask(words, config, workload, model_source, out);
    if (words->plan) {
        YK_TRY(check_vocabulary(words, config, &planned, arena));
        return read_plan(words, arena, out);
    }
    yk_terminal_progress_begin();
    const yk_status status = yk_planned_find(&out->request, &out->planned);
    yk_terminal_progress_end();
    return status;
}

void yk_train_plan_close(struct yk_train_plan *plan)
{
    yk_planned_destroy(plan->planned);
    yk_cluster_destroy(plan->cluster);
    *plan = (struct yk_train_plan){0};
}

int64_t yk_train_plan_threads(const struct yk_train_plan *plan, const struct yk_train_words *words)
{
    return words->threads > 0 ? words->threads : plan->cluster->devices[0].cores;
}

struct yk_plan_context yk_train_plan_context(const struct yk_train_plan *plan)
{
    return (struct yk_plan_context){.config = plan->request.config, .cluster = plan->cluster};
}
