"""Worlds in which nothing is unfair, for whole runs through the public interface.

Whatever such a run reports is false. There are three sorts: an output that has nothing to do with the group but perhaps
its spread (``unrelated.py``), an output and a group that both follow one number, the explanatory attribute
(``explained.py``), and predictions that keep the notion of fairness they are asked about (``predicted.py``). Each
can be drawn at random (``any_of``), so that a search can go through them.
"""
