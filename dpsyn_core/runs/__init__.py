"""Runs: what spends budget. Each kind of release is a file; all of them are opened by `runs.open`."""

from dpsyn_core.loading import face

__getattr__, __dir__ = face(
    __name__,
    """
attacks.attack: NO_PUBLIC_TABLE ATTACK_RESULT attack attacked_columns check_attack
attacks.result: ATTACKS AttackResult AttackSpec LABEL NOT_BOOKED RECORDS RUNS Rate TITLES
choose.columns: KINDS MOST_VALUES PlannedColumn changed checked columns_of schema_of
choose.comparison: MOST_RUNS check_comparison compare_systems
choose.document: Candidate ComparisonSpec SystemsComparison TrialCell
choose.epsilon_search: COLUMNS PAIRS Reached choices epsilon_for_error epsilon_for_gain error_at gain rounded_down
choose.forecast: Forecast Forecasts forecast
choose.outlook: EPSILONS Outlook SIZES outlook table_error table_steps
choose.processes: Draw
choose.tree_outlook: EVERY NOT_KNOWN TreeOutlook tree_epsilon tree_error tree_outlook
choose.proposals: DesignProposal propose
choose.worker: RESULT
further_marginals: MARGINALS_METHOD MarginalRelease as_document as_table read_marginals reader_of release_marginals
itemsets: ITEMSETS_METHOD frequent_itemsets settings_of
jobs.folder: DONE DRAFT ERROR JOB MANIFEST MEASUREMENTS PROGRESS SCHEMA SYNTHETIC UPLOAD planned write_json
jobs.linked: ANSWERS synthetic_places
jobs.places: CONFINES check_places_apart confines
jobs.spec: FinishedRun JobSpec Line OLD PRINTED PUBLIC RELEASE ReadJob ReadSpec Word
jobs.worker: COMPILED READ RUN WARM
measurement: measure post_processing_generator
models: check_savable draw
open: public_facts
parts: PendingRelease fits synthesize_to
price: ASSUMED RunPlan Step lost lost_sentence plan
public_table: check_apart check_not_withheld coded read_public
purchase: buy_schema
refits.published_tables: published_tables
refits.refit: Changes Published chosen_by_looking described_by opened prepared refit with_rules
release: Release
release_file: MOST_BYTES SUFFIX check_name check_reusable columns_in load_release manifest_of pack_release schema_in
rule_proposals: declarable kept_rules offered_rules
settings_file: RunSettings
spec: RunSpec
synthesis: synthesize
synthesizer: TableSynthesizer
trees.answers: answers_of write_answers
trees.bounding: bounded check_names
trees.checks: findings
trees.comparison: compare_linked
trees.decoder: check_linked_rules
trees.division: BudgetStep steps_of
trees.export: named_tables places_of tree_bytes written_tables
trees.flat_table: AskedTable of_table
trees.keys: KeysOfLink check_keys
trees.link_view: LinkViews
trees.reference: LinkVerdict link_verdicts separate_tables
trees.refit: looked_at refit_tree schema_of_refit
trees.selection: described_tree
trees.release: TreePlan TreeSource release_tree
trees.release_file: pack_tree read_tree unpaid
trees.small_tables: nearly_empty_tables
verify.contradictions: schema_fault
verify.receipts: PUBLIC_TABLE Receipt manifest_faults ownership receipt run_of signing_faults
writer: Places write_release
""",
)
