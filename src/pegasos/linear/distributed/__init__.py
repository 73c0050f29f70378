"""Fits to examples that are spread over workers: dual coordinate ascent where the examples are, joined in rounds.

Whatever carries it (Dask does, in `pegasos.dask`) runs one function, `serve`, on each worker, and has a small
interface, `Group`. Examples stay in their `Block`; one vector of the size of the weights goes to each worker and one
comes back in a round. `drive` does the rest.
"""

from pegasos.linear.distributed.block import Block, serve, survey
from pegasos.linear.distributed.drive import Group, Lost, Tally, drive
from pegasos.linear.distributed.local import LocalGroup
from pegasos.linear.distributed.messages import Measured, Message, Order, Reply, Visited
from pegasos.linear.distributed.plan import Plan, Survey, make_plan
from pegasos.linear.distributed.result import store

__all__ = [
    "Block",
    "Group",
    "LocalGroup",
    "Lost",
    "Measured",
    "Message",
    "Order",
    "Plan",
    "Reply",
    "Survey",
    "Tally",
    "Visited",
    "drive",
    "make_plan",
    "serve",
    "store",
    "survey",
]
