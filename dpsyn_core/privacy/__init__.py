"""Units, budgets, accounting, the ledger and the manifest. Knows nothing of tables."""

from dpsyn_core.loading import face

__getattr__, __dir__ = face(
    __name__,
    """
account: Account
budget: Budget Cost LARGEST_DELTA LARGEST_EPSILON
charge: Charge KINDS is_kind is_table table_kind
charge_record: ChargeRecord MOST
conversions: gdp_delta gdp_epsilon gdp_mu zcdp_epsilon
curves: CURVES best_guess best_guess_of_mu crossings noise_curves posterior trade_off
gamma_poisson: least_shapes
ledger.entry: UNPROTECTED
ledger.ledger: Ledger
looks: Look remember remembered untold
manifest: certificates
manifest.certificates: ENGLISH Words certificate charge_name citation promise
manifest.manifest: Manifest
manifest.signing: fingerprint load_key locked new_key public_key public_path signature_holds
manifest.statement: AskedQuestions Booking Digests HangingTable NOT_PRIVATE PartDigests PublicFacts Refit
manifest.statement: StatedRule TableDigests UsedTable guarantee individual
names: dataset_name near_sentence
noise.chance: on_grid
noise.draws: check_scale
noise.source: NoiseSource
noise.system: SystemNoise
p3gm: Phases
renyi: renyi_epsilon
subsampling: SHARE Sampling profiles sampled_mu sampled_multiplier
unit: Neighbours Unit
""",
)
