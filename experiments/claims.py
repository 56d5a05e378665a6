"""What the papers say of their results in words, and what our tables show, from docs/tables alone.

A claim looks at tables and returns a sentence with figures from them and a verdict. No figure is
written here by hand.
"""

import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from experiments.published import ERROR, MEAN, MEASURE, RESULTS, read_published

HOLDS, IN_PART, FAILS = VERDICTS = ("holds", "holds in part", "does not come out")
RIVALS = ("LSML", "ITML", "SKkm")
PANELS = (("binary", "ARI of 2"), ("multi-class", "ARI of all"))
MIXED = (("mixed", "ARI of 2"), ("mixed", "ARI of all"))
NORMS = ("euclidean", "manhattan", "chebyshev")
NPK_RIVALS = ("constrained", "+ RCA", "+ Xing", "+ RBF", "+ MPK", "+ LRK")


class Figure(NamedTuple):
    mean: float
    error: float

    def errors_above(self, other: "Figure") -> float:
        """By how many standard errors of both this one is above another."""
        unsure = math.hypot(self.error, other.error)
        return (self.mean - other.mean) / unsure if unsure else math.inf * (self.mean - other.mean)


Cells = Mapping[tuple[str, ...], Figure]


class Tables:
    """Figures of the tables in a folder, by measure and settings in the order of the file."""

    def __init__(self, folder: Path):
        self.folder = folder

    def cells(self, table: str, measure: str) -> Cells:
        return _read(self.folder / f"{table}.csv", measure)


@cache
def _read(path: Path, measure: str) -> Cells:
    table = read_published(path)
    found = {}
    for row in table.rows:
        line = dict(zip(table.fields, row))
        if line[MEASURE] == measure and line[MEAN]:
            key = tuple(line[field] for field in table.fields if field not in RESULTS)
            found[key] = Figure(float(line[MEAN]), float(line[ERROR] or 0))
    return found


def values_at(cells: Cells, place: int) -> list[str]:
    """The values that a setting takes."""
    return list(dict.fromkeys(key[place] for key in cells))


def ahead_of_rivals(tables: Tables, table: str, panels, method: str) -> tuple[int, int, int]:
    """In how many panels the method is first, by two standard errors, and how many there are."""
    first = clear = total = 0
    for answers, measure in panels:
        cells = tables.cells(table, measure)
        for data in values_at(cells, 0):
            for labelled in values_at(cells, 2):
                own = cells[data, answers, labelled, method]
                margins = [own.errors_above(cells[data, answers, labelled, one]) for one in RIVALS]
                total += 1
                first += min(margins) > 0
                clear += min(margins) > 2
    return first, clear, total


def sklr_ahead(table: str, panels) -> Callable[[Tables], tuple[str, str]]:
    def look(tables: Tables) -> tuple[str, str]:
        parts = []
        for method, name in (("SKLR paper", "as published"), ("SKLR", "ours")):
            first, clear, total = ahead_of_rivals(tables, table, panels, method)
            parts.append(f"{name}: first in {first} of {total}, clearly in {clear}")
        first, _, total = ahead_of_rivals(tables, table, panels, "SKLR paper")
        return "; ".join(parts), HOLDS if first == total else IN_PART

    return look


def itml_falls(tables: Tables) -> tuple[str, str]:
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


def pairs_below_start(tables: Tables) -> tuple[str, str]:
    cells = tables.cells("sklr/figure1", "ARI of all")
    sets, labelled = values_at(cells, 0), values_at(cells, 2)
    below = sum(
        cells[data, "mixed", few, method].mean < cells[data, "mixed", few, "kernel k-means"].mean
        for data in sets
        for few in labelled
        for method in ("ITML", "SKkm")
    )
    total = 2 * len(sets) * len(labelled)
    verdict = HOLDS if below == total else IN_PART if below > total / 2 else FAILS
    return f"below it in {below} of {total} cells", verdict


def equalities_help(tables: Tables) -> tuple[str, str]:
    cells = tables.cells("sklr/figure4", "ARI")
    gains = [
        cells[data, "SKLR paper", "200"].mean - cells[data, "SKLR paper", "0"].mean
        for data in values_at(cells, 0)
    ]
    shown = ", ".join(f"{gain:+.3f}" for gain in gains)
    return f"200 of them: {shown} (vehicle, scenes, digits)", HOLDS if min(gains) > 0 else IN_PART


def npk_best(method: str) -> Callable[[Tables], tuple[str, str]]:
    def look(tables: Tables) -> tuple[str, str]:
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


def npk_metrics_gain(tables: Tables) -> tuple[str, str]:
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


def smo_is_flat(tables: Tables) -> tuple[str, str]:
    cells = tables.cells("npk/figure3", "CPU seconds")
    few, many = cells["20", "SMO"].mean, cells["200", "SMO"].mean
    return f"{few:.3f} s with 20 rows, {many:.3f} s with 200", HOLDS if many < 3 * few else FAILS


def active_ahead(measure: str, *, above: bool) -> Callable[[Tables], tuple[str, str]]:
    """SSC-active against k-means and SSC-rand on MNIST and MSRC2."""

    def look(tables: Tables) -> tuple[str, str]:
        cells = tables.cells("ssc/tables", "value")
        parts, holds, clear = [], [], 0
        for data in ("mnist", "msrc2_gist512_rgb64"):
            own = cells[data, measure, "SSC-active"]
            for rival in ("k-means", "SSC-rand"):
                other = cells[data, measure, rival]
                holds.append((own.mean > other.mean) == above)
                clear += abs(own.errors_above(other)) > 2
                digits = 0 if own.mean > 1000 else 3 if own.mean < 1 else 1
                parts.append(f"{own.mean:,.{digits}f} and {other.mean:,.{digits}f} ({rival})")
        shown = "; ".join(parts) + f"; clearly in {clear} of {len(holds)}"
        return shown, HOLDS if all(holds) else IN_PART

    return look


def random_error_below(tables: Tables) -> tuple[str, str]:
    cells = tables.cells("ssc/tables", "value")
    drawn, plain = (cells["mnist", "error", one].mean for one in ("SSC-rand", "k-means"))
    return f"{drawn:,.0f} and {plain:,.0f}", HOLDS if drawn < plain else FAILS


def online_falls(tables: Tables) -> tuple[str, str]:
    cells = tables.cells("ssc/tables", "value")
    pairs = [
        [cells[data, "Rand", one].mean for one in ("SSC-OLDML", "k-means")]
        for data in ("mnist", "msrc2_gist512_rgb64")
    ]
    shown = "; ".join(f"{online:.3f} and {plain:.3f}" for online, plain in pairs)
    return shown, HOLDS if all(online < plain for online, plain in pairs) else FAILS


def fitness_picks(measure: str) -> Callable[[Tables], tuple[str, str]]:
    def look(tables: Tables) -> tuple[str, str]:
        cells = tables.cells("duals/figure3", measure)
        sets = values_at(cells, 0)
        first = [
            data
            for data in sets
            if cells[data, data].mean >= max(cells[data, one].mean for one in sets)
        ]
        names = ", ".join(first) or "none"
        verdict = HOLDS if len(first) == len(sets) else IN_PART if first else FAILS
        return f"first on {len(first)} of {len(sets)} sets: {names}", verdict

    return look


def norms_alike(tables: Tables) -> tuple[str, str]:
    cells = tables.cells("duals/figure4", "share")
    apart = [
        max(cells[data, one].mean for one in NORMS) - min(cells[data, one].mean for one in NORMS)
        for data in values_at(cells, 0)
    ]
    shown = ", ".join(f"{one:.3f}" for one in apart)
    return f"shares of free pairs apart by {shown}", HOLDS if max(apart) < 0.05 else IN_PART


def cosine_for_texts(tables: Tables) -> tuple[str, str]:
    cells = tables.cells("duals/figure5", "share")
    pairs = [
        (cells[data, "cosine"], cells[data, "euclidean"])
        for data in ("posts, counts", "posts, tf-idf")
    ]
    shown = "; ".join(f"{cosine.mean:.3f} and {other.mean:.3f}" for cosine, other in pairs)
    clear = [cosine.errors_above(other) > 2 for cosine, other in pairs]
    ahead = [cosine.mean > other.mean for cosine, other in pairs]
    return shown, HOLDS if all(clear) else IN_PART if any(ahead) else FAILS


def cheapest_travels_less(table: str, *settings: str) -> Callable[[Tables], tuple[str, str]]:
    def look(tables: Tables) -> tuple[str, str]:
        cells = tables.cells(table, "travelled")
        parts, holds = [], []
        for data in values_at(cells, 0):
            ways = {}
            for order in ("cheapest", "random"):
                key = (data, order, "1.0") if not settings else (data, *settings, order)
                # No price enters a random order: any way of pricing has it.
                near = key if key in cells else (data, "LP, 100 starts", order)
                ways[order] = cells[near].mean
            holds.append(ways["cheapest"] < ways["random"])
            parts.append(f"{data} {ways['cheapest']:.3g} and {ways['random']:.3g}")
        return "; ".join(parts), HOLDS if all(holds) else IN_PART if any(holds) else FAILS

    return look


def as_many_rounds_as_pairs(tables: Tables) -> tuple[str, str]:
    cells = tables.cells("duals/figure6-ways", "rounds")
    way = "sub-gradient, 100 starts"
    rounds = [cells[data, way, "cheapest"].mean for data in ("iris", "seeds")]
    shown = f"iris {rounds[0]:.1f} for 15 pairs, seeds {rounds[1]:.1f} for 20"
    return shown, HOLDS if rounds == [15, 20] else FAILS


def filter_gains(data: str, *, name: str) -> Callable[[Tables], tuple[str, str]]:
    def look(tables: Tables) -> tuple[str, str]:
        cells = tables.cells(f"deep/table2-{name}", "ARI")
        plain = cells[data, "unfiltered"]
        filtered = {key[1]: one for key, one in cells.items() if key[1] != "unfiltered"}
        share, best = max(filtered.items(), key=lambda one: one[1].mean)
        shown = f"{best.mean:.3f} at best (share {share}), {plain.mean:.3f} unfiltered"
        margin = best.errors_above(plain)
        return shown, HOLDS if margin > 2 else IN_PART if margin > 0 else FAILS

    return look


def landmarks_raise_j(tables: Tables) -> tuple[str, str]:
    cells = tables.cells("scalable/table1", "J")
    few, many = cells["m = 100", "xor"].mean, cells["m = 800", "xor"].mean
    return f"{few:.2f} with 100, {many:.2f} with 800", HOLDS if many > few else FAILS


def landmarks_best(tables: Tables) -> tuple[str, str]:
    cells = tables.cells("scalable/table2", "J")
    sets = values_at(cells, 0)
    best = sum(
        cells[data, "m = 100"].mean > max(cells[data, one].mean for one in ("input", "RBF", "RCA"))
        for data in sets
    )
    return f"first on {best} of {len(sets)} sets", HOLDS if best == len(sets) else IN_PART


def landmarks_as_good_as_all(tables: Tables) -> tuple[str, str]:
    cells = tables.cells("scalable/figure1", "J")
    few, full = cells["m = 40",].mean, cells["full",].mean
    return f"J {few:.2f} with 40, {full:.2f} with all", HOLDS if few > 0.9 * full else FAILS


def copes_with_noise(tables: Tables) -> tuple[str, str]:
    cells, start = tables.cells("scalable/noise", "J"), tables.cells("scalable/table2", "J")
    parts, above = [], []
    for data in values_at(cells, 0):
        noisy, before = cells[data, "must-links", "0.2"].mean, start[data, "RBF"].mean
        above.append(noisy > before)
        parts.append(f"{data} {noisy:.2f}, before learning {before:.2f}")
    shown = "a fifth wrong: " + "; ".join(parts)
    return shown, HOLDS if all(above) else IN_PART if any(above) else FAILS


class Claim(NamedTuple):
    paper: str
    where: str
    says: str
    look: Callable[[Tables], tuple[str, str]]


CLAIMS = (
    Claim("amid2015", "figure 1 a, b", "SKLR is ahead of LSML, ITML and SKkm by a large margin",
          sklr_ahead("sklr/figure1", PANELS)),
    Claim("amid2015", "figure 1 b", "ITML falls as multi-class pairs are added", itml_falls),
    Claim("amid2015", "figure 1 c, d", "from mixed answers SKLR is ahead too",
          sklr_ahead("sklr/figure1", MIXED)),
    Claim("amid2015", "figure 1 d", "SKkm and ITML are below kernel k-means without answers",
          pairs_below_start),
    Claim("amid2015", "figure 3", "SKLR is ahead on new rows",
          sklr_ahead("sklr/figure3", PANELS + MIXED)),
    Claim("amid2015", "figure 4", "undecided answers help, most on scenes and digits",
          equalities_help),
    Claim("hoi2007", "figure 2", "NPK is significantly better in most cases (its own solver)",
          npk_best("+ NPK by SMO")),
    Claim("hoi2007", "figure 2", "the same of the exact optimum of its problem", npk_best("+ NPK")),
    Claim("hoi2007", "figure 2", "on double spiral and sonar other metrics gain .05 at most",
          npk_metrics_gain),
    Claim("hoi2007", "figure 3", "the time of its solver stays flat as rows are added",
          smo_is_flat),
    Claim("rao2013", "table 1", "SSC-active has a smaller error than k-means and SSC-rand",
          active_ahead("error", above=False)),
    Claim("rao2013", "table 1", "SSC-rand has a smaller error than k-means on MNIST",
          random_error_below),
    Claim("rao2013", "table 2", "SSC-active is above k-means and SSC-rand in Rand",
          active_ahead("Rand", above=True)),
    Claim("rao2013", "table 2", "SSC-OLDML is below k-means on MNIST and MSRC2", online_falls),
    Claim("rao2013", "table 3", "SSC-active is above k-means and SSC-rand in F1",
          active_ahead("F1", above=True)),
    Claim("randel2021", "figure 3", "fitness picks the metric a set was made by (share of pairs)",
          fitness_picks("share")),
    Claim("randel2021", "figure 3", "the same by the count of equation (20)",
          fitness_picks("count")),
    Claim("randel2021", "figure 3", "the ARI of medoids is best under that metric",
          fitness_picks("ARI")),
    Claim("randel2021", "figure 4", "the three norms fit measured sets alike", norms_alike),
    Claim("randel2021", "figure 5", "cosine fits posts best", cosine_for_texts),
    Claim("randel2021", "figure 6", "cheapest first travels less than a random order (our prices)",
          cheapest_travels_less("duals/figure6")),
    Claim("randel2021", "figure 6", "the same as published: sub-gradient prices, 100 starts",
          cheapest_travels_less("duals/figure6-ways", "sub-gradient, 100 starts")),
    Claim("randel2021", "figure 6", "as many rounds as pairs", as_many_rounds_as_pairs),
    Claim("randel2021", "table 2", "the filter improves MNIST",
          filter_gains("mnist", name="mnist")),
    Claim("randel2021", "table 2", "the filter improves Fashion-MNIST",
          filter_gains("fashion_mnist", name="fashion")),
    Claim("yeung2007", "figure 1", "40 landmarks are almost as good as all rows",
          landmarks_as_good_as_all),
    Claim("yeung2007", "table 1", "more landmarks give a larger J", landmarks_raise_j),
    Claim("yeung2007", "table 2", "the learned metric has the largest J", landmarks_best),
    Claim("yeung2007", "footnote", "noisy constraints are easy to handle", copes_with_noise),
)  # fmt: skip
