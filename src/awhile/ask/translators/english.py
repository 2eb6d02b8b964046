"""The English a question may use, as data: grammar words, comparisons, synonyms, abbreviations.

Source: ours. A word that is neither here nor in the schema is not understood, and then the
question is not answered; so a word belongs here only when it means the same in every question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.marks import (
    Aggregate,
    GrainNoun,
    MeasureNoun,
    Superlative,
    Verb,
    Word,
)

if TYPE_CHECKING:
    from awhile.ask.translators.marks import Operator, Recognised

__all__ = [
    "ABBREVIATIONS",
    "COMPARISONS",
    "GRAMMAR",
    "NAME_WORDS",
    "PEOPLE",
    "PRICE_COMPARISONS",
    "SPENDERS",
    "SYNONYMS",
]

_WORDS: tuple[tuple[Recognised, str], ...] = (
    (
        Word("silent"),
        "a|an|the|is|are|was|were|be|been|do|does|did|has|have|had|i|we|us|me|our|my|you|your|"
        "please|can|could|would|want|to see|to know|need|like to|like to see|"
        "there|it|its|they|them|their|these|those|so far|ever|overall|altogether|in total|"
        "currently|now|data|database|table|records|record|rows|row|entries|come|comes|came|"
        "coming|placed|place|get|got|gets|received|receive|that|s|any|out|"
        "of all time|also|both|then|located|based|living|live|whose|own|respectively|each of|"
        "does it|results|result|happened|happen|occurred|name of|names of|"
        "with a status of|hello|hi|hey|thanks|thank you|in our system|in the system|on file|"
        "on record|of them|from us",
    ),
    (Word("all"), "all|all of|of all"),
    (
        Word("bring"),
        "made|make|makes|brings in|bring in|brought in|brings|bring|brought|generate|generates|"
        "generated|generating|making|bringing in",
    ),
    (
        Word("exist"),
        "do we sell|do you sell|do we offer|do we have|do you have|do we stock|"
        "do we carry|exist|exists",
    ),
    (
        Word("list"),
        "show|show me|list|list all|give me|give|display|find|find me|get me|return|tell me|"
        "fetch|print|see|view|present|provide|retrieve|i want to see|let me see|pull up",
    ),
    (Word("what"), "what|what is|what are|what was|what were"),
    (Word("what thing"), "what do|what did|what does"),
    (Word("which"), "which"),
    (Word("who"), "who|who is|who are|who was|who were"),
    (Word("when"), "when|when is|when was|when did"),
    (Word("how many"), "how many"),
    (Word("how much"), "how much"),
    (
        Word("by"),
        "by|per|for each|for every|in each|in every|across|grouped by|group by|split by|"
        "broken down by|break down by|breakdown by|broken out by|from each|of each|on each|"
        "at each|according to|with each|by each|per each|in the different|across the",
    ),
    (Word("each"), "each|every"),
    (Word("with"), "with|having|who have|that have|which have|who has|that has|which has"),
    (
        Word("preposition"),
        "in|from|of|for|to|at|on|during|within|where|among|through|via|inside|"
        "regarding|as|into|out of|belonging to|related to|associated with|named|called|"
        "containing|contain|contains|contained",
    ),
    (Word("is"), "equal to|equals|being|is equal to|=|set to"),
    (Word("and"), "and|as well as|along with|plus|&|but"),
    (Word("or"), "or"),
    (Word("comma"), ","),
    (
        Word("not"),
        "not|never|no|except|except for|excluding|other than|apart from|outside|outside of|"
        "yet to|not yet|never ever|have not|has not|did not|do not|does not|were not|was not|"
        "are not|is not|not in|not from|have never|has never|were never|was never|<>|!=|none of|"
        "not a|not any|not even one",
    ),
    (
        Word("without"),
        "without|without any|with no|with zero|who have no|that have no|"
        "which have no|have no|has no|lacking|missing|had no|without a single",
    ),
    (
        Word("together"),
        "together|with each other|in the same order|in one order|in the same basket|"
        "in the same purchase|in combination|jointly|pairs|pairs of|pair|pair of|"
        "combinations of|in the same orders|in the same baskets",
    ),
    (Word("often"), "often|frequently|commonly|regularly"),
    (
        Word("sort"),
        "sort by|sorted by|ordered by|order by|ranked by|rank by|in order of|sort|sorted",
    ),
    (
        Word("ascending"),
        "ascending|asc|lowest first|smallest first|increasing|from low to high|"
        "in ascending order|from lowest to highest|oldest first|cheapest first",
    ),
    (
        Word("descending"),
        "descending|desc|highest first|largest first|decreasing|biggest first|"
        "from high to low|in descending order|from highest to lowest|newest first|most first|"
        "most expensive first",
    ),
    (Word("distinct"), "distinct|different|unique"),
    (Word("new"), "new"),
    (
        Word("share"),
        "share of|the share of|percentage of|percent of|proportion of|the percentage of|"
        "the proportion of|% of|what share of|what percentage of|what proportion of|"
        "percentage share of",
    ),
    (
        Aggregate("count"),
        "number of|count of|count|the number of|total number of|"
        "total count of|the count of|nr of|no of|how many total|the total number of",
    ),
    (
        Aggregate("count_distinct"),
        "number of different|number of distinct|number of unique|"
        "how many different|how many distinct|how many unique|count of distinct|count distinct|"
        "count of unique|distinct count of|distinct number of|count unique|count different|"
        "the number of different|the number of distinct|the number of unique",
    ),
    (
        Aggregate("sum"),
        "sum|sum of|sum up|total|totals|total of|add up|summarise|summarize|"
        "sum of all|the sum of|the total|adding up|overall total|total up|sum total of|"
        "cumulated",
    ),
    (Aggregate("avg"), "average|mean|avg|average of|the average|mean of|on average"),
    (Aggregate("median"), "median|median of"),
    (Aggregate("max"), "maximum|max|maximum of|max of|maximal"),
    (Aggregate("min"), "minimum|min|minimum of|min of|minimal"),
    (Superlative(True, "rank"), "top|best|leading|strongest"),
    (Superlative(False, "rank"), "bottom|worst|weakest"),
    (
        Superlative(True),
        "most|the most|the most of|greatest number of|highest number of|"
        "largest number of|the highest number of|the greatest number of|the largest number of|"
        "max number of|maximum number of|most number of",
    ),
    (
        Superlative(False),
        "least|fewest|the least|the fewest|lowest number of|smallest number of|"
        "the lowest number of|the smallest number of|minimum number of|least number of",
    ),
    (
        Superlative(True, "size", also_aggregate=True),
        "highest|largest|biggest|greatest|most valuable",
    ),
    (Superlative(False, "size", also_aggregate=True), "lowest|smallest|tiniest|least valuable"),
    (
        Superlative(True, "price"),
        "most expensive|priciest|costliest|dearest|highest priced",
    ),
    (Superlative(False, "price"), "cheapest|least expensive|lowest priced|most affordable"),
    (Superlative(True, "time"), "latest|newest|most recent|last|most recently"),
    (Superlative(False, "time"), "earliest|oldest|first|least recent"),
    (
        Superlative(True, "units"),
        "best selling|best sold|bestselling|top selling|most sold|"
        "highest selling|most popular|bestseller|bestsellers|best seller|best sellers|"
        "top seller|top sellers|sell best|sells best|sold best|sells the best|"
        "sell the best|sold the best|sells the most|sell the most|sold the most|sells most|"
        "sell most|sold most",
    ),
    (
        Superlative(False, "units"),
        "worst selling|least sold|lowest selling|least popular|"
        "slowest selling|sold the least|sells the least|sell the least|sold least|sell worst|"
        "sells worst|sold worst|worst sellers|worst seller|sells the worst|sell the worst",
    ),
    (Superlative(True, "events"), "busiest"),
    (Superlative(False, "events"), "quietest"),
    (Superlative(True, "rows"), "most common|most frequent|commonest"),
    (Superlative(False, "rows"), "least common|least frequent|rarest"),
    (GrainNoun("day"), "day|days|date of day"),
    (GrainNoun("week"), "week|weeks"),
    (GrainNoun("month"), "month|months|calendar month"),
    (GrainNoun("quarter"), "quarter|quarters"),
    (GrainNoun("year"), "year|years"),
    (GrainNoun("weekday"), "weekday|weekdays|day of the week|day of week|days of the week"),
    (GrainNoun("hour"), "hour of the day|hour of day|hours of the day"),
    (GrainNoun("day", adjective=True), "daily|day by day"),
    (GrainNoun("week", adjective=True), "weekly|week by week"),
    (GrainNoun("month", adjective=True), "monthly|month by month"),
    (GrainNoun("quarter", adjective=True), "quarterly|quarter by quarter"),
    (GrainNoun("year", adjective=True), "yearly|annual|annually|year by year"),
    (
        MeasureNoun("revenue"),
        "revenue|revenues|sales revenue|revenue from sales|turnover|"
        "takings|sales|money|sales value|value of sales|sales amount|total sales amount|"
        "gross sales|"
        "spending|spend|spent|spends|earned|earn|earns|gross revenue|money made|"
        "money spent|sales volume in money|sales figures|sales total",
    ),
    (
        MeasureNoun("units"),
        "units|units sold|quantity sold|quantities sold|items sold|"
        "unit sales|sold units|pieces|pieces sold|number of units|number of units sold|"
        "number of items sold|units ordered|sold quantity|quantity ordered|number of pieces|"
        "units bought|units purchased",
    ),
    (MeasureNoun("value"), "value|values|basket value|cart value"),
    (Verb("buy"), "bought|buy|buys|purchased|buying|ordered|ordering|bought from us"),
    (Verb("sell"), "sold|sell|sells|selling|sell to|do we sell to|sold to|selling to"),
)

GRAMMAR: dict[tuple[str, ...], Recognised] = {
    tuple(phrase.split()): meaning for meaning, phrases in _WORDS for phrase in phrases.split("|")
}
"""Lower-case phrases and what they are, whatever the schema."""

_COMPARING: tuple[tuple[Operator, str], ...] = (
    (
        ">",
        "more than|greater than|over|above|higher than|larger than|bigger than|exceeding|"
        "exceeds|upwards of|>|in excess of|is more than|is over|is above|costing more than|"
        "greater|bigger|worth more than",
    ),
    (
        ">=",
        "at least|no less than|not less than|minimum of|>=|from at least|no fewer than|"
        "not fewer than|a minimum of|at minimum",
    ),
    (
        "<",
        "less than|fewer than|under|below|lower than|smaller than|<|is under|is below|"
        "is less than|costing less than|worth less than",
    ),
    ("<=", "at most|no more than|not more than|up to|maximum of|<=|a maximum of|at maximum"),
    ("=", "exactly|precisely|=|equal to|equals"),
)

COMPARISONS: dict[tuple[str, ...], Operator] = {
    tuple(phrase.split()): operator
    for operator, phrases in _COMPARING
    for phrase in phrases.split("|")
}
"""Phrases that, followed by a number, compare."""

PRICE_COMPARISONS: dict[tuple[str, ...], Operator] = {
    ("cheaper", "than"): "<",
    ("costing", "less", "than"): "<",
    ("pricier", "than"): ">",
    ("more", "expensive", "than"): ">",
    ("costing", "more", "than"): ">",
    ("less", "expensive", "than"): "<",
    ("priced", "over"): ">",
    ("priced", "above"): ">",
    ("priced", "under"): "<",
    ("priced", "below"): "<",
    ("priced", "at"): "=",
    ("that", "cost", "more", "than"): ">",
    ("that", "cost", "less", "than"): "<",
    ("cost", "more", "than"): ">",
    ("cost", "less", "than"): "<",
    ("costing", "over"): ">",
    ("costing", "under"): "<",
    ("that", "cost", "over"): ">",
    ("that", "cost", "under"): "<",
}
"""The same, about a price."""

SYNONYMS: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in (
        "customer client buyer shopper",
        "product item article good",
        "order purchase",
        "country nation",
        "city town",
        "employee staff worker",
        "supplier vendor",
        "invoice bill",
        "department dept",
        "salary wage pay",
    )
)
"""Stems that may stand for one another when the schema has one and not the other."""

ABBREVIATIONS: dict[str, str] = {
    "qty": "quantity",
    "amt": "amount",
    "cust": "customer",
    "prod": "product",
    "cat": "category",
    "desc": "description",
    "addr": "address",
    "dt": "date",
    "num": "number",
    "nbr": "number",
    "tot": "total",
    "avg": "average",
    "pct": "percent",
    "emp": "employee",
    "dept": "department",
    "mgr": "manager",
    "inv": "invoice",
    "acct": "account",
    "trx": "transaction",
    "tx": "transaction",
    "txn": "transaction",
    "ins": "insurance",
    "doc": "doctor",
    "diag": "diagnosis",
    "yr": "year",
    "mth": "month",
    "val": "value",
    "curr": "currency",
    "ctry": "country",
    "cntry": "country",
    "fname": "first name",
    "lname": "last name",
    "dob": "birth date",
    "tel": "phone",
    "org": "organisation",
}
"""What identifiers shorten."""

_IN_NAMES = (
    "account address age amount bill birth brand category channel city client code color comment "
    "company cost count country created currency customer date day department description "
    "discount due email employee end first gender group height hour id invoice item key kind last "
    "level line list location month name number order paid payment person phone postal price "
    "product purchase quantity rank rate rating region sale score segment ship shipped size start "
    "state status stock store street supplier symbol tax ticker time title total transaction type "
    "unit updated user value volume weight year zip"
)
NAME_WORDS = frozenset(_IN_NAMES.split())
"""The words identifiers are usually made of, to take apart names written as one word."""

PEOPLE = frozenset(
    ["customer", "client", "buyer", "shopper", "member", "user", "account", "patient", "guest"]
)
"""Stems of tables whose rows spend money."""

SPENDERS = frozenset({"spender", "spenders"})
"""Words for the paying table, ranked by what it paid."""
