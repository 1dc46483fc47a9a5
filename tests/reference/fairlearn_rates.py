"""Rates and errors by group from fairlearn and scikit-learn, on people that a formula makes.

``python tests/reference/fairlearn_rates.py > tests/reference/fairlearn_rates.json`` wrote the numbers beside this file,
with fairlearn 0.15.0 and scikit-learn 1.9.1.
"""

from __future__ import annotations

import json
import sys

import numpy as np

GROUPS = ("a", "b", "c")


def people() -> dict[str, np.ndarray]:
    """Return 3,001 people without drawing any: the same everywhere."""
    i = np.arange(3_001)
    group = np.array(GROUPS)[(i * i + 3 * i) % 7 % 3]
    truth = (i * 7_919 % 1_009 < 380).astype(int)
    wrong = i * 104_729 % 997 < np.select([group == "a", group == "b"], [140, 260], 200) + 90 * truth
    amount = (i * 31_337 % 5_003) / 100
    guess = amount + ((i * 65_537 % 4_001) / 200 - 9) * np.select([group == "a", group == "b"], [0.5, 1.5], 1.0)
    probability = np.clip(0.2 + 0.5 * truth + (i * 15_485_863 % 2_003 - 1_000) / 3_000, 0.0, 1.0)
    return {
        "group": group,
        "truth": truth,
        "said": np.where(wrong, 1 - truth, truth),
        "amount": amount,
        "guess": guess,
        "probability": probability,
    }


def rates() -> dict[str, dict[str, float]]:
    """Return what fairlearn and scikit-learn say of each group."""
    from fairlearn.metrics import MetricFrame, false_negative_rate, false_positive_rate, selection_rate
    from sklearn.metrics import (
        accuracy_score,
        brier_score_loss,
        log_loss,
        mean_absolute_error,
        mean_squared_error,
        precision_score,
    )

    everybody = people()

    def by_group(functions, truth, predicted):
        frame = MetricFrame(
            metrics=functions,
            y_true=everybody[truth],
            y_pred=everybody[predicted],
            sensitive_features=everybody["group"],
        )
        return {name: {g: float(frame.by_group[name][g]) for g in GROUPS} for name in functions}

    labels = {
        "false-positive-rate": false_positive_rate,
        "false-negative-rate": false_negative_rate,
        "selection-rate": selection_rate,
        "accuracy": accuracy_score,
        "precision": precision_score,
    }
    numbers = {"absolute": mean_absolute_error, "squared": mean_squared_error}
    probabilities = {"brier": brier_score_loss, "log-loss": log_loss}
    return {
        **by_group(labels, "truth", "said"),
        **by_group(numbers, "amount", "guess"),
        **by_group(probabilities, "truth", "probability"),
    }


if __name__ == "__main__":
    json.dump(rates(), sys.stdout, indent=1)
    sys.stdout.write("\n")
