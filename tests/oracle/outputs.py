"""What yoke computed, held against a model of transformers: shared by check_weights.py, check_adapter.py and
check_family.py."""
import argparse
import pathlib

import peft
import torch
import transformers
from safetensors.torch import load_file


def read_arguments(description, *folders):
    parser = argparse.ArgumentParser(description=description)
    for folder, what in folders:
        parser.add_argument(folder, help=what)
    parser.add_argument("outputs", help="safetensors with tokens (B, T) and the logits (B, T, V) that yoke computed; "
                        "lengths (B) where sequences are filled up, and what a decoder reads, target_tokens (B, S); of a "
                        "model of images, pixels (B, channels, height, width) as bytes, and logits (B, V)")
    parser.add_argument("--tolerance", type=float, default=1e-4,
                        help="the largest relative difference that passes (1e-4; 2e-2 is fair to bf16)")
    parser.add_argument("--dtype", choices=("float32", "float64", "bfloat16"), default="float32",
                        help="what the framework computes in")
    return parser.parse_args()


def inputs_of(model, outputs):
    """What the model is called with."""
    if "pixels" in outputs:
        return dict(pixel_values=(outputs["pixels"].double() / 127.5 - 1).to(next(model.parameters()).dtype))
    inputs = dict(input_ids=outputs["tokens"].long())
    if "lengths" in outputs:
        inputs["attention_mask"] = (torch.arange(outputs["tokens"].shape[1]) < outputs["lengths"][:, None]).long()
    if "target_tokens" in outputs:
        inputs["decoder_input_ids"] = outputs["target_tokens"].long()
    return inputs


def difference(model, path):
    """The largest difference of logits, relative to the largest logit."""
    outputs = load_file(path)
    with torch.no_grad():
        expected = model.eval()(**inputs_of(model, outputs)).logits.double()
    given = outputs["logits"].double()
    if given.shape != expected.shape:
        raise SystemExit(f"{path}: logits are {tuple(given.shape)}, the model gives {tuple(expected.shape)}")
    if not torch.isfinite(given).all():
        raise SystemExit(f"{path}: logits hold infinities or not-a-numbers")
    return ((given - expected).abs().max() / expected.abs().max()).item()


def refuse(names, what):
    if names:
        listed = ", ".join(sorted(map(str, names))[:8])
        raise SystemExit(f"{len(names)} {what}: {listed}{' ...' if len(names) > 8 else ''}")


def load_model(folder, dtype):
    """The model of a folder. A weight that is missing, left over or of another shape is refused:
    from_pretrained would put random numbers in its place and go on."""
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    kind = getattr(transformers, transformers.AutoConfig.from_pretrained(folder).architectures[0])
    model, info = kind.from_pretrained(
        folder, dtype=getattr(torch, dtype), attn_implementation="eager", ignore_mismatched_sizes=True,
        output_loading_info=True)
    refuse(info["missing_keys"], f"weights are missing from {folder}")
    refuse(info["unexpected_keys"], f"weights of {folder} belong nowhere")
    refuse(info["mismatched_keys"], f"weights of {folder} have another shape")
    return model


def load_adapter(base, folder):
    """The base model with an adapter on it. A tensor of the adapter that is missing, left over or of another shape
    is refused; PEFT would pass over the first two."""
    model = peft.PeftModel.from_pretrained(base, folder)
    expected = {name: tensor.shape for name, tensor in peft.get_peft_model_state_dict(model).items()}
    given = {name: tensor.shape for name, tensor in load_file(pathlib.Path(folder) / "adapter_model.safetensors").items()}
    refuse(set(expected) - set(given), f"tensors are missing from {folder}")
    refuse(set(given) - set(expected), f"tensors of {folder} belong nowhere")
    refuse({name for name in given if given[name] != expected[name]}, f"tensors of {folder} have another shape")
    return model


def judge(found, tolerance):
    print(f"largest relative difference of logits: {found:.3e}")
    if not found <= tolerance:
        raise SystemExit(f"more than {tolerance:g}")
