"""A program that tries the backend "spark" with the tensors of a GPU, on a machine with one.

    python tests/gpu_program.py [--device cuda] [words of the names of checks]

It starts a Spark of its own, with two ranks that share the GPU, runs each check as a job with a
time limit, and prints a line for each. Its exit status is 0 if all have passed.
"""

import argparse
import os
import sys
import tempfile
import time

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def main(device, words, limit):
    import torch_gpu_ranks

    with tempfile.TemporaryDirectory() as folder:
        spark = torch_gpu_ranks.session(folder)
        ranks = torch_gpu_ranks.Ranks(spark, folder, limit=limit)
        failed = []
        names = [
            each
            for each in torch_gpu_ranks.checks(device)
            if not words or any(word in each for word in words)
        ]
        for name in names:
            start = time.monotonic()
            failures = ranks.failures(name, device)
            seconds = time.monotonic() - start
            print(f"{'FAILED' if failures else 'ok':6} {seconds:6.1f} s  {name}", flush=True)
            for each in failures:
                print("    " + each.rstrip().replace("\n", "\n    "), flush=True)
            if failures:
                failed.append(name)
        print(f"{len(names) - len(failed)} of {len(names)} checks passed on {device}", flush=True)
        if failed:
            print("failed: " + ", ".join(failed), flush=True)
        spark.stop()
    return 1 if failed or not names else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--limit", type=int, default=60, help="seconds for each check")
    parser.add_argument("words", nargs="*")
    given = parser.parse_args()
    sys.exit(main(given.device, given.words, given.limit))
