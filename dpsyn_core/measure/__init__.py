"""The only place where exact counts meet noise: the gate, and what releases through it."""

from dpsyn_core.loading import face

__getattr__, __dir__ = face(
    __name__,
    """
charges: check_widest sampled_charge sum_charge
counting.base: Counter occupied
counting.memory: MemoryCounter check_cells
counting.stored: Store StoredCounter full
counting.sums: Features Outer Part STEPS Sample SumRule VectorMap
counting.transactions: TransactionCounter
dependence: expected_pairs filled independence_gap independence_gap_sensitivity indif_counts l1_counts
dependence: mutual_information mutual_information_sensitivity
discovery: Discovery Kind Wanted cap_of check_columns discover
forecast: least_epsilon people_needed
gate: Gate
measure: MEANS averaged measure_marginals measure_mean
partitions: reach_for
releases: law_of sigma_of
search: Margins excesses search_sets
select: EXCEPTIONS GRID added_noise choose_sets choose_tables exceptions_noise noise_error
select: score_exceptions score_sets shares
sources.base: Opened Source Spreading
sources.bounding: bound draw_key kept name_hashes record_hashes text_hashes
sources.choice: CountingPlan choose half_of_machine memory_of shown source_of source_of_batches vouched
sources.transactions: ItemSource from_lines from_source from_table item_rows items_text
spark.files: SparkFiles expected
spark.session: settings_of
sparse: urn_unit
unprotected: UnprotectedGate
""",
)
