#!/usr/bin/env python3
"""Loads a model that yoke wrote with transformers and holds yoke's logits against the framework's.

    /tmp/oracle/bin/python tests/oracle/check_weights.py FOLDER outputs.safetensors

FOLDER has config.json and model.safetensors, or model.safetensors.index.json and its shards; it may also be
the base model itself, to check what yoke reads. Fails when a weight is missing, left over or misshapen, and
when the logits differ by more than the tolerance.
"""
from outputs import difference, judge, load_model, read_arguments


def main():
    arguments = read_arguments("Holds yoke's logits against those of transformers.", ("model", "a model's folder"))
    model = load_model(arguments.model, arguments.dtype)
    print(f"{type(model).__name__}, {sum(p.numel() for p in model.parameters())} parameters")
    judge(difference(model, arguments.outputs), arguments.tolerance)


main()
