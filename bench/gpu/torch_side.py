"""Keeps a PyTorch script at hand: it compiles once, and takes its turn when asked."""
import json
import os
import subprocess
import sys
import tempfile
import threading

from gpu_memory import Watch

HERE = os.path.dirname(os.path.abspath(__file__))


class TorchError(Exception):
    pass


def progress(case, what):
    """A case takes minutes. What it has found is said at once, beside the table."""
    print(f"  {case.name}: {what}", file=sys.stderr, flush=True)


class TorchSide:
    """with TorchSide(…) as torch: torch.round(), as often as rounds were announced."""

    def __init__(self, case, settings, weights):
        self.case = case
        self.limit_s = settings.limit
        self.errors = tempfile.TemporaryFile(mode="w+", encoding="utf-8")
        self.watch = None
        words = [sys.executable, f"{HERE}/torch_{case.family}.py", case.torch_of or case.name,
                 "--device", settings.device, "--mode", settings.mode, "--compile",
                 settings.compile, "--attention", settings.attention, "--warmup", settings.warmup,
                 "--steps", settings.steps, "--rounds", settings.rounds, "--wait"]
        if case.of_transformers:
            words += ["--batch", case.batch, "--weights", weights, "--tries-s", settings.tries_s]
        if settings.masked_only:
            words.append("--masked-only")
        self.words = [str(word) for word in words]
        self.process = None

    def __enter__(self):
        self.watch = Watch().__enter__()
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True)
        self.watch.pid = self.process.pid
        return self

    def __exit__(self, *_):
        self.watch.__exit__()
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.errors.close()

    def fail(self):
        self.process.wait()
        self.errors.seek(0)
        raise TorchError(f"{' '.join(self.words)}\n{self.errors.read()[-2000:]}")

    def next_line(self):
        """What comes after the lines that say how far it is: those are passed on."""
        line = self.process.stdout.readline()
        while line.startswith("way "):
            progress(self.case, f"PyTorch, {line[4:].rstrip()}")
            line = self.process.stdout.readline()
        return line

    def round(self):
        """The memory is the most of the first round, before yoke takes its first turn."""
        timer = threading.Timer(self.limit_s, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
            line = self.next_line()
            if line == "tried\n":  # what ways took that were not chosen does not count
                self.watch.forget()
                line = self.next_line()
        except BrokenPipeError:
            line = ""
        timer.cancel()
        if not line.startswith("{"):
            self.fail()
        self.watch.__exit__()
        return json.loads(line) | {"case": self.case.name, "gpu_bytes": self.watch.bytes,
                                   "gpu_bytes_way": self.watch.way}
