"""Expressions of queries: rules for a value, or a condition, that is made of the columns of one record."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpsyn_core.errors import TableError
from dpsyn_core.tables.databases.vouched_query import (
    END,
    TEXTS,
    TYPES,
    Dialect,
    Name,
    NotByRecordError,
    Token,
    ascii_lower,
    called,
    words,
)

DEEPEST = 60  # brackets within brackets; each is some ten calls of Python, which allows a thousand
LONGEST = 100_000  # characters of a query or of a view's definition: its constants lengthen what a record gives
# characters of a pattern, which are at most 4,000 bytes: above 50,000 SQLite fails, and on the first record that needs
# the pattern
LONGEST_PATTERN = 1000
COMPARING = frozenset({"=", "==", "<>", "!=", "<", "<=", ">", ">="})
LIKE_OF_VIEWS = frozenset({"~~", "!~~"})  # LIKE and NOT LIKE, as databases write them in views
# words that end or change a part of a query, and so are names only between quotation marks
RESERVED = words(
    "SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET FETCH TOP DISTINCT ALL UNION EXCEPT INTERSECT MINUS JOIN "
    "INNER LEFT RIGHT FULL CROSS NATURAL LATERAL ON USING WINDOW QUALIFY OVER FILTER WITH RECURSIVE VALUES TABLE "
    "TABLESAMPLE SAMPLE FOR AND OR NOT IN IS NULL TRUE FALSE LIKE ILIKE GLOB BETWEEN CASE WHEN THEN ELSE END CAST "
    "TRY_CAST TRY EXISTS ANY SOME ARRAY AS ASC DESC NULLS INTO EXCLUDE REPLACE COLUMNS PIVOT UNPIVOT ASOF SEMI ANTI "
    "POSITIONAL COLLATE SIMILAR REGEXP MATCH ESCAPE INTERVAL ROW INSERT UPDATE DELETE RETURNING PROCEDURE ONLY"
)


@dataclass(slots=True)
class Expressions:
    """Takes words in from left to right.

    out: pieces of the expression that is being read. qualified: names of tables that stood before a column.
    """

    words: list[Token]
    dialect: Dialect
    system: str
    at: int = 0
    depth: int = 0
    out: list[str | Name] = field(default_factory=list)
    qualified: list[Name] = field(default_factory=list)

    # ---- words

    @property
    def next(self) -> Token:
        """The word that comes next."""
        return self.words[self.at] if self.at < len(self.words) else END

    def ahead(self, by: int = 1) -> Token:
        """A word further on."""
        return self.words[self.at + by] if self.at + by < len(self.words) else END

    def take(self) -> Token:
        """Goes past the next word."""
        token = self.next
        self.at += 1
        return token

    def met(self, *expected: str) -> bool:
        """Takes the words or signs if they come next."""
        for i, want in enumerate(expected):
            token = self.ahead(i)
            if (token.word or token.text) != want:
                return False
        self.at += len(expected)
        return True

    def need(self, expected: str) -> None:
        """Takes a word that must come next."""
        if not self.met(expected):
            raise self.odd()

    def odd(self) -> TableError:
        """The error for what comes next, which no rule takes in. Texts and numbers of the query are not repeated."""
        token = self.next
        if token.word == "SELECT":
            return NotByRecordError("a SELECT inside another")
        if token.word in RESERVED:
            return NotByRecordError(token.word)
        if token.kind == "word" and self.ahead().text == "(":
            return NotByRecordError(called(token))
        kinds = {
            "string": "a text", "number": "a number", "quoted": "a name", "word": f"the word {token.text}",
            "mark": f"the sign {token.text}", "end": "its end",
        }  # fmt: skip
        return NotByRecordError(f"{kinds[token.kind]} where it cannot be read here")

    def name(self) -> Name:
        """The name of a column, a table or a result."""
        token = self.next
        if token.kind == "quoted":
            return Name(self.take().name)
        if token.kind != "word" or token.word in RESERVED:
            raise self.odd()
        return Name(self.take().text, exact=False)

    def folded(self, text: str) -> str:
        """A name without quotation marks, as the database takes it."""
        return ascii_lower(text) if self.dialect.folded else text

    def column(self) -> Name:
        """A column; the table before its name must be the one after FROM."""
        name = self.name()
        if self.met("."):
            self.qualified.append(name)
            name = self.name()
        return name

    # ---- expressions: what is taken in goes to `out`; that it is allowed does not depend on which sign binds closer

    def apart(self) -> tuple[str | Name, ...]:
        """One expression, in pieces of its own."""
        before, self.out = self.out, []
        self.expression()
        found, self.out = self.out, before
        return tuple(found)

    def keep(self) -> Token:
        """Takes the next word or sign in."""
        token = self.take()
        self.out.append(token.word or token.text)
        return token

    def expression(self) -> None:
        """Conditions with NOT between AND and OR, or one value."""
        self.depth += 1
        if self.depth > DEEPEST:
            what = f"more than {DEEPEST} brackets within each other"
            raise NotByRecordError(what)
        while True:
            while self.next.word == "NOT":
                self.keep()
            self.predicate()
            if self.next.word not in ("AND", "OR"):
                break
            self.keep()
        self.depth -= 1

    def predicate(self) -> None:
        """A value, and what it is compared with."""
        self.operand()
        while True:
            token = self.next
            if token.text in COMPARING:
                self.keep()
                if self.system == "postgresql" and self.next.word in ("ANY", "ALL") and self.ahead().text == "(":
                    self.keep()
                    self.array()
                else:
                    self.operand()
            elif token.text in LIKE_OF_VIEWS and self.system != "sqlite":
                self.keep()
                self.pattern()
            elif token.word == "IS":
                self.keep()
                self.is_what()
            elif token.word in ("NOT", "IN", "BETWEEN", "LIKE", "GLOB"):
                if token.word == "NOT":
                    self.keep()
                self.among()
            else:
                return

    def is_what(self) -> None:
        """What follows IS."""
        if self.next.word == "NOT":
            self.keep()
        if self.met("DISTINCT", "FROM"):
            self.out.append("DISTINCT FROM")
            self.operand()
        elif self.next.word in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
            self.keep()
        else:
            raise self.odd()

    def among(self) -> None:
        """What follows IN, BETWEEN and LIKE."""
        word = self.next.word
        if word == "IN":
            self.keep()
            self.listed("(", ")")
        elif word == "BETWEEN":
            self.keep()
            self.operand()
            if self.next.word != "AND":
                raise self.odd()
            self.keep()
            self.operand()
        elif word == "LIKE" or (word == "GLOB" and self.system == "sqlite"):
            self.keep()
            self.pattern()
        else:
            raise self.odd()

    def pattern(self) -> None:
        """A text: a pattern out of a record may be one that the database refuses, and so may one with a backslash."""
        brackets = 0
        while self.next.text == "(":
            self.keep()
            brackets += 1
        if self.next.kind != "string" or "\\" in self.next.text:
            what = "a pattern that is no text without backslashes"
            raise NotByRecordError(what)
        if len(self.next.text) > LONGEST_PATTERN:
            what = f"a pattern of more than {LONGEST_PATTERN} characters"
            raise NotByRecordError(what)
        self.keep()
        for _ in range(brackets):
            self.close(")")
        self.casts(constant=True)

    def operand(self) -> None:
        """A value that is calculated."""
        self.unary()
        while self.next.kind == "mark" and self.next.text in self.dialect.arithmetic:
            self.keep()
            self.unary()

    def unary(self) -> None:
        """A value with its sign, and the type it is made into."""
        while self.next.text in ("-", "+"):
            if self.ahead().kind != "number" and self.next.text not in self.dialect.arithmetic:
                raise self.odd()
            self.keep()
            self.out.append(" ")
        self.casts(constant=self.primary())

    def casts(self, *, constant: bool, array: bool = False) -> None:
        """Types behind a value. constant: it is as it stands in the query, without a type. array: it is an array."""
        while self.met("::"):
            self.out.append("::")
            self.type(constant=constant, array=array)
            constant = False  # PostgreSQL computes the second conversion when a record needs it, and may fail there

    def primary(self) -> bool:
        """One value; whether it is a constant as it stands in the query, without a type."""
        token = self.next
        if token.kind in ("string", "number") or token.word in ("NULL", "TRUE", "FALSE"):
            self.keep()
            return True
        if token.text == "(":
            self.keep()
            alone = self.ahead().text == ")" and self.next.kind in ("string", "number")
            self.expression()
            self.close(")")
            return alone
        if token.word == "CASE":
            self.case()
            return False
        if token.word in ("CAST", "TRY_CAST"):
            self.cast()
            return False
        if token.word == "TRY" and self.dialect.tried:
            self.keep()
            self.listed("(", ")", most=1)
            return False
        if token.word in ("DATE", "TIMESTAMP") and self.ahead().kind == "string" and self.system != "sqlite":
            self.keep()
            self.keep()
            return False
        if token.kind == "word" and self.ahead().text == "(":
            if token.text.lower() not in self.dialect.functions:
                raise NotByRecordError(called(token))
            self.take()
            self.out.append(token.text.lower())
            self.listed("(", ")", most=1 if "length" in token.text.lower() else None)  # a second one: an encoding
            return False
        self.out.append(self.column())
        return False

    def listed(self, opening: str, closing: str, *, most: int | None = None) -> None:
        """Expressions between brackets, at least one."""
        if self.next.text != opening:
            raise self.odd()
        self.keep()
        count = 0
        while True:
            self.expression()
            count += 1
            if self.next.text != "," or count == most:
                break
            self.keep()
        self.close(closing)

    def close(self, closing: str) -> None:
        """The bracket that must come next."""
        if self.next.text != closing:
            raise self.odd()
        self.keep()

    def case(self) -> None:
        """CASE WHEN ... THEN ... ELSE ... END."""
        self.keep()
        if self.next.word != "WHEN":
            self.expression()
        while self.next.word == "WHEN":
            self.keep()
            self.expression()
            if self.next.word != "THEN":
                raise self.odd()
            self.keep()
            self.expression()
        if self.next.word == "ELSE":
            self.keep()
            self.expression()
        if self.next.word != "END":
            raise self.odd()
        self.keep()

    def cast(self) -> None:
        """CAST(value AS type)."""
        if self.next.word == "TRY_CAST" and self.system != "duckdb":
            raise self.odd()
        self.keep()
        if self.next.text != "(":
            raise self.odd()
        self.keep()
        constant = self.ahead().word == "AS" and self.next.kind in ("string", "number")
        self.expression()
        if self.next.word != "AS":
            raise self.odd()
        self.keep()
        self.type(constant=constant)
        self.close(")")

    def type(self, *, constant: bool, array: bool = False) -> None:
        """A type that a value may be made into without failing on one record; see `casts`."""
        words = []
        while self.next.word in TYPES:
            words.append(self.keep().word)
        sized = self.next.text == "("
        if sized:
            self.keep()
            while self.next.kind == "number" or self.next.text == ",":
                self.keep()
            self.close(")")
        several = self.met("[", "]")
        if several:
            self.out.append("[]")
        text = " ".join(words)
        written = text in TEXTS and not sized and several == array
        if not words:
            raise self.odd()
        if sized and text in ("CHAR", "CHARACTER") and self.system == "postgresql":
            what = f"a conversion into {text.lower()} of a length, which fills it up with blanks"
            raise NotByRecordError(what)
        if several and not array:
            what = "a conversion into a list, which can be longer than the text"
            raise NotByRecordError(what)
        if not (constant or written or self.dialect.casts):
            what = f"a conversion into {text.lower()}, which fails where one record's value has no such form"
            raise NotByRecordError(what)

    def array(self) -> None:
        """Constants, as PostgreSQL writes IN of a view: ANY (ARRAY[...]), or ANY ((ARRAY[...])::text[])."""
        opened = 0
        while self.next.text == "(":
            self.keep()
            opened += 1
        if self.next.word != "ARRAY":
            raise self.odd()
        self.keep()
        if self.next.text != "[":
            raise self.odd()
        while self.next.text in ("[", ","):
            self.keep()
            if self.next.kind not in ("string", "number"):
                raise self.odd()
            self.casts(constant=self.primary())
        self.close("]")
        self.casts(constant=False, array=True)
        for _ in range(opened):
            self.close(")")
            self.casts(constant=False, array=True)
