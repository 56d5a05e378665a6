"""Time, memory and score of likewise beside the packages people use today.

python -m benchmarks                        everything, 10 seeds; goes on where it was stopped
python -m benchmarks --only ITML --seeds 3  one method, benchmark, data set or contestant
python -m benchmarks --no-peers --smallest  what CI runs: each benchmark once, ours alone

Every fit is a process of its own (worker.py) that gets the same rows, answers and seed as its
rivals; only --smallest, which compares nothing, shares one. Peers live in environments of their own
(environments.py, peers/NAME.txt), are called by peers/NAME.py and never see likewise. What is run
stands in plan.py; scores are computed on our side by one function for all (scores.py). One row per
fit goes to benchmarks/results/fits.csv (by experiments/run_file.py, as for experiments), and
summary.py turns those rows into the tables of docs/benchmarks.md, docs/tables/benchmarks/*.csv.
"""
