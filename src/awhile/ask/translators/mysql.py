"""What MySQL and MariaDB have not, written with what they have.

They join fully on nothing, have no median that groups, no truncated times, divide decimals to a few
digits, and call the deviation of the whole population what others call that of a sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["for_mysql"]

_GROUPS = "every_group"
_PLACED = "rows_in_order"


def for_mysql(tree: exp.Select) -> exp.Expr:
    """The tree, rewritten."""
    found = tree.copy()
    for select in [*found.find_all(exp.Select)]:
        _join_fully(select)
    for select in [*found.find_all(exp.Select)]:
        _take_medians(select)
    return found.transform(_node)


def _node(node: exp.Expr) -> exp.Expr:
    match node:
        case exp.Cast(this=exp.TimestampTrunc() as trunc):
            return _truncated(trunc.this, trunc.args["unit"].name)
        case exp.Extract() if node.name == "ISODOW":
            # From 0 for Monday.
            weekday = exp.Anonymous(this="WEEKDAY", expressions=[node.expression])
            return exp.Paren(this=exp.Add(this=weekday, expression=exp.Literal.number(1)))
        case exp.Avg() | exp.Div() if not isinstance(node.this, exp.Cast):
            changed = node.copy()
            changed.set("this", _double(node.this))
            return changed
        case exp.Stddev():
            return exp.Anonymous(this="STDDEV_SAMP", expressions=[node.this])
        case exp.Variance():
            return exp.Anonymous(this="VAR_SAMP", expressions=[node.this])
        case exp.Ordered() if _stays(node):
            # What is unknown comes first, or last where it goes down.
            down = bool(node.args.get("desc"))
            return exp.Ordered(this=node.this, desc=down, nulls_first=not down)
        case _:
            return node


def _stays(order: exp.Ordered) -> bool:
    """Whether where the unknown goes cannot be said: by a place, or in a window with a frame."""
    return isinstance(order.this, exp.Literal) or order.find_ancestor(exp.Window) is not None


def _double(value: exp.Expr) -> exp.Expr:
    return exp.Cast(this=value.copy(), to=exp.DataType.build("double"))


def _truncated(value: exp.Expr, unit: str) -> exp.Expr:
    day = exp.Cast(this=value.copy(), to=exp.DataType.build("date"))
    match unit:
        case "WEEK":
            past = exp.Anonymous(this="WEEKDAY", expressions=[value.copy()])
            return exp.Sub(this=day, expression=exp.Interval(this=past, unit=exp.var("DAY")))
        case "MONTH":
            pattern = exp.Literal.string("%Y-%m-01")
            first = exp.Anonymous(this="DATE_FORMAT", expressions=[value.copy(), pattern])
            return exp.Cast(this=first, to=exp.DataType.build("date"))
        case "QUARTER":
            quarter = exp.Anonymous(this="QUARTER", expressions=[value.copy()])
            past = exp.Sub(this=quarter, expression=exp.Literal.number(1))
            return exp.Add(
                this=_first_day(value),
                expression=exp.Interval(this=exp.Paren(this=past), unit=exp.var("QUARTER")),
            )
        case "YEAR":
            return _first_day(value)
        case _:
            return day


def _first_day(value: exp.Expr) -> exp.Expr:
    year = exp.Anonymous(this="YEAR", expressions=[value.copy()])
    return exp.Anonymous(this="MAKEDATE", expressions=[year, exp.Literal.number(1)])


def _join_fully(select: exp.Select) -> None:
    """Parts matched on their groups: every group there is, and then each part where it has one."""
    joins = [
        join for join in select.find_all(exp.Join) if join.parent is select and join.side == "FULL"
    ]
    if not joins:
        return
    source = select.args["from_"].this
    parts = [source.name, *(join.this.name for join in joins)]
    names = [same.expression.name for same in joins[0].args["on"].find_all(exp.NullSafeEQ)]
    names = list(dict.fromkeys(names))
    groups: exp.Query = _columns(parts[0], names)
    for part in parts[1:]:
        groups = exp.union(groups, _columns(part, names), distinct=True, copy=False)
    for projection in select.expressions:
        if projection.alias in names:
            projection.set("this", _cell(_GROUPS, projection.alias))
    select.set("from_", exp.From(this=exp.to_table(_GROUPS)))
    select.set("joins", [])
    for part in parts:
        same = [
            exp.NullSafeEQ(this=_cell(_GROUPS, name), expression=_cell(part, name))
            for name in names
        ]
        select.join(exp.to_table(part), on=exp.and_(*same), join_type="left", copy=False)
    select.with_(_GROUPS, as_=groups, copy=False)


def _columns(part: str, names: Sequence[str]) -> exp.Select:
    return exp.Select().select(*(_cell(part, name) for name in names)).from_(exp.to_table(part))


def _cell(table: str, name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name), table=table)


def _take_medians(select: exp.Select) -> None:
    """A median is the mean of the row or the two rows in the middle of its group.

    So the rows are numbered within their groups first, and then grouped.
    """
    medians = [each for each in select.find_all(exp.Median) if each.parent_select is select]
    if not medians:
        return
    group = select.args.get("group")
    groups: list[exp.Expr] = [] if group is None else group.expressions
    inner = select.copy()
    for part in ("with_", "group", "having", "order", "limit", "distinct"):
        inner.set(part, None)
    inner.set("expressions", [])
    for number, median in enumerate(medians):
        value = median.this
        order = exp.Order(
            expressions=[
                exp.Ordered(
                    this=exp.Is(this=value.copy(), expression=exp.Null()), nulls_first=True
                ),
                exp.Ordered(this=value.copy(), nulls_first=True),
            ]
        )
        place = exp.Window(
            this=exp.RowNumber(), partition_by=[each.copy() for each in groups], order=order
        )
        known = exp.Window(
            this=exp.Count(this=value.copy()), partition_by=[each.copy() for each in groups]
        )
        inner.select(
            exp.alias_(place, f"place_{number}"), exp.alias_(known, f"known_{number}"), copy=False
        )
        median.replace(_middle(value, number))
    _name_cells(select, inner)
    select.set("joins", [])
    select.set("where", None)
    select.set("from_", exp.From(this=inner.subquery(_PLACED, copy=False)))


def _middle(value: exp.Expr, number: int) -> exp.Expr:
    """Of n values the ones in the places floor((n + 1) / 2) and floor((n + 2) / 2)."""
    middle = [
        exp.IntDiv(
            this=exp.Paren(
                this=exp.Add(
                    this=_cell(_PLACED, f"known_{number}"), expression=exp.Literal.number(more)
                )
            ),
            expression=exp.Literal.number(2),
        )
        for more in (1, 2)
    ]
    test = exp.In(this=_cell(_PLACED, f"place_{number}"), expressions=middle)
    one = exp.Case(ifs=[exp.If(this=test, true=value.copy())])
    # Of decimals exact: the mean of two needs one digit more, and here there are four.
    return exp.Anonymous(this="AVG", expressions=[one])


def _name_cells(select: exp.Select, inner: exp.Select) -> None:
    """Have the inner query give every column the outer one needs, under a name of its own."""
    for projection in [*select.expressions]:
        if isinstance(projection, exp.Column):
            projection.replace(exp.alias_(projection.copy(), projection.name))
    needed = [*select.expressions]
    needed += [part for part in (select.args.get("group"), select.args.get("having")) if part]
    names: dict[exp.Expr, str] = {}
    for part in needed:
        for column in [*part.find_all(exp.Column)]:
            if column.table == _PLACED:
                continue
            if column not in names:
                names[column.copy()] = f"cell_{len(names)}"
                inner.select(exp.alias_(column.copy(), names[column]), copy=False)
            column.replace(_cell(_PLACED, names[column]))
