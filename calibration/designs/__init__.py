"""The grid of designs: populations whose true effect is known, and how to draw replicates of their summaries.

A design draws a whole batch of replicates at once: multinomial counts, or arrays of numbers reduced to power sums.
The sizes of the strata are fixed and differ; within a stratum people fall into groups at random, so a group may be
absent, and then the effect of that replicate is undefined and not counted.

True effects are computed from the population, except those of RANK, which are read off ten million draws with a fixed
seed. Effects averaged over strata are conditional on which strata carry information in the replicate. There is a file
for each metric; ``grid.py`` puts them together.
"""
