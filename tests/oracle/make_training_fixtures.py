#!/usr/bin/env python3
"""Trains tiny models with PyTorch, transformers and PEFT and records how, as the cases that the tests
of nn and train replay.

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install torch==2.8.0 transformers==5.22.2 peft==0.21.2
    /tmp/oracle/bin/python tests/oracle/make_training_fixtures.py            # writes tests/nn/fixtures
    /tmp/oracle/bin/python tests/oracle/make_training_fixtures.py --check    # compares with what is there
    ... make_training_fixtures.py gpt-tied llama-nf4                         # only these cases

CASE.json holds a model's config.json under "config" and how it is trained under "settings"; CASE.safetensors
holds fp32 numbers unless said otherwise:

    weights.NAME     initial parameters; tied ones once; adapters by the names PEFT saves them under
    tokens, targets  (steps, B, T) int32; a target is the token to predict there, -1 where there is no loss
    logits           (B, T, V) of step 0
    gradients.NAME   of step 0, before clipping, of every parameter that is trained
    losses           (steps) before the update of each step
    norms            (steps) of all gradients together, before clipping
    rates            (steps)
    final.NAME       every trained parameter after the last step; of bf16 the fp32 master
    nf4.NAME.*       what a quantised weight was (original) and became: codes and scales (uint8),
                     scale_scales, mean; weights.NAME is what they stand for

Rules:
 - the loss of a step is the mean over all its tokens that bear loss; with accumulation A, micro-batch m is
   the m-th A-th of the rows, and the gradients of all micro-batches are of that same mean;
 - label smoothing s: 1 - s for the label and s / V for every token, the label too;
 - parameters with two or more dimensions decay, the others do not;
 - the rate of step s = 0, 1 ... is that of update s:
     constant      maximum
     cosine        s < warmup: maximum (s + 1) / (warmup + 1), else
                   minimum + (1 + cos(pi (s - warmup) / (steps - warmup))) / 2 (maximum - minimum)
     inverse-root  maximum min((s + 1) / warmup, sqrt(warmup / (s + 1)))
 - clip: gradients are multiplied by min(1, clip / (norm + 1e-6)); 0 is no clipping;
 - AdamW and SGD are torch.optim's;
 - lora: y = x W' + (alpha / rank) x A' B', no dropout, all else frozen;
 - bf16: weights, activations and gradients are bf16, the optimizer works on fp32 masters, which start as
   weights.NAME; after each update weights are the rounded masters.

Every case is trained in fp64 too; "spread" in its JSON is the largest difference between the two, relative to
the largest number: of losses, of norms, and over the tensors of gradients and of final. A spread above 1e-5
in the losses fails: such a case would be chaotic and say nothing.
"""
import argparse
import json
import math
import pathlib
import tempfile
import zlib

import numpy as np
import peft
import torch
import transformers
from safetensors.numpy import load_file, save_file

import nf4

STEPS = 20
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "nn" / "fixtures"
LOSS_SPREAD = {"fp32": 1e-5, "bf16": 2e-2}

RATE_RULES = {
    "constant": "maximum",
    "cosine": "s < warmup: maximum * (s + 1) / (warmup + 1); else minimum + 0.5 * (1 + cos(pi * (s - warmup)"
              " / (steps - warmup))) * (maximum - minimum)",
    "inverse-root": "maximum * min((s + 1) / warmup, sqrt(warmup / (s + 1)))",
}


def gpt2(width=16, heads=2, vocabulary=29, tied=True, positions=12, **more):
    config = dict(
        architectures=["GPT2LMHeadModel"], model_type="gpt2", vocab_size=vocabulary, n_positions=positions,
        n_embd=width, n_layer=2, n_head=heads, activation_function="gelu_new", layer_norm_epsilon=1e-5,
        embd_pdrop=0.0, attn_pdrop=0.0, resid_pdrop=0.0, tie_word_embeddings=tied, bos_token_id=0,
        eos_token_id=0)
    return config | more


def llama(width=24, heads=4, kv_heads=2, inner=40, vocabulary=31, tied=False, positions=32, **more):
    config = dict(
        architectures=["LlamaForCausalLM"], model_type="llama", vocab_size=vocabulary, hidden_size=width,
        intermediate_size=inner, num_hidden_layers=2, num_attention_heads=heads, num_key_value_heads=kv_heads,
        max_position_embeddings=positions, hidden_act="silu", rms_norm_eps=1e-5, attention_dropout=0.0,
        tie_word_embeddings=tied, bos_token_id=0, eos_token_id=0)
    return config | more


# transformers 5 writes the numbers of rotary positions this way; older ones as "rope_theta" and "rope_scaling".
ROPE = dict(rope_parameters=dict(rope_type="default", rope_theta=10000.0))

LLAMA_LINEARS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def adamw(beta2=0.999, epsilon=1e-5, decay=0.1):
    """Its epsilon is larger than usual: the gradient of GPT-2's key biases is 0 but for rounding, which
    AdamW would make an update of full size out of."""
    return dict(name="adamw", beta1=0.9, beta2=beta2, epsilon=epsilon, decay=decay)


def case(config, optimizer=None, rate="constant", maximum=3e-3, minimum=0.0, warmup=0, clip=0.0, batch=3,
         sequence=8, accumulation=1, smoothing=0.0, masked=0.0, lora=None, quantised=False, precision="fp32"):
    """`masked` is the share of tokens without loss, besides the rows that accumulation leaves unequal."""
    settings = dict(
        steps=STEPS, batch=batch, sequence=sequence, optimizer=optimizer or adamw(),
        decayed="parameters with two or more dimensions",
        rate=dict(name=rate, maximum=maximum, minimum=minimum, warmup=warmup, rule=RATE_RULES[rate]),
        clip=clip, accumulation=accumulation, smoothing=smoothing, lora=lora, nf4=quantised,
        precision=precision)
    return dict(config=config, settings=settings, masked=masked)


CASES = {
    "gpt-tied": case(gpt2(tied=True)),
    "gpt-untied": case(gpt2(tied=False, heads=4, vocabulary=33), adamw(beta2=0.95)),
    "gpt-erf": case(gpt2(activation_function="gelu", n_inner=40, layer_norm_epsilon=1e-3)),
    "gpt-clip-cosine": case(
        gpt2(), rate="cosine", maximum=5e-3, minimum=5e-4, warmup=5, clip=0.5),
    "gpt-accumulate": case(gpt2(tied=False), batch=8, accumulation=4, masked=0.2),
    "gpt-smoothing": case(gpt2(), smoothing=0.1, masked=0.3),
    # Clipped in some steps and not in others; AdamW would hardly tell how much.
    "gpt-sgd": case(gpt2(), dict(name="sgd", momentum=0.9, decay=0.01), maximum=0.05, clip=2.0),
    "gpt-rsqrt": case(gpt2(tied=False), rate="inverse-root", maximum=5e-3, warmup=6),
    "gpt-bf16": case(gpt2(tied=False), maximum=1e-2, clip=1.0, precision="bf16"),
    "gpt-lora": case(
        gpt2(), maximum=5e-3, lora=dict(rank=4, alpha=8.0, targets=["c_attn", "c_proj", "c_fc"])),
    "llama": case(llama(**ROPE), adamw(epsilon=1e-8)),
    "llama-tied": case(
        llama(tied=True, kv_heads=1, rope_parameters=dict(rope_type="default", rope_theta=500.0)),
        adamw(epsilon=1e-8)),
    # A head is larger than its share of the width, and rotary positions are told the older way.
    "llama-bias": case(
        llama(heads=2, kv_heads=1, head_dim=16, attention_bias=True, mlp_bias=True, rms_norm_eps=1e-3,
              rope_theta=5000.0)),
    "llama3-scaling": case(
        llama(width=32, heads=2, kv_heads=1, inner=32, positions=256, rope_theta=10000.0,
              rope_scaling=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                original_max_position_embeddings=32)),
        batch=2, sequence=24),
    "llama-lora": case(
        llama(**ROPE), maximum=5e-3, lora=dict(rank=4, alpha=16.0, targets=LLAMA_LINEARS)),
    "llama-nf4": case(
        llama(width=32, inner=48, **ROPE), maximum=5e-3, quantised=True,
        lora=dict(rank=4, alpha=8.0, targets=LLAMA_LINEARS)),
}


def rate_of(rate, step):
    high, low, warmup = rate["maximum"], rate["minimum"], rate["warmup"]
    if rate["name"] == "constant":
        return high
    if rate["name"] == "inverse-root":
        return high * min((step + 1) / warmup, math.sqrt(warmup / (step + 1)))
    if step < warmup:
        return high * (step + 1) / (warmup + 1)
    return low + 0.5 * (1 + math.cos(math.pi * (step - warmup) / (STEPS - warmup))) * (high - low)


def draw_data(c, random):
    """Sequences that can be learned: three of four tokens follow from the one before."""
    settings, V = c["settings"], c["config"]["vocab_size"]
    B, T = settings["batch"], settings["sequence"]
    sequences = random.integers(0, V, (STEPS, B, T + 1))
    follows = random.random(sequences.shape) < 0.75
    for t in range(T):
        sequences[:, :, t + 1] = np.where(follows[:, :, t], (3 * sequences[:, :, t] + 1) % V,
                                          sequences[:, :, t + 1])
    targets = sequences[:, :, 1:].copy()
    targets[random.random(targets.shape) < c["masked"]] = -1
    parts = settings["accumulation"]
    if parts > 1:  # very unequal micro-batches, and one without any loss
        for step in range(STEPS):
            part = step % parts
            targets[step, part * B // parts:(part + 1) * B // parts, 2:] = -1
        targets[3, :B // parts] = -1
    return sequences[:, :, :-1].astype(np.int32), targets.astype(np.int32)


def draw_weights(model, random):
    """Every parameter is random, those too that frameworks start at 0 or 1."""
    for name, parameter in model.named_parameters():
        values = random.standard_normal(tuple(parameter.shape))
        if parameter.ndim >= 2:
            values *= 0.15
        else:
            values = 0.1 * values + (1.0 if "norm" in name or ".ln_" in name and ".weight" in name else 0.0)
        parameter.data.copy_(torch.from_numpy(values.astype(np.float32)))


def build(c, random):
    """The model in fp32 with its initial parameters, its adapter_config.json, and what NF4 made of weights."""
    kind = getattr(transformers, c["config"]["architectures"][0])
    config = kind.config_class.from_dict(c["config"])
    model = kind._from_config(config, attn_implementation="eager")
    draw_weights(model, random)
    quantised = {}
    if c["settings"]["nf4"]:
        for name, parameter in model.named_parameters():
            if name.split(".")[-2] in LLAMA_LINEARS:
                quantised[name] = nf4.quantise(parameter.detach().numpy())
                parameter.data.copy_(torch.from_numpy(nf4.dequantise(quantised[name])))
    lora = c["settings"]["lora"]
    if not lora:
        return model, None, quantised
    model = peft.get_peft_model(model, peft.LoraConfig(
        task_type="CAUSAL_LM", r=lora["rank"], lora_alpha=lora["alpha"], target_modules=lora["targets"],
        lora_dropout=0.0, bias="none", fan_in_fan_out=c["config"]["model_type"] == "gpt2"))
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            values = 0.1 * random.standard_normal(tuple(parameter.shape))
            parameter.data.copy_(torch.from_numpy(values.astype(np.float32)))
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        adapter = json.loads((pathlib.Path(folder) / "adapter_config.json").read_text())
        adapter["target_modules"].sort()
        saved = set(load_file(pathlib.Path(folder) / "adapter_model.safetensors"))
    names = {public_name(n) for n, p in model.named_parameters() if p.requires_grad}
    assert names == saved, names ^ saved
    return model, adapter, quantised


def public_name(name):
    """The Hugging Face name of a base weight, the one PEFT saves of an adapter's."""
    if ".lora_" in name:
        return name.replace(".default.", ".")
    return name.removeprefix("base_model.model.").replace(".base_layer.", ".")


def make_optimizer(settings, parameters):
    o = settings["optimizer"]
    groups = [dict(params=[p for p in parameters if p.ndim >= 2], weight_decay=o["decay"]),
              dict(params=[p for p in parameters if p.ndim < 2], weight_decay=0.0)]
    groups = [g for g in groups if g["params"]]
    if o["name"] == "sgd":
        return torch.optim.SGD(groups, lr=1.0, momentum=o["momentum"], foreach=False)
    return torch.optim.AdamW(groups, lr=1.0, betas=(o["beta1"], o["beta2"]), eps=o["epsilon"], foreach=False)


def backward(model, settings, tokens, targets, dtype):
    """Leaves the gradients of a step in the model; returns its loss and the logits."""
    total = int((targets >= 0).sum())
    loss, logits = 0.0, []
    for rows, labels in zip(tokens.chunk(settings["accumulation"]), targets.chunk(settings["accumulation"])):
        part = model(input_ids=rows).logits
        summed = torch.nn.functional.cross_entropy(
            part.to(dtype).flatten(0, 1), labels.flatten(), ignore_index=-1, reduction="sum",
            label_smoothing=settings["smoothing"])
        (summed / total).backward()
        loss += summed.item() / total
        logits.append(part.detach().float().numpy())
    return loss, np.concatenate(logits)


def to_numpy(tensor):
    return tensor.detach().float().contiguous().numpy().copy()


def train(c, dtype):
    """All that the safetensors file holds, of a training run that computes in `dtype`, and the adapter's
    config. Masters are fp32 where dtype is bf16 and the weights themselves elsewhere."""
    settings = c["settings"]
    random = np.random.default_rng(zlib.crc32(c["name"].encode()))
    tokens, targets = draw_data(c, random)
    model, adapter, quantised = build(c, random)
    record = {f"weights.{public_name(n)}": to_numpy(p) for n, p in model.named_parameters()}
    for name, parts in quantised.items():
        record |= {f"nf4.{name}.{part}": value for part, value in parts.items()}
    record |= dict(tokens=tokens, targets=targets)
    trained = [(public_name(n), p) for n, p in model.named_parameters() if p.requires_grad]
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    masters = [p.detach().to(wide) for _, p in trained]
    model.to(dtype)
    optimizer = make_optimizer(settings, masters)
    losses, norms = [], []
    rates = [rate_of(settings["rate"], step) for step in range(STEPS)]
    for step in range(STEPS):
        for master, (_, parameter) in zip(masters, trained):
            parameter.data.copy_(master)
            parameter.grad = None
        loss, logits = backward(model, settings, torch.from_numpy(tokens[step]).long(),
                                torch.from_numpy(targets[step]).long(), wide)
        for master, (_, parameter) in zip(masters, trained):
            master.grad = parameter.grad.to(wide)
        if step == 0:
            record["logits"] = logits
            record |= {f"gradients.{n}": to_numpy(m.grad) for m, (n, _) in zip(masters, trained)}
        norm = torch.nn.utils.clip_grad_norm_(masters, settings["clip"] or math.inf, foreach=False)
        for group in optimizer.param_groups:
            group["lr"] = rates[step]
        optimizer.step()
        losses.append(loss)
        norms.append(norm.item())
    record |= {key: np.array(value, np.float32) for key, value in
               (("losses", losses), ("norms", norms), ("rates", rates))}
    record |= {f"final.{n}": to_numpy(m) for m, (n, _) in zip(masters, trained)}
    return record, adapter


def apart(a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-6))


def spread(record, exact):
    result = {key: apart(record[key], exact[key]) for key in ("logits", "losses", "norms")}
    for kind in ("gradients", "final"):
        result[kind] = max(apart(record[k], exact[k]) for k in record if k.startswith(kind + "."))
    return {key: float(f"{value:.2g}") for key, value in result.items()}


def demand(c, record):
    """What a case is there for does happen in it."""
    settings, config = c["settings"], c["config"]
    still = c | dict(settings=settings | dict(rate=settings["rate"] | dict(maximum=0.0, minimum=0.0)))
    dtype = torch.bfloat16 if settings["precision"] == "bf16" else torch.float32
    learned = train(still, dtype)[0]["losses"] - record["losses"]
    assert learned[0] == 0 and learned[-5:].mean() > 0.1, learned
    if settings["clip"]:
        assert (record["norms"] > settings["clip"]).sum() >= STEPS // 5, record["norms"]
    if settings["accumulation"] > 1:
        parts = (record["targets"] >= 0).reshape(STEPS, settings["accumulation"], -1).sum(-1)
        assert (parts.max(1) > parts.min(1)).all() and (parts == 0).any()
    if config.get("rope_scaling"):
        scaling, d = config["rope_scaling"], config["hidden_size"] // config["num_attention_heads"]
        waves = 2 * math.pi * config["rope_theta"] ** (np.arange(0, d, 2) / d)
        short = scaling["original_max_position_embeddings"] / scaling["high_freq_factor"]
        long = scaling["original_max_position_embeddings"] / scaling["low_freq_factor"]
        assert (waves < short).any() and (waves > long).any() and ((waves > short) & (waves < long)).any()
        plain = c | dict(config={k: v for k, v in config.items() if k != "rope_scaling"})
        assert apart(train(plain, torch.float32)[0]["logits"], record["logits"]) > 1e-2


def write(name, c, record, adapter, agreement):
    versions = dict(torch=torch.__version__, transformers=transformers.__version__, peft=peft.__version__)
    document = dict(made_by="tests/oracle/make_training_fixtures.py", versions=versions, config=c["config"],
                    settings=c["settings"], spread=agreement)
    if adapter:
        document["adapter_config"] = adapter
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps(document, indent=2) + "\n")
    save_file(record, FOLDER / f"{name}.safetensors", metadata={"format": "pt"})


def compare(name, record):
    """The largest difference from the fixture that is there."""
    old = load_file(FOLDER / f"{name}.safetensors")
    assert set(old) == set(record), set(old) ^ set(record)
    return max(apart(record[key], old[key]) for key in record)


def main():
    parser = argparse.ArgumentParser(description="Makes the training cases of tests/nn/fixtures.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare with what is there")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="one of " + ", ".join(CASES))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    failed = False
    for name in arguments.cases or CASES:
        c = CASES[name] | dict(name=name)
        precision = c["settings"]["precision"]
        record, adapter = train(c, torch.bfloat16 if precision == "bf16" else torch.float32)
        demand(c, record)
        if arguments.check:
            difference = compare(name, record)
            failed |= difference > 1e-4
            print(f"{name}: {difference:.1e} from the fixture")
            continue
        agreement = spread(record, train(c, torch.float64)[0])
        failed |= agreement["losses"] > LOSS_SPREAD[precision]
        write(name, c, record, adapter, agreement)
        size = (FOLDER / f"{name}.safetensors").stat().st_size
        words = ", ".join(f"{key} {value:.1e}" for key, value in agreement.items())
        print(f"{name}: loss {record['losses'][0]:.3f} to {record['losses'][-1]:.3f}, {size >> 10} KiB; "
              f"apart from fp64: {words}")
    if failed:
        raise SystemExit("A case is too far from what it should be; see above.")


main()
