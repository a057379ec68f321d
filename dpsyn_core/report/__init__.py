"""Figures, the HTML report and the certificate."""

from dpsyn_core.loading import face

__getattr__, __dir__ = face(
    __name__,
    """
answers: answer answer_codes
document: ScoredTable alarm_lines bands comparison_document dumps lines report_document rule_lines verdict_lines
figures: overview pair_map
figures.grid: bars_figure choice_figure grid_figure
figures.labels: axis_labels
figures.overview: Panel glance
figures.systems: Measure systems_chart
finding_words: first_words
html: html_report
inputs: most_records names_of parse_roles read_comparisons
linked_page: linked_document linked_html linked_report
profile: missing_figure profile_rows
publishing.choices: CURATORS SECTORS
publishing.croissant: Publication croissant
publishing.nist: nist_page
publishing.registry: Person entry file_name to_yaml
questions: AskedAnswer asked_answers
reader: OpenRelease open_release question_of sorted_files
released: certificate_words marginal_name
scatter: numbers_of scatter_figure
takeaways: cite schema_file shell_command
theme: Figure
translation: sentence setting translated
verdict: alarm changes parts released_sentences uses_words
wording: TEXTS Words dated languages read_text words
""",
)
