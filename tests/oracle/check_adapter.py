#!/usr/bin/env python3
"""Loads an adapter that yoke wrote with PEFT and holds yoke's logits against the framework's.

    /tmp/oracle/bin/python tests/oracle/check_adapter.py BASE ADAPTER outputs.safetensors

BASE is a model's folder as for check_weights.py, ADAPTER has adapter_config.json and
adapter_model.safetensors. Fails when a tensor of the adapter is missing, left over or misshapen, when the
adapter changes nothing, and when the logits differ by more than the tolerance.
"""
import pathlib

import peft
from safetensors.torch import load_file

from outputs import difference, judge, load_model, read_arguments, refuse


def main():
    arguments = read_arguments("Holds yoke's logits against those of PEFT.", ("model", "the base model's folder"),
                               ("adapter", "the adapter's folder"))
    base = load_model(arguments.model, arguments.dtype)
    without = difference(base, arguments.outputs)
    model = peft.PeftModel.from_pretrained(base, arguments.adapter)
    expected = set(peft.get_peft_model_state_dict(model))
    given = set(load_file(pathlib.Path(arguments.adapter) / "adapter_model.safetensors"))
    refuse(expected - given, f"tensors are missing from {arguments.adapter}")
    refuse(given - expected, f"tensors of {arguments.adapter} belong nowhere")
    print(f"{len(given)} tensors of {arguments.adapter} loaded; without them logits are {without:.3e} apart")
    if not without > arguments.tolerance:
        raise SystemExit("the adapter changes nothing, or yoke did not use it")
    judge(difference(model, arguments.outputs), arguments.tolerance)


main()
