"""Members in this process, one after the other: the smallest carrier, and the model of others."""

from collections.abc import Callable, Sequence

from pegasos.linear.distributed.block import Block, serve
from pegasos.linear.distributed.messages import Message, Reply

__all__ = ["LocalGroup"]


class LocalGroup:
    """Blocks shared out among members in this process.

    Parameters
    ----------
    blocks : list of list of Block
        Those of each member.
    make_again : callable, default=None
        What `recover` shares out anew, after `call` was made to raise `Lost`.
    """

    def __init__(
        self, blocks: Sequence[Sequence[Block]], make_again: Callable[[], Sequence[Sequence[Block]]] | None = None
    ) -> None:
        self.blocks = blocks
        self.make_again = make_again

    def __len__(self) -> int:
        return len(self.blocks)

    def call(self, messages: Sequence[Message]) -> list[Reply]:
        return [serve(blocks, message) for blocks, message in zip(self.blocks, messages, strict=True)]

    def recover(self) -> None:
        if self.make_again is not None:
            self.blocks = self.make_again()
