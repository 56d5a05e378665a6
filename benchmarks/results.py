"""Questions that the page and the targets ask of the rows of results."""

import numpy as np

from benchmarks.plan import ACTIVE, OURS, Job


class Results:
    """The rows of fits.csv, asked by comparison and contestant."""

    def __init__(self, rows):
        self.rows = rows

    def all_of(self, comparison, contestant):
        """Every row, failures too, by seed."""
        most = comparison.seeds.get(contestant, 0)
        keys = {seed: Job(comparison, contestant, seed).key for seed in range(most)}
        return {seed: self.rows[key] for seed, key in keys.items() if key in self.rows}

    def values(self, comparison, contestant, column):
        """A column by seed, where it has a number."""
        rows = self.all_of(comparison, contestant)
        return {seed: row[column] for seed, row in rows.items() if not np.isnan(row[column])}

    def mean(self, comparison, contestant, column):
        values = self.values(comparison, contestant, column)
        return float(np.mean(list(values.values()))) if values else np.nan

    def times_faster(self, comparison, peer):
        """How many times longer the peer's fit takes, on the seeds that both ran."""
        ours = self.values(comparison, OURS, "fit_cpu_s")
        theirs = self.values(comparison, peer, "fit_cpu_s")
        common = sorted(ours.keys() & theirs.keys())
        if not common:
            return np.nan
        return sum(theirs[seed] for seed in common) / sum(ours[seed] for seed in common)

    def ours_minus(self, comparison, peer, column="ari", other=None):
        """Paired difference on common seeds: mean, standard error, number of seeds."""
        return paired(
            self.values(comparison, OURS, column),
            self.values(other or comparison, peer, column),
        )

    def extrapolated(self, fitted, one_pass_small, one_pass_large):
        """Seconds of a peer's whole fit at the larger size, from one pass at both sizes."""
        passes = [
            self.mean(comparison, ACTIVE, "fit_cpu_s")
            for comparison in (one_pass_small, one_pass_large)
        ]
        return self.mean(fitted, ACTIVE, "fit_cpu_s") * passes[1] / passes[0]


def paired(ours, theirs):
    common = sorted(ours.keys() & theirs.keys())
    if not common:
        return np.nan, np.nan, 0
    difference = np.array([ours[seed] - theirs[seed] for seed in common])
    if len(common) == 1:
        return float(difference[0]), np.nan, 1
    error = difference.std(ddof=1) / np.sqrt(len(common))
    return float(difference.mean()), float(error), len(common)
