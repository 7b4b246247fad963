"""A decoder of transformers, with PEFT's adapters or trained whole: bf16 weights of a folder, fused
AdamW whose numbers are all fp32, torch.compile of every block and of the head with its loss.

Which way is the fastest is not known beforehand. Each is tried for a few steps at a learning rate
of 0, which changes no weight; the best one is measured. A way is an attention, where the fp32
weights are, beside bf16 ones that compute or under autocast, and whether blocks are launched as CUDA
graphs. If memory suffices for none, blocks are recomputed.
"""
import dataclasses
import gc
import statistics
import time

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch.nn.attention.flex_attention import create_block_mask
from transformers import AutoConfig, AutoModelForCausalLM

from cases import config_of
from losses import make_batches
from make_data import shard_tokens
from torch_common import Trainer, Training, read_options, serve_trainer

TRIED_STEPS = (2, 3)  # before those that count, and those


@dataclasses.dataclass(frozen=True)
class Way:
    attention: str  # as transformers calls it; of sdpa, then the kernel that goes first
    autocast: bool = False
    recompute: bool = False
    graphs: bool = False
    whole: bool = False  # compiled in one piece

    def __str__(self):
        state = "fp32 under autocast" if self.autocast else "bf16 beside fp32 masters"
        return (f"{self.attention}, trained weights {state}"
                f"{', blocks recomputed' if self.recompute else ''}"
                f"{', CUDA graphs' if self.graphs else ''}"
                f"{', compiled in one piece' if self.whole else ''}")


class MasterTrainer(Trainer):
    """Gradients and products in bf16; AdamW updates fp32 copies, which are rounded back."""

    def __init__(self, training, options):
        masters = [(name, p.detach().float()) for name, p in training.parameters]
        super().__init__(dataclasses.replace(training, parameters=masters), options)
        self.rounded = [p for _, p in training.parameters]

    def update(self):
        if self.options.clip > 0:
            torch.nn.utils.clip_grad_norm_(self.rounded, self.options.clip)
        for master, rounded in zip(self.parameters, self.rounded):
            master.grad, rounded.grad = rounded.grad.float(), None
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.no_grad():
            torch._foreach_copy_(self.rounded, self.parameters)


def make_model(options):
    """Weights of the folder, adapters beside all linears of the blocks; B is 0 at first."""
    case = options.case
    config = AutoConfig.for_model(**config_of(case))
    with torch.device(options.device):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    state = load_file(f"{options.weights}/model.safetensors", device=options.device)
    missing, unknown = model.load_state_dict(state, strict=False)
    if unknown or set(missing) - {"lm_head.weight"}:
        raise ValueError(f"{options.weights} does not fit: {missing}, {unknown}")
    if case.lora_rank:
        from peft import LoraConfig, get_peft_model
        get_peft_model(model, LoraConfig(r=case.lora_rank, lora_alpha=case.lora_alpha,
                                         target_modules="all-linear", bias="none"))
    return model.train()


def head_loss(hidden, weight, targets, cap):  # (B, T, C), (V, C), (B, T)
    logits = F.linear(hidden, weight).float()
    if cap:
        logits = cap * torch.tanh(logits / cap)
    return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


def compile_pieces(model, mode):
    """The head; blocks and the last norm are compiled where they are."""
    torch._dynamo.reset()
    pieces = [*model.model.layers, model.model.norm]
    for piece in pieces:
        piece._compiled_call_impl = None
    if mode == "eager":
        return head_loss
    torch._dynamo.config.recompile_limit = 64
    for piece in pieces:
        piece.compile(mode=mode)
    return torch.compile(head_loss, mode=mode)


def causal_masks(model, length, device):
    """Made once; a window as long as the samples hides nothing."""
    if (getattr(model.config, "sliding_window", None) or length) < length:
        raise ValueError("samples are longer than the window")
    mask = create_block_mask(lambda b, h, query, key: query >= key, None, None, length, length,
                             device=device)
    return {"full_attention": mask, "sliding_attention": mask}


def make_loss(model, way, options):
    mode = "reduce-overhead" if way.graphs else options.mode
    graphs = mode in ("reduce-overhead", "max-autotune")
    head = compile_pieces(model, mode)
    name = way.attention.split()[0]
    model.config._attn_implementation = name
    flexible = name == "flex_attention"
    masks = causal_masks(model, options.case.sequence, options.device) if flexible else None
    cap = getattr(model.config, "final_logit_softcapping", None)
    if way.recompute:  # no way without it follows
        model.gradient_checkpointing_enable({"use_reentrant": False})

    def loss_of(tokens, targets):
        if graphs:
            torch.compiler.cudagraph_mark_step_begin()
        found = model.model(input_ids=tokens, attention_mask=masks, use_cache=False)
        loss = head(found.last_hidden_state, model.lm_head.weight, targets, cap)
        return loss.clone() if graphs else loss  # the next step overwrites what a graph returns
    return loss_of


def make_trainer(model, batches, way, options, rate):
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    for _, parameter in named:  # exact, as they were read in bf16 and tries change nothing
        parameter.grad = None
        parameter.data = parameter.data.to(torch.float32 if way.autocast else torch.bfloat16)
    words = vars(options) | {"rate": rate, "attention": "usual"}
    if way.attention.startswith("sdpa "):
        words["attention"] = way.attention.split()[1]
    tokens = [options.case.batch * options.case.sequence] * len(batches)
    training = Training(make_loss(model, way, options), named, batches, tokens, way.autocast)
    kind = Trainer if way.autocast else MasterTrainer
    return kind(training, type(options)(**words))


def free_memory(options):
    gc.collect()
    if options.device == "cuda":
        torch.cuda.empty_cache()


def try_way(model, batches, way, options, make):
    """(tokens a second or None, the first loss, what went wrong)."""
    try:
        trainer = make(model, batches, way, options, rate=0.0)
        _, _, losses = trainer.timed_steps(TRIED_STEPS[0])
        seconds, tokens, _ = trainer.timed_steps(TRIED_STEPS[1])
        return statistics.median(t / s for t, s in zip(tokens, seconds)), losses[0], ""
    except Exception as error:  # whatever a way does not like: others remain
        said = (str(error).strip().splitlines() or [""])[0]
        return None, None, f"{type(error).__name__}: {said[:150]}"


class Ways:
    """Tries ways, one after the other, as long as there is time for it."""

    def __init__(self, model, batches, options, make=make_trainer):
        self.model, self.batches, self.options, self.make = model, batches, options, make
        self.begin = time.perf_counter()
        self.said, self.found = [], []  # found: (tokens a second, way, first loss)

    def say(self, line):
        self.said.append(line)
        print(f"way {line}", flush=True)

    def attempt(self, way):
        if self.found and time.perf_counter() - self.begin > self.options.tries_s:
            self.say(f"{way}: not tried, for want of time")
            return
        speed, loss, trouble = try_way(self.model, self.batches, way, self.options, self.make)
        free_memory(self.options)
        if speed is not None:
            self.found.append((speed, way, loss))
            trouble = f"{speed:.0f} {self.options.case.unit}s/s, first loss {loss:.4f}"
        self.say(f"{way}: {trouble}")

    def best(self):
        return max(self.found, key=lambda found: found[0])

    def search(self):
        """Attentions first, then CUDA graphs, then where the weights are. sdpa has no cap of scores."""
        kernels = ["cudnn", "flash"] if self.options.attention == "usual" else [
            self.options.attention]
        capped = getattr(self.model.config, "attn_logit_softcapping", None)
        attentions = ["eager", "flex_attention"] if capped else [
            *(f"sdpa {kernel}" for kernel in kernels), "flex_attention"]
        for recompute in (False, True):
            for attention in attentions:
                self.attempt(Way(attention, recompute=recompute))
            if self.found:
                if self.options.device == "cuda" and self.options.mode == "default":
                    self.attempt(dataclasses.replace(self.best()[1], graphs=True))
                self.attempt(dataclasses.replace(self.best()[1], autocast=True))
                return self.best()
        raise RuntimeError("no way works:\n" + "\n".join(self.said))


def main():
    options = read_options()
    model = make_model(options)
    tokens = shard_tokens(options.case, options.warmup + options.steps)
    batches = make_batches(options.case, tokens, options.warmup + options.steps, options.device)
    ways = Ways(model, batches, options)
    _, way, loss = ways.search()
    print("tried", flush=True)
    trainer = make_trainer(model, batches, way, options, options.rate)
    pieces = "eager" if options.mode == "eager" else f"blocks compiled ({options.mode})"
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    serve_trainer(trainer, options, {"way": f"{way}, {pieces}", "tried": ways.said,
                                     "first_loss": loss, "trained_numbers": trained})


if __name__ == "__main__":
    main()
