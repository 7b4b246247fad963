"""ViTForImageClassification of transformers: bf16 weights of a folder, fused AdamW whose numbers are all
fp32, torch.compile of every block, or of the model in one piece.

As in torch_causal.py, the ways are tried out, and the fastest is measured. Images lie on the GPU as
normalised bf16 numbers beforehand; yoke reads bytes and normalises them itself.
"""
import dataclasses

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForImageClassification

from cases import config_of
from make_data import random_images
from torch_causal import MasterTrainer, Way, Ways
from torch_common import Trainer, Training, read_options, serve_trainer

BATCHES = 2


def make_model(options):
    config = AutoConfig.for_model(**config_of(options.case))
    with torch.device(options.device):
        model = AutoModelForImageClassification.from_config(
            config, dtype=torch.bfloat16, attn_implementation="sdpa")
    model.load_state_dict(load_file(f"{options.weights}/model.safetensors", device=options.device))
    return model.train()


def make_batches(options):
    case = options.case
    pixels, labels = random_images(case, BATCHES * case.batch)
    batches = []
    for number in range(BATCHES):
        rows = slice(number * case.batch, (number + 1) * case.batch)
        images = torch.from_numpy(pixels[rows]).permute(0, 3, 1, 2).to(options.device)
        images = (images.float() / 127.5 - 1).to(torch.bfloat16).contiguous()
        batches.append((images, torch.from_numpy(labels[rows]).long().to(options.device)))
    return batches


def make_loss(model, way, options):
    mode = "reduce-overhead" if way.graphs else options.mode
    graphs = mode in ("reduce-overhead", "max-autotune")
    torch._dynamo.reset()
    for piece in model.vit.layers:
        piece._compiled_call_impl = None

    def whole(images, labels):
        return F.cross_entropy(model(pixel_values=images).logits.float(), labels)

    compiled = whole
    if mode != "eager" and way.whole:
        compiled = torch.compile(whole, mode=mode)
    elif mode != "eager":
        torch._dynamo.config.recompile_limit = 64
        for piece in model.vit.layers:
            piece.compile(mode=mode)

    def loss_of(images, labels):
        if graphs:
            torch.compiler.cudagraph_mark_step_begin()
        loss = compiled(images, labels)
        return loss.clone() if graphs else loss  # the next step overwrites what a graph returns
    return loss_of


def make_trainer(model, batches, way, options, rate):
    named = list(model.named_parameters())
    for _, parameter in named:  # exact, as they were read in bf16 and tries change nothing
        parameter.grad = None
        parameter.data = parameter.data.to(torch.float32 if way.autocast else torch.bfloat16)
    words = vars(options) | {"rate": rate, "attention": way.attention.split()[1]}
    counts = [options.case.batch] * len(batches)
    training = Training(make_loss(model, way, options), named, batches, counts, way.autocast)
    kind = Trainer if way.autocast else MasterTrainer
    return kind(training, type(options)(**words))


class ImageWays(Ways):
    def search(self):
        """Attentions first, then one piece, CUDA graphs, and where the weights are."""
        kernels = ["cudnn", "flash"] if self.options.attention == "usual" else [
            self.options.attention]
        for kernel in kernels:
            self.attempt(Way(f"sdpa {kernel}"))
        if not self.found:
            raise RuntimeError("no way works:\n" + "\n".join(self.said))
        if self.options.mode != "eager":
            self.attempt(dataclasses.replace(self.best()[1], whole=True))
        if self.options.device == "cuda" and self.options.mode == "default":
            self.attempt(dataclasses.replace(self.best()[1], graphs=True))
        self.attempt(dataclasses.replace(self.best()[1], autocast=True))
        return self.best()


def main():
    options = read_options()
    model = make_model(options)
    batches = make_batches(options)
    ways = ImageWays(model, batches, options, make_trainer)
    _, way, loss = ways.search()
    print("tried", flush=True)
    trainer = make_trainer(model, batches, way, options, options.rate)
    pieces = "eager" if options.mode == "eager" else f"torch.compile ({options.mode})"
    trained = sum(p.numel() for p in model.parameters())
    serve_trainer(trainer, options, {"way": f"{way}, {pieces}", "tried": ways.said,
                                     "first_loss": loss, "trained_numbers": trained})


if __name__ == "__main__":
    main()
