"""Systems: one file each; a frozen config becomes a calibrated synthesizer."""

from dpsyn_core.loading import face

__getattr__, __dir__ = face(
    __name__,
    """
base: Make MethodConfig Sharded Synthesizer Task
deep.model_file: pack require_safetensors savable unpack
dry_run: ASSUMED RunPlan check_drawable check_shares plan_of
few_values: FewValuesConfig
others.dpsyn2018.design: Bins Design Functional Group Hierarchy ListedSet MarginalList check_at_every_budget
others.graphical.compress: coarse_sizes rare_codes
others.graphical.model: model_cells
others.mst: CELL MSTConfig
others.privbasis: Itemsets PrivBasisSettings check_itemsets find_itemsets
others.priview: PriViewConfig
public_table: PublicTable
registry: DEFAULT config_class configure names package_of validated
rls.budget: BudgetPlan
rls.evidence: RlsEvidence
rls.implied_dependence: beyond cooler_half
rls.pairs: choose_pairs sampling_errors usual_recodes
rls.system: Rls RlsConfig
rls.tuning: TUNING Tuning
settings: Size fields_of written
steps: Step
""",
)
