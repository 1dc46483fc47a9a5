"""What functions decide, models predict and loggers say is sent, and the application comes first."""

from __future__ import annotations

import asyncio
import copy
import logging
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from receivers import status
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairtest_client import BufferFull, InvalidRecord, InvalidSetting, RecordHandler, watched


@pytest.fixture
def stream(connect):
    return connect().stream("loans")


def arrived(receiver, stream):
    assert stream.flush() == 0
    return receiver.records()


class TestFunctions:
    def test_arguments_and_output_are_sent(self, receiver, stream):
        @stream.watch(record_id="application", output="granted", columns=["sex", "age"])
        def decide(application, sex, age=30, *, income=0):
            return income > 10

        assert decide("a-1", "f", income=20) is True
        assert decide("a-2", sex="m", age=41) is False
        assert arrived(receiver, stream) == [
            {"id": "a-1", "sex": "f", "age": 30, "granted": True},
            {"id": "a-2", "sex": "m", "age": 41, "granted": False},
        ]

    def test_methods_random_ids_and_more_keywords(self, receiver, stream):
        class Shop:
            @stream.watch(output="price")
            def price(self, zip_code, **customer):
                return 12.5

        assert Shop().price("02139", sex="f") == 12.5
        (record,) = arrived(receiver, stream)
        assert len(record.pop("id")) == 32
        assert record == {"zip_code": "02139", "sex": "f", "price": 12.5}

    def test_several_outputs_and_functions_for_id_and_output(self, receiver, stream):
        @stream.watch(record_id=lambda call: f"{call['a']}!", output=["b", "c"], columns=[])
        def one(a):
            return {"b": 1, "c": 2, "secret": 3}

        @stream.watch(record_id="a", output=lambda result: {"length": len(result)})
        def two(a):
            return [1, 2, 3]

        one("x")
        two("y")
        assert arrived(receiver, stream) == [{"id": "x!", "b": 1, "c": 2}, {"id": "y", "length": 3}]

    def test_coroutines(self, receiver, stream):
        @stream.watch(record_id="a", output="b")
        async def decide(a):
            await asyncio.sleep(0)
            return a + 1

        assert asyncio.run(decide(1)) == 2
        assert arrived(receiver, stream) == [{"id": 1, "b": 2}]

    def test_a_function_that_fails_sends_nothing(self, receiver, stream):
        @stream.watch(output="b")
        def decide(a):
            raise KeyError(a)

        with pytest.raises(KeyError):
            decide(1)
        assert arrived(receiver, stream) == []

    def test_trouble_with_the_record_never_takes_the_result(self, receiver, connect, caplog):
        receiver.always = status(503)
        stream = connect(buffer=1, batch=1, wait=0.0).stream("loans")

        @stream.watch(output="b")
        def decide(a):
            return a

        @stream.watch(output="b", errors="raise")
        def decide_strictly(a):
            return a

        assert [decide(1), decide(2)] == [1, 2]
        assert "A record of 'loans' was not sent: The buffer has been full" in caplog.text
        with pytest.raises(BufferFull):
            decide_strictly(3)
        assert decide(object()) is not None
        assert "Column 'a' must hold a string, a number" in caplog.text

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"record_id": "b"}, r"has no argument 'b'. Its arguments: 'a'"),
            ({"columns": ["sex"]}, r"has no argument 'sex'"),
            ({"errors": "ignore"}, r"'errors' of watch must be 'log' or 'raise'. Got 'ignore'"),
        ],
    )
    def test_wrong_names_are_errors_when_the_program_starts(self, stream, arguments, message):
        with pytest.raises(InvalidSetting, match=message):

            @stream.watch(**arguments)
            def decide(a): ...

    def test_generators_are_refused(self, stream):
        with pytest.raises(InvalidSetting, match="is a generator"):

            @stream.watch()
            def decide(a):
                yield a

    def test_a_missing_output_is_named(self, stream):
        @stream.watch(output=["b", "c"], errors="raise")
        def decide(a):
            return {"b": 1}

        with pytest.raises(InvalidRecord, match=r"has no 'c'. It has: 'b'"):
            decide(1)


@pytest.fixture(scope="module")
def people():
    chance = np.random.default_rng(3)
    return pd.DataFrame({"income": chance.normal(50, 10, 40), "age": chance.integers(18, 70, 40)})


@pytest.fixture(scope="module")
def model(people):
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(people, people["income"] > 50)


class TestModels:
    def test_a_record_for_each_prediction_of_scikit_learn(self, receiver, stream, model, people):
        sex = ["f", "m"] * 20
        own = watched(model, stream, output="granted", columns=["age"], also=lambda data: {"sex": sex})
        predicted = own.predict(people)
        assert (predicted == model.predict(people)).all()
        records = arrived(receiver, stream)
        assert [record["granted"] for record in records] == predicted.tolist()
        assert [record["sex"] for record in records] == sex
        assert [record["age"] for record in records] == people["age"].tolist()
        assert len({record["id"] for record in records}) == 40
        assert "income" not in records[0]

    @pytest.mark.parametrize(
        "make", [lambda p: p, pl.from_pandas, lambda p: p.to_numpy(), lambda p: p.to_numpy().tolist()]
    )
    def test_frames_and_arrays(self, receiver, stream, people, make):
        taught = LogisticRegression().fit(people.to_numpy(), people["income"] > 50)
        taught.feature_names_in_ = np.array(["income", "age"])

        class Quiet:  # scikit-learn warns where names differ from those it was taught with
            feature_names_in_ = taught.feature_names_in_

            def predict(self, data):
                return np.arange(len(data))

        watched(Quiet(), stream).predict(make(people.head(3)))
        records = arrived(receiver, stream)
        assert [record["prediction"] for record in records] == [0, 1, 2]
        assert [record["age"] for record in records] == people["age"].head(3).tolist()

    def test_probabilities(self, receiver, stream, model, people):
        own = watched(model, stream, output={"predict_proba": "score"}, columns=[])
        own.predict(people)
        assert arrived(receiver, stream) == []
        scores = own.predict_proba(people)
        assert [record["score"] for record in arrived(receiver, stream)] == scores[:, 1].tolist()

    def test_probabilities_of_three_classes(self, receiver, stream, people):
        three = LogisticRegression().fit(people, ["a", "b", "c", "a"] * 10)
        watched(three, stream, output={"predict_proba": "score"}, columns=[]).predict_proba(people.head(1))
        (record,) = arrived(receiver, stream)
        assert set(record) == {"id", "score_a", "score_b", "score_c"}

    def test_ids_of_the_data(self, receiver, stream):
        class Sums:
            def predict(self, data):
                return data["x"].to_numpy()

        frame = pd.DataFrame({"x": [1, 2], "application": ["a", "b"]})
        watched(Sums(), stream, record_id="application").predict(frame)
        assert arrived(receiver, stream) == [{"id": "a", "x": 1, "prediction": 1}, {"id": "b", "x": 2, "prediction": 2}]

    def test_everything_else_is_the_models_and_copies_send_nothing(self, receiver, stream, model, people):
        own = watched(model, stream)
        assert own.steps is model.steps
        assert own.score(people, people["income"] > 50) == model.score(people, people["income"] > 50)
        for copied in (pickle.loads(pickle.dumps(own)), copy.deepcopy(own), clone(own)):
            assert type(copied) is type(model)
        with pytest.raises(AttributeError):
            _ = own.no_such_thing

    def test_trouble_is_logged_and_predictions_returned(self, stream, model, people, caplog):
        own = watched(model, stream, also=lambda data: {"sex": ["f"]})
        assert len(own.predict(people)) == 40
        assert "40 records of 'loans' were not sent: Column 'sex' must have 40 values" in caplog.text
        with pytest.raises(InvalidRecord, match=r"no column 'sex'. Columns: 'income', 'age'"):
            watched(model, stream, columns=["sex"], errors="raise").predict(people)

    def test_a_model_without_predict_is_refused(self, stream):
        with pytest.raises(InvalidSetting, match=r"must have 'predict'. object has none"):
            watched(object(), stream)


class TestLogging:
    def test_only_what_is_meant_is_sent(self, receiver, stream):
        logger = logging.getLogger("a-loan-application")
        handler = RecordHandler(stream)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            logger.info("decided", extra={"fairtest": {"id": "a-1", "granted": True}})
            logger.info("something else")
            logger.debug("too low", extra={"fairtest": {"id": "a-2"}})
        finally:
            logger.removeHandler(handler)
        assert arrived(receiver, stream) == [{"id": "a-1", "granted": True}]

    def test_an_error_is_handled_as_loggings_are(self, stream, capsys):
        record = logging.makeLogRecord({"msg": "decided", "fairtest": 3})
        RecordHandler(stream).handle(record)
        assert "must be a mapping of columns. Got 3" in capsys.readouterr().err
