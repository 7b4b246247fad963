/*
 * How far from the optimum the orders of communication are, by both methods, on problems whose
 * optimum with divisible blocks is known: a real order, of whole blocks, can only come close to it.
 * Usage: bench-order FOLDER [BUDGET], where FOLDER holds order problems with "optimum_s" in order/.
 */
#include "device_line.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "planner/order/transfer_order.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct worst {
    double greedy;
    double milp;
    double greedy_s;
    double milp_s;
    int count;
};

static void stop(const char *where)
{
    fprintf(stderr, "%s: %s\n", where, yk_status_message());
    exit(1);
}

static double optimum_of(const struct yk_text *text, const char *path)
{
    struct yk_json *root = NULL;
    double optimum_s = NAN;
    if (yk_json_parse(yk_text_chars(text), text->length, &root) != YK_OK) {
        stop(path);
    }
    if (!yk_json_number_value(yk_json_get_member(root, "optimum_s"), &optimum_s)) {
        optimum_s = NAN;
    }
    yk_json_destroy(root);
    return optimum_s;
}

/* What a method gives, checked again. */
static struct yk_transfer_order *order_by(const struct yk_transfer_order_problem *problem,
                                          const char *path,
                                          const struct yk_transfer_order_milp_options *options,
                                          struct yk_arena *arena, double *out_seconds)
{
    struct yk_transfer_order *order = NULL;
    double step_s = 0;
    const double begin_s = yk_clock_now_s();
    const yk_status status = options ? yk_transfer_order_solve_milp(problem, options, arena, &order)
                                     : yk_transfer_order_solve_greedy(problem, arena, &order);
    *out_seconds = yk_clock_now_s() - begin_s;
    if (status != YK_OK || yk_transfer_order_check(problem, order, &step_s) != YK_OK) {
        stop(path);
    }
    if (fabs(step_s - order->step_s) > 1e-9 * step_s) {
        printf("  %s: says %.9g s, takes %.9g s\n", path, order->step_s, step_s);
    }
    return order;
}

static void measure(const char *path, double budget_s, struct worst *worst)
{
    const struct yk_transfer_order_milp_options options = {.budget_s = budget_s};
    struct yk_text text = {0};
    struct yk_arena *arena = NULL;
    struct yk_transfer_order_problem *problem = NULL;
    double greedy_s = 0;
    double milp_s = 0;
    if (yk_arena_create(&arena) != YK_OK || yk_file_read_document(path, &text) != YK_OK ||
        yk_transfer_order_problem_parse(yk_text_chars(&text), text.length, path, arena, &problem) !=
            YK_OK) {
        stop(path);
    }
    const double optimum_s = optimum_of(&text, path);
    const struct yk_transfer_order *greedy = order_by(problem, path, NULL, arena, &greedy_s);
    const struct yk_transfer_order *milp = order_by(problem, path, &options, arena, &milp_s);
    const double ratio = milp->step_s / optimum_s;
    printf("  %-32s %4d %10.6f %9.5f %8.4f %9.5f %7.3f %8.3f%%\n", strrchr(path, '/') + 1,
           problem->layer_count, optimum_s, greedy->step_s / optimum_s, greedy_s, ratio, milp_s,
           100 * (milp->step_s / milp->bound_s - 1));
    (void)fflush(stdout);
    if (greedy->step_s < optimum_s * (1 - 1e-6) || ratio < 1 - 1e-6) {
        printf("  %s: shorter than the stated optimum\n", path);
    }
    worst->greedy = fmax(worst->greedy, greedy->step_s / optimum_s);
    worst->milp = fmax(worst->milp, ratio);
    worst->greedy_s = fmax(worst->greedy_s, greedy_s);
    worst->milp_s = fmax(worst->milp_s, milp_s);
    worst->count++;
    yk_arena_destroy(arena);
    yk_text_free(&text);
}

int main(int argc, char **argv)
{
    char path[1024];
    struct stat folder;
    struct dirent **entries = NULL;
    struct worst worst = {0};
    const double budget_s = argc > 2 ? strtod(argv[2], NULL) : 4;
    snprintf(path, sizeof path, "%s/order", argc < 2 ? "." : argv[1]);
    if (argc < 2 || stat(path, &folder) != 0) {
        printf("order: skipped, there is no folder %s with problems of known optimum; make bench "
               "DATA=FOLDER names another\n",
               path);
        return 0;
    }
    print_device_line("order", "both methods", "all of its cores");
    printf(
        "order: step as a ratio to the optimum of divisible blocks, milp with a budget of %g s\n",
        budget_s);
    printf("  %-32s %4s %10s %9s %8s %9s %7s %9s\n", "problem", "n", "optimum s", "greedy",
           "seconds", "milp", "seconds", "gap");
    const int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (strstr(entries[i]->d_name, ".json")) {
            snprintf(path, sizeof path, "%s/order/%s", argv[1], entries[i]->d_name);
            measure(path, budget_s, &worst);
        }
        free(entries[i]);
    }
    free(entries);
    printf("worst of %d: greedy %.5f in %.4f s, milp %.5f in %.3f s\n", worst.count, worst.greedy,
           worst.greedy_s, worst.milp, worst.milp_s);
    return 0;
}
