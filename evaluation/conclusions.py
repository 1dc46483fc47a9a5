"""The paper's conclusions, each with a mark that the numbers of a run give it, and a sentence why.

A conclusion is a function of the stored results and of the published numbers: no mark is set by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from fairtest.numbers import count, fixed, p_statement, rate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HOLDS, IN_PART, NOT = "holds", "holds in part", "does not hold"
Facts = dict[str, Any]
Judgement = tuple[str, str]


@dataclass(frozen=True)
class Conclusion:
    """What the paper concludes from a workload, whether it holds here, and why."""

    workload: str
    claim: str
    mark: str
    why: str


RULES: list[tuple[str, str, Callable[[Facts, Facts], Judgement]]] = []


def _concludes(workload: str, claim: str) -> Callable[[Callable[[Facts, Facts], Judgement]], Any]:
    def register(rule: Callable[[Facts, Facts], Judgement]) -> Callable[[Facts, Facts], Judgement]:
        RULES.append((workload, claim, rule))
        return rule

    return register


def judge(results: Mapping[str, Facts], published: Mapping[str, Any]) -> list[Conclusion]:
    """Return all conclusions; ``results`` has the facts of each workload, of the searches and of the timing."""
    return [
        Conclusion(workload, claim, *rule(results[workload], published.get(workload, {})))
        for workload, claim, rule in RULES
    ]


def _mark(*met: bool) -> str:
    return HOLDS if all(met) else IN_PART if any(met) else NOT


def interval_words(part: Facts, decimals: int = 4) -> str:
    """Return an effect and its interval."""
    if part["effect"] is None:
        return "undefined"
    bounds = "" if part["interval"] is None else " [{}, {}]".format(*(fixed(b, decimals) for b in part["interval"]))
    return f"{fixed(part['effect'], decimals)}{bounds}"


def _overlap(first: Sequence[float], second: Sequence[float]) -> bool:
    return first[0] <= second[1] and second[0] <= first[1]


def _join(words: Sequence[str]) -> str:
    return "; ".join(words) or "none"


# Microbenchmark -----------------------------------------------------------------------------------------------------


@_concludes("microbenchmark", "Strong disparities are found in groups of a few hundred people.")
def _strong_and_small(facts: Facts, _: Facts) -> Judgement:
    row = facts["sizes"].index(500)
    strong, weaker = facts["reported"][row][-1], facts["reported"][row][-2]
    enough = facts["planted"] / 2
    why = (
        f"In groups of {facts['sizes'][row]} people, {strong:g} of {facts['planted']} are reported with the strongest "
        f"bias (Δ {rate(facts['deltas'][-1], 0)}) and {weaker:g} with the next."
    )
    return _mark(strong >= enough, weaker >= enough), why


@_concludes("microbenchmark", "Effects as low as 2.5 % are found in larger groups.")
def _weak_and_large(facts: Facts, _: Facts) -> Judgement:
    found, size = facts["reported"][-1][0], facts["sizes"][-1]
    why = f"In groups of {size:,} people, {found:g} of {facts['planted']} are reported on average."
    return HOLDS if found >= facts["planted"] / 2 else IN_PART if found > 0 else NOT, why


@_concludes("microbenchmark", "Low effects in small groups often go undetected.")
def _weak_and_small(facts: Facts, _: Facts) -> Judgement:
    found = facts["reported"][0][0]
    return _mark(found < facts["planted"] / 2), (
        f"In groups of {facts['sizes'][0]} people with the weakest bias, {found:g} of {facts['planted']} are reported."
    )


@_concludes("microbenchmark", "There are no false discoveries.")
def _no_false(facts: Facts, _: Facts) -> Judgement:
    share = facts["false_runs"] / facts["runs"]
    why = (
        f"{facts['false_findings']} of {facts['findings']:,} findings are false, in {facts['false_runs']} of "
        f"{facts['runs']} runs ({rate(share)}); what is promised is at most 5 % of runs."
    )
    return HOLDS if share == 0 else IN_PART if share <= 0.05 else NOT, why


# Staples ------------------------------------------------------------------------------------------------------------


@_concludes("staples", "Over everybody, the gap between incomes is nearly zero.")
def _global_gap(facts: Facts, _: Facts) -> Judgement:
    income = facts["attributes"][0]["everyone"]
    widest = max(abs(state["gap"]) for state in facts["states"])
    points = 100 * abs(income["effect"])
    why = (
        f"It is {points:.1f} points ({rate(facts['pay_high'], 0)} of all pay the high price), small beside "
        f"{100 * widest:.1f} in the state with the widest, but surely not zero."
    )
    if not income["significant"]:
        return HOLDS, f"It is {points:.1f} points, and cannot be told from none."
    return IN_PART if points < 100 * widest / 2 else NOT, why


@_concludes("staples", "In some states and races it is much stronger.")
def _strong_places(facts: Facts, _: Facts) -> Judgement:
    income = facts["attributes"][0]
    whole = abs(income["everyone"]["effect"])
    strong = [f for f in income["findings"] if min(map(abs, f["interval"])) > whole]
    twice = [f for f in strong if abs(f["effect"]) > 2 * whole]
    why = f"Reported and surely stronger than over everybody: {_join([f['context'] for f in strong])}."
    return HOLDS if twice else IN_PART if income["findings"] else NOT, why


@_concludes("staples", "Those are white people in California and black men in New York.")
def _papers_places(facts: Facts, _: Facts) -> Judgement:
    whole = abs(facts["attributes"][0]["everyone"]["effect"])
    gaps = {group["group"]: group["gap"] for group in facts["groups"]}
    words = "; ".join(f"{name}: {fixed(100 * gap, 1, signed=True)} points" for name, gap in gaps.items())
    swapped = "The paper's distance had latitude and longitude swapped."
    why = f"{words}; over everybody {fixed(100 * whole, 1, signed=True)}. {swapped}"
    return _mark(*(gap > 2 * whole for gap in gaps.values())), why


@_concludes("staples", "With two and three test sets fewer contexts are found, and the strongest stays the same.")
def _budgets(facts: Facts, _: Facts) -> Judgement:
    budgets = facts["budgets"]
    fewer = all(a["reported"] > b["reported"] for a, b in pairwise(budgets))
    names = [attribute["name"] for attribute in facts["attributes"]]
    firsts = {name: [b["strongest"][i] for b in budgets] for i, name in enumerate(names)}
    same = {name: len(set(first)) == 1 for name, first in firsts.items()}
    stays = "; ".join(f"by {n} {'it stays ' + firsts[n][0] if same[n] else ' then '.join(firsts[n])}" for n in names)
    reported = ", ".join(str(b["reported"]) for b in budgets)
    return _mark(fewer, *same.values()), f"{reported} are reported; the first {stays}."


@_concludes("staples", "Switching the scheme off in the affected regions is a remedy.")
def _switch_off(facts: Facts, _: Facts) -> Judgement:
    remedy = facts["remedy"]
    before, after = abs(remedy["before"]["effect"]), abs(remedy["after"]["effect"])
    why = (
        f"Off in {len(remedy['states'])} states, the gap goes from {100 * before:.1f} to {100 * after:.1f} points on "
        f"the next test set; in {len(remedy['left'])} other states low incomes now surely pay more."
    )
    return HOLDS if not remedy["after"]["significant"] else IN_PART if after < before / 2 else NOT, why


# Healthcare ---------------------------------------------------------------------------------------------------------


def _both(facts: Facts, real: bool, made_up: bool, words: Callable[[Facts], str]) -> Judgement:
    """Return a mark for two data sets: the real one counts, and the made-up one shows that it can be seen."""
    parts = [f"made-up patients: {words(facts['made_up'])}"]
    if facts["real"] is not None:
        parts.insert(0, f"real patients: {words(facts['real'])}")
        return _mark(real, made_up), f"{'; '.join(parts).capitalize()}."
    return HOLDS if made_up else NOT, f"{parts[0].capitalize()}; real data was not there."


def _ask_both(facts: Facts, rule: Callable[[Facts], bool], words: Callable[[Facts], str]) -> Judgement:
    real = facts["real"]
    return _both(facts, real is not None and rule(real), rule(facts["made_up"]), words)


@_concludes("healthcare", "Prediction errors grow with age.")
def _errors_grow(facts: Facts, _: Facts) -> Judgement:
    return _ask_both(
        facts,
        lambda f: f["everyone"]["significant"] and f["everyone"]["effect"] > 0,
        lambda f: f"correlation {interval_words(f['everyone'], 3)}",
    )


@_concludes("healthcare", "They do so most for patients with prior urgent care.")
def _urgent_care(facts: Facts, _: Facts) -> Judgement:
    return _ask_both(
        facts,
        lambda f: any("urgent" in g["context"] or "emergency" in g["context"] for g in f["findings"]),
        lambda f: f"reported groups: {_join([g['context'] for g in f['findings']])}",
    )


@_concludes("healthcare", "Given the confidence of the prediction, the correlation shrinks.")
def _confidence_explains(facts: Facts, _: Facts) -> Judgement:
    return _ask_both(
        facts,
        lambda f: abs(f["given"]["effect"]) < 0.75 * abs(f["everyone"]["effect"]),
        lambda f: f"from {fixed(f['everyone']['effect'], 3)} to {interval_words(f['given'], 3)}",
    )


@_concludes("healthcare", "It is close to zero for confident predictions: to use them alone is a remedy.")
def _remedy(facts: Facts, _: Facts) -> Judgement:
    return _ask_both(
        facts,
        lambda f: abs(f["remedied"]["effect"]) < abs(f["everyone"]["effect"]) / 2,
        lambda f: f"among confident predictions {interval_words(f['remedied'], 3)}",
    )


# Image tagger -------------------------------------------------------------------------------------------------------


def _labels(facts: Facts, published: Facts, sign: int) -> Judgement:
    found = {f["label"]: f for f in facts["labels"]}
    wanted = [name for name, p in published["paper"]["labels"].items() if sign * (p["black"] - p["white"]) > 0]
    met = [name for name in wanted if name in found and found[name]["significant"] and sign * found[name]["effect"] > 0]
    others = [name for name in wanted if name not in met]
    also = [name for name, f in found.items() if f["significant"] and sign * f["effect"] > 0 and name not in wanted]
    found_words, not_found, besides = (", ".join(names) or "none" for names in (met, others, also))
    why = f"Found: {found_words}. Not found: {not_found}. Found besides: {besides}."
    return HOLDS if not others else IN_PART if met else NOT, why


@_concludes("image_tagger", "Pictures of black people get cart, drum, helmet and cattle more often.")
def _black_labels(facts: Facts, published: Facts) -> Judgement:
    return _labels(facts, published, 1)


@_concludes("image_tagger", "Pictures of white people get face powder, maillot, person and lipstick more often.")
def _white_labels(facts: Facts, published: Facts) -> Judgement:
    return _labels(facts, published, -1)


# Recommender --------------------------------------------------------------------------------------------------------


@_concludes("recommender", "Men and older people are recommended better films.")
def _better_films(facts: Facts, _: Facts) -> Judgement:
    everyone = {a["name"]: a["everyone"] for a in facts["found"]}
    met = [f["significant"] and f["effect"] > 0 for f in everyone.values()]
    words = "; ".join(f"{name}: {interval_words(f)}, {p_statement(f['p'], 'p')}" for name, f in everyone.items())
    return _mark(*met), f"Correlations by {words}."


@_concludes("recommender", "Given what people watch, gender is no longer significant and age much weaker.")
def _taste_explains(facts: Facts, _: Facts) -> Judgement:
    before = {a["name"]: a["everyone"] for a in facts["found"]}
    after = dict(zip(before, facts["given"], strict=True))
    gender = not after["gender"]["significant"]
    age = abs(after["age"]["effect"]) < abs(before["age"]["effect"]) / 2
    words = "; ".join(f"{n} {fixed(before[n]['effect'], 3)} → {interval_words(f, 3)}" for n, f in after.items())
    caveat = "" if before["gender"]["significant"] else " For gender there was nothing to explain."
    return _mark(gender and before["gender"]["significant"], age), f"By {words}.{caveat}"


# Adult --------------------------------------------------------------------------------------------------------------


@_concludes("adult", "Women and black people earn over 50,000 dollars less often, over everybody.")
def _known_biases(facts: Facts, published: Facts) -> Judgement:
    wanted = {c["protected"]: c["interval"] for c in published["paper"]["contexts"] if c["context"] == "everyone"}
    met, words = [], []
    for attribute in facts["paper"]:
        here, there = attribute["everyone"], wanted[attribute["name"]]
        met.append(here["significant"] and _overlap(here["interval"], there))
        words.append(f"{attribute['name']} {interval_words(here)} beside [{there[0]:.4f}, {there[1]:.4f}]")
    return _mark(*met), f"With the paper's settings NMI by {'; '.join(words)}."


def _about(finding: Facts, *columns: str) -> bool:
    return any(column in finding["context"] for column in columns)


@_concludes("adult", "For women the gap is widest among the educated, and among older people with some education.")
def _education(facts: Facts, _: Facts) -> Judgement:
    groups = [f for kind in ("paper", "default") for f in facts[kind][0]["findings"][:3]]
    met = [f for f in groups if _about(f, "education")]
    whole = facts["default"][0]["everyone"]["effect"]
    strongest = min(facts["default"][0]["findings"], key=lambda f: f["effect"] or 0.0, default=None)
    why = f"{len(met)} of {len(groups)} first groups speak of education"
    if strongest is not None:
        why += (
            f"; the widest gap reported is {fixed(100 * strongest['effect'], 1)} points, in {strongest['context']} "
            f"(over everybody {fixed(100 * whole, 1)})"
        )
    return HOLDS if len(met) > len(groups) / 2 else IN_PART if met else NOT, f"{why}."


@_concludes("adult", "By race it is widest up to 42 years and 55 hours a week, above all in federal jobs.")
def _young_and_federal(facts: Facts, _: Facts) -> Judgement:
    groups = [f for kind in ("paper", "default") for f in facts[kind][1]["findings"]]
    young = [f for f in groups if "age ≤" in f["context"] and "age >" not in f["context"]]
    federal = [f for f in groups if _about(f, "Federal")]
    why = (
        f"Reported are {_join(list(dict.fromkeys(f['context'] for f in groups)))}. Over the whole file the paper's "
        "group is hardly stronger than everybody, and older people's is (`tests/paper/test_adult.py` counts it)."
    )
    return _mark(bool(young), bool(federal)), why


@_concludes("adult", "Small contexts with strong effects are found among about a hundred that are tested.")
def _counts(facts: Facts, published: Facts) -> Judgement:
    here, paper = facts["paper_line"], published["paper"]
    names = ("discovered", "validated", "reported", "smallest")
    near = [here[n] is not None and paper[n] / 4 <= here[n] <= 4 * paper[n] for n in names]
    words = ", ".join(f"{count(here[n]) if here[n] is not None else '–'} {n} ({count(paper[n])})" for n in names)
    return _mark(*near), f"With the paper's settings {words}; the paper's number in brackets."


# Berkeley -----------------------------------------------------------------------------------------------------------


@_concludes("berkeley", "Over all applicants, women are admitted less often.")
def _admitted_less(facts: Facts, published: Facts) -> Judgement:
    everyone = facts["everyone"]
    low, high = everyone["gap_interval"]
    there = published["paper"]["everyone"]["interval"]
    why = (
        f"The gap is {fixed(everyone['gap'], 4)} [{fixed(low, 4)}, {fixed(high, 4)}], beside "
        f"[{fixed(there[0], 4)}, {fixed(there[1], 4)}] in the paper."
    )
    return _mark(high < 0), why


@_concludes("berkeley", "Among applicants to the same department there is no significant gap.")
def _given_department(facts: Facts, _: Facts) -> Judgement:
    everyone = facts["everyone"]
    whom = "for women" if everyone["effect"] > 0 else "for men"
    why = f"Given the department: {interval_words(everyone)}, {p_statement(everyone['p'], 'p')}: if anything, {whom}."
    return _mark(not everyone["significant"]), why


@_concludes("berkeley", "Only department A has a clear gap, and it favours women.")
def _department_a(facts: Facts, _: Facts) -> Judgement:
    clear = [s for s in facts["everyone"]["strata"] if s["p"] is not None and s["p"] <= 0.05]
    words = [f"{s['values']['department']}: {interval_words(s)}, {p_statement(s['p'], 'p')}" for s in clear]
    alone = [s["values"]["department"] for s in clear] == ["A"]
    return _mark(alone and clear[0]["effect"] > 0), f"Clear by itself: {_join(words)}."


# Searches and time --------------------------------------------------------------------------------------------------


@_concludes("searches", "The tree finds links as strong as unguided search with four to eight times fewer candidates.")
def _fewer_candidates(facts: Facts, published: Facts) -> Judgement:
    least = published["paper"]["fewer"][0]
    reached = {key: times >= least for key, times in facts["saved"].items()}
    words = "; ".join(f"{key}: {facts['words'][key]}" for key in reached)
    return _mark(*reached.values()), f"How many times fewer, {words}."


@_concludes("searches", "To repeat the guided search is always better than to look at more contexts unguided.")
def _always_better(facts: Facts, _: Facts) -> Judgement:
    words = "; ".join(f"{key}: {won} of {of}" for key, (won, of) in facts["won"].items())
    met = [won == of for won, of in facts["won"].values()]
    some = any(won for won, _ in facts["won"].values())
    mark = HOLDS if all(met) else IN_PART if some else NOT
    return mark, f"Sizes of search at which the guided one finds more, {words}."


@_concludes("timing", "It is fast enough: seconds for the smallest data, a minute for a million people.")
def _fast(facts: Facts, _: Facts) -> Judgement:
    slowest = max(facts["rows"], key=lambda row: row["training"] + row["testing"])
    seconds = slowest["training"] + slowest["testing"]
    why = f"The slowest workload, {slowest['name']}, takes {seconds:.1f} CPU seconds for training and testing."
    return _mark(seconds <= 60), why
