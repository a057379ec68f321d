"""Constants of record least squares after measuring: each with its unit, and its reason or the experiment behind it.

A constant that says "convention" was not measured against others. docs/decisions/engine.md and the notebooks in
docs/evidence/experiments hold the measurements that are named. Limits of the file formats and of the compiled kernels
stand beside the code that sets them (`MAX_VALUES` in fit.py, `EXPONENTIALS` in kernel.py).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Shrinkage:
    """How noisy one-ways and pair tables lose noise before they are fitted."""

    fewest_values: int = 6
    """Values below which a table is left as it is: too few to estimate a prior from (convention)."""

    near_zero: float = 4.5
    """Standard deviations of the noise: values within so many of 0 may be rare ones, larger ones are left alone."""

    grid_end: float = 6.0
    """Standard deviations: the prior of rare values lives between 0 and this, beyond `near_zero`."""

    grid_points: int = 49
    """Points of that prior, eight to a standard deviation (convention)."""

    counted_on_grid: int = 360
    """Values near 0 from which on they are counted on a grid of as many points, 0.025 standard deviations apart."""

    sweeps_unordered: int = 200
    """Rounds of expectation-maximisation for that prior; later rounds change nothing that can be seen (convention)."""

    widest_spread: float = 512.0
    """Standard deviations of the noise: largest prior spread of a difference of neighbouring bins (convention)."""

    spreads: int = 11
    """Prior spreads from half a standard deviation to `widest_spread`, in equal ratios, beside the spread 0."""

    sweeps_ordered: int = 50
    """Rounds of expectation-maximisation for the weights of the spreads (convention)."""

    no_difference: float = 1.0
    """Values that are added to the spread 0, half a value shared by the others: most neighbours differ by nothing."""

    shifts: int = 16
    """Positions of the dyadic grid that are averaged, so that no position leaves its mark (cycle spinning)."""

    values_at_once: int = 1 << 16
    """Values, over all shifts, that are shrunk in one batch: some tens of megabytes."""

    smooth_part: float = 0.5
    """Of the smooth estimate of an ordered one-way, the rest of the sparse one: ages are smooth, hours worked are
    heaped. Weights chosen by the data were no better."""

    interaction_part: float = 0.5
    """Of the interaction estimate of a pair table, the rest of the estimate cell by cell: smooth dependence suits the
    first, narrow bands of cells the second, and the mean does better than both."""

    strong: tuple[float, float] = (0.2, 0.5)
    """Of the largest length that an interaction can have: up to the first its estimate counts in full, from the second
    on not at all. Chosen on 21 tables, checked on 20 others (docs/evidence/structure.md)."""

    strong_sure: float = 2.0
    """Standard deviations of the squared length of noise that are taken off before: tables of few cells look strong by
    chance."""

    expected_cuts: tuple[float, ...] = (0.25, 2.0)
    """Records that the copula expects in a cell of two numbers, over the noise of the cell: cells with less than the
    first, less than the second and more are shrunk towards it apart."""

    least_left: float = 0.05
    """Of its noise, what a table of two numbers is taken to have kept at least (convention)."""

    few_directions: int = 2
    """Directions of an interaction, (rows - 1) (columns - 1), up to which it is shrunk as a whole: 2 x 3 values."""

    empty_chance: float = 0.005
    """Probability that noise alone keeps any stretch of a column without records. With .05 and weaker
    ends, up to 7 % of heavy-tailed columns had a mean off by more than a quarter (docs/evidence/accuracy.md)."""

    emptied_from: int = 128
    """Values from which on an ordered attribute loses all that stands in stretches without evidence: records far from
    all others spoil correlations and means of numbers with many bins. Fewer values are never that far apart."""

    listed_part: float = 0.1
    """Of its counts, what a stretch without evidence keeps where there are fewer values than that. With 0, one-ways and
    pairs are as close, but queries for rare values find nobody (the range score of `benchmarks.accuracy`)."""

    empty_sum: float = 2.0
    """Standard deviations of the noise of a run's sum, above which a run is not called empty: of 1.5, 2 and 2.5 the one
    that gained most on thin tails of listed values without harm to long empty ranges."""

    shortest_empty: int = 8
    """Values: shorter runs without evidence stay, for smoothing has taken most of their noise."""

    listed_evenly: int = 8
    """Values of a short list without order, at most, whose counts are pulled together where noise is large."""

    beside_shown: float = 2.0
    """Standard deviations by which a coarse value must exceed what single counts show in it, for the rest to be a
    tail."""

    tail_block: float = 12.0
    """Values of the first block of an end that shows nothing ..."""

    tail_growth: float = 4.0
    """... and how many times as long each further block is."""

    tail_shortest: int = 16
    """Values of such an end from which on it is counted in blocks of its own: one that the first block does not fill
    (convention)."""

    tail_anchor: float = 0.1
    """Of the records, what the shown values beside an end hold at least that its shape continues (convention)."""

    tail_spike: float = 10.0
    """Times the records of the first block of an end, from which on the value beside it is one by itself."""

    tail_units: int = 12
    """Runs of equal length into which these values are divided, for the shape (convention)."""

    tail_far: float = 4.0
    """Standard deviations of its noise by which a block may lie off that shape; else its own count stands."""

    tail_sure: float = 2.5
    """Standard deviations by which the last blocks that show records stand out, together with all beyond them: past
    these an end falls at least as fast as before."""

    tail_cut: tuple[float, float] = (0.2, 0.1)
    """Standard deviations of the noise of a block: by so many records an end ends before its shape does, which never
    ends; the second as far as blocks show records. With (1, .25), means of heavy-tailed columns are 3 to 10 % low."""

    shape_units: int = 64
    """Runs of values, at most, whose density a smooth shape tells apart: four to each of the fewest blocks."""

    shape_stiff: float = 1e6
    """Penalty of the third differences of the logarithm at first: practically a normal curve ..."""

    shape_loose: float = 1e-2
    """... and at last: practically free."""

    shape_penalties: int = 9
    """Penalties tried, in equal ratios from the first to the last, until evidence has fallen twice."""

    shape_ends: tuple[float, float] = (0.25, 0.5)
    """Standard deviations of the noise of one count that are left out at each end of a smooth shape: at least, and, up
    to `shape_share` of the records, at most."""

    shape_share: float = 0.01
    """Of the records, see `shape_ends`."""

    smoothed_from: int = 12
    """Values of an ordered attribute from which on it follows a smooth shape where noise is large."""

    heap_zero: float = 0.2
    """Chance that 0 is heaped, before anything is counted ..."""

    heap_end: float = 0.05
    """... and each end of the range ..."""

    heap_chance: float = 0.5
    """... and any of the round values that are counted alone, together."""

    heap_round: float = 0.25
    """Of the values of a number, the roundest ones that may be heaped (convention)."""

    heap_any: float = 0.2
    """Chance that any value is heaped of those that the second table alone counts one by one."""

    heap_zero_sure: float = 2.5
    """Standard deviations of its noise by which 0 must stand out of what is beside it ..."""

    heap_sure: float = 3.5
    """... and any other value: far from all records, a heap of noise moves the whole column."""

    heap_heavy: float = 6.0
    """Standard deviations of its noise above which a short run is counted value by value in the second table: a heap
    that is no round number may be in it ..."""

    heap_run: int = 16
    """... and values of such a run at most: of more, their sum would be lost in noise."""

    heap_again: float = 0.02
    """Chance of being heaped, by the first table, from which on a value is counted alone once more (convention)."""

    empty_expected: float = 3.0
    """Standard deviations of its noise that independence expects in a cell of a pair at least ..."""

    empty_count: float = 2.0
    """... and that its noisy count shows at most, for the cell to be kept without records ..."""

    empty_sure: float = 0.5
    """... as long as at least this part of the cells with such counts are empty, as negative counts tell."""

    elsewhere: float = 3.0
    """Standard deviations of the noise from which on records that no stretch shows are taken to be there: one column in
    a thousand keeps noise (convention)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fitting:
    """How long records are fitted, and from which temperature on. A visit looks one cell of one table up."""

    most_visits: float = 1.5e9
    """Visits that a fit may take: some 3 s of one core."""

    cheap_visits: float = 5e7
    """Visits that a fit may take in any case, some .1 s of one core: up to `most_proposals` in small tables; five times
    as many gain nothing in larger ones (docs/evidence/experiments/the-kernel.md)."""

    usual_proposals: float = 32.0
    """Proposals to a cell: beyond it, noise outweighs what moves still gain
    (docs/reference/record-least-squares.md)."""

    fewest_proposals: float = 3.0
    """Proposals to a cell where records are many; most of what moves can win is won with 8."""

    most_proposals: float = 48.0
    """Proposals to a cell where that is cheap; 96 gain less than what two runs differ by
    (docs/evidence/experiments/the-kernel.md)."""

    sweeps: int = 8
    """Visits of a record, among which the proposals are shared, so that temperatures can fall."""

    cold_sweeps: int = 2
    """Sweeps at temperature 0 at the end."""

    fewest_sweeps: int = 4
    """Sweeps up to which all are at temperature 0: too few to cool down in."""

    hot: float = 3.0
    """First temperature; at 1 a move is weighed as the noise of the targets weighs it."""

    hottest: float = 50.0
    """First temperature where targets are precise, at most."""

    cold: float = 0.01
    """Last temperature above 0."""

    fluctuation: float = 30.0
    """Counts by which a cell should fluctuate at first: sigma times the root of the temperature."""

    below_empty: float = 2.0
    """Standard deviations below 0 of the goal of a cell that is kept empty."""

    any_value: float = 0.1
    """Part of the proposals that is any value with a count above 0, so that each can come; the others follow the
    one-ways (convention)."""

    threaded_records: int = 9_000
    """Records from which on threads share a fit; below, it takes half a second, and threads cost up to 2 % of pairs."""

    threads: int = 2
    """Threads of a large fit. A constant, so that results do not depend on the machine: a fit depends on it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evening:
    """How sampling error is averaged out of fitted records (docs/evidence/experiments/refinements.md)."""

    temperature: float = 5.0
    """Of the walk, in squared counts: enough to change pairs that no target holds; half of it is worse."""

    skipped_sweeps: int = 2
    """Sweeps before averages are taken, until the walk no longer depends on the fit (convention)."""

    averaged_sweeps: int = 12
    """Sweeps that are averaged; twice as many gain about 1 % for a fifth more time (the same experiment)."""

    fit_sweeps: int = 2
    """Sweeps of the fit to targets and averages, at temperature 0; four and eight change nothing (the same
    experiment)."""

    largest_pair: int = 400_000
    """Cells of a pair table that is averaged: 1.6 MB of counts."""

    most_work: int = 12_000_000
    """Records times pairs up to which averaging pays: large tables have little sampling error left."""

    deviation: float = 15.0
    """Counts: the standard deviation that an averaged cell is trusted with; 7 to 25 do the same."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordTuning:
    """All of the above."""

    shrinkage: Shrinkage = Shrinkage()
    fitting: Fitting = Fitting()
    evening: Evening = Evening()


RECORDS = RecordTuning()  # what every run uses
