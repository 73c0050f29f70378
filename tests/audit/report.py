"""What an audit found, added up."""

import collections
import math
from dataclasses import asdict, dataclass, field

#: Findings that are told in full.
TOLD = 20
#: Ends of the ranges of C in the tables.
RANGES = (1e-4, 1e-2, 1.0, 1e2, 1e4)


@dataclass
class Report:
    """Sums over cases. Those of several processes can be added."""

    seed: int
    cases: int = 0
    certificates: int = 0
    rounding: float = 0.0
    kinds: collections.Counter = field(default_factory=collections.Counter)  # certificates by kind of case
    refusals: collections.Counter = field(default_factory=collections.Counter)
    fits: collections.Counter = field(default_factory=collections.Counter)
    findings: list = field(default_factory=list)  # (case number, kind of case, finding)
    slowest: tuple = (0.0, 0)
    only: str | None = None  # kind of case that was asked for

    def add(self, case):
        self.cases += 1
        self.certificates += case.certificates
        self.kinds[case.kind] += case.certificates
        self.refusals.update(case.refusals)
        self.fits.update(case.fits)
        self.rounding = max(self.rounding, case.rounding)
        self.slowest = max(self.slowest, (case.seconds, case.number))
        self.findings += [(case.number, case.kind, finding) for finding in case.findings]

    def join(self, other):
        self.cases += other.cases
        self.certificates += other.certificates
        self.kinds.update(other.kinds)
        self.refusals.update(other.refusals)
        self.fits.update(other.fits)
        self.rounding = max(self.rounding, other.rounding)
        self.slowest = max(self.slowest, other.slowest)
        self.findings = sorted([*self.findings, *other.findings], key=lambda found: found[0])

    @property
    def false(self):
        """How many certificates something is wrong with."""
        return len({(number, finding.what) for number, _, finding in self.findings})

    def by_kind(self):
        """The findings of each kind, the worst first."""
        groups = collections.defaultdict(list)
        for number, _, finding in self.findings:
            groups[finding.kind].append((number, finding))
        for group in groups.values():
            group.sort(key=lambda found: -found[1].excess)
        return dict(sorted(groups.items(), key=lambda group: -len(group[1])))

    def command(self, number):
        """The line that repeats a case."""
        only = f" --kind '{self.only}'" if self.only else ""
        return f"python -m tests.audit --seed {self.seed} --case {number}{only}"

    def tell(self, tables=True):
        lines = [
            f"seed {self.seed}, {self.cases} cases, {self.certificates} certificates, {self.false} false",
            "  " + ", ".join(f"{kind} {count}" for kind, count in self.kinds.most_common()),
            f"largest rounding {self.rounding:.2g}, refused {self.refusals.total()}, "
            f"slowest case {self.slowest[1]} ({self.slowest[0]:.1f} s)",
        ]
        lines += [f"  refused {count}: {text} ..." for text, count in self.refusals.most_common(10)]
        for kind, group in self.by_kind().items():
            lines += ["", f"{kind}: {len(group)}"]
            for number, finding in group[:TOLD]:
                excess = f", by {finding.excess:.1e}" if math.isfinite(finding.excess) else ""
                lines += [f"  {finding.what}", f"    {finding.text}{excess}", f"    {self.command(number)}"]
        if tables:
            lines += self._tables()
        return "\n".join(lines)

    def _tables(self):
        """The share of fits with default solver and tolerance that converge."""
        lines = []
        for name, place, label in (("offset", 1, "{:g}".format), ("scale", 2, "{:g}".format), ("C", 3, range_of)):
            lines += ["", f"within tol=1e-3, by {name}", f"  {name:<18}{'linear':>16}{'kernel':>16}"]
            table = self.shares(place, label)
            lines += [f"  {row:<18}" + "".join(f"{text:>16}" for text in map(_share, counts)) for row, counts in table]
        return lines

    def shares(self, place, label):
        """Rows of (label, [(converged, all) of linear and of kernel machines])."""
        table = collections.defaultdict(lambda: {"linear": [0, 0], "kernel": [0, 0]})
        for fit, count in self.fits.items():
            key = fit[place] if place < 3 else min((end for end in RANGES if fit[3] <= end), default=math.inf)
            table[key][fit[0]][0] += count * fit[4]
            table[key][fit[0]][1] += count
        return [(label(key), list(table[key].values())) for key in sorted(table)]

    def to_dict(self):
        """All of it in lists and dictionaries."""
        return {
            "seed": self.seed,
            "cases": self.cases,
            "certificates": self.certificates,
            "false": self.false,
            "rounding": self.rounding,
            "kinds": dict(self.kinds),
            "refusals": dict(self.refusals),
            "findings": [
                {"case": number, "in": kind, "command": self.command(number), **asdict(finding)}
                for number, kind, finding in self.findings
            ],
            "within 1e-3": {
                name: [{"value": row, "linear": linear, "kernel": kernel} for row, (linear, kernel) in table]
                for name, table in (
                    ("offset", self.shares(1, "{:g}".format)),
                    ("scale", self.shares(2, "{:g}".format)),
                    ("C", self.shares(3, range_of)),
                )
            },
        }


def range_of(end):
    return f"up to {end:g}" if math.isfinite(end) else f"above {RANGES[-1]:g}"


def _share(counts):
    converged, count = counts
    return f"{converged / count:.1%} of {count}" if count else "-"
