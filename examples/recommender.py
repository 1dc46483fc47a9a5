"""A movie recommender: do men and older people get better films, and is it what they like to watch that explains it?

Run ``python -m examples.recommender --movies FOLDER`` with a folder that has MovieLens; ``examples/movielens.py`` says
in which forms. The recommender is alternating least squares of the library ``implicit``, in the dependency group
``examples``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import fairtest as ft
from examples.command import Clock, MissingDataError, Sources, counts, main, measured, title
from examples.movielens import MovieLens, read_movielens
from fairtest.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csr_matrix

FILMS = 50
"""How many films are recommended to each person; none that they have rated."""


@dataclass(frozen=True)
class Story:
    """What is found, and what is left of it among people of the same taste."""

    reports: dict[str, ft.Report]
    clock: Clock


def ask(viewers: pl.DataFrame, clock: Clock) -> dict[str, ft.Report]:
    """Ask whether some get better films, and then whether they do among people of the same taste."""
    source = ft.DataSource(
        viewers,
        budget=2,
        numeric=["age"],
        reference={"gender": "F"},
        labels={
            "gender": {"F": "women", "M": "men"},
            "score": "score of recommended films",
        },
        people="viewers",
        name="MovieLens",
    )
    films = ft.Testing(
        source,
        protected=["gender", "age"],
        output="score",
        contextual=["gender", "age", "occupation"],
        metrics="CORR",
    )
    with clock.training():
        ft.train(films)
    with clock.testing():
        ft.test(films)
        found = ft.report(films)[0]
        explained = ft.explain(films, by="taste")
    return {"found": found, "explained": explained}


def recommend(seen: csr_matrix, stars: csr_matrix) -> np.ndarray:
    """Return the films recommended to each person: factors with the library's own settings, from ratings as weights."""
    from implicit.als import AlternatingLeastSquares
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):  # the library brings threads of its own
        model = AlternatingLeastSquares(random_state=0, num_threads=1)
        model.fit(stars, show_progress=False)
        films, _ = model.recommend(
            np.arange(seen.shape[0]), seen, N=FILMS, filter_already_liked_items=True
        )
    return np.asarray(films)


def watch(movies: MovieLens) -> pl.DataFrame:
    """Return each person with the average score of the films recommended, and whether they watch films above average.

    The score of a film is its average rating by everybody who rated it; a person's taste is the average score of the
    films they rated, above or below the mean of all people.
    """
    from scipy.sparse import csr_matrix

    films = movies.ratings.group_by("film", maintain_order=True).agg(
        pl.col("rating").mean().alias("score")
    )
    rated = movies.ratings.join(
        films.with_row_index("column").select("film", "column"), on="film"
    )
    rated = rated.join(movies.users.with_row_index("row").select("user", "row"), on="user")
    place, shape = (
        (rated["row"].to_numpy(), rated["column"].to_numpy()),
        (movies.users.height, films.height),
    )
    stars = csr_matrix((rated["rating"].to_numpy().astype(np.float32), place), shape=shape)
    seen = stars.astype(bool).astype(np.float32)
    score = films["score"].to_numpy()
    taste = (seen @ score) / np.asarray(seen.sum(axis=1)).ravel()
    recommended = score[recommend(seen, stars)].mean(axis=1)
    return movies.users.select(
        "gender",
        "age",
        "occupation",
        score=pl.Series(recommended.round(4)),
        taste=pl.Series(np.where(taste > taste.mean(), "above average", "below average")),
    )


def run(sources: Sources) -> Story:
    """Recommend films, and ask."""
    if sources.movies is None:
        raise MissingDataError(
            "MovieLens is needed, and no folder was named: name one with --movies (make MOVIES=…)"
        )
    clock = Clock()
    return Story(ask(watch(read_movielens(sources.movies)), clock), clock)


def tell(story: Story) -> Iterator[str]:
    """Say what was found, and what is left of it."""
    found, explained = story.reports.values()
    yield str(found)
    yield f"{counts(found)}.\n"
    yield title(
        "Explained by whether people watch films above or below average (second test set)"
    )
    for before, after in zip(found.populations, explained.populations, strict=True):
        yield f"{before.protected}, everyone:    {measured(before)}"
        yield f"{after.protected}, given taste:  {measured(after)}"
        for stratum in after.strata:
            effect = "undefined" if stratum.effect is None else fixed(stratum.effect, 4)
            yield f"  {stratum.values['taste']}: CORR {effect}, {stratum.size:,} people"


if __name__ == "__main__":
    main(run, tell, __doc__)
