"""Public metadata: attributes, domains, bins, codecs and reading. Knows nothing of counts or noise."""

from dpsyn_core.loading import face

__getattr__, __dir__ = face(
    __name__,
    """
attributes.categorical: CategoricalAttribute
attributes.datetime: DatetimeAttribute
binning: WholeBins
checks: check
code_lists: built_in code_list list_of with_list
codec: Codec Codes Encoded identifiers in_order
date_formats: formats_of
document: LinkedTable READ Schema SchemaUnit TableSchema rules_from_data
domain: AttributeSet CodedAttribute Domain
drafts.column: OF_MANY
drafts.confirmation: confirm rules_known
drafts.crowding: crowded
drafts.draft: draft drafted
drafts.link_draft: LinkDraft PanelDraft
drafts.linked: confirm_linked draft_linked propose_linked_rules proposed_roles rounded_linked with_keys
drafts.links: guessed_links
drafts.panel: panel_schema
drafts.proposal: Proposal asks_ends
drafts.proposals: agreed propose rounded
drafts.public_maps: public_maps
drafts.series: series
grids: Rhythm
importers.codebook: Codebook codebook_of import_dictionary
importers.declared: UNDECLARED declared_columns overlaid undeclared
importers.formats: FORMATS export not_carried read_schema
importers.maxima: KEPT binned
importers.packages: read_sdv
importers.parameters: import_document import_file
individuals: LADDER Repeats candidates coded looked_at named_like_one naming repeating repeats
languages: other_word
linked: Link LinkedSchema LinkedSettings METHOD MOST_CHILDREN MOST_SINGLES
misfit: Misfit has misfits readable
rhythm: OF_A_WEEK RHYTHMS keeps
rules.anniversaries: COMPLETED
rules.base: Bools Key Rows Rule RuleProposal
rules.columns: BLANK Group PLAIN RuleColumn any_broken faults part plain_in
rules.comparable: with_ranges
rules.computation: Computed computed_columns given_by measured_part part_of with_computed
rules.condition: Condition check_where met named
rules.date_parts: Part
rules.difference: SECONDS
rules.exchange: swap
rules.impossible: ImpossibleRule
rules.interval_ends: ends_of
rules.linked_rules: AnyLinkRule BEFORE CountRule LinkOrderRule MOST_RULES listed_codes
rules.linked_spans: LinkSpan later measured_schema span_codes spans_of
rules.repair: accept check_rules repair rewritten
rules.rule_breaks: RuleBreaks breaking_record broken_counts derived_rules rule_breaks
rules.spans: SpanAttribute with_span_codes with_spans
rules.usual_rules: holds_by_nature named_close propose_rules quoted words_of
rules.zeros: KnownZeros
sample: sample_schema sample_table write_coded_sample write_linked_sample
years: is_year
""",
)
