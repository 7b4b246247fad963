#include "base/file.h"
#include "library/plan_handle.h"
#include "plan/plan_file.h"
#include "planner/planned_facts.h"
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

static const double usual_budget_s = 8;
static const double usual_compare_s = 10;

/* A plan of which nothing is known yet but the request. */
static yk_status create(const struct yoke_request *request, struct yoke_plan **out)
{
    struct yoke_plan *plan = calloc(1, sizeof *plan);
    yk_status status =
        plan ? yk_library_basis_open(request, &plan->basis) : yk_fail_out_of_memory();
    if (status == YK_OK) {
        status = yk_arena_create(&plan->arena);
    }
    if (status != YK_OK) {
        yoke_plan_destroy(plan);
        return status;
    }
    *out = plan;
    return YK_OK;
}

/* Tells of it and gives it out if all went well, and destroys it if not. */
static yk_status settle(yk_status status, struct yoke_plan *plan, struct yoke_plan **out)
{
    if (status == YK_OK) {
        status = yk_library_fill_plan(plan);
    }
    if (status != YK_OK) {
        yoke_plan_destroy(plan);
        return status;
    }
    *out = plan;
    return YK_OK;
}

static yk_status search(struct yoke_plan *plan)
{
    struct yk_plan_request request;
    YK_TRY(yk_library_plan_request(&plan->basis, usual_budget_s, &request));
    YK_TRY(yk_planner_search(&request, &plan->planned));
    return plan->planned->plan ? YK_OK : yk_planner_fail_unfound(plan->planned);
}

yoke_status yoke_plan_find(const yoke_request *request, yoke_plan **out)
{
    struct yoke_plan *plan = NULL;
    YK_LIBRARY_REQUIRE(request);
    YK_LIBRARY_REQUIRE(out);
    const yk_status status = create(request, &plan);
    return yk_library_status(status == YK_OK ? settle(search(plan), plan, out) : status);
}

/* What a plan file is read with: made here, and held by the plan in the end. */
struct reading {
    const char *text;
    size_t length;
    const char *source;
    struct yoke_plan_reading given;
    struct yk_arena *arena; /* of the plan as it was read */
    struct yoke_model *model;
    struct yoke_cluster *cluster;
    const struct yk_plan *plan;
};

static yk_status open_cluster(const char *word, struct yoke_cluster **out)
{
    struct yk_cluster *cluster = NULL;
    YK_TRY(yk_cluster_open(word, &cluster));
    return yk_library_wrap_cluster(cluster, out);
}

/* Opens what the file names, unless it is given. */
static yk_status open_sources(struct reading *reading)
{
    struct yoke_plan_reading *given = &reading->given;
    struct yk_plan_sources sources;
    YK_TRY(yk_plan_file_sources(reading->text, reading->length, reading->source, reading->arena,
                                &sources));
    YK_TRY(given->model ? yk_library_derive_model(given->model, &reading->model)
                        : yk_library_open_model(sources.model, &reading->model));
    if (given->cluster) {
        reading->cluster = yk_library_retain_cluster(given->cluster);
    } else {
        YK_TRY(open_cluster(sources.cluster, &reading->cluster));
    }
    given->profile = given->profile ? given->profile : sources.profile;
    return YK_OK;
}

static yk_status read_file(struct reading *reading)
{
    struct yk_profile *profile = NULL;
    if (reading->given.profile) {
        YK_TRY(yk_profile_open(reading->given.profile, &profile));
    }
    const struct yk_plan_context context = {
        .config = reading->model->config,
        .cluster = reading->cluster->cluster,
        .profile = profile,
    };
    const yk_status status = yk_plan_file_read(reading->text, reading->length, reading->source,
                                               &context, reading->arena, &reading->plan);
    yk_profile_close(profile);
    return status;
}

/* The request that the plan could be the answer to. */
static yk_status make_request(const struct reading *reading, struct yoke_request **out)
{
    struct yoke_request *request = NULL;
    YK_TRY(yk_library_check_request_slowdown(reading->given.slowdown));
    YK_TRY((yk_status)yoke_request_create(reading->model, reading->cluster, &request));
    const yk_status status =
        yk_library_copy_text(request->arena, reading->given.profile, &request->profile);
    if (status != YK_OK) {
        yoke_request_destroy(request);
        return status;
    }
    request->clip = reading->plan->clip;
    request->slowdown = reading->given.slowdown;
    request->search = reading->given.search ? *reading->given.search : (struct yoke_search){0};
    *out = request;
    return YK_OK;
}

static yk_status examine(const struct reading *reading, struct yoke_plan *plan)
{
    struct yk_plan_request request;
    struct yk_plan *kept = NULL; /* the request points into it */
    YK_TRY(yk_plan_copy(reading->plan, plan->arena, &kept));
    YK_TRY(yk_library_plan_request(&plan->basis, usual_compare_s, &request));
    yk_study_request_restore(kept, &request);
    if (reading->given.slowdown > 0) {
        request.slowdown = reading->given.slowdown;
    }
    return yk_planner_examine(&request, kept, reading->given.compare, &plan->planned);
}

static yk_status make(struct reading *reading, struct yoke_plan **out)
{
    struct yoke_request *request = NULL;
    struct yoke_plan *plan = NULL;
    YK_TRY(open_sources(reading));
    YK_TRY(read_file(reading));
    YK_TRY(yk_library_describe_model(reading->model, &reading->plan->workload));
    YK_TRY(make_request(reading, &request));
    const yk_status status = create(request, &plan);
    yoke_request_destroy(request); /* the plan holds it */
    return status == YK_OK ? settle(examine(reading, plan), plan, out) : status;
}

static yk_status read_text(const char *text, size_t length, const char *source,
                           const struct yoke_plan_reading *given, struct yoke_plan **out)
{
    struct reading reading = {.text = text, .length = length, .source = source};
    if (given) {
        reading.given = *given;
    }
    YK_TRY(yk_arena_create(&reading.arena));
    const yk_status status = make(&reading, out);
    yoke_cluster_destroy(reading.cluster);
    yoke_model_destroy(reading.model);
    yk_arena_destroy(reading.arena);
    return status;
}

yoke_status yoke_plan_read(const char *text, const char *source,
                           const struct yoke_plan_reading *reading, yoke_plan **out)
{
    YK_LIBRARY_REQUIRE(text);
    YK_LIBRARY_REQUIRE(source);
    YK_LIBRARY_REQUIRE(out);
    return yk_library_status(read_text(text, strlen(text), source, reading, out));
}

yoke_status yoke_plan_open(const char *path, const struct yoke_plan_reading *reading,
                           yoke_plan **out)
{
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE(path);
    YK_LIBRARY_REQUIRE(out);
    yk_status status = yk_file_read(path, &text);
    if (status == YK_OK) {
        status = read_text(yk_text_chars(&text), text.length, path, reading, out);
    }
    yk_text_free(&text);
    return yk_library_status(status);
}

void yoke_plan_destroy(yoke_plan *plan)
{
    if (plan) {
        yk_planner_outcome_destroy(plan->planned);
        yk_library_basis_close(&plan->basis);
        yk_arena_destroy(plan->arena);
        free(plan);
    }
}

/* `path` is where it is to be kept, or NULL. */
static yk_status write_file(const yoke_plan *plan, const char *path, struct yk_text *out)
{
    const struct yk_plan_context context = {
        .config = plan->planned->request.config,
        .cluster = plan->basis.book.cluster,
        .profile = plan->basis.profile,
        .path = path,
    };
    return yk_plan_file_write(plan->planned->plan, &context, out);
}

yoke_status yoke_plan_write(const yoke_plan *plan, char **out)
{
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE(plan);
    YK_LIBRARY_REQUIRE(out);
    return yk_library_return_text(write_file(plan, NULL, &text), &text, out);
}

yoke_status yoke_plan_save(const yoke_plan *plan, const char *path)
{
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE(plan);
    YK_LIBRARY_REQUIRE(path);
    yk_status status = write_file(plan, path, &text);
    if (status == YK_OK) {
        status = yk_file_write(path, &text);
    }
    yk_text_free(&text);
    return yk_library_status(status);
}

yoke_status yoke_plan_program(const yoke_plan *plan, char **out)
{
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE(plan);
    YK_LIBRARY_REQUIRE(out);
    return yk_library_return_text(yk_program_text_write(plan->planned->trial.program, &text), &text,
                                  out);
}
