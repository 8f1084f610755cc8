"""mk-bench: measuring and tuning kernels; see docs/benchmarking.md."""
