"""Speed and accuracy measurements; run with ``python -m benchmarks.NAME`` from the project's root."""
