#include "export/python.h"

#include "export/data_parallel.h"
#include "export/text.h"

#include <inttypes.h>

const char *yk_python_truth(bool value)
{
    return value ? "True" : "False";
}

const char *yk_python_type(enum yk_precision precision)
{
    return precision == YK_PRECISION_BF16   ? "torch.bfloat16"
           : precision == YK_PRECISION_FP16 ? "torch.float16"
                                            : NULL;
}

/* Names of modules are plain ASCII, for which JSON and Python have the same escapes. */
void yk_python_add_names(struct yk_text *out, const char *const *names, int32_t count)
{
    yk_text_add(out, "[");
    for (int32_t i = 0; i < count; i++) {
        yk_text_add(out, i > 0 ? ", " : "");
        yk_text_add_json(out, names[i]);
    }
    yk_text_add(out, "]");
}

void yk_python_add_numbers(struct yk_text *out, const struct yk_plan *plan,
                           const struct yk_cluster *cluster, const struct yk_plan_group *group)
{
    const char *type = yk_python_type(plan->workload.precision);
    yk_text_addf(out, "RANKS = %" PRId32 "\nBATCH = %" PRId64 "\nSHARES = [", group->member_count,
                 plan->workload.batch);
    for (int32_t i = 0; i < group->member_count; i++) {
        yk_text_addf(out, "%s%" PRId64, i > 0 ? ", " : "", group->members[i].share);
    }
    yk_text_addf(out, "]\nMICRO_BATCHES = %" PRId32 "\nNO_SYNC = %s\nCLIP_NORM = %s\n",
                 plan->micro_batches, yk_python_truth(plan->no_sync), plan->clip ? "1.0" : "None");
    yk_text_addf(out, "DTYPE = %s\nTF32 = %s\n", type ? type : "None",
                 yk_python_truth(plan->workload.precision == YK_PRECISION_TF32));
    yk_text_add(out, "LIMIT_BYTES = [\n");
    for (int32_t i = 0; i < group->member_count; i++) {
        const struct yk_plan_member *member = &group->members[i];
        yk_text_addf(out, "    %.0f,  # ", plan->ranks[member->rank].limit_bytes);
        yk_export_text_add_clean(out, yk_data_parallel_device(plan, cluster, member));
        yk_text_add(out, "\n");
    }
    yk_text_add(out, "]\n");
}

static const char samples_of[] =
    "\n\ndef _cut(share, micro_batch):\n"
    "    return share // MICRO_BATCHES + (micro_batch < share % MICRO_BATCHES)\n"
    "\n\ndef samples(rank, micro_batch):\n"
    "    \"\"\"Where the samples of a rank's micro-batch stand in the batch.\"\"\"\n"
    "    first = sum(_cut(share, k) for k in range(micro_batch) for share in SHARES)\n"
    "    first += sum(_cut(share, micro_batch) for share in SHARES[:rank])\n"
    "    return range(first, first + _cut(SHARES[rank], micro_batch))\n";

static const char sampler[] =
    "\n\nclass Shares(torch.utils.data.Sampler):\n"
    "    \"\"\"Gives a rank its share: DataLoader(data, batch_sampler=Shares(len(data), rank)).\n"
    "\n"
    "    One micro-batch after the other, MICRO_BATCHES a step. A micro-batch that the rank has "
    "no\n"
    "    samples in gets the first one of the batch, which is weighted with 0: every rank must\n"
    "    take part in the communication of every layer.\n"
    "    \"\"\"\n"
    "\n"
    "    def __init__(self, length, rank, shuffle=True, seed=0):\n"
    "        self.length, self.rank, self.shuffle, self.seed = length, rank, shuffle, seed\n"
    "        self.epoch = 0\n"
    "\n"
    "    def set_epoch(self, epoch):\n"
    "        self.epoch = epoch\n"
    "\n"
    "    def __len__(self):\n"
    "        return self.length // BATCH * MICRO_BATCHES\n"
    "\n"
    "    def __iter__(self):\n"
    "        order = torch.arange(self.length)\n"
    "        if self.shuffle:\n"
    "            generator = torch.Generator().manual_seed(self.seed + self.epoch)\n"
    "            order = torch.randperm(self.length, generator=generator)\n"
    "        for start in range(0, self.length - BATCH + 1, BATCH):\n"
    "            for micro_batch in range(MICRO_BATCHES):\n"
    "                mine = samples(self.rank, micro_batch) or range(1)\n"
    "                yield [int(order[start + i]) for i in mine]\n";

static const char weights[] =
    "\n\ndef loss_weights(rank, tokens=None):\n"
    "    \"\"\"What the mean loss of each micro-batch is multiplied by.\n"
    "\n"
    "    PyTorch sums the gradients of all ranks and divides by their number, which is wrong for\n"
    "    unequal shares: the gradient of the batch weights each by its part of the batch. Where\n"
    "    samples differ in how many of their tokens bear loss, `tokens` counts those of this\n"
    "    rank, a number for each micro-batch.\n"
    "    \"\"\"\n"
    "    own = [len(samples(rank, k)) for k in range(MICRO_BATCHES)]\n"
    "    if tokens is None:\n"
    "        return [count * RANKS / BATCH for count in own]\n"
    "    own = [count if taken else 0 for count, taken in zip(tokens, own)]\n"
    "    device = \"cuda\" if dist.get_backend() == \"nccl\" else \"cpu\"\n"
    "    total = torch.tensor(float(sum(own)), dtype=torch.float64, device=device)\n"
    "    dist.all_reduce(total)\n"
    "    return [count * RANKS / total.item() for count in own]\n";

static const char devices[] =
    "\n\ndef limit_memory(rank):\n"
    "    \"\"\"Keeps PyTorch's allocator below the planned limit of this rank's device.\"\"\"\n"
    "    if torch.cuda.is_available():\n"
    "        fraction = LIMIT_BYTES[rank] / torch.cuda.mem_get_info()[1]\n"
    "        torch.cuda.set_per_process_memory_fraction(min(1.0, fraction))\n"
    "\n\ndef recompute(model, names):\n"
    "    \"\"\"Makes modules save only their input, and run forward again in backward.\"\"\"\n"
    "    for name in names:\n"
    "        parent, _, last = name.rpartition(\".\")\n"
    "        parent = model.get_submodule(parent)\n"
    "        module = getattr(parent, last)\n"
    "        if any(True for _ in module.parameters()):\n"
    "            setattr(parent, last, checkpoint_wrapper(module))\n";

static const char step_head[] =
    "\n\ndef step(model, optimizer, batches, loss_function, rank, count_tokens=None, "
    "scaler=None):\n"
    "    \"\"\"One step. `batches` is an iterator over a loader with Shares; loss_function(model, "
    "batch)\n"
    "    is the mean loss of a batch. Returns this rank's part of the batch's mean loss.\"\"\"\n";

static const char step_batches[] =
    "    taken = [next(batches) for _ in range(MICRO_BATCHES)]\n"
    "    tokens = [count_tokens(batch) for batch in taken] if count_tokens else None\n"
    "    loss_sum = 0.0\n"
    "    for k, weight in enumerate(loss_weights(rank, tokens)):\n";

static const char step_loss[] = "        loss_sum += loss.item() / RANKS\n"
                                "    if scaler:\n"
                                "        scaler.unscale_(optimizer)\n"
                                "    if CLIP_NORM is not None:\n";

static const char step_end[] = "    if scaler:\n"
                               "        scaler.step(optimizer)\n"
                               "        scaler.update()\n"
                               "    else:\n"
                               "        optimizer.step()\n"
                               "    optimizer.zero_grad()\n"
                               "    return loss_sum\n";

void yk_python_add_sharing(struct yk_text *out)
{
    yk_text_add(out, samples_of);
    yk_text_add(out, sampler);
    yk_text_add(out, weights);
    yk_text_add(out, devices);
}

void yk_python_add_step(struct yk_text *out, const char *first, const char *passes,
                        const char *clip)
{
    yk_text_add(out, step_head);
    yk_text_add(out, first);
    yk_text_add(out, step_batches);
    yk_text_add(out, passes);
    yk_text_add(out, step_loss);
    yk_text_add(out, clip);
    yk_text_add(out, step_end);
}

void yk_python_note_step(const struct yk_plan *plan, struct yk_text *notes)
{
    if (plan->clip) {
        yk_export_text_note(notes,
                            "The plan says that gradients are clipped, but not at which norm: "
                            "CLIP_NORM is 1.0 until you change it.");
    }
    if (plan->workload.precision == YK_PRECISION_FP16) {
        yk_export_text_note(notes, "fp16 needs a loss scaler: give step() a torch.amp.GradScaler.");
    }
    if (plan->workload.target_sequence > 0) {
        yk_export_text_note(
            notes, "Targets have %" PRId64 " tokens: cut them to that when they are loaded.",
            plan->workload.target_sequence);
    }
    yk_export_text_note(notes,
                        "Samples are taken to bear loss on equally many tokens; give step() a "
                        "count_tokens where they do not.");
}
