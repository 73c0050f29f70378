"""An audit of the certificates: random fits of all estimators against an evaluation that shares no code with them.

Every certificate claims ``dual <= optimum <= primal``, and that `primal` is the objective at the model returned. Both
are checked here in long double (64 bits of mantissa), from the definitions of the problems alone:

- `primal` is not below the objective at the model;
- `primal` is above it by no more than `rounding` says;
- `dual` is not above the objective at any point that is known: the models of all fits of the same problem, these with
  the best intercept, and the points of an oracle, which is another solver whose answer is evaluated like the rest;
- with `SBP(nu=...)` and `SIMBA(nu=...)` `dual` is the margin of the model, and `primal` is above any that is known;
- `gap`, `converged`, `parts` and `history_` are what they are documented to be, and the model is the best recorded.

The only slack is a bound on the error of the evaluation itself, from the size of its terms: about 2000 times smaller
than what double precision makes of the same sums. So there is nothing to tune: what is told is not as it is claimed.

A case is a data set, a problem and several fits of it, all drawn from a seed and a number. Data has offsets, scales and
shapes that are hard on floating point. Parameters that do not go together are not tried; data that an estimator refuses
with a ValueError is counted.

Run it with ``make audit``, or

    python -m tests.audit --certificates 50000 --seed 1 --processes 2 --json report.json

and repeat a single case, as the report says, with

    python -m tests.audit --seed 1 --case 1234 --verbose

Modules: `evaluation` has the objectives, `data` random data, `case` what a case is, `linear_cases`, `kernel_cases`,
`margin_cases` and `sequence_cases` random fits and what they claim, `cases` all of these, `oracle` points near the
optimum, `checks` what is checked, `run` processes, `report` the summary. ``tests/package/test_audit.py`` runs a few
hundred cases each time and plants faults, each of which must be found; ``test_hard_data.py`` has the data that
certificates were once false on.
"""
