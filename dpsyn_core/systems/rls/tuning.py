"""Constants of record least squares while it measures: each with its unit, and its reason or the experiment behind it.

They were tuned on Adult and the simulated tables of `benchmarks/tables.py`; `python -m benchmarks.experiments.variants`
runs any of them with other values on equal noise. A constant that says "convention" was not measured against others.
The notebooks that are named are in docs/evidence/experiments, what was tried and not kept is in
docs/decisions/engine.md; `estimate/records/rls/tuning.py` holds the constants of what follows.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpsyn_core.estimate import RECORDS, RecordTuning


@dataclass(frozen=True, kw_only=True, slots=True)
class Shares:
    """How the budget is divided. Shares are those of rho; of a pure epsilon they hold under the root."""

    total: float = 0.005
    """Of the budget, for the number of records, where it is not public (convention)."""

    total_again: float = 0.03
    """Of the budget, for the number of records once more where there are few, and twice that of a pure epsilon, with
    which noise falls faster: with `total` alone, a table of 50 records has between 0 and 150 at epsilon 1."""

    total_sure: float = 12.0
    """Standard deviations of its noise up to which the released number counts as few."""

    scores: float = 0.02
    """Of the rest, for the scores of all pairs at least; where they are precise, .05 and .1 change nothing (notebook
    two-resolutions)."""

    scores_most: float = 0.1
    """Of the rest, for the scores at most, where they are to have ..."""

    score_noise: float = 0.04
    """... no more noise than this share of the records."""

    scores_of_joint: float = 0.25
    """Of what one-ways leave, for the scores at most; of what a tree leaves, for those against a fit (convention)."""

    one_ways_least: float = 0.1
    """Of the rest, for the one-ways, where their error is small."""

    one_ways_most: float = 0.6
    """Of the rest, for the one-ways, where their error is large: below some 500 times the noise of one count they are
    all that can be seen."""

    one_ways_at: float = 0.1
    """Relative L1 error of the one-ways, had they the whole budget, at which they get `one_ways_most`."""

    one_ways_power: float = 0.33
    """Power with which their share falls with that error, between the two."""

    coarse_one_way: float = 0.25
    """Of what a number of many bins gets for its one-way, for the second table of its coarse values: .15 has means 20 %
    and Wasserstein distances 10 to 20 % further off, .35 is no better and has noisier single values."""

    coarse_few: float = 0.1
    """The same for numbers of less than `fine_from` bins: .25 is no better."""

    hopeless: tuple[float, float] = (0.25, 0.6)
    """Noise of the score of a pair, of the records, from which on the largest scores are largely noise, and all are
    shrunk by what they show together. The second where attributes have two values, less in proportion where they have
    more, whose tables are noisier, down to the first."""

    held_back: float = 0.5
    """Of the cost of pairs, for the second round, in which wider sets are looked for; what these do not need measures
    the same pairs again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolution:
    """How many coarse values an attribute has in pairs: by the strength, records over the noise of one count."""

    weak: float = 20.0
    """Coarse values at least."""

    usual: float = 64.0
    """Coarse values at `strong` strength."""

    most: float = 640.0
    """Coarse values at most; more gain nothing at epsilon 10 (notebook refinements)."""

    strong: float = 1800.0
    """Strength up to which coarse values grow from `weak` to `usual`, with the power `power_weak`."""

    power_weak: float = 1.5
    """Power of the strength below `strong`; tables with few and with many cells want different ones (notebook
    two-resolutions)."""

    stronger: float = 2700.0
    """Strength from which on they grow beyond `usual`, with the power `power_strong` (notebook two-resolutions)."""

    power_strong: float = 0.9
    """Power of the strength above `stronger`: nearly in proportion (notebook two-resolutions)."""

    numbers: float = 0.56
    """Coarse values of a number in its pairs with other numbers, over the cube root of the strength: 12 and 24 on
    diamonds at epsilon 1 and 10."""

    numbers_from: int = 40
    """Values from which on a number is measured so, and counted twice: ages in years, and not bins of five years, which
    pairs can afford to tell apart. 100 leaves ages out, and rank correlations of the heavy table of benchmarks.numbers
    are off by six times as much."""

    mixed: float = 0.32
    """Coarse values of a number in its pairs with categories, over the power `mixed_power` of the strength: 31 and 90
    on diamonds at epsilon 1 and 10."""

    mixed_power: float = 0.5
    """Of the strength: what merging hides falls with the number of values, and their noise grows."""

    fine_from: int = 128
    """Bins of a number from which on its values are too fine to be told apart in pairs, and `mixed` holds."""

    mixed_fewer: float = 2.0
    """Times fewer coarse values than bins, from which on `mixed` holds for numbers of `numbers_from` bins as well: with
    1, ages in years lose accuracy at large budgets, and where it never holds, a rare target is lost among the noise of
    many cells."""

    coarse_one_way: float = 32.0
    """Coarse values of that table, at most about."""

    scarce: float = 100.0
    """Strength of a one-way, records over the noise of one count, up to which noise counts as large against the
    records."""

    blocks_below: float = 200.0
    """Strength up to which single bins of a number would be lost in noise, and blocks of bins are counted instead. With
    300, wide ranges get tails that are none."""

    few_blocks_below: float = 600.0
    """The same for numbers of less than `fine_from` bins. With 420, pairs of the tables census and few are 13 and 7 %
    worse at epsilon .3."""

    blocks: float = 0.32
    """Blocks of a number that are counted first, over that strength ..."""

    fewest_blocks: int = 16
    """... but at least so many. Numbers with less than twice as many bins keep single bins."""

    block_values: float = 4.0
    """Bins that a block holds at least on average, where these are more than the fewest blocks."""

    coarse_share: float = 0.5
    """Of what such a number gets, for its second table."""

    few_values: float = 12.0
    """Coarse values of that second table, at most about ..."""

    few_held: float = 1.5
    """... which hold at least so many deviations of its noise."""

    numbers_weight: int = 100
    """Values that a number counts for when the one-ways get their share, at most: its neighbours are smoothed together.
    Without a limit, a thousand bins take from pairs what they do not need."""

    numbers_least: float = 5.0
    """Coarse values of a number in such pairs at least (convention)."""

    held: float = 3.0
    """Standard deviations of its own noise that a coarse value holds at least."""

    def below(self, bins: int) -> float:
        """The strength up to which a number of so many bins is counted in blocks."""
        return self.blocks_below if bins >= self.fine_from else self.few_blocks_below

    def merges(self, bins: int, mixed: float) -> bool:
        """Whether a number of so many bins has about `mixed` coarse values in its pairs with categories."""
        return bins >= self.fine_from or (bins >= self.numbers_from and bins >= self.mixed_fewer * mixed)


@dataclass(frozen=True, kw_only=True, slots=True)
class PairChoice:
    """Which pairs are measured, and which are scored again at a coarser resolution (notebook two-resolutions)."""

    def most(self, attributes: int, total: float) -> int:
        """Pairs that are measured at most, for so many attributes and about so many records."""
        return int(max(self.fewest_most, 4.5 * attributes, self.most_visits / max(total, 1.0)))

    noise_factor: float = 0.7
    """Of the nominal noise of a table: about this part is left after shrinking and fitting ..."""

    fewest_cells: float = 7.0
    """... and of a smaller one as much as of one with so many cells: of yes/no columns hardly any is taken."""

    coarser: float = 8.0
    """Times fewer coarse values in the coarser table; 4 is worse on Adult at epsilon 1, level elsewhere."""

    fewest_values: float = 10.0
    """Coarse values that the coarser table is asked for at least."""

    fewer_cells: float = 0.35
    """Of the usual cells that a coarser table has at most: otherwise a second score is not repaid."""

    noisy: float = 0.4
    """Of a pair's score: noise of its usual table from which on a coarser one is considered."""

    most_visits: float = 2.8e10
    """Records times measured pairs, at most: fitting takes seven minutes of two cores for so many."""

    fewest_most: int = 2_000
    """Pairs that may be measured however many records there are (convention)."""

    strong: float = 0.5
    """Of the dependence that its margins allow: a pair that shows as much is measured even where its table adds more
    error than it takes away. What depends on a rare value moves few records, and is all that is known of them ..."""

    certain: float = 1.5
    """... as long as it shows that by so many deviations of its score. Without `strong`, 1.5 costs 9 to 17 % of the
    pairs of mixture-6000x10 and tree-6000x10 at epsilon .3."""

    follows: float = 0.8
    """Of the strength of a pair, that of a path over a third attribute from which on tables wait for those of a tree: 1
    to 1.6 in trees, .5 to .8 among blocks of four that all depend on each other, .2 to .4 among classes ..."""

    follow: float = 0.25
    """... where it is so for this part of the pairs that are to be measured: half and more in trees, a tenth among
    classes, where waiting costs 1 to 2 % of pairs ..."""

    follow_sure: float = 3.0
    """... and of which the score stands by so many deviations of its noise above sampling: with none, ages of the few
    who have a claim are lost in the kind repairs of benchmarks.structure ..."""

    explains: float = 0.85
    """... and part of the scores that a fit to the others must show, at least, for some of them to stay without one
    (measured once: .9 to 1.1 in trees, .3 to .8 among blocks and classes) ..."""

    vague: float = 0.6
    """... or less than all by so many times the noise of a score over the scores; Adult, whose scores are precise,
    shows .83 to .87 of them, and would lose 5 % of pairs at epsilon 3. Up to this noise over `vague`, pairs are scored
    against the fit: star-1500x25 22 % nearer at 3, wide-3000x12 11 % at 1 and 3 (`python -m benchmarks.ablation`)."""

    groups_from: int = 12
    """Values from which on a category may name groups of people, such as schools, whose means of a number differ ..."""

    groups_sure: float = 3.0
    """... where the score of both stands by so many deviations of its noise above what sampling explains ..."""

    groups_values: int = 4
    """... by a table of all groups and so many coarse values of the number, at most about ..."""

    groups_weight: float = 0.1
    """... whose error counts so much of that of another pair (`python -m benchmarks.structure --kinds branches`)."""

    finer: float = 2.5
    """Times more values that a number is asked for in a finer table of a pair of numbers ..."""

    finer_cells: float = 2.0
    """... which has so many times more cells at least (convention) ..."""

    finer_sure: float = 3.0
    """... and a score that stands by so many deviations of its noise above what is expected of it (pairs of a
    town's map 7 and 17 % nearer at epsilon 1 and 3, of journeys 12 and 28 %: docs/evidence/structure.md) ..."""

    finer_most: int = 40
    """... of so many pairs, those that depend most: each takes some 10 ms before it is scored."""

    explained: float = 0.9
    """Of the square of a coarser score that counts as explained; 1 is level, .9 the careful side of it."""

    denied: float = 2.5
    """Deviations of its score by which a pair without a table may be more dependent; 1 costs 1 % of pairs on trees, 3
    gains less on outcomes of two causes (measured once, on tree-20000x20 and outcomes-6000x9)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BatteryChoice:
    """Which pairs of alike columns share a mean table (`python -m benchmarks.structure --kinds scales,interview`)."""

    items: int = 3
    """Columns of a battery, at least ..."""

    pairs: int = 6
    """... and pairs that share a table: with 15, schools lose the differences of their means."""

    values: int = 16
    """Of an item, at most: mean tables have all of them (convention)."""

    sure: float = 3.0
    """Standard deviations of noise by which the mean score of the pairs stands above sampling, at least."""

    alike: float = 2.0
    """Standard deviations of what noise alone makes of the variance of these scores, by which they may vary more."""

    parts: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.35)
    """Of the cost of pairs, that a mean table may get."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FollowerChoice:
    """Which columns are scored for following from others, and what their tables get (`benchmarks.structure`)."""

    score: float = 0.01
    """Of the cost of pairs, for all scores of exceptions, at most."""

    clear: float = 13.0
    """Standard deviations of its noise that a score without dependence has at least: with `apart` and `part`, a
    column that does not follow is then taken for one that does in one of a thousand cases."""

    apart: float = 2.0
    """Standard deviations of its noise that a score counts for, either way."""

    worth: float = 0.4
    """Of the noise of all cells of its table, which is the total variation error of a pair: exceptions that a column
    may have, with `apart` standard deviations of their score; half of it without these. Small tables show exceptions
    better. With one deviation, pairs of deterministic-6000x9 are 25 % further off at epsilon 3; without the half, of
    the sample 2 % at 1."""

    seen: float = 3.0
    """Standard deviations of its noise from which on a score says that there are exceptions, and a count that it is not
    that of others. With 4 for counts, those of two filters were taken for one at epsilon .3."""

    least: float = 0.05
    """Of the records: exceptions of two columns that do not depend, below which following says little."""

    exceptions: float = 0.03
    """Of the records, up to which a column follows."""

    part: float = 0.3
    """Of the exceptions that independent columns have, up to which a column follows."""

    away: float = 4.0
    """Standard deviations of noise by which counts of the two columns may disagree."""

    few: int = 12
    """Values of the finer column up to which all sums of their counts are compared with the other column."""

    most_cells: int = 200_000
    """Of the table of a follower (convention)."""

    parts: tuple[float, ...] = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.3)
    """Of the cost of pairs, that such a table may get."""

    tables: float = 0.5
    """Of the cost of pairs, that all such tables may get."""

    wrong: float = 0.8
    """Of the records, that may get a wrong value from such a table, by an upper bound. Of 367 days that follow from 367
    others nearly all did, and pairs of the fire calls were twice as far off at epsilon 1; airports gain up to here."""

    others: float = 0.2
    """Error of a pair of the follower with another column, over the share of records with a wrong value."""

    pairs: float = 0.03
    """Mean distance of pairs, of which a part of the cost takes half that part."""

    clear_marks: float = 6.0
    """As `clear`, of scores of values that columns have together, which cost less where they are wrong ..."""

    part_marks: float = 0.5
    """... and as `part`. Of a group, also the part of what a table would be off by, up to which its second scores let
    exceptions be."""

    few_marks: float = 0.2
    """As `part_marks`, where the exceptions that there may be outnumber the error of a table of the columns. With .5,
    states of a panel were taken to last through its waves, and pairs of ten waves were 1.8 and 2.3 times as far off at
    epsilon 1 and 3 (docs/evidence/structure.md)."""

    runs: float = 0.015
    """Of the cost of pairs, for the scores of groups of values, at most, and as much for the second scores."""

    groups: float = 0.06
    """Of the cost of pairs, for the scores of columns that may decide groups, which are there."""

    deciding: int = 3
    """Columns that are scored for deciding a group, or a value, at most."""

    marks: float = 0.01
    """Of the cost of pairs, for the table that says which values decide a group."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TripleChoice:
    """Whether triples are scored, and which of them are measured (notebook triples)."""

    most_attributes: int = 60
    """Attributes up to which triples are considered: 34,220 of them."""

    most_triples: int = 500
    """Triples that are scored: those whose pairs depend most."""

    most_cells: int = 2_000
    """Cells of one triple."""

    resolution: float = 12.0
    """Coarse values an attribute, at most about."""

    low_noise: float = 0.01
    """Predicted distance that noise adds to a pair on average, above which triples are not scored ..."""

    low_noise_precise: float = 0.02
    """... and the same where the scores of triples are precise."""

    low_noise_few: float = 0.03
    """The same where pairs have `few_cells` cells or fewer: triples of few values are cheap, and scores of many pairs
    that hold nothing cost little (`python -m benchmarks.experiments.variants --only shares`)."""

    few_cells: float = 16.0
    """Cells of a pair, on average, up to which values are few: four values an attribute."""

    precise: float = 0.0125
    """Share of the records: standard deviation of a triple's score up to which scores are precise."""

    score_share: float = 0.03
    """Of what was held back, for the scores, at most; down to `score_least` of it where less suffices."""

    score_least: float = 0.25
    """Of `score_share`, at least (convention)."""

    score_enough: float = 0.008
    """Share of the records: standard deviation of a score that suffices."""

    parts: tuple[float, ...] = (0.04, 0.06)
    """Of what was held back, for triples that pay; pairs get the rest."""

    gains: tuple[float, ...] = (2.0, 50.0)
    """Error of triples that a part must remove for one of pairs that it costs, compared with the part before it."""

    records: int = 10_000
    """Records of the fit that triples and wider sets are scored against; 20,000 are no better, and with 5,000 triples
    of interaction-20000x12 are 3 % further off at epsilon 10 (notebook triples)."""

    fewest_records: int = 1_000
    """Records of that fit at least (convention)."""

    effort: float = 0.15
    """Of a usual fit; twice as much is no better (the same notebook)."""

    significant: float = 4.0
    """Standard deviations of its noise by which a score must stand above what no dependence would show."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Orders:
    """The search for sets of any order, and how much those that it finds may take from pairs (benchmarks.order)."""

    most_attributes: int = 60
    """Attributes up to which it is made: 34,220 triples."""

    answer: float = 3e-4
    """Of the cost of pairs in rho, for one answer: where there is nothing, it ends after one an order."""

    answer_pure: float = 1e-3
    """The same of a pure epsilon, with which noise falls faster."""

    most_answers: int = 100
    """Answers at most: one set among 27,405 takes some 30."""

    significant: float = 4.5
    """Standard deviations of its noise by which an answer must exceed what explains it."""

    apart: float = 1.0
    """How far errors of sampling and what smaller sets explain add up to more than in squares: 0 where both are spread
    alike over the cells, 2 where they lie in different cells. With 0, what explains a set of four shows in fives."""

    strongest: float = 0.5
    """Of the records: the excess that can be seen at least, or nothing is looked for. A parity with 5 % of errors
    shows .9."""

    strong: float = 0.2
    """Of the records: error of a set from which on it may take more than a few per cent from pairs; .1 costs 15 % of
    the pairs of mixture-30000x15 at epsilon 3 and 10."""

    usual_part: float = 0.25
    """Of the cost of pairs, the part that a table may come to have ..."""

    lost: float = 0.5
    """... and the noise that it may then have, of the records: larger tables are no candidates."""

    most_cells: float = 2_000
    """Cells of a candidate, at most."""

    few_values: int = 12
    """Values up to which an attribute keeps all of them."""

    resolutions: tuple[float, ...] = (12.0, 8.0, 6.0, 5.0, 4.0, 3.0)
    """Coarse values of the others that are tried, the finest first."""

    most_sets: int = 30_000
    """Sets of one order, at most: all sets of four of thirty attributes. Beyond it, those with a declared target."""

    most_counted: float = 1e8
    """Records times tables that are counted for one order, at most: half a second for data and fits."""

    most_read: float = 1e8
    """Cells of these tables that are read for all sets of one order, at most: a quarter of a second."""

    parts: tuple[float, ...] = (0.12, 0.25, 0.4, 0.6, 0.8)
    """Of what was held back, for sets where there are strong ones."""

    counts_fully: float = 0.75
    """Of the records: dependence of a set whose error counts as much as that of pairs. Weaker sets count for less,
    stronger ones for more, by the square: answers and models miss what is large."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeclaredTables:
    """Coarse values of tables that declared questions need."""

    most_compared: int = 128
    """Values of an attribute whose values are compared, above which the rare ones are merged (convention)."""

    hidden: float = 0.4
    """Of a spread inside a coarse value: by so much the mean of a group is likely to differ there from that of all."""

    most_means: int = 64
    """Coarse values of a number whose mean matters, at most (convention)."""

    other_numbers: float = 6.0
    """Coarse values that each other number of the table is taken to have, while those of one are chosen."""

    noisy: float = 5.0
    """Records of an average cell, over its noise, below which a table of three or more attributes is shrunk."""

    per_cell: float = 12.0
    """Records of an average cell, over its noise, that the other attributes leave."""

    target_values: float = 12.0
    """Coarse values that each other attribute is taken to have at most, before anything is known (convention)."""

    precise_score: float = 0.03
    """Of the records: noise of a pair's score that is aimed at ..."""

    vague_score: float = 0.05
    """... where all pairs would have more than this: then those of columns that tell most of a declared target are
    scored, as many as have no more noise. On fourteen categories (.035) leaving columns out doubles the error of pairs
    and helps no prediction; on a hundred numbers (.07) predictions depend on it."""

    target_weight: float = 6.0
    """By how many times more, over the share of questions, errors of pairs with a declared target count when pairs are
    chosen and share the budget: four times at the usual share of a half. Tables of their own at that share made
    predictions of characters and of categories worse than without a declaration (`python -m benchmarks.declared`)."""

    target_most: int = 4
    """Values of a target, at most, for which pairs of what it is predicted from are measured as triples with it."""

    resolutions: tuple[float, ...] = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256, 512)
    """Resolutions that are tried for those, the coarsest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tuning:
    """All of the above, and the constants of what follows the measurements."""

    shares: Shares = Shares()
    resolution: Resolution = Resolution()
    pairs: PairChoice = PairChoice()
    batteries: BatteryChoice = BatteryChoice()
    followers: FollowerChoice = FollowerChoice()
    triples: TripleChoice = TripleChoice()
    orders: Orders = Orders()
    declared: DeclaredTables = DeclaredTables()
    records: RecordTuning = RECORDS


TUNING = Tuning()  # what every run uses
