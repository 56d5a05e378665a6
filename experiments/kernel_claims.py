"""What amid2015, hoi2007 and yeung2007 say of their results, and what our tables show."""

from collections.abc import Callable

from experiments.claims import FAILS, HOLDS, IN_PART, Cells, Claim, Judgment, Tables, values_at

RIVALS = ("LSML", "ITML", "SKkm")
START = "kernel k-means"  # without answers
PANELS = (("binary", "ARI of 2"), ("multi-class", "ARI of all"))
MIXED = (("mixed", "ARI of 2"), ("mixed", "ARI of all"))
NPK_RIVALS = ("constrained", "+ RCA", "+ Xing", "+ RBF", "+ MPK", "+ LRK")


def rows_with_all(cells: Cells, answers: str, methods: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Rows of figure 1 or 3 about these answers in which all of the methods were run."""
    rows = dict.fromkeys(key[:3] for key in cells if key[1] == answers)
    return [row for row in rows if all((*row, method) in cells for method in methods)]


def ahead_of_rivals(tables: Tables, table: str, panels, method: str) -> tuple[int, int, int]:
    """In how many panels the method is first, by two standard errors, and how many there are."""
    first = clear = total = 0
    for answers, measure in panels:
        cells = tables.cells(table, measure)
        for row in rows_with_all(cells, answers, (method, *RIVALS)):
            margins = [cells[*row, method].errors_above(cells[*row, one]) for one in RIVALS]
            total += 1
            first += min(margins) > 0
            clear += min(margins) > 2
    return first, clear, total


def sklr_ahead(table: str, panels) -> Callable[[Tables], Judgment]:
    def look(tables: Tables) -> Judgment:
        parts = []
        for method, name in (("SKLR paper", "as published"), ("SKLR", "ours")):
            first, clear, total = ahead_of_rivals(tables, table, panels, method)
            parts.append(f"{name}: first in {first} of {total}, clearly in {clear}")
        first, _, total = ahead_of_rivals(tables, table, panels, "SKLR paper")
        return "; ".join(parts), HOLDS if first == total else IN_PART

    return look


def itml_falls(tables: Tables) -> Judgment:
    cells = tables.cells("sklr/figure1", "ARI of all")
    sets, labelled = values_at(cells, 0), values_at(cells, 2)
    steps = [
        (
            cells[data, "multi-class", labelled[0], "ITML"].mean,
            cells[data, "multi-class", labelled[-1], "ITML"].mean,
        )
        for data in sets
    ]
    falls = sum(after < before for before, after in steps)
    shown = ", ".join(f"{before:.3f} to {after:.3f}" for before, after in steps)
    verdict = HOLDS if falls == len(steps) else IN_PART if falls else FAILS
    return f"it falls on {falls} of {len(steps)} sets: {shown}", verdict


def pairs_below_start(tables: Tables) -> Judgment:
    cells = tables.cells("sklr/figure1", "ARI of all")
    methods = ("ITML", "SKkm")
    rows = rows_with_all(cells, "mixed", (*methods, START))
    below = sum(
        cells[*row, method].mean < cells[*row, START].mean for row in rows for method in methods
    )
    total = len(methods) * len(rows)
    verdict = HOLDS if below == total else IN_PART if below > total / 2 else FAILS
    return f"below it in {below} of {total} cells", verdict


def equalities_help(tables: Tables) -> Judgment:
    cells = tables.cells("sklr/figure4", "ARI")
    gains = [
        cells[data, "SKLR paper", "200"].mean - cells[data, "SKLR paper", "0"].mean
        for data in values_at(cells, 0)
    ]
    shown = ", ".join(f"{gain:+.3f}" for gain in gains)
    return f"200 of them: {shown} (vehicle, scenes, digits)", HOLDS if min(gains) > 0 else IN_PART


def all_above_start(tables: Tables) -> Judgment:
    """Mixed answers and two groups: every method against the start without answers."""
    cells = tables.cells("sklr/figure1", "ARI of 2")
    methods = ("SKLR paper", *RIVALS)
    rows = rows_with_all(cells, "mixed", (*methods, START))
    above = sum(
        cells[*row, method].mean > cells[*row, START].mean for row in rows for method in methods
    )
    total = len(methods) * len(rows)
    return f"above it in {above} of {total} cells", HOLDS if above == total else IN_PART


def groups_and_digits_apart(tables: Tables) -> Judgment:
    parts, best = [], []
    for measure, name in (("ARI of 2", "even and odd"), ("ARI of all", "digits")):
        cells = tables.cells("sklr/figure2", measure)
        spaces = {space: one.mean for (_, space), one in cells.items()}
        best.append(spaces["SKLR"] == max(spaces.values()))
        figures = ", ".join(f"{space} {mean:.3f}" for space, mean in spaces.items())
        parts.append(f"k-means on {name}: {figures}")
    return "; ".join(parts), HOLDS if all(best) else FAILS


def npk_best(method: str) -> Callable[[Tables], Judgment]:
    def look(tables: Tables) -> Judgment:
        cells = tables.cells("npk/figure2", "accuracy")
        rows = list(dict.fromkeys(key[:2] for key in cells))
        best = worse = better = 0
        for row in rows:
            own = cells[*row, method]
            margins = [own.errors_above(cells[*row, rival]) for rival in NPK_RIVALS]
            best += min(margins) >= 0
            better += min(margins) > 2
            worse += min(margins) < -2
        shown = (
            f"best in {best} of {len(rows)} rows, clearly so in {better}, and clearly worse than "
            f"the best rival in {worse}"
        )
        return shown, HOLDS if better > len(rows) / 2 else IN_PART if best > worse else FAILS

    return look


def metrics_improve_k_means(tables: Tables) -> Judgment:
    cells = tables.cells("npk/figure2", "accuracy")
    learned = (*NPK_RIVALS[1:], "+ NPK by SMO")
    gains = [
        cells[*row, method].errors_above(cells[*row, "k-means"])
        for row in dict.fromkeys(key[:2] for key in cells)
        for method in learned
    ]
    above, clear = sum(gain > 0 for gain in gains), sum(gain > 2 for gain in gains)
    shown = f"above k-means in {above} of {len(gains)} bars, clearly in {clear}"
    return shown, HOLDS if clear > len(gains) / 2 else IN_PART if above > len(gains) / 2 else FAILS


def npk_ahead_of_kernels(tables: Tables) -> Judgment:
    cells = tables.cells("npk/figure2", "accuracy")
    rows = list(dict.fromkeys(key[:2] for key in cells))
    parts, shares = [], []
    for rival in ("+ MPK", "+ LRK"):
        margins = [cells[*row, "+ NPK by SMO"].errors_above(cells[*row, rival]) for row in rows]
        ahead, behind = sum(one > 2 for one in margins), sum(one < -2 for one in margins)
        parts.append(f"clearly above {rival[2:]} in {ahead} of {len(rows)}, below in {behind}")
        shares.append(ahead / len(rows))
    holds = [share > 0.5 for share in shares]
    return "; ".join(parts), HOLDS if all(holds) else IN_PART if any(holds) else FAILS


def npk_metrics_gain(tables: Tables) -> Judgment:
    """The most that another metric or kernel gains where NPK impresses most."""
    cells = tables.cells("npk/figure2", "accuracy")
    gains = {
        (data, amount, method): cells[data, amount, method].mean
        - cells[data, amount, "k-means"].mean
        for data in ("double_spiral", "sonar")
        for amount in ("little", "much")
        for method in NPK_RIVALS[1:]
    }
    (data, amount, method), most = max(gains.items(), key=lambda one: one[1])
    within = sum(gain <= 0.05 for gain in gains.values())
    shown = (
        f"{within} of {len(gains)} within .05; {method[2:]} gains {most:.2f} on {data}, {amount}"
    )
    return shown, HOLDS if within == len(gains) else IN_PART if within > len(gains) / 2 else FAILS


def smo_is_flat(tables: Tables) -> Judgment:
    cells = tables.cells("npk/figure3", "CPU seconds")
    few, many = cells["20", "SMO"].mean, cells["200", "SMO"].mean
    return f"{few:.3f} s with 20 rows, {many:.3f} s with 200", HOLDS if many < 3 * few else FAILS


def program_rises(tables: Tables) -> Judgment:
    """Time of the general solver, from the fewest rows to the most that it was run on."""
    cells = tables.cells("npk/figure3", "CPU seconds")
    times = {int(rows): one.mean for (rows, solver), one in cells.items() if "SDP" in solver}
    few, most = min(times), max(times)
    shown = f"{times[few]:.2f} s with {few} rows, {times[most]:.3g} s with {most}"
    return shown, HOLDS if times[most] / times[few] > (most / few) ** 2 else FAILS


def learned_ahead_on_xor(tables: Tables) -> Judgment:
    cells = tables.cells("scalable/table1", "J")
    few = cells["m = 100", "xor"]
    others = {one: cells[one, "xor"] for one in ("input", "RBF", "RCA")}
    name, best = max(others.items(), key=lambda one: one[1].mean)
    shown = f"{few.mean:.2f} with 100 landmarks, {best.mean:.2f} for {name}"
    return shown, HOLDS if few.errors_above(best) > 2 else FAILS


def landmarks_raise_j(tables: Tables) -> Judgment:
    cells = tables.cells("scalable/table1", "J")
    few, many = cells["m = 100", "xor"].mean, cells["m = 800", "xor"].mean
    return f"{few:.2f} with 100, {many:.2f} with 800", HOLDS if many > few else FAILS


def landmarks_best(tables: Tables) -> Judgment:
    cells = tables.cells("scalable/table2", "J")
    sets = values_at(cells, 0)
    best = sum(
        cells[data, "m = 100"].mean > max(cells[data, one].mean for one in ("input", "RBF", "RCA"))
        for data in sets
    )
    return f"first on {best} of {len(sets)} sets", HOLDS if best == len(sets) else IN_PART


def landmarks_as_good_as_all(tables: Tables) -> Judgment:
    cells = tables.cells("scalable/figure1", "J")
    few, full = cells["m = 40",].mean, cells["full",].mean
    return f"J {few:.2f} with 40, {full:.2f} with all", HOLDS if few > 0.9 * full else FAILS


def copes_with_noise(tables: Tables) -> Judgment:
    cells, start = tables.cells("scalable/noise", "J"), tables.cells("scalable/table2", "J")
    parts, above = [], []
    for data in values_at(cells, 0):
        noisy, before = cells[data, "must-links", "0.2"].mean, start[data, "RBF"].mean
        above.append(noisy > before)
        parts.append(f"{data} {noisy:.2f}, before learning {before:.2f}")
    shown = "a fifth wrong: " + "; ".join(parts)
    return shown, HOLDS if all(above) else IN_PART if any(above) else FAILS


KERNEL_CLAIMS = (
    Claim("amid2015", "figure 1 a, b", "SKLR is ahead of LSML, ITML and SKkm by a large margin",
          sklr_ahead("sklr/figure1", PANELS)),
    Claim("amid2015", "figure 1 b", "ITML falls as multi-class pairs are added", itml_falls),
    Claim("amid2015", "figure 1 c, d", "from mixed answers SKLR is ahead too",
          sklr_ahead("sklr/figure1", MIXED)),
    Claim("amid2015", "figure 1 d", "SKkm and ITML are below kernel k-means without answers",
          pairs_below_start),
    Claim("amid2015", "figure 1 c", "all methods are above kernel k-means on two groups",
          all_above_start),
    Claim("amid2015", "figure 2", "SKLR separates even from odd digits, and the digits",
          groups_and_digits_apart),
    Claim("amid2015", "figure 3", "SKLR is ahead on new rows",
          sklr_ahead("sklr/figure3", PANELS + MIXED)),
    Claim("amid2015", "figure 4", "undecided answers help, most on scenes and digits",
          equalities_help),
    Claim("hoi2007", "figure 2", "NPK is significantly better in most cases (its own solver)",
          npk_best("+ NPK by SMO")),
    Claim("hoi2007", "figure 2", "the same of the exact optimum of its problem", npk_best("+ NPK")),
    Claim("hoi2007", "figure 2", "for most cases learned metrics improve k-means",
          metrics_improve_k_means),
    Claim("hoi2007", "figure 2", "NPK is significantly better than MPK and LRK in most cases",
          npk_ahead_of_kernels),
    Claim("hoi2007", "figure 2", "on double spiral and sonar other metrics gain .05 at most",
          npk_metrics_gain),
    Claim("hoi2007", "figure 3", "the time of a general solver rises dramatically", program_rises),
    Claim("hoi2007", "figure 3", "the time of its solver stays flat as rows are added",
          smo_is_flat),
    Claim("yeung2007", "figure 1", "40 landmarks are almost as good as all rows",
          landmarks_as_good_as_all),
    Claim("yeung2007", "table 1", "the learned kernel is far ahead of the other metrics",
          learned_ahead_on_xor),
    Claim("yeung2007", "table 1", "more landmarks give a larger J", landmarks_raise_j),
    Claim("yeung2007", "table 2", "the learned metric has the largest J", landmarks_best),
    Claim("yeung2007", "footnote", "noisy constraints are easy to handle", copes_with_noise),
)  # fmt: skip
