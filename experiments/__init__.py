"""Every published table and figure again, and ours beside them, from public names of likewise.

python -m experiments sklr                      all tables of a paper, 3 runs of each
python -m experiments sklr figure1 --runs 10    one table; goes on where it was stopped
python -m experiments all --runs 0              what was run before, without running anything
python -m experiments sklr --runs 0 --publish   what was run before goes to docs/tables

One file per paper (runs.PAPERS); settings are constants at its top. Not part of the wheel.
"""
