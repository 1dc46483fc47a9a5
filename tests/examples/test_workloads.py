"""Each workload of the paper in small: it runs without the paper's data, and tells what is true of what it is given."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from examples import adult, berkeley, image_tagger, microbenchmark, shoppers, staples
from examples.command import MissingDataError, Sources, default_sources
from examples.movielens import make_movielens, read_movielens

ROOT = Path(__file__).resolve().parents[2]
NOTHING = Sources()


@pytest.fixture(scope="module")
def planted() -> microbenchmark.Story:
    return microbenchmark.run(NOTHING, trials=1, people=60_000)


@pytest.fixture(scope="module")
def country(tmp_path_factory: pytest.TempPathFactory) -> staples.Story:
    from made_country import write_country

    folder = tmp_path_factory.mktemp("country")
    census = write_country(folder)
    return staples.run(Sources(data=folder), people=120_000, census=census)


class TestMicrobenchmark:
    def test_strong_bias_in_large_groups_is_reported(self, planted: microbenchmark.Story) -> None:
        assert planted.mean("reported", 1_000, 0.15) >= 7
        assert planted.mean("reported", 100, 0.025) <= 1
        assert len(planted.trials) == len(microbenchmark.SIZES) * len(microbenchmark.DELTAS)

    def test_what_is_reported_was_proposed(self, planted: microbenchmark.Story) -> None:
        assert all(trial.reported <= trial.detected <= microbenchmark.PLANTED for trial in planted.trials)

    def test_it_is_told(self, planted: microbenchmark.Story) -> None:
        told = "\n".join(microbenchmark.tell(planted))
        assert f"{planted.total('reported'):.1f} of 240" in told
        assert "in 24 runs" in told or "of 24 runs" in told


class TestStaples:
    def test_distance_is_over_the_globe(self) -> None:
        """New York and Los Angeles are 2,446 miles apart; with latitude and longitude swapped, they are not."""
        points = shoppers.on_globe(np.array([40.7128, 34.0522]), np.array([-74.0060, -118.2437]))
        chord = np.linalg.norm(points[0] - points[1], keepdims=True)
        assert shoppers.great_circle(chord)[0] == pytest.approx(2_446, abs=5)

    def test_villages_pay_the_high_price_and_the_poor_live_there(self, country: staples.Story) -> None:
        income = country.found.populations[0]
        assert income.significant
        assert income.effect > 0.02
        rates = {row["state"]: row["gap"] for row in country.states.to_dicts()}
        assert rates["OK"] > 0.03
        assert rates["NY"] == pytest.approx(0.0, abs=0.02)

    def test_the_remedy_is_for_the_states_that_were_found(self, country: staples.Story) -> None:
        assert "OK" in country.switched_off
        assert "NY" not in country.switched_off
        before, after = (country.reports[name].populations[0] for name in ("by state", "remedy"))
        assert abs(after.effect) < abs(before.effect) / 2
        assert country.reports["remedy"].settings.set == 2

    def test_budgets_divide_the_people(self, country: staples.Story) -> None:
        tests = [country.reports[f"budget {b}"].data.test for b in staples.BUDGETS]
        assert tests == sorted(tests, reverse=True)

    def test_it_is_told(self, country: staples.Story) -> None:
        told = "\n".join(staples.tell(country))
        assert "Switched off in" in told
        assert "white people in California" in told

    def test_without_data_it_says_which_file(self) -> None:
        with pytest.raises(MissingDataError, match=r"staples_zipcodes\.csv\.gz is needed.*--data"):
            staples.run(NOTHING)


class TestImageTagger:
    def test_made_up_pictures(self) -> None:
        story = image_tagger.run(NOTHING)
        found = {f.label: f.effect for f in story.report.findings}
        assert {"person", "face powder", "cart", "helmet"} >= set(found) >= {"face powder", "cart"}
        assert found["face powder"] < 0 < found["cart"]
        told = "\n".join(image_tagger.tell(story))
        assert told.startswith(f"{image_tagger.FILE} is not there")


class TestRecommender:
    @pytest.fixture(autouse=True)
    def _library(self) -> None:
        pytest.importorskip("implicit", reason="implicit is not installed: see the dependency group 'examples'")

    @pytest.mark.parametrize("explained", [True, False])
    def test_taste_explains_or_does_not(self, tmp_path: Path, explained: bool) -> None:
        from examples import recommender

        make_movielens(tmp_path, explained=explained)
        story = recommender.run(Sources(movies=tmp_path))
        gender, age = story.reports["found"].populations
        assert gender.significant
        assert age.significant
        assert age.effect > 0
        given = {f.protected: f for f in story.reports["explained"].populations}
        assert given["age"].significant is not explained
        assert (given["age"].effect < age.effect / 2) is explained
        assert "given taste" in "\n".join(recommender.tell(story))

    def test_films_that_were_rated_are_not_recommended(self, tmp_path: Path) -> None:
        from scipy.sparse import csr_matrix

        from examples import recommender

        rng = np.random.default_rng(0)
        stars = csr_matrix((rng.random((40, 120)) < 0.3).astype(np.float32))
        films = recommender.recommend(stars, stars)
        assert films.shape == (40, recommender.FILMS)
        assert not any(stars[person, film] for person in range(40) for film in films[person])

    def test_no_folder(self) -> None:
        from examples import recommender

        with pytest.raises(MissingDataError, match="--movies"):
            recommender.run(NOTHING)


class TestMovieLens:
    def test_three_forms_of_the_same(self, tmp_path: Path) -> None:
        small, large, atomic = (tmp_path / name for name in ("100k", "1m", "atomic"))
        for folder in (small, large, atomic):
            folder.mkdir()
        (small / "u.data").write_text("7\t3\t4\t88\n")
        (small / "u.user").write_text("7|30|F|artist|12345\n")
        (large / "ratings.dat").write_text("7::3::4::88\n")
        (large / "users.dat").write_text("7::F::25::artist::12345\n")
        (atomic / "x.inter").write_text("user_id:token\titem_id:token\trating:float\n7\t3\t4\n")
        (atomic / "x.user").write_text("user_id:token\tage:token\tgender:token\toccupation:token\n7\t30\tF\tartist\n")
        order = ["user", "age", "gender", "occupation"]
        for folder in (small, large, atomic):
            read = read_movielens(folder)
            assert read.ratings.rows() == [("7", "3", 4.0)]
            assert read.users.select(order).rows() == [("7", 30, "F", "artist")]

    def test_another_folder(self, tmp_path: Path) -> None:
        with pytest.raises(MissingDataError, match="has no MovieLens in it"):
            read_movielens(tmp_path)


class TestAdult:
    def test_made_up_people(self) -> None:
        rng = np.random.default_rng(1)
        n = 8_000
        woman, school = rng.random(n) < 0.4, rng.integers(1, 17, n)
        rich = rng.random(n) < np.where(woman, 0.1, 0.12 + 0.03 * school)
        people = pl.DataFrame(
            {
                "age": rng.integers(17, 90, n),
                "education_num": school,
                "fnlwgt": rng.integers(10_000, 500_000, n),
                "sex": np.where(woman, "Female", "Male"),
                "race": rng.choice(["White", "Black", "Other"], n, p=[0.8, 0.15, 0.05]),
                "income": np.where(rich, ">50K", "<=50K"),
            }
        )
        story = adult.run(NOTHING, people)
        default, paper = story.reports.values()
        sex, race = default.attributes
        assert sex.population.significant
        assert sex.population.effect < -0.1
        assert not race.population.significant
        assert paper.settings.preset == "paper"
        assert "With the paper's settings" in "\n".join(adult.tell(story))


def test_berkeley() -> None:
    story = berkeley.run(NOTHING)
    everyone = story.report.populations[0]
    assert everyone.gap == pytest.approx(557 / 1_835 - 1_198 / 2_691)
    assert everyone.effect > 0
    assert "department  women admitted" in "\n".join(berkeley.tell(story))


def test_data_beside_the_project_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FAIRTEST_DATA", str(tmp_path))
    monkeypatch.setenv("FAIRTEST_MOVIES", str(tmp_path / "movies"))
    assert default_sources() == Sources(tmp_path, tmp_path / "movies")
    monkeypatch.setenv("FAIRTEST_DATA", str(tmp_path / "nowhere"))
    assert default_sources().data is None


class TestTheCommandLine:
    """Each script runs alone with one command."""

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", *words]
        known = {k: v for k, v in os.environ.items() if not k.startswith("FAIRTEST_")}
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=known | environment)

    def test_it_prints_the_story_and_writes_reports(self, tmp_path: Path) -> None:
        done = self.run("examples.berkeley", "--out", str(tmp_path / "reports"))
        assert done.returncode == 0, done.stderr
        assert done.stdout == "\n".join(berkeley.tell(berkeley.run(NOTHING))) + "\n"
        assert [path.name for path in (tmp_path / "reports").iterdir()] == ["1-admissions.html"]

    @pytest.mark.parametrize(("name", "says"), [("staples", "--data"), ("recommender", "--movies")])
    def test_without_data_it_ends_with_a_sentence(self, tmp_path: Path, name: str, says: str) -> None:
        done = self.run(f"examples.{name}", FAIRTEST_DATA=str(tmp_path / "nowhere"))
        assert done.returncode == 1
        assert says in done.stderr
        assert "Traceback" not in done.stderr
