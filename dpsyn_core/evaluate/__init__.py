"""Metrics that compare a synthetic table with the real one: they read private data and are never DP."""

from dpsyn_core.loading import face

__getattr__, __dir__ = face(
    __name__,
    """
base: ANOTHER_LABEL GOAL_WORDS Metric PRIVATE_LABEL SAFE_LABEL Score UNKNOWN_LABEL UNPROVED_LABEL UNSAFE_LABEL
base: WORD_LABEL compute metric_class names plain
comparison: Codes Comparison Floats Roles asked_groups
findings.amounts: amount_figures
findings.finding: Example Finding
findings.identities: record_rules
findings.interactions: interactions
findings.outcomes: effects
findings.released: released_findings
findings.variances: group_variances
exploration: Exploration REFUSED explore proposed_questions
intake: all_codes
language: QueryAnswer ask parse
learning: Learning classifier
loader: compare_tables encode
noise_error: expected_tvd interval
profile: Figures QUANTILES profiles
relations: GROUPS
released_fit: MeasuredFit estimated_total row_name
shuffled_floor: Between between floors
small_groups: GroupError group_errors
subsample: in_words
tvd: KWayTVD
grades: Verdict
verdicts: verdict
group_differences: GroupGaps group_gaps
table_uses: TableUses uses
workload: CountQuery Filter fresh_error
""",
)
