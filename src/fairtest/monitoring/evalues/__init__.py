"""E-values: what a bet pays in one block, by the form of the data; each pays 1 on average where there is no bias."""
