"""Reading and writing tables, and their cells as canonical text. Knows no schema, no counts and no noise."""

from dpsyn_core.loading import face

__getattr__, __dir__ = face(
    __name__,
    """
batches: Batches MAX_FILE gathered joined
catalog: naming open_named
cells: amounts canonical_text clocks instants numbers
cells.canonical_text: COMMA UNREADABLE blanks canonical has_decimal_comma is_text places_of to_text uniques
cells.numbers: FALSE NUMBER TRUE
clause: Clause clauses moment unquoted written
confines: Confines confine_process confined steady
databases.database: Database
databases.postgresql: POSTGRESQL_ADDRESS
declarations: DeclaredColumn Kind Value declared_in
digest: ContentDigest content_digest digests_of_file excel_digest file_digest
excel: sheets
frames: from_arrow of_frame to_arrow
handover: READING leave take
headers: composed locate short
kinds: HEAD LABELLED_ENDINGS kind_of_labelled refuse_others
labelled: HERE declared_by
labelled_write: LETTER NotCarried planned
notices: Notice
parquet: decoded
parquet_pages: cells_of parquet_batches
places: ADDRESS PATTERN files_at
read: Part open_table parts_of read_table
read_form: AS_FOUND EXCEL ReadForm TEXT
sample: at_most sampled
text.inflation: gunzip
transactions: read_items read_transactions
write: ENDINGS EXCEL_ROWS LABELLED as_written check_target csv_bytes parquet_writer sheet_name staged_parts staged_table
write: staged_workbook write_table
""",
)
