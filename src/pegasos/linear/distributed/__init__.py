"""Fits to examples that are spread over workers: dual coordinate ascent where the examples are, joined in rounds.

Whatever carries it (Dask does, in `pegasos.dask`) runs one function, `shard.serve`, on each worker, and has a small
interface, `drive.Group`. Examples stay in their `shard.Shard`, and `places` decides which worker has which shards; one
vector of the size of the weights goes to each worker and one comes back in a round. `drive.Drive` does the rest.
"""
