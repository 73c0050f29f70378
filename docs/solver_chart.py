"""The flow chart of how `solver="auto"` chooses, drawn from the figures in `solvers/auto.py`."""

from html import escape

from pegasos.solvers import auto

WIDTH, HEIGHT = 860, 600
BLUE, ORANGE, GREEN = "#2563c9", "#d9480f", "#2b8a3e"


def box(x: int, y: int, width: int, height: int, lines: list[str], colour: str, ink: str, bold: bool = False) -> str:
    """A box with its text; the first line is bold, in a question all are."""
    top = y + height / 2 - 8 * (len(lines) - 1) + 4.5
    text = "".join(
        f'<text x="{x + width / 2:g}" y="{top + 16 * k:g}" text-anchor="middle" fill="{ink}" '
        f'font-weight="{600 if k == 0 or bold else 400}">{escape(line)}</text>'
        for k, line in enumerate(lines)
    )
    shape = f'x="{x}" y="{y}" width="{width}" height="{height}" rx="{20 if bold else 6}"'
    return f'<rect {shape} fill="{colour}" fill-opacity="0.12" stroke="{colour}" stroke-width="1.4"/>{text}\n'


def arrow(points: list[tuple[float, float]], ink: str, label: str = "", at: tuple[float, float] = (0, 0)) -> str:
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    line = f'<polyline points="{path}" fill="none" stroke="{ink}" stroke-width="1.3" marker-end="url(#tip)"/>'
    return (
        line
        + (f'<text x="{at[0]:g}" y="{at[1]:g}" fill="{ink}" font-style="italic">{label}</text>' if label else "")
        + "\n"
    )


def chart(ink: str) -> str:
    """The chart, as SVG."""
    kinds = {
        "a kernel": "SMO",
        "sequences": auto.Auto.choices[auto.SequenceProblem].__name__,
        "a stream": auto.Auto.choices[auto.StreamProblem].__name__,
        "all classes jointly": "SDCA or Newton",
        "by blocks": auto.Auto.choices[auto.BlocksProblem].__name__,
    }
    parts = [box(330, 10, 200, 40, ["What is the problem?"], ink, ink, True)]
    for k, (kind, solver) in enumerate(kinds.items()):
        x = 10 + 142 * k
        parts.append(box(x, 92, 130, 46, [solver, kind], GREEN, ink))
        parts.append(arrow([(430, 50), (430, 70), (x + 65, 70), (x + 65, 90)], ink))
    parts.append(arrow([(430, 50), (430, 70), (785, 70), (785, 160)], ink))
    parts.append(f'<text x="792" y="118" fill="{ink}" font-weight="600">linear</text>')
    left, right, width = 40, 470, 380
    least, most = auto.TRIAL_EPOCHS
    ask = [
        (162, ["tol above 0, and a loss without corners:", "dense data, or few features?"]),
        (242, [f"More than {auto.MOST_FEATURES:,} features, or tol=0?"]),
        (
            322,
            [
                f"Tiny, or tol below {auto.EXACT:g} and {least} epochs of",
                f"SDCA cost {auto.TRIAL:.0%} of InteriorPoint or more?",
            ],
        ),
        (402, [f"{least} to {most} epochs of SDCA on trial:", "done, or soon to be?"]),
    ]
    tiny = f"tiny problems to a gap of {auto.ROUNDING:g}"
    answers = [
        ["Newton", tiny],
        ["SDCA", f"with the log loss, Newton after {auto.LONG} epochs"],
        ["InteriorPoint", tiny],
        ["SDCA goes on", f"for at most {auto.SHARE:.0%} of the time of InteriorPoint"],
    ]
    for (y, question), answer in zip(ask, answers, strict=True):
        tall = 56 if len(answer) < 3 else 66
        parts.append(box(right, y, width, 46, question, ORANGE, ink, True))
        parts.append(box(left, y + 23 - tall // 2, 330, tall, answer, BLUE, ink))
        parts.append(arrow([(right, y + 23), (left + 332, y + 23)], ink, "yes", (left + 370, y + 16)))
    for y, _ in ask[:-1]:
        parts.append(arrow([(right + 190, y + 46), (right + 190, y + 78)], ink, "no", (right + 198, y + 68)))
    parts.append(box(right, 500, width, 56, ["SDCA, then InteriorPoint",
                 f"from where SDCA ended, if its gap is {auto.NEAR:.0%} or less"], BLUE, ink))  # fmt: skip
    parts.append(arrow([(right + 190, 448), (right + 190, 498)], ink, "no", (right + 198, 478)))
    parts.append(arrow([(205, 453), (205, 528), (right - 2, 528)], ink, "not within tol by then", (222, 520)))
    parts.append(f'<text x="430" y="590" text-anchor="middle" fill="{ink}">Whatever is chosen: a fit ends when its '
                 f'certified gap is at most tol, and certificate_.solver names the choice.</text>')  # fmt: skip
    tip = (f'<defs><marker id="tip" markerWidth="9" markerHeight="8" refX="7" refY="4" orient="auto">'
           f'<path d="M0,0 L8,4 L0,8 z" fill="{ink}"/></marker></defs>')  # fmt: skip
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="Segoe UI, Helvetica, Arial, DejaVu Sans, sans-serif" font-size="13.5">\n'
        f"{tip}\n{''.join(parts)}</svg>\n"
    )
