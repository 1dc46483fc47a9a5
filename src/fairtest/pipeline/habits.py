"""Calls as people of other libraries type them: predictions, truths and groups as arrays; a model of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.reading.arrays import join_columns, named_columns
from fairtest.exceptions import InputError
from fairtest.pipeline.calls import audit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairtest.model.report import Report

PREDICTED, TRUTH, WEIGHT = "y_pred", "y_true", "sample_weight"
SAME = {"favorable": "favourable", "random_state": "seed", "sep": "delimiter", "na_values": "missing"}
"""Options as other libraries call them."""
OTHERWISE = {
    "privileged_groups": "reference={'sex': 'Male'} names the group that others are compared with",
    "unprivileged_groups": "every other group is compared with reference={'sex': 'Male'}",
    "features": "contextual=['age', 'job'] names the columns that groups may be made of",
    "pos_label": "event='yes' names the value that is spoken of, favourable='yes' one that is good for people",
    "target": "output='hired' names the column that is audited",
}
"""What stands for options of other libraries that are not the same under another name."""


def translate_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options under the names they have here; raises with the right one where that is another thing.

    Examples
    --------
    >>> translate_options({"random_state": 3, "conf": 0.9})
    {'seed': 3, 'conf': 0.9}
    """
    for name in options:
        if name in OTHERWISE:
            raise TypeError(f"There is no option of audit() {name!r}: {OTHERWISE[name]}.")
        if name in SAME and SAME[name] in options:
            raise TypeError(f"{name!r} and {SAME[name]!r} are the same option of audit(). Give one of them.")
    return {SAME.get(name, name): value for name, value in options.items()}


def as_name(value: Any, data: Any) -> Any:
    """Return the name of a column where the column itself was given, as ``audit(df, df.sex, df.hired)`` does."""
    name = getattr(value, "name", None)
    return str(name) if name is not None and hasattr(value, "dtype") and name in getattr(data, "columns", ()) else value


def audit_arrays(
    features: Any = None,
    *,
    y_pred: Any,
    y_true: Any = None,
    sensitive_features: Any,
    control_features: Any = None,
    sample_weight: Any = None,
    **options: Any,
) -> Report:
    """Audit predictions that lie beside the truth and the groups, as arrays, Series, lists or frames.

    Parameters
    ----------
    features
        Columns along which contexts are searched; without them, the question is about everybody only.
    y_pred, y_true
        What was predicted, and what turned out to be true. Without a truth it is asked whether predictions differ.
    sensitive_features
        The protected attributes: one or several columns.
    control_features
        Explanatory attributes: people are compared who are alike in them.
    sample_weight
        What each row counts for, as survey weights do.
    options
        All options of :func:`fairtest.audit`.

    Examples
    --------
    >>> y_true, y_pred = [0, 1, 1, 0] * 100, [0, 1, 0, 1] * 100
    >>> report = audit_arrays(y_true=y_true, y_pred=y_pred, sensitive_features=["f", "f", "m", "m"] * 100)
    >>> {group.group: group.rates["accuracy"].share for group in report.attributes[0].errors}
    {'f': 1.0, 'm': 0.0}
    """
    if any(callable(metric) for metric in dict(options.get("metrics") or {}).values()):
        raise InputError(
            "metrics= names a metric of FairTest for a protected attribute, such as {'sex': 'RATIO'}. Selection rate, "
            "accuracy, FPR, FNR and PPV by group are in every report on predictions: leave metrics out."
        )
    groups = named_columns(sensitive_features, "sensitive_features", "sensitive_feature")
    parts = {
        "the features": {} if features is None else named_columns(features, "the features", "x"),
        "sensitive_features": groups,
        PREDICTED: {PREDICTED: _one_column(y_pred, PREDICTED)},
    }
    if y_true is not None:
        parts[TRUTH] = {TRUTH: _one_column(y_true, TRUTH)}
        options = {"ground_truth": TRUTH, **options}
    if control_features is not None:
        parts["control_features"] = named_columns(control_features, "control_features", "control_feature")
        options = {"explanatory": list(parts["control_features"]), **options}
    if sample_weight is not None:
        parts[WEIGHT] = {WEIGHT: _one_column(sample_weight, WEIGHT)}
        options = {"weights": WEIGHT, **options}
    if not set(parts["the features"]) - set(groups):
        options = {"contextual": [], **options}
    return audit(join_columns(parts), list(groups), PREDICTED, **options)


def _one_column(data: Any, role: str) -> Any:
    columns = named_columns(data, role, role)
    if len(columns) != 1:
        raise InputError(f"{role} must be one column. Got {len(columns)}; of probabilities, give those of one class.")
    (column,) = columns.values()
    return column


def audit_model(
    model: Any,
    X: Any,  # noqa: N803 - what everybody calls it
    y: Any,
    protected: Any = None,
    *,
    sensitive_features: Any = None,
    cv: Any = 5,
    probabilities: bool = False,
    seed: int = 0,
    **options: Any,
) -> Report:
    """Audit a model of scikit-learn by what it predicts for people it has not seen.

    The model is fitted anew on a part of the people and predicts for the others, in turn, so that nobody is judged by
    what was fitted to them.

    Parameters
    ----------
    model
        A classifier, a regressor or a pipeline; it is cloned, never changed.
    X, y
        Features and truth. The columns of a frame of features are contexts.
    protected
        Names of columns of ``X``, or the groups as an array, a Series or a frame.
    sensitive_features
        The same as ``protected``, as fairlearn calls it.
    cv
        How many parts, or a splitter of scikit-learn; ``"prefit"`` takes the predictions of a fitted model as they are,
        for people who were not used to fit it.
    probabilities
        Whether to audit the probability of the second class rather than labels.
    options
        All options of :func:`fairtest.audit`.
    """
    protected = sensitive_features if protected is None else protected
    if protected is None:
        raise InputError("audit_model() needs the groups: protected='sex', or sensitive_features=groups.")
    predicted = _predict(model, X, y, cv, seed, probabilities=probabilities)
    columns = named_columns(X, "X", "x")
    asked = [protected] if isinstance(protected, str) else protected
    names = isinstance(asked, list | tuple) and all(isinstance(name, str) and name in columns for name in asked)
    groups = {name: columns[name] for name in asked} if names else protected
    if isinstance(protected, str) and not names:
        raise InputError(f"X has no column {protected!r}; its columns are {', '.join(columns)}.")
    return audit_arrays(columns, y_pred=predicted, y_true=y, sensitive_features=groups, seed=seed, **options)


def _predict(model: Any, features: Any, truth: Any, cv: Any, seed: int, *, probabilities: bool) -> Any:
    """Return a prediction for everybody, from models that have not seen them."""
    method = "predict_proba" if probabilities else "predict"
    if not hasattr(model, "fit") or not hasattr(model, method):
        raise InputError(f"The model must have fit() and {method}(), as those of scikit-learn do. Got {model!r}.")
    if cv == "prefit":
        found = getattr(model, method)(features)
    else:
        try:
            from sklearn.base import is_classifier
            from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
        except ImportError as error:
            raise InputError(
                "audit_model() fits the model on parts of the people with scikit-learn, which is not installed. "
                'Install it, or pass cv="prefit" with a model that was fitted on other people.'
            ) from error
        if isinstance(cv, int):
            kind = StratifiedKFold if is_classifier(model) else KFold
            cv = kind(cv, shuffle=True, random_state=seed)
        found = cross_val_predict(model, features, truth, cv=cv, method=method)
    if not probabilities:
        return found
    found = np.asarray(found)
    if found.ndim != 2 or found.shape[1] != 2:
        raise InputError(
            f"Probabilities are audited for two classes; the model has {found.shape[-1]}. Audit its labels."
        )
    return found[:, 1]


def check_habit(y_pred: Any, sensitive_features: Any, given: Sequence[Any]) -> None:
    """Raise if a call by arrays lacks one of them, or names columns as well."""
    if y_pred is None or sensitive_features is None:
        missing = "y_pred" if y_pred is None else "sensitive_features"
        raise InputError(f"audit(y_true=…, y_pred=…, sensitive_features=…) needs {missing} too.")
    if any(value is not None for value in given):
        raise InputError("Name columns (protected, output), or give arrays (y_pred, sensitive_features): not both.")
