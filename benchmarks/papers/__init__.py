"""Tables and figures of the papers, redone: run one with `python -m benchmarks.papers.NAME`."""
