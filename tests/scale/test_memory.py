"""How much memory rows in a file take: a few blocks, however many rows there are."""

import os
import subprocess
import sys

import numpy as np
import pytest

N_ROWS, N_FEATURES, N_LANDMARKS = 100_000, 16, 300
JOB = """
import resource, sys
from likewise import Constraints, SpectralReweighting, scale

rows = scale.as_blocks(sys.argv[1])
answers = Constraints(rows.shape[0], must_link=[(0, 1), (2, 99_999)])
space = SpectralReweighting(n_landmarks=300, n_neighbors=4, cut=0.03, random_state=0)
scale.fit(space, rows, constraints=answers, n_rows=1000, random_state=0)
scale.transform(space, scale.as_blocks(space.map_.landmarks))
scale.BlockKMeans(3, n_init=1, n_rows=1000, random_state=0).fit(space.map_.landmarks)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
codes = scale.mapped(space, rows)
model = scale.BlockKMeans(3, n_init=1, n_rows=1000, max_iter=1, random_state=0).fit(codes)
assert len(model.labels_) == rows.shape[0]
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no resource module")
def test_clustering_a_file_takes_no_matrix_of_rows_by_landmarks(tmp_path):
    X = np.random.RandomState(0).normal(size=(N_ROWS, N_FEATURES)).astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    job = [sys.executable, "-c", JOB, str(tmp_path / "rows.npy")]
    done = subprocess.run(job, capture_output=True, text=True, check=True, env=one_thread)
    unit = 1 if sys.platform == "darwin" else 2**10  # bytes there, kilobytes elsewhere
    assert int(done.stdout) * unit < N_ROWS * N_LANDMARKS * 8 / 2
