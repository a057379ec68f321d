"""Questions that a user declares before a run: what they are, what they need measured, and how a table answers them."""

from dpsyn_core.loading import face

__getattr__, __dir__ = face(
    __name__,
    """
across: ChildCount LinkedQuestion
answer: Answer Axis
answers.answers: Answered ENGLISH answer_question column_of number sentence unit_of
answers.calibration: INFERENCE Inference
answers.combination: CombinedTruth
answers.evidence: Evidence
answers.fits: Fits Refit
answers.functionals: Floats centred sampling
answers.intervals: GRADES Inferrer Truth
answers.marginals: Reader ReadingSettings
answers.quantities: Gaps Quantity
compile: compile_question workload_of
document: Given Questions declared given plain
evaluation: evaluate
forms: GapQuestion GiniQuestion GroupedQuestion KINDS MOST_GROUPS MOST_TABLE MeanQuestion PeriodBins PredictQuestion
forms: QuantileQuestion Question RangeQuestion RegressionQuestion SumQuestion TableQuestion
meaning: code_of conditions groups_of numbers_of numeric within
regress: DesignMatrix fit_linear fit_logistic
suggestions: GROUP INCOME MONEY SPLIT TARGET find is_rate key templates two_sides
validity: check
""",
)
