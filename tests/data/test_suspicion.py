"""What looks like several rows of a person, or like weights, and what must not."""

from __future__ import annotations

import uuid

import numpy as np
import polars as pl
import pytest

from fairtest.data.reading.readers import read_table
from fairtest.data.streaming.streaming import stream_table
from fairtest.data.suspicion import repeats, samples
from fairtest.data.suspicion.copies import find_copies
from fairtest.data.suspicion.names import Meaning, meaning_of, weight_meant
from fairtest.data.suspicion.repeats import find_repetitions
from fairtest.data.suspicion.samples import count_values, positions, sample_values
from fairtest.data.suspicion.weights import find_weights
from fairtest.data.table import HashedColumn

ROWS = 6_000
ID_FORMS = {
    "whole numbers": lambda n: int(n) + 10_000,
    "text": lambda n: f"K{n:07d}",
    "UUIDs": lambda n: str(uuid.UUID(int=(int(n) + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128)),
    "mail": lambda n: f"p{n}@example.org",
}


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def log(rng, rows_each, name="user_id", form=int, rows=ROWS):
    """Return several rows a person, mixed: what they are stays the same, what they do does not."""
    n = rows // rows_each
    who = np.repeat(np.arange(n), rows_each)
    rng.shuffle(who)
    return pl.DataFrame(
        {
            name: [form(each) for each in who],
            "sex": rng.choice(["f", "m"], n)[who],
            "race": rng.choice(["a", "b", "c"], n)[who],
            "age": rng.integers(18, 80, n)[who],
            "city": rng.choice([f"c{i}" for i in range(30)], n)[who],
            "deposit": rng.integers(1_000, 9_000, n)[who],
            "hour": rng.integers(0, 24, who.size),
            "hired": rng.integers(0, 2, who.size),
        }
    )


def people(rng, **more):
    """Return one row a person, with other columns."""
    own = {
        "sex": rng.choice(["f", "m"], ROWS),
        "age": rng.integers(18, 80, ROWS),
        "job": rng.choice([f"job {i}" for i in range(14)], ROWS),
        "hired": rng.integers(0, 2, ROWS),
    }
    return pl.DataFrame(own | more)


def found(frame, protected=("sex",), **how):
    return [(each.column, each.values, each.rows) for each in find_repetitions(read_table(frame), protected, **how)]


# Identifiers that repeat -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows_each", [2, 5, 20])
@pytest.mark.parametrize("form", ID_FORMS)
@pytest.mark.parametrize("name", ["user_id", "PatientNbr", "custid", "customer", "id", "ref"])
def test_an_identifier_that_repeats(rng, rows_each, form, name):
    frame = log(rng, rows_each, name, ID_FORMS[form])
    assert found(frame) == [(name, ROWS // rows_each, ROWS)]


@pytest.mark.parametrize("name", ["user_id", "email", "session_key", "id", "customer"])
def test_a_clear_name_needs_no_attribute_that_stays_the_same(rng, name):
    frame = log(rng, 5, name, ID_FORMS["mail"]).drop("sex", "race", "age", "city", "deposit")
    assert found(frame, ()) == [(name, ROWS // 5, ROWS)]


def test_an_unclear_name_needs_one(rng):
    frame = log(rng, 5, "x17")
    assert found(frame) == [("x17", 1_200, ROWS)]
    assert find_repetitions(read_table(frame), ["sex", "hired", "race"])[0].constant == ("sex", "race")
    assert found(frame, ["hired"]) == []
    assert found(frame, []) == []


def test_unequal_numbers_of_rows_and_missing_identifiers(rng):
    who = np.repeat(np.arange(900), rng.integers(1, 12, 900))
    known = [None if rng.random() < 0.1 else f"u{each}" for each in who]
    present = [each for each in known if each]
    frame = pl.DataFrame({"user_id": known, "hired": rng.integers(0, 2, who.size)})
    assert found(frame, ()) == [("user_id", len(set(present)), len(present))]


def test_few_people_with_many_rows_are_seen_by_their_name(rng):
    assert found(log(rng, 400, "subject_id")) == [("subject_id", 15, ROWS)]
    assert found(log(rng, 1_000, "subject_id")) == []  # six values are a category


NOBODY = {
    "one row a person": lambda rng: {"person_id": rng.permutation(ROWS)},
    "one row a person, text": lambda rng: {"id": [f"u{i}" for i in rng.permutation(ROWS)]},
    "a few typed twice": lambda rng: {"user_id": np.r_[np.arange(ROWS - 9), np.arange(9)]},
    "unknown ones are 0": lambda rng: {"user_id": np.r_[np.zeros(2_000, int), np.arange(1, ROWS - 1_999)]},
    "transactions": lambda rng: {"transaction_id": np.arange(ROWS) + 5},
    "store numbers": lambda rng: {"store_nbr": rng.integers(1, 300, ROWS)},
    "stores in blocks": lambda rng: {"store_id": [f"S{i // 40:03d}" for i in range(ROWS)]},
    "ZIP codes": lambda rng: {"zip_code": 10_000 + rng.zipf(1.5, ROWS) % 2_000},
    "ZIP codes as text": lambda rng: {"plz": [f"{10_000 + i}" for i in rng.zipf(1.5, ROWS) % 2_000]},
    "ZIP codes under a strange name": lambda rng: {"loc": 10_000 + rng.zipf(1.5, ROWS) % 2_000},
    "codes of diseases": lambda rng: {"code": [f"{i}.{i % 7}" for i in rng.zipf(1.4, ROWS) % 700]},
    "cities and occupations": lambda rng: {
        "city": [f"city {i}" for i in rng.integers(0, 400, ROWS)],
        "client_city": [f"city {i}" for i in rng.integers(0, 400, ROWS)],
        "occupation": [f"work {i}" for i in rng.integers(0, 300, ROWS)],
    },
    "quantities": lambda rng: {
        "num_customers": rng.integers(0, 400, ROWS),
        "patient_age": rng.integers(0, 99, ROWS),
        "account_balance": rng.integers(0, 500, ROWS),
        "clicks": rng.integers(0, 500, ROWS),
        "price": rng.integers(100, 900, ROWS) / 100,
        "score": rng.normal(size=ROWS).round(2),
    },
    "days": lambda rng: {"day_id": [f"2020-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(ROWS)]},
    "kinds of people": lambda rng: {"customer": rng.choice([f"{a}{b} trade" for a in "abcde" for b in "uvwxyz"], ROWS)},
}  # fmt: skip


@pytest.mark.parametrize("what", NOBODY)
def test_what_many_people_share_is_no_identifier(rng, what):
    assert found(people(rng, **NOBODY[what](rng)), ["sex", "job", "age"]) == []


def test_a_number_that_decides_an_attribute_is_no_identifier(rng):
    born = rng.integers(0, 900, ROWS)  # in months
    frame = people(rng, born=born, old=np.where(born < 300, "yes", "no"))
    assert sample_values(read_table(frame)["born"], ROWS).agreement(read_table(frame)["old"]).is_constant
    assert found(frame, ["old"]) == []


def test_a_column_with_a_role_is_no_identifier(rng):
    assert found(log(rng, 5), taken=["user_id"]) == []


def test_the_likeliest_to_name_people_comes_first(rng):
    copies = {"a1": pl.col("user_id"), "id": pl.col("user_id") * 3, "b2": pl.col("user_id") // 2}
    frame = log(rng, 5).with_columns(**copies).select("b2", "a1", "id", "sex", "user_id")
    assert [name for name, *_ in found(frame)] == ["user_id", "id"]
    assert [name for name, *_ in found(frame.drop("user_id", "id"))] == ["a1"]


def test_names():
    said = {
        Meaning.PERSON: ["userid", "customerID", "id_user", "hhid", "e-mail", "Household Key"],
        Meaning.SOMEBODY: ["user", "account_number", "child_num", "the_patient"],
        Meaning.IDENTIFIER: ["ID", "uuid"],
        Meaning.ORDINARY: ["admission_type_id", "member_count", "country_code", "age", "member_since_year", "names"],
        Meaning.UNKNOWN: ["code", "x", "1", "", "capital_gain", "widget_id"],
    }
    assert {name: meaning_of(name) for names in said.values() for name in names} == {
        name: meaning for meaning, names in said.items() for name in names
    }


# Wherever the rows are ----------------------------------------------------------------------------------------------


def test_identifiers_of_which_only_hashes_are_kept(rng, tmp_path):
    who = np.r_[np.arange(5_700), rng.integers(0, 5_700, 300)]
    path = tmp_path / "log.parquet"
    people(rng, user_id=[f"user {each:012d}" for each in who]).write_parquet(path)
    table = stream_table(path, memory=100_000, block=700)
    assert isinstance(table["user_id"].slice(0, 3), HashedColumn)
    assert find_repetitions(table, ["sex"]) == find_repetitions(read_table(path), ["sex"])
    assert [(each.values, each.rows) for each in find_repetitions(table, ["sex"])] == [(5_700, ROWS)]


@pytest.mark.parametrize("size", [500, 2_000])
@pytest.mark.parametrize("name", ["user_id", "x17"])
def test_a_sample_of_values_says_the_same_wherever_the_rows_are(rng, tmp_path, monkeypatch, size, name):
    monkeypatch.setattr(samples.sample_values, "__defaults__", (size,))
    monkeypatch.setattr(samples.count_values, "__defaults__", (size,))
    path = tmp_path / "log.parquet"
    log(rng, 5, name).write_parquet(path)
    here, there = read_table(path), stream_table(path, memory=10**9, block=700)
    assert sample_values(here[name], ROWS).rows.size < 2 * size
    assert np.array_equal(sample_values(here[name], ROWS).rows, sample_values(there[name], ROWS).rows)
    assert find_repetitions(here, ["sex"]) == find_repetitions(there, ["sex"])
    assert found(pl.read_parquet(path)) == [(name, 1_200, ROWS)]


def test_few_values_in_many_rows_are_sampled_by_row(rng):
    column = read_table(log(rng, 300, "user_id"))["user_id"]
    sample = sample_values(column, ROWS, 600)
    assert sample.starts.size == 20
    assert 500 < sample.rows.size <= 600
    assert (np.diff(sample.keys.astype(np.int64)) >= 0).all()


@pytest.mark.parametrize("most", [1, 7, 100, 10**6])
def test_values_are_counted_exactly_in_any_number_of_passes(most):
    column = read_table({"user_id": [i % 13 for i in range(50)] + [None, None]})["user_id"]
    assert column.is_number
    assert count_values(column, 52, most) == 13


def test_positions_are_drawn_from_all_rows():
    drawn = positions(1_000_000, 5_000)
    assert 4_900 < drawn.size <= 5_000
    assert (np.diff(drawn) > 0).all()
    tenths = np.bincount(drawn // 100_000, minlength=10)
    assert tenths.size == 10
    assert (np.abs(tenths - 500) < 100).all()


# Copies -------------------------------------------------------------------------------------------------------------

PERSONAL = ("sex", "race", "age", "city", "deposit")


@pytest.mark.parametrize("rows_each", [2, 5, 20])
def test_copies_are_seen_and_what_changes_is_left_aside(rng, rows_each):
    table = read_table(log(rng, rows_each).drop("user_id"))
    made = find_copies(table, ["sex"], ["race", "age", "city", "deposit", "hour", "hired"])
    assert (made.columns, made.rows, made.of) == (PERSONAL, ROWS, ROWS)


def test_people_who_are_alike_are_no_copies(rng):
    n = ROWS
    few = {"sex": rng.choice(["f", "m"], n), "dept": rng.choice(list("ABCDEF"), n), "in": rng.integers(0, 2, n)}
    assert find_copies(read_table(few), ["sex"], ["dept", "in"]) is None
    mood = rng.normal(size=n)  # all attributes hang together
    linked = {name: np.round(mood * (1 + i) + rng.normal(size=n)).astype(int) for i, name in enumerate("abcdef")}
    assert find_copies(read_table(linked), ["a"], list("bcdef")) is None
    assert find_copies(read_table(log(rng, 1).drop("user_id")), ["sex"], ["race", "age", "city", "deposit"]) is None


def test_a_flag_for_each_value_is_one_attribute(rng):
    """Each flag follows from the others of its set; the sets do not follow from each other."""
    sets = {"race": 5, "job": 12, "town": 30}
    drawn = {name: rng.integers(0, number, ROWS) for name, number in sets.items()}
    flags = {f"{name} {i}": drawn[name] == i for name, number in sets.items() for i in range(number)}
    assert find_copies(read_table(flags), ["race 0"], list(flags)) is None


def test_rows_that_nobody_filled_in_are_no_copies(rng):
    frame = log(rng, 1).drop("user_id")
    blank = pl.DataFrame({name: [frame[name][0]] * 4_000 for name in frame.columns})
    table = read_table(pl.concat([frame, blank]))
    assert find_copies(table, ["sex"], ["race", "age", "city", "deposit", "hour", "hired"]) is None
    empty = frame.with_columns(pl.when(pl.int_range(ROWS) < 4_000).then(None).otherwise(pl.col(pl.Int64)).name.keep())
    assert find_copies(read_table(empty), ["sex"], ["race", "age", "city", "deposit", "hour", "hired"]) is None


def test_rows_of_a_person_that_are_never_the_same(rng):
    """No two rows agree in everything, as in a panel of months: what tells months apart is left aside, not people."""
    frame = log(rng, 5).with_columns(month=pl.int_range(pl.len()).over("user_id"))
    made = find_copies(read_table(frame.drop("user_id", "city", "race")), ["sex"], ["age", "deposit", "month", "hired"])
    assert (made.columns, made.rows) == (("sex", "age", "deposit"), ROWS)


def test_missing_values_of_a_person_are_missing_in_all_of_their_rows(rng):
    frame = log(rng, 5).with_columns(city=pl.when(pl.col("user_id") % 3 > 0).then("city")).drop("user_id")
    made = find_copies(read_table(frame), ["sex"], ["race", "age", "city", "deposit", "hour", "hired"])
    assert (made.columns, made.rows) == (PERSONAL, ROWS)


def test_places_are_no_copies_of_people(rng):
    """What is known of a place is the same for all who live there, and those who live there are not."""
    at = rng.integers(0, 700, ROWS)
    place = {name: rng.normal(size=700)[at] for name in ("north", "east", "height", "rain", "rent")}
    table = read_table(people(rng, **place))
    assert find_copies(table, ["sex"], ["age", "job", "hired", *place]) is None


def test_where_people_come_from_is_not_who_they_are(rng):
    """Four columns say nearly the same of a few, and of most that they are from here."""
    home = np.where(rng.random(ROWS) < 0.8, 0, rng.integers(1, 200, ROWS))
    moved = np.where(rng.random(ROWS) < 0.03, rng.integers(0, 200, ROWS), home)
    said = {"nationality": home, "born_in": moved, "passport": home * 3, "speaks": np.where(home, home + 5, 0)}
    table = read_table({name: [f"{name} {i}" for i in each] for name, each in said.items()})
    assert find_copies(table, ["nationality"], list(said)) is None


@pytest.mark.parametrize(("number", "rows"), [(25, 400), (50, ROWS)])
def test_a_few_kinds_are_no_people(rng, number, rows):
    """Of 25 too few to tell; of 50 too many of each."""
    kinds = rng.integers(0, number, rows)
    table = read_table({name: [f"{name} {i}" for i in kinds] for name in ("car", "maker", "price", "colour")})
    assert find_copies(table, ["car"], ["maker", "price", "colour"]) is None


@pytest.mark.parametrize("rows_each", [2, 5])
def test_copies_in_a_sample_of_rows(rng, monkeypatch, rows_each):
    monkeypatch.setattr(positions, "__defaults__", (2_000,))
    table = read_table(log(rng, rows_each).drop("user_id"))
    made = find_copies(table, ["sex"], ["race", "age", "city", "deposit", "hour", "hired"])
    assert made.columns == PERSONAL
    assert made.of < 2_001
    assert find_copies(read_table(log(rng, 1)), ["sex"], ["race", "age", "city", "deposit", "hour", "hired"]) is None


# Weights ------------------------------------------------------------------------------------------------------------


def test_weights_are_known_by_name_and_spread(rng):
    wide = rng.lognormal(7, 0.6, ROWS)
    table = read_table(
        {
            "fnlwgt": wide,
            "person weight": wide / wide.mean(),
            "pweight": 0 * wide + 3.5,  # equal weights change nothing
            "wgt": wide - 500,  # negative ones are none
            "birth_weight": wide,
            "weight": rng.normal(75, 13, ROWS),
            "hwt": ["light", "heavy"] * (ROWS // 2),
        }
    )
    assert find_weights(table) == ["fnlwgt", "person weight"]
    assert find_weights(table, ["fnlwgt"]) == ["person weight"]


@pytest.mark.parametrize(
    ("mean", "spread", "expected"),
    [(1.0, 0.6, True), (2_500.0, 0.6, True), (2_500.0, 0.15, False), (75.0, 0.2, False), (40.0, 0.6, False)],
)
def test_a_weight_of_nobody_knows_what_must_look_like_one_of_a_sample(rng, mean, spread, expected):
    drawn = rng.lognormal(0, np.sqrt(np.log1p(spread**2)), ROWS)
    assert (find_weights(read_table({"weight": drawn / drawn.mean() * mean})) == ["weight"]) is expected


def test_names_of_weights():
    assert [weight_meant(n) for n in ("PWGTP", "WTFINL", "design.weight", "expansion_factor")] == [True] * 4
    assert [weight_meant(n) for n in ("Weight", "wt")] == [None, None]
    assert [weight_meant(n) for n in ("weight_kg", "height", "curb_weight")] == [False] * 3


def test_most_columns_are_not_read(rng, monkeypatch):
    """Only what may identify is looked at: a name or a kind is enough to pass over the others."""
    looked = []
    monkeypatch.setattr(
        repeats, "sample_values", lambda column, n: looked.append(column.name) or sample_values(column, n)
    )
    found(log(rng, 5))
    assert looked == ["user_id"]
