"""Rows and columns become summaries: counting kernels, and the engines that run them."""
