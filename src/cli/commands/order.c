#include "planner/order.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/interrupt.h"
#include "cli/options/command.h"
#include "cli/terminal.h"
#include "job/planning/order_output.h"
#include "planner/order_problem.h"
#include "planner/order_slots.h"
#include "planner/order_sums.h"

#include <string.h>

struct arguments {
    const char *file;
    const char *method;
    double budget_s;
    bool json;
    bool quiet;
};

static bool method_choices(size_t number, struct yk_choice *out)
{
    static const struct yk_choice choices[] = {
        {"greedy", "at once: blocks move until none is better placed"},
        {"milp", "from there on by an integer program, and a bound that is as good"},
    };
    if (number >= sizeof choices / sizeof choices[0]) {
        return false;
    }
    *out = choices[number];
    return true;
}

static const char *source_of(const struct arguments *arguments)
{
    return strcmp(arguments->file, "-") == 0 ? "standard input" : arguments->file;
}

static yk_status read_problem(const struct arguments *arguments, struct yk_arena *arena,
                              struct yk_order_problem **out)
{
    struct yk_text text = {0};
    yk_status status = yk_file_read(arguments->file, &text);
    if (status == YK_OK) {
        status = yk_order_problem_read(yk_text_chars(&text), text.length, source_of(arguments),
                                       arena, out);
    }
    yk_text_free(&text);
    return status;
}

static yk_status find(const struct arguments *arguments, const struct yk_order_problem *problem,
                      struct yk_arena *arena, struct yk_order **out)
{
    const struct yk_order_options options = {
        .budget_s = arguments->budget_s,
        .stop = yk_interrupt_watch(),
    };
    const yk_status status = strcmp(arguments->method, "greedy") == 0
                                 ? yk_order_greedy(problem, arena, out)
                                 : yk_order_milp(problem, &options, arena, out);
    if (status == YK_OK && atomic_load(options.stop)) {
        yk_log(YK_LOG_NOTE, "the search was interrupted; this is the best it had");
    }
    return status == YK_ERROR_NO_FIT ? yk_fail_in(status, source_of(arguments)) : status;
}

static yk_status show(const struct arguments *arguments, const struct yk_order_problem *problem,
                      const struct yk_order *order, double seconds, struct yk_arena *arena,
                      struct yk_text *out)
{
    const int32_t slots = yk_order_slot_count(problem);
    struct yk_plan_transfer *transfers = NULL;
    double *load_s = NULL;
    double *used_bytes = NULL;
    int32_t count = 0;
    YK_TRY(yk_order_transfers(problem, order, arena, &transfers, &count));
    YK_TRY_NEW(arena, load_s, slots);
    YK_TRY_NEW(arena, used_bytes, slots);
    yk_order_loads(problem, order, load_s);
    yk_order_memory(problem, order, used_bytes);
    const struct yk_order_output output = {
        .problem = problem,
        .order = order,
        .method = arguments->method,
        .source = source_of(arguments),
        .seconds = seconds,
        .transfers = transfers,
        .transfer_count = count,
        .load_s = load_s,
        .used_bytes = used_bytes,
    };
    return arguments->json ? yk_order_write_json(&output, out) : yk_order_write_text(&output, out);
}

static yk_status order_file(const struct arguments *arguments, struct yk_arena *arena,
                            struct yk_text *out)
{
    struct yk_order_problem *problem = NULL;
    struct yk_order *order = NULL;
    YK_TRY(read_problem(arguments, arena, &problem));
    const double begin_s = yk_clock_now_s();
    YK_TRY(find(arguments, problem, arena, &order));
    return show(arguments, problem, order, yk_clock_now_s() - begin_s, arena, out);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_arena *arena = NULL;
    if (arguments->quiet) {
        yk_terminal_be_quiet();
    }
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = order_file(arguments, arena, out);
    yk_arena_destroy(arena);
    return status;
}

#define SEARCH "Search options"
#define OUTPUT "Output options"

static const struct yk_option options[] = {
    {
        .name = "method",
        .placeholder = "NAME",
        .help = "How to find the order",
        .group = SEARCH,
        .preset = "milp",
        .kind = YK_OPTION_CHOICE,
        .choices = method_choices,
        .offset = offsetof(struct arguments, method),
    },
    {
        .name = "budget",
        .placeholder = "SECONDS",
        .help = "How long milp may search; it ends earlier when nothing is left to win",
        .group = SEARCH,
        .preset = "4",
        .kind = YK_OPTION_SECONDS,
        .zero = true,
        .offset = offsetof(struct arguments, budget_s),
    },
    {
        .name = "json",
        .help = "Print JSON instead of text, every slot by itself",
        .group = OUTPUT,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, json),
    },
    {
        .name = "quiet",
        .help = "No notes on standard error",
        .group = OUTPUT,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, quiet),
    },
};

static const struct yk_operand operands[] = {
    {
        .placeholder = "FILE",
        .help = "The order problem, a JSON file; - is standard input",
        .required = true,
        .offset = offsetof(struct arguments, file),
    },
};

static const struct yk_example examples[] = {
    {"yoke order problem.json", "Order the communication of one step"},
    {"yoke order problem.json --method greedy --json", "At once, for a program to read"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_NO_FIT, "memory suffices for no order"},
    {YK_ERROR_INPUT, "the file cannot be read or is no order problem"},
    {0, NULL},
};

const struct yk_command yk_command_order = {
    .name = "order",
    .summary = "order the communication of a step so that computation hides it",
    .description =
        "Decides for each layer of a sharded model whether its parameters are kept between forward "
        "and backward, and in which slot each block of parameters is gathered and each block of "
        "gradients scattered, so that memory suffices in every slot and as little as possible is "
        "exposed. A slot is the forward or backward of one layer, or one of three gaps: turn, "
        "between forward and backward, end and begin, before the next forward. It takes as long as "
        "it computes or as its link is busy, whichever is longer; the bound is a time no order can "
        "beat.\n\n"
        "A problem of n layers is a JSON object: layers; blocks, into which each is cut; compute_s "
        "and activation_bytes, lists of 2n + 3 slots: forward of layers 0 to n-1, turn, backward "
        "of layers n-1 to 0, end, begin; comm_s and full_bytes, lists of n layers, to gather or "
        "scatter one whole and what it takes gathered; static_bytes; memory_bytes; and barrier, "
        "true where every scatter comes before any gather for the next forward. Other members are "
        "ignored.\n\n"
        "Ctrl-C ends the search with the best it has.",
    .examples = examples,
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands = operands,
    .operand_count = sizeof operands / sizeof operands[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
