"""How sure a report is and how it came about: what its tests promise, who was tested, what was corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.inference.multiplicity.corrections import FAMILY_WISE, corrections
from fairtest.inference.populations import STRATA_SHARE
from fairtest.numbers import count, per_cent
from fairtest.reporting.words.design import design_words
from fairtest.reporting.words.everybody import has_own_level, is_whole_file
from fairtest.reporting.words.groups import contrast_promise, is_compared
from fairtest.reporting.words.phrases import alike_words, join_words, plural
from fairtest.reporting.words.sentences import is_clear

if TYPE_CHECKING:
    from fairtest.model.finding import Finding, Stratum
    from fairtest.model.report import AttributeReport, Report, Reuse


def measured_set(report: Report) -> str:
    """Return the set that sizes, tables and estimates are of."""
    return "test set" if report.reuse is None else "training set"


def share_of(report: Report, finding: Finding) -> float | None:
    """Return the share of a group in the set that was measured; the whole population may be of more people."""
    people = report.data.test if report.reuse is None else report.data.train
    return finding.size / people if people else None


def interval_level(report: Report) -> str:
    """Return the confidence of the simultaneous intervals; on a reusable test set, of those of all questions."""
    return per_cent(1 - report.settings.level if report.reuse is None else report.settings.conf)


def is_undivided(report: Report) -> bool:
    """Whether everybody was tested, without a training set."""
    return report.data.people == report.data.train == report.data.test


# How sure ---------------------------------------------------------------------------------------------------------


def how_sure(report: Report) -> str:
    """Return what the level of the tests promises, and what it does not."""
    called = report.names.column
    output = "a label" if report.kind == "discovery" else called(report.subject)
    by = join_words([called(a.name) for a in report.attributes] or ["nothing"], "or")
    certainty = f"{design_words(report)}{_tested_words(report)} {_correction_promise(report)}"
    if report.reuse is not None:
        certainty = f"{reuse_numbers(report)} {reuse_promise(report, report.reuse)}"
    return (
        f"{certainty} {_comparison_words(report)}"
        f"A finding shows that {output} goes with {by} in a group; it does not show why, nor that anyone acted wrongly."
    )


def _comparison_words(report: Report) -> str:
    """Return the second promise, about groups that are said to differ; or that where none was tested there is none."""
    words = ""
    if promise := contrast_promise(report):
        words = f"Apart from that, with a confidence of {per_cent(1 - report.settings.level)}, {promise}. "
    if any(a.inside and a.population.significant and not is_compared(a) for a in report.attributes):
        words += (
            "That a link is stronger than in the whole population is the best reading of the data, not a separate "
            "test: where intervals overlap it may not be. "
        )
    return words


def _tested_words(report: Report) -> str:
    data, number_of = report.data, report.names.number_of
    if is_undivided(report):
        return f"All {number_of(data.people)} were tested, in groups that were fixed beforehand."
    if report.explains is not None:
        return f"The groups are those of run {report.explains[0]}, tested again on {number_of(data.test)} new to it."
    groups = f"The groups were chosen on {number_of(data.train)} and tested on {count(data.test)} others"
    if not all(attribute.named for attribute in report.attributes):
        return f"{groups}."
    everybody = data.train + data.test
    who = "all" if everybody == data.people else "these"
    return f"{groups}; the question over everybody was put to {who} {count(everybody)}."


def _correction_promise(report: Report) -> str:
    """Return what the correction keeps below the level, on this test set and over all of them."""
    settings = report.settings
    known = corrections.get(settings.correction)
    kept = FAMILY_WISE if known is None else known.controls
    over = ""
    if kept.adds_up and settings.budget > 1:
        sets = "both" if settings.budget == 2 else f"all {settings.budget}"
        over = f", and {per_cent(1 - settings.conf)} over {sets} test sets"
    return f"{kept.promise.format(level=per_cent(settings.level))}{over}."


# How it was done --------------------------------------------------------------------------------------------------


def method(report: Report) -> str:
    """Return how the report came about, in a paragraph."""
    names, settings = report.names, report.settings
    within = ""
    if report.explanatory:
        within = f", comparing only {names.people} with {alike_words(report.explanatory, names)}"
    if report.reuse is not None:
        return _reuse_method(report, report.reuse, _correction_words(report), within)
    return (
        f"{_choice_words(report, within)} {_everybody_words(report)}{_correction_words(report)} {_budget_words(report)}"
        f"The first interval of an effect holds simultaneously for everything tested; the single one holds for that "
        f"effect alone; both stand at {per_cent(1 - settings.level)}. {_sharpness_words(report)}"
        f"{_order_words(report)} Nothing was added to any count."
    )


def _everybody_words(report: Report) -> str:
    """Return at which level and on whom the whole population was tested; empty where it is one group among others."""
    if not has_own_level(report):
        return ""
    settings, several = report.settings, len(report.attributes) > 1
    share = "half" if settings.population_share == 0.5 else per_cent(settings.population_share)
    on = dict.fromkeys(_on_whom(report, attribute) for attribute in report.attributes)
    each = "The whole population, for each attribute," if several else "The whole population"
    confirmed = "where all are confirmed" if several else "where it is confirmed"
    return (
        f"{each} is a question of its own: {share} of the level is kept for it, and goes on to the groups {confirmed}. "
        f"It was tested on {join_words(list(on), 'or')}. {_strata_words(report)}"
    )


def _strata_words(report: Report) -> str:
    """Return on whom, and at which level, the strata of the whole population were tested; empty without strata."""
    if not report.explanatory:
        return ""
    given = join_words([report.names.column(name) for name in report.explanatory])
    groups = any(column.role == "contextual" for column in report.data.columns)
    part = f"{per_cent(STRATA_SHARE)} of what" if groups else "what"
    return (
        f"Everybody by {given} was tested on the same people; {part} the whole population leaves of the level is kept "
        "for that. "
    )


def _on_whom(report: Report, attribute: AttributeReport) -> str:
    if is_undivided(report):
        return "everybody"
    if attribute.named:
        sets = "everybody" if is_whole_file(report, attribute) else "the people of the training set and of this one"
        return f"{sets}, because the question was there before anything was shown"
    return "the people of this set only, because the question came after results were shown"


def _budget_words(report: Report) -> str:
    settings = report.settings
    if settings.budget == 1:
        return ""
    total = f"{1 - settings.conf:.2g}"
    return f"Each of the {settings.budget} test sets has the level {total} / {settings.budget} = {settings.level:.2g}. "


def _order_words(report: Report) -> str:
    """Return how it was decided which significant groups are shown, and in which order."""
    if not any(map(is_compared, report.attributes)):
        ordered = "simultaneous" if report.settings.preset == "paper" else "single"
        if not any(a.inside for a in report.attributes):
            return "Significant groups that say no more than everybody together are not shown."
        return (
            f"Findings are ordered by the bound of their {ordered} interval nearest to no link, so that a small group "
            "does not lead on luck."
        )
    return (
        "Every condition of a group has a price, the higher the more conditions could have been made. One group after "
        "the other was chosen, the one that says most beyond those already chosen, for its price; they stand in that "
        "order, a group inside another below it. Every other significant group is folded into the one shown with which "
        "it shares most people."
    )


def _choice_words(report: Report, within: str) -> str:
    """Return how the groups were chosen, and on whom they were tested."""
    data, settings, number_of = report.data, report.settings, report.names.number_of
    if is_undivided(report):
        return (
            f"All {number_of(data.people)} were used for one question. The groups are all those that a few "
            f"conditions on the columns make, whatever the output; each was tested once{within}."
        )
    sets = "one test set"
    if settings.budget > 1:
        sets = f"{settings.budget} test sets, of which this is number {settings.set}"
    return (
        f"The {number_of(data.people)} were divided at random: {number_of(data.train)} to look for groups, and {sets} "
        f"({number_of(data.test)}). On the first, {_search_words(report)}{within}. On the test set, untouched until "
        "then, each was tested once."
    )


def _search_words(report: Report) -> str:
    """Return what was done with the training set."""
    if report.explains is not None:
        return (
            f"groups had been searched for; everyone, and those that were significant in run {report.explains[0]}, are "
            "asked about again"
        )
    if report.labels is None:
        return "groups were searched for in which the link between attribute and output is strong"
    return (
        "groups were searched for in which some labels stand out; in each, and over everybody, the attribute was "
        f"regressed on the labels that show a link of their own, and the {count(report.labels.top_k)} that add most to "
        "the others were kept"
    )


def _correction_words(report: Report) -> str:
    """Return how many p-values were corrected together, and how."""
    known = corrections.get(report.settings.correction)
    how = report.settings.correction if known is None else known.title
    if report.corrected_for == 1:
        return f"There is one p-value, and nothing to correct for ({how})."
    others = ", those of the other questions put to the same set among them" if report.family > report.tested else ""
    return f"{plural(report.corrected_for, 'p-value')} were corrected together{others}: {how}."


def _sharpness_words(report: Report) -> str:
    """Return why a link can be clear though its interval includes no link; empty where none is."""
    found = (*report.populations, *report.findings)
    parts: list[Finding | Stratum] = [*found, *(stratum for finding in found for stratum in finding.strata)]
    clear = [part.interval for part in parts if is_clear(part, report.settings.level)]
    if not any(interval is not None and interval[0] <= 0 <= interval[1] for interval in clear):
        return ""
    return (
        "The tests are sharper than the simultaneous intervals: they go step by step, and those of groups with more "
        "evidence in the training set have a larger level. So a link can be clear though this interval reaches past "
        "none. "
    )


# Where the test set is used again -----------------------------------------------------------------------------------


def reuse_numbers(report: Report) -> str:
    """Return which people the numbers describe, and what the test set adds."""
    data = report.data
    return (
        f"The groups were chosen on {report.names.number_of(data.train)}, and the shares, tables and estimates shown "
        "are of these: a group that was searched for tends to look stronger there than it is. "
        f"{count(data.test)} others, the test set, say of each link whether they confirm it, and in which interval."
    )


def reuse_promise(report: Report, reuse: Reuse) -> str:
    """Return what holds over all questions, at which level this one was tested, and what is left."""
    settings = report.settings
    return (
        f"Over all {count(settings.budget)} questions that may be put to the test set, each made in the light of the "
        f"answers before, the chance that even one confirmed link is a fluke is at most {per_cent(1 - settings.conf)}; "
        f"so is the chance that even one interval misses its effect. This is question {reuse.question}. The answers "
        f"before it have told {_bit_words(reuse.bits_before)} about the test set, so it was tested at level "
        f"{settings.level:.2g}; its own tells {_bit_words(reuse.bits)}. {_questions_left(reuse)}"
    )


def _bit_words(bits: float) -> str:
    return f"{bits:.1f} bits"


def _questions_left(reuse: Reuse) -> str:
    if not reuse.left:
        return "No question is left."
    more = "One more question is" if reuse.left == 1 else f"{count(reuse.left)} more questions are"
    return f"{more} left, the next at level {reuse.next_level:.2g}."


def _reuse_method(report: Report, reuse: Reuse, corrected: str, within: str) -> str:
    """Return how the report came about, in a paragraph."""
    data, settings = report.data, report.settings
    share = f"{1 - settings.conf:.2g} / {settings.budget}"
    return (
        f"The {report.names.number_of(data.people)} were divided at random: {count(data.train)} to look for groups, "
        f"and {count(data.test)} for one test set that answers up to {count(settings.budget)} questions. On the first, "
        f"groups were searched for in which the link between attribute and output is strong{within}; the strongest few "
        f"were put to the test set. It says no more than that a link is confirmed or not, and whether the interval "
        f"proposed by the training set holds; there are no p-values, for they would tell too much. {corrected} "
        f"An answer that the training set leads one to expect tells little about the test set, a surprise tells more; "
        f"{_bit_words(reuse.bits_before)} before this question make its level {share} / 2^{reuse.bits_before:.1f} = "
        f"{settings.level:.2g}, which keeps the chance of a fluke over all questions however they are chosen. A link "
        f"that was confirmed before is quoted. Strata are described and not tested. Findings are ordered by estimate."
    )
