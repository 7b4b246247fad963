/* Writes pages of plans and runs made by hand, and the pictures of one, into a folder, for the
 * browser: plan_page_example FOLDER */
#include "base/file.h"
#include "support/reports/example_plan.h"
#include "support/reports/example_run.h"

#include <stdio.h>
#include <stdlib.h>

static void check(yk_status status)
{
    if (status != YK_OK) {
        fprintf(stderr, "%s\n", yk_status_message());
        exit(1);
    }
}

static void save(const char *folder, const char *name, struct yk_text *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    check(yk_file_write(path, text));
    yk_text_free(text);
    *text = (struct yk_text){0};
}

static void save_page(const char *folder, const char *name,
                      const struct fixture_plan_options *options)
{
    struct yk_text text = {0};
    struct fixture_plan fixture = fixture_plan_make(options);
    fixture_plan_add_choices(&fixture);
    check(yk_plan_page_write(&fixture.report, &text));
    save(folder, name, &text);
    fixture_plan_free(&fixture);
}

static void save_run(const char *folder, const char *name,
                     const struct fixture_run_options *options, bool goes_on)
{
    struct yk_text text = {0};
    struct fixture_run fixture = fixture_run_make(options);
    if (goes_on) {
        fixture.report.predicted = NULL;
        fixture.report.measured = NULL;
        fixture.report.memory_count = 0;
        fixture.report.sample = NULL;
    }
    check(yk_run_page_write(&fixture.report, &text));
    save(folder, name, &text);
    fixture_run_free(&fixture);
}

static void save_figures(const char *folder)
{
    struct yk_text text = {0};
    struct fixture_plan fixture = fixture_plan_make(
        &(struct fixture_plan_options){.ranks = 3, .layers = 12, .spare_devices = 1});
    fixture_plan_add_choices(&fixture);
    check(yk_plan_page_write_pictures(&fixture.report, "lanes",
                                      yk_chart_use_argument_as_picture_text, &text));
    save(folder, "lanes.svg", &text);
    check(yk_plan_memory_write_rank_picture(&fixture.report, 1, &text));
    save(folder, "memory.svg", &text);
    check(yk_plan_page_write_pictures(&fixture.report, "bars",
                                      yk_chart_use_argument_as_picture_text, &text));
    save(folder, "bars.svg", &text);
    check(yk_plan_page_write_pictures(&fixture.report, "cluster",
                                      yk_chart_use_argument_as_picture_text, &text));
    save(folder, "cluster.svg", &text);
    check(yk_plan_tradeoff_write_picture(&fixture.report.tradeoffs[0], &text));
    save(folder, "tradeoff.svg", &text);
    fixture_plan_free(&fixture);
}

int main(int count, char **words)
{
    if (count != 2) {
        fprintf(stderr, "usage: plan_page_example FOLDER\n");
        return 2;
    }
    save_page(words[1], "few.html",
              &(struct fixture_plan_options){.ranks = 3, .layers = 12, .spare_devices = 1});
    save_page(words[1], "many.html",
              &(struct fixture_plan_options){.ranks = 64, .layers = 400, .all_different = true});
    save_page(words[1], "alike.html", &(struct fixture_plan_options){.ranks = 64, .layers = 32});
    save_page(words[1], "names.html",
              &(struct fixture_plan_options){
                  .ranks = 2, .layers = 4, .name = "=\"'</script><img src=x onerror=alert(1)>,"});
    save_run(words[1], "run.html",
             &(struct fixture_run_options){.steps = 600, .ranks = 2, .layers = 6}, false);
    save_run(words[1], "run-ranks.html",
             &(struct fixture_run_options){
                 .steps = 300, .ranks = 12, .layers = 6, .ranks_over_steps = true},
             false);
    save_run(words[1], "going.html",
             &(struct fixture_run_options){.steps = 3, .ranks = 1, .layers = 1}, true);
    save_run(words[1], "run-names.html",
             &(struct fixture_run_options){.steps = 40,
                                           .ranks = 2,
                                           .layers = 2,
                                           .ranks_over_steps = true,
                                           .name = "=\"'</script><img src=x onerror=alert(1)>,"},
             false);
    save_figures(words[1]);
    return 0;
}
