"""How many faults there are of each kind, and what came of all of them."""

import json
import platform
from importlib.metadata import version

from .fault import OUTCOMES, REFUSED, UNHARMED
from .kinds import KINDS

#: Faults of a kind in a short run, at least.
LEAST = 3


def counts_of(names, faults=None):
    """How many faults of each kind make about `faults` of them; by default those of a full run."""
    shares = {name: KINDS[name].share for name in names}
    if faults is None:
        return shares
    return {name: max(LEAST, round(share * faults / sum(shares.values()))) for name, share in shares.items()}


def summary(results):
    total = sum(result.total for result in results)
    bad = [outcome for outcome in OUTCOMES if outcome not in (REFUSED, UNHARMED)]
    told = ", ".join(f"{sum(result.counts[outcome] for result in results)} {outcome}" for outcome in bad)
    return f"{total:,} faults in {sum(result.seconds for result in results):.0f} s: {told}"


def write(path, results, seed):
    """What docs/reliability.md is made of."""
    table = [{"kind": result.kind.name, "how": result.kind.how, **result.counts} for result in results]
    told = {
        "pegasos": version("pegasos"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "seed": seed,
        "faults": sum(result.total for result in results),
        "seconds": round(sum(result.seconds for result in results)),
        "kinds": table,
    }
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
