#!/usr/bin/env python3
"""Loads an adapter that yoke wrote with PEFT and holds yoke's logits against the framework's.

    /tmp/oracle/bin/python tests/oracle/check_adapter.py BASE ADAPTER outputs.safetensors

BASE is a model's folder as for check_weights.py, ADAPTER has adapter_config.json and
adapter_model.safetensors. Fails when a tensor of the adapter is missing, left over or misshapen, when the
adapter changes nothing, and when the logits differ by more than the tolerance.
"""
from outputs import difference, judge, load_adapter, load_model, read_arguments


def main():
    arguments = read_arguments("Holds yoke's logits against those of PEFT.", ("model", "the base model's folder"),
                               ("adapter", "the adapter's folder"))
    base = load_model(arguments.model, arguments.dtype)
    without = difference(base, arguments.outputs)
    model = load_adapter(base, arguments.adapter)
    print(f"{arguments.adapter} loaded; without it logits are {without:.3e} apart")
    if not without > arguments.tolerance:
        raise SystemExit("the adapter changes nothing, or yoke did not use it")
    judge(difference(model, arguments.outputs), arguments.tolerance)


main()
