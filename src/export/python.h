/*
 * Python: the parts of the generated Python files that DDP and FSDP share: constants from the plan,
 * a sampler that gives each rank its share of the batch, loss weights that correct the gradient for
 * unequal shares, and the training step.
 */
#ifndef YK_EXPORT_PYTHON_H
#define YK_EXPORT_PYTHON_H

#include "export/text.h"

/* The files of export/python/, embedded by the build (tools/embed.cmake). They use the constants
 * and imports that the exporters write before them. */
extern const char yk_python_shared_py[];
extern const char yk_python_ddp_py[];
extern const char yk_python_fsdp_py[];

/* Adds the beginning of the file: comments, imports, and the constants RANKS, BATCH, SHARES … */
void yk_python_add_head(const struct yk_export_job *job, const char *imports);

/* Adds the function step(). The arguments are lines of its body: `first` at the beginning, `passes`
 * for forward and backward of micro-batch `k` with its loss weight `weight`, and `clip` for
 * gradient clipping. */
void yk_python_add_step(struct yk_text *out, const char *first, const char *passes,
                        const char *clip);

/* "torch.bfloat16", "torch.float16"; NULL for 32-bit precisions. */
const char *yk_python_torch_dtype(enum yk_precision precision);

/* "True", "False". */
const char *yk_python_bool(bool value);

/* Adds a list of strings: ["transformer.wte", "transformer.wpe"]. */
void yk_python_add_string_list(struct yk_text *out, const char *const *names, int32_t count);

/* Notes what step() assumes, and what the user must pass to it. */
void yk_python_add_step_notes(const struct yk_export_job *job);

#endif
