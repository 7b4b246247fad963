/*
 * yoke: train one model on processors that do not match. This is all of the library's interface:
 * devices, models and what they cost, measured or from datasheets, the plan of a training step, its
 * prediction, what can be said, drawn and exported of it, training by it, and trained models.
 * docs/library.md shows how it is used.
 *
 * Handles. What is created (open, read, create, find) is destroyed by the function of its name;
 * destroying NULL does nothing. All other functions must be given a handle; those with a status
 * refuse NULL. A handle keeps what it needs of those it was made from, so that they may be
 * destroyed in any order.
 *
 * Records. A function that returns a `const struct yoke_… *` returns a record that belongs to the
 * handle and lives as long as it; strings in it likewise. Numbers that are out of range give NULL.
 * Later versions may add members at the end: read records where they are, do not copy arrays of
 * them. Records that the caller fills start as {0}, and what is left zero takes its usual value.
 *
 * Texts. A function with a `char **out` hands over a zero-terminated string in UTF-8 that the
 * caller gives back by yoke_free().
 *
 * Failures. A function that can fail returns a yoke_status, writes its outputs only when it
 * succeeds, and leaves a sentence for yoke_message(). Nothing here prints, ends the process, or
 * changes its locale or signals.
 *
 * Processes. Two things start a child process, which the library waits for itself: a search that
 * solves an integer program forks one for the solver, and a training with the setting "counters"
 * runs dcgmi, where that is installed, to read the meters of NVIDIA GPUs. Nothing else does.
 *
 * Threads. Clusters, models, graphs and order problems never change: any number of threads may use
 * one. Any other handle belongs to one thread at a time; threads with handles of their own do not
 * disturb each other.
 *
 * Times are in seconds, memory in bytes. Devices, layers and all else are numbered from 0.
 */
#ifndef YOKE_YOKE_H
#define YOKE_YOKE_H

#include <yoke/cluster.h>
#include <yoke/costs.h>
#include <yoke/generate.h>
#include <yoke/graph.h>
#include <yoke/model.h>
#include <yoke/order.h>
#include <yoke/placements.h>
#include <yoke/plan.h>
#include <yoke/profile.h>
#include <yoke/report.h>
#include <yoke/request.h>
#include <yoke/schedule.h>
#include <yoke/search.h>
#include <yoke/status.h>
#include <yoke/tradeoff.h>
#include <yoke/train.h>

#endif
