"""From released values to records: nothing here reads a record or draws privacy noise."""

from dpsyn_core.loading import face

__getattr__, __dir__ = face(
    __name__,
    """
marginals: figures released_file
marginals.coarsening: Coarsening NO_RECODES Recodes coarse_domain coarse_shape coarsen in_order
marginals.compression: Compressed compress compressed_domain compressed_one_way on_compressed recodes_of restore_all
marginals.covering_designs: affine_plane greedy_cover pair_error random_views schonheim uncovered view_noise views
marginals.dense: allocation combine dense_marginals
marginals.descent: descend
marginals.figures: Groups entropy quantiles
marginals.maxent: Reconstruction check_query reconstruct
marginals.model_sums: ModelDesign ModelSum
marginals.overlap: APART agree disagreement estimate_total make_consistent overlaps
marginals.reconstruction: ReconstructionRule coefficient_sets marginal_from proper signed_sum
marginals.released_file: LEAST ReleasedFile load_measurements load_released pack_measurements packed_document
marginals.released_file: parsed_document parsed_recodes parsed_tables read_released table_entries
marginals.simplex: NonNegativeRule
marginals.types: Follower JointAxis JointTable Law MeanTable Measurement ReleasedTables Scores Together Trust merged
marginals.types: at_margins noise noisy_total probabilities product project redrawn spread
marginals.workload: NO_NUMBERS Need Workload
records.copula: hand_out scores_in_bins
records.gum: Decay UpdateSettings
records.gum_kernel: update
records.join: components conditional_column match_within
records.linked: LinkedAxis LinkedTarget fit_linked
records.linked_records: LAGS LinkedRecords
records.polish: fit_to_marginals
records.random: seed_state
records.rls.averaging: average_tables even_records pays
records.rls.denoise: shrink_differences shrink_one_way shrink_pair shrink_pairs shrink_unordered with_total
records.rls.empty_cells: empty_cells
records.rls.fit: Course Pace Target fit_records follow proposals_of schedule
records.rls.gaps: coarse_scores place_by_category with_gaps
records.rls.higher_orders: shrink_wide
records.rls.model_outcomes: coefficients exchange_outcomes
records.rls.numbers: copula_counts correlation_beyond shrink_classes shrink_numbers shrink_side shrink_towards
records.rls.oneway.coarse_sums: shrink_with_sums
records.rls.oneway.empty_runs: supported
records.rls.oneway.few_records: shrink_blocks shrink_few truncated_normal_mean
records.rls.oneway.heaps: expected_heaps heaps in_heavy_runs set_apart
records.rls.oneway.shape: Sums
records.rls.oneway.tails: with_ends
records.rls.placement: Number place_numbers
records.rls.start: independent_rows
records.rls.tuning: Fitting RECORDS RecordTuning
records.shards: Shard one_piece shard_share shards_of
""",
)
