"""The tree of errors; every message says what, what was got, what is allowed, and the remedy.

DPSynError
├── InputError (ValueError)        what the person got wrong: exit status 2
│   ├── SchemaError                the schema document, or a schema that does not fit
│   ├── QuestionError              a declared question, or one that does not fit the schema
│   ├── TableError                 the table: unreadable, ragged, outside its domain
│   ├── BudgetError                epsilon, delta, sensitivity or a charge above the budget
│   ├── UnitError                  unit of privacy that a system does not support
│   ├── MethodError                unknown method, or one that cannot serve this task
│   ├── SettingError               unknown or invalid setting of a method
│   ├── SizeError                  a cell product, table or model above its cap
│   ├── OutputError                output that cannot be written
│   ├── LedgerError                a limit reached, or a ledger that cannot be used
│   ├── ExtraError                 a part of the installation that was not added
│   └── MetricError                a metric that cannot be computed on these tables
└── EngineError (RuntimeError)     a mistake in the program: exit status 1

No message ever shows a private value: it names the column or the field instead.
"""

from __future__ import annotations

# What moves the cursor of a terminal or turns the direction of letters: a name from a file could rewrite the sentence
# around it. Line ends and tabs stay.
_MARKS = (*range(9), 11, 12, *range(14, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
UNSEEN = dict.fromkeys(_MARKS, "\N{REPLACEMENT CHARACTER}")


class DPSynError(Exception):
    """Root of all errors that a person may be shown."""

    def __str__(self) -> str:
        """The message, in which no name does anything."""
        return super().__str__().translate(UNSEEN)


class InputError(DPSynError, ValueError):
    """What the person got wrong."""


class SchemaError(InputError):
    """The schema document is wrong, or does not fit the table."""


class QuestionError(InputError):
    """A declared question is wrong, or does not fit the schema."""


class TableError(InputError):
    """The table cannot be read, or does not fit its schema."""


class BudgetError(InputError):
    """Epsilon, delta, a sensitivity or a charge is outside what is allowed."""


class BudgetWarning(UserWarning):
    """Epsilon is so large that the guarantee promises next to nothing."""


class UnitError(InputError):
    """The unit of privacy is invalid, or not supported by the chosen system."""


class SchemaWarning(UserWarning):
    """A column is left out, or comes back in another type, and its name says which."""


class UnitWarning(UserWarning):
    """The unit of privacy is undeclared for a table in which one individual may have several records."""


class AgreementWarning(UserWarning):
    """Released tables still differ where they overlap, after as much work as was allowed."""


class MethodError(InputError):
    """Unknown method, or one that cannot serve this task."""


class SettingError(InputError):
    """Unknown or invalid setting of a method."""


class SizeError(InputError):
    """A cell product, a table or a model is above its cap."""


class OutputError(InputError):
    """The output cannot be written."""


class LedgerError(InputError):
    """The ledger refuses a spend, or cannot be used."""


class ReceiptError(InputError):
    """A table, its manifest or a signature are not those of one release."""


class ExtraError(InputError):
    """A part of the installation that was not added; the message has the command that adds it."""


class MetricError(InputError):
    """A metric cannot be computed on these tables."""


class EngineError(DPSynError, RuntimeError):
    """A mistake in the program."""
