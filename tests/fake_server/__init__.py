"""A local double of the outside world, shared by tests, demo, end-to-end runs and benchmarks."""
