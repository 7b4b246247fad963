/*
 * How far from the optimum: HEFT, and `best` with a budget of one second, on graphs whose optimum
 * is known. Usage: bench-quality FOLDER [BUDGET], where FOLDER holds dag/planted (optimum by
 * construction, in the file's header) and dag/stg (certified.csv lists optima that are proved).
 */
#include "device_line.h"

#include "base/file.h"
#include "base/text.h"
#include "graph/read.h"
#include "sched/scheduler.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct gaps {
    double heft;
    double best;
    int count;
};

static double budget_s = 1;

static void stop(const char *where)
{
    fprintf(stderr, "%s: %s\n", where, yk_status_message());
    exit(1);
}

static double makespan_of(const struct yk_graph *graph, const char *algorithm)
{
    const struct yk_scheduler_options options = {.budget_s = budget_s, .seed = 1};
    struct yk_schedule *schedule = NULL;
    if (yk_scheduler_run(yk_scheduler_find(algorithm), graph, &options, &schedule) != YK_OK) {
        stop(algorithm);
    }
    const double makespan = yk_graph_ticks_to_time(graph, schedule->makespan);
    yk_schedule_destroy(schedule);
    return makespan;
}

/* Schedules one file and adds both gaps, in percent. */
static void measure(const char *path, int32_t device_count, double optimum, bool print,
                    struct gaps *gaps)
{
    struct yk_text text = {0};
    struct yk_graph *graph = NULL;
    const struct yk_graph_read_options options = {.device_count = device_count};
    if (yk_file_read_document(path, &text) != YK_OK ||
        yk_graph_read_text(text.bytes, text.length, path, &options, &graph) != YK_OK) {
        stop(path);
    }
    const double heft = 100 * (makespan_of(graph, "heft") / optimum - 1);
    const double best = 100 * (makespan_of(graph, "best") / optimum - 1);
    if (print) {
        printf("  %-28s heft %6.2f%%  best %6.2f%%\n", strrchr(path, '/') + 1, heft, best);
        fflush(stdout);
    }
    if (best < -1e-9) {
        printf("  %s: shorter than the stated optimum\n", path);
    }
    gaps->heft += heft;
    gaps->best += best;
    gaps->count++;
    yk_graph_destroy(graph);
    yk_text_free(&text);
}

static double planted_optimum(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256];
    double optimum = NAN;
    while (file && isnan(optimum) && fgets(line, sizeof line, file)) {
        const char *last = strrchr(line, ' ');
        optimum = line[0] == '#' || !last ? NAN : strtod(last, NULL);
    }
    if (file) {
        fclose(file);
    }
    return optimum;
}

static void measure_planted(const char *folder)
{
    char path[1024];
    struct dirent **entries = NULL;
    struct gaps gaps = {0};
    snprintf(path, sizeof path, "%s/dag/planted", folder);
    const int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (strstr(entries[i]->d_name, ".txt")) {
            snprintf(path, sizeof path, "%s/dag/planted/%s", folder, entries[i]->d_name);
            measure(path, 0, planted_optimum(path), true, &gaps);
        }
        free(entries[i]);
    }
    free(entries);
    if (gaps.count > 0) {
        printf("planted optimum, mean gap over %d graphs: heft %.2f%%, best %.2f%%, ratio %.3f\n",
               gaps.count, gaps.heft / gaps.count, gaps.best / gaps.count, gaps.best / gaps.heft);
    }
}

/* The rows are: file, devices, published, lower bound, heft, optimum, certified. */
static void measure_row(char *row, const char *folder, struct gaps *gaps)
{
    enum {
        FILE_NAME,
        DEVICES,
        OPTIMUM = 5,
        CERTIFIED,
        COLUMNS
    };
    char *columns[COLUMNS] = {NULL};
    int count = 0;
    for (char *rest = row; rest && count < COLUMNS; count++) {
        columns[count] = strsep(&rest, ",");
    }
    if (count == COLUMNS && columns[CERTIFIED][0] == '1') {
        char path[1024];
        snprintf(path, sizeof path, "%s/dag/stg/%s", folder, columns[FILE_NAME]);
        measure(path, (int32_t)strtol(columns[DEVICES], NULL, 10), strtod(columns[OPTIMUM], NULL),
                false, gaps);
    }
}

static void measure_certified(const char *folder)
{
    char path[1024];
    char line[256];
    struct gaps gaps = {0};
    snprintf(path, sizeof path, "%s/dag/stg/certified.csv", folder);
    FILE *rows = fopen(path, "r");
    while (rows && fgets(line, sizeof line, rows)) {
        measure_row(line, folder, &gaps);
    }
    if (rows) {
        fclose(rows);
    }
    if (gaps.count > 0) {
        printf("certified STG, mean gap over %d rows: heft %.3f%%, best %.3f%%\n", gaps.count,
               gaps.heft / gaps.count, gaps.best / gaps.count);
    }
}

int main(int argc, char **argv)
{
    struct stat folder;
    if (argc < 2 || stat(argv[1], &folder) != 0) {
        printf("quality: skipped, there is no folder %s with graphs of known optimum; make bench "
               "DATA=FOLDER names another\n",
               argc < 2 ? "" : argv[1]);
        return 0;
    }
    budget_s = argc > 2 ? strtod(argv[2], NULL) : 1;
    print_device_line("quality", "all schedulers", "all of its cores");
    printf("quality: distance from the optimum, best with a budget of %g s\n", budget_s);
    measure_planted(argv[1]);
    budget_s /= 10; /* there are hundreds of these, and they are small */
    measure_certified(argv[1]);
    return 0;
}
