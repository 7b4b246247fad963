/*
 * Planning: what the commands about plans have in common: the words that say what to plan for, and
 * opening it all.
 */
#ifndef YK_JOB_PLANNING_H
#define YK_JOB_PLANNING_H

#include "base/arena.h"
#include "base/option.h"
#include "cluster/cluster.h"
#include "job/profile_path.h"
#include "job/workload.h"
#include "plan/plan_file.h"
#include "planner/study.h"
#include "profile/profile.h"

#include <stddef.h>

/* As given; NULL where they are not. */
struct yk_planning_words {
    const char *model;
    const char *cluster;
    const char *profile;
    double memory_bytes; /* 0: not given */
    double slowdown;     /* 0: not given */
    bool any_profile;    /* a plan may have been made with other measurements */
};

/* Everything a plan is for, opened. Starts as {0}. */
struct yk_planning {
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    struct yk_profile *profile;
    struct yk_cost_book book;
    struct yk_plan_request request; /* book, config, sources, memory and slowdown are filled */
};

/* Opens what the words name; model and cluster are needed. */
yk_status yk_planning_open(const struct yk_planning_words *words,
                           struct yk_planning *out) YK_MUST_USE;

/*
 * Opens a plan file and what it was made for, or what the words name instead, if that is the same.
 * The request is the one that the plan was made for.
 */
yk_status yk_planning_open_plan(const char *path, const struct yk_planning_words *words,
                                struct yk_planning *out, const struct yk_plan **plan) YK_MUST_USE;

void yk_planning_close(struct yk_planning *planning);

/* The context of plan files. */
struct yk_plan_context yk_planning_context(const struct yk_planning *planning);

#define YK_PLANNING_GROUP "Input options"

/* Rows of an options table; `type` is the command's arguments, `field` the words among them: a type
 * and a member cannot stand in parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
/* clang-format off */
#define YK_PLANNING_OPTIONS(type, field, model_help, cluster_help)                                 \
    {                                                                                              \
        .name = "model",                                                                           \
        .placeholder = "MODEL",                                                                    \
        .help = model_help,                                                                        \
        .group = YK_PLANNING_GROUP,                                                                \
        .kind = YK_OPTION_TEXT,                                                                    \
        .offset = offsetof(type, field.model),                                                     \
    },                                                                                             \
    {                                                                                              \
        .name = "cluster",                                                                         \
        .placeholder = "CLUSTER",                                                                  \
        .help = cluster_help,                                                                      \
        .group = YK_PLANNING_GROUP,                                                                \
        .kind = YK_OPTION_TEXT,                                                                    \
        .offset = offsetof(type, field.cluster),                                                   \
    },                                                                                             \
    {                                                                                              \
        .name = "profile",                                                                         \
        .placeholder = "FILE",                                                                     \
        .help = YK_PROFILE_PATH_HELP,                                                              \
        .group = YK_PLANNING_GROUP,                                                                \
        .kind = YK_OPTION_INPUT,                                                                   \
        .offset = offsetof(type, field.profile),                                                   \
    },                                                                                             \
    {                                                                                              \
        .name = "slowdown",                                                                        \
        .placeholder = "FACTOR",                                                                   \
        .help = "How much longer computation takes beside communication; else as measured, or 1.1",               \
        .group = YK_PLANNING_GROUP,                                                                \
        .kind = YK_OPTION_FACTOR,                                                                  \
        .offset = offsetof(type, field.slowdown),                                                  \
    }
/* clang-format on */
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
