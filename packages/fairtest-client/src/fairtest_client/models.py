"""A model of scikit-learn whose predictions are sent."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from fairtest_client.errors import ClientError, InvalidRecord, InvalidSetting

if TYPE_CHECKING:
    from fairtest_client.functions import Errors
    from fairtest_client.stream import Stream

logger = logging.getLogger("fairtest_client")
Columns = Mapping[str, Sequence[Any]]


def watched(
    model: Any,
    stream: Stream,
    *,
    record_id: str | None = None,
    output: str | Mapping[str, str] = "prediction",
    columns: Iterable[str] | None = None,
    also: Callable[[Any], Columns] | None = None,
    errors: Errors = "log",
) -> WatchedModel:
    """Return a model that predicts as ``model`` does and sends a record for each row.

    Parameters
    ----------
    model
        Anything with ``predict``, such as an estimator or a pipeline of scikit-learn.
    stream
        Where records are sent.
    record_id
        The column of the data that holds the id of a record. By default each row gets a random one.
    output
        The column for what ``predict`` returns; or a column for each method, such as ``{"predict": "granted",
        "predict_proba": "score"}``. Probabilities of two classes are one column (the second class's), those of more
        classes one column each, ``score_<class>``.
    columns
        The columns of the data to send; all by default. Send what is needed, and no more.
    also
        A function of the data that returns more columns, each as long as the data: the protected attributes, where the
        model does not see them.
    errors
        ``"log"``: records that cannot be sent are logged as an error, and the predictions are returned all the same.
        ``"raise"``: the error is raised.
    """
    if errors not in ("log", "raise"):
        raise InvalidSetting(f"The 'errors' of watched must be 'log' or 'raise'. Got {errors!r}.")
    methods = {"predict": output} if isinstance(output, str) else dict(output)
    for method in methods:
        if not callable(getattr(model, method, None)):
            raise InvalidSetting(f"The 'model' of watched must have {method!r}. {type(model).__name__} has none.")
    return WatchedModel(
        model, Rows(stream, record_id, methods, None if columns is None else tuple(columns), also, errors)
    )


class Rows:
    """How data and predictions become records."""

    def __init__(
        self,
        stream: Stream,
        record_id: str | None,
        outputs: dict[str, str],
        columns: tuple[str, ...] | None,
        also: Callable[[Any], Columns] | None,
        errors: Errors,
    ) -> None:
        self._stream, self._record_id, self.outputs = stream, record_id, outputs
        self._columns, self._also, self._errors = columns, also, errors

    def send(self, model: Any, method: str, data: Any, predicted: Any) -> None:
        """Send a record for each row."""
        sent = 0
        try:
            found = self._record_columns(model, method, data, predicted)
            for values in zip(*found.values(), strict=True):
                self._stream.send_record(dict(zip(found, values, strict=True)))
                sent += 1
        except (ClientError, OSError) as error:
            if self._errors == "raise":
                raise
            logger.error("%d records of %r were not sent: %s", len(predicted) - sent, self._stream.name, error)

    def _record_columns(self, model: Any, method: str, data: Any, predicted: Any) -> dict[str, Sequence[Any]]:
        size = len(predicted)
        given = _columns_of(data, model)
        found: dict[str, Sequence[Any]] = {}
        if self._record_id is None:
            found[self._stream.record_id] = [uuid4().hex for _ in range(size)]
        else:
            found[self._stream.record_id] = _pick(given, self._record_id)
        names = [name for name in given if name != self._record_id] if self._columns is None else self._columns
        found |= {name: _pick(given, name) for name in names}
        if self._also is not None:
            found |= {name: _listed(values) for name, values in _columns_of(self._also(data), None).items()}
        found |= _outputs(self.outputs[method], predicted, getattr(model, "classes_", None))
        for name, values in found.items():
            if len(values) != size:
                raise InvalidRecord(
                    f"Column {name!r} must have {size:,} values, one for each prediction. It has {len(values):,}."
                )
        return found


class WatchedModel:
    """A model that sends what it predicts; everything else is the model's own. Made by :func:`watched`.

    Copies, clones and pickles are of the model alone: what is trained or stored elsewhere sends nothing.
    """

    def __init__(self, model: Any, rows: Rows) -> None:
        self._model, self._rows = model, rows

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._model, name)
        if name not in self._rows.outputs:
            return found

        def predict(data: Any, *args: Any, **kwargs: Any) -> Any:
            predicted = found(data, *args, **kwargs)
            self._rows.send(self._model, name, data, predicted)
            return predicted

        return predict

    def __repr__(self) -> str:
        return f"watched({self._model!r})"

    def __sklearn_clone__(self) -> Any:
        from sklearn.base import clone

        return clone(self._model)

    def __reduce__(self) -> tuple[Any, ...]:
        return _same, (self._model,)


def _same(model: Any) -> Any:
    """Return the model: what a pickle of a watched one is."""
    return model


def _columns_of(data: Any, model: Any) -> dict[str, Any]:
    """Return the columns of a frame, a mapping or an array; those of an array are named as the model was taught."""
    if isinstance(data, Mapping):
        return dict(data)
    if hasattr(data, "columns"):  # of pandas, polars and others
        return {str(name): data[name] for name in data.columns}
    width = len(data[0]) if len(data) else 0
    names = getattr(model, "feature_names_in_", None)
    labels = [str(name) for name in names] if names is not None else [f"x{i}" for i in range(width)]
    return {label: [row[i] for row in data] for i, label in enumerate(labels)}


def _pick(columns: dict[str, Any], name: str) -> Sequence[Any]:
    if name not in columns:
        raise InvalidRecord(f"The data have no column {name!r}. Columns: {', '.join(map(repr, columns))}.")
    return _listed(columns[name])


def _listed(values: Any) -> Sequence[Any]:
    for method in ("to_list", "tolist"):
        if callable(getattr(values, method, None)):
            return cast("Sequence[Any]", getattr(values, method)())
    return list(values)


def _outputs(name: str, predicted: Any, classes: Any) -> dict[str, Sequence[Any]]:
    if getattr(predicted, "ndim", 1) == 1:
        return {name: _listed(predicted)}
    rows = _listed(predicted)
    width = len(rows[0]) if rows else 0
    if width == 2:
        return {name: [row[1] for row in rows]}
    labels = _listed(classes) if classes is not None and len(classes) == width else range(width)
    return {f"{name}_{label}": [row[i] for row in rows] for i, label in enumerate(labels)}
