"""The tools by which a person lets others read one run, sees who did, and takes that back; and the
one by which others read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from awhile.ask.mcp_server import model, shared
from awhile.ask.mcp_server.arguments import RunId
from awhile.ask.mcp_server.listed import listed, maybe_instant, outcome_of
from awhile.ask.mcp_server.reading import NoRows
from awhile.runtime.worker import wall_clock_ms
from awhile.server import audit
from awhile.server.principal import is_one_of_several, name_of_caller
from awhile.wire.codec import write_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.ask.answer.labels import Label, Labels
    from awhile.ask.answer.shares import Share
    from awhile.ask.answer.statements import Statement, Statements
    from awhile.ask.mcp_server.reading import Rows
    from awhile.server.tasks import Tasks
    from awhile.tasks import TaskRecord

__all__ = ["add_sharing"]

MOST_SHARES = 100
"""Of one run at once (source: ours)."""

_DAY_MS = 24 * 60 * 60 * 1000

NOBODY_ELSE = (
    "Nothing was shared: this server has one user, so there is nobody to share with. Runs are "
    "shared on a server that people sign in to."
)


def add_sharing(
    mcp: MCPServer[Any], *, tasks: Tasks, rows: Rows, statements: Statements, labels: Labels
) -> None:
    """Add the tools to a server."""
    shares = rows.shares

    async def listed_of(run_id: str) -> shared.SharesModel:
        def load() -> list[shared.ShareModel]:
            opened = shares.opened(run_id)
            return [
                _told(share, opened.get(share.key, 0))
                for share in shares.of(run_id, now_ms=wall_clock_ms())
            ]

        return shared.SharesModel(run_id=run_id, shares=await anyio.to_thread.run_sync(load))

    def note(ctx: Context[Any, Any], did: str, how: str, run_id: str) -> None:
        audit.note(did, owner=tasks.owner(ctx), how=how, task_id=run_id)

    @mcp.tool()
    async def share_run(
        run_id: RunId,
        ctx: Context[Any, Any],
        days: Annotated[
            int | None,
            Field(ge=1, le=3650, description="For how many days; left out: until it is revoked."),
        ] = None,
    ) -> shared.SharedIdModel:
        """Let every caller of this server who is given the share id read one run: its question,
        SQL and rows, and how it goes on while it runs. They can do nothing else with it, and see
        nothing else of yours. Only when your user asked for it."""
        await rows.own(tasks, ctx, run_id)
        if not is_one_of_several():
            raise ToolError(NOBODY_ELSE)
        owner, by, now_ms = tasks.owner(ctx), name_of_caller(), wall_clock_ms()
        until_ms = None if days is None else now_ms + days * _DAY_MS

        def make() -> tuple[Share, str] | None:
            if len(shares.of(run_id, now_ms=now_ms)) >= MOST_SHARES:
                return None
            return shares.make(run_id, owner=owner, by=by, now_ms=now_ms, expires_at_ms=until_ms)

        made = await anyio.to_thread.run_sync(make)
        if made is None:
            raise ToolError(
                f"This run has {MOST_SHARES} shares already. Revoke some, or give one of those on."
            )
        share, share_id = made
        note(ctx, "shared", "share_run", run_id)
        return shared.SharedIdModel(
            share_id=share_id,
            run_id=run_id,
            share=share.key,
            expires_at=maybe_instant(until_ms),
        )

    @mcp.tool()
    async def run_shares(run_id: RunId, ctx: Context[Any, Any]) -> shared.SharesModel:
        """The shares of one of your runs: when they were made, and how often they were opened."""
        await rows.own(tasks, ctx, run_id)
        return await listed_of(run_id)

    @mcp.tool()
    async def revoke_share(
        run_id: RunId,
        ctx: Context[Any, Any],
        share: Annotated[
            str | None, Field(description="Which one, as run_shares has it; left out: all of them.")
        ] = None,
    ) -> shared.SharesModel:
        """Take a share of a run back, or all of them: they open nothing from then on."""
        await rows.own(tasks, ctx, run_id)
        if share is not None and share not in {
            one.share for one in (await listed_of(run_id)).shares
        }:
            raise ToolError("This run has no such share any more; run_shares lists those it has.")
        await anyio.to_thread.run_sync(shares.revoke, run_id, share)
        note(ctx, "revoked", "revoke_share", run_id)
        return await listed_of(run_id)

    @mcp.tool()
    async def open_shared(
        share_id: Annotated[str, Field(description="As it was given to you.")],
        ctx: Context[Any, Any],
        again: Annotated[
            bool, Field(description="You only look how it goes on: this is not counted.")
        ] = False,
    ) -> shared.SharedModel:
        """A run that somebody shares with you: its question, its SQL, how it stands, and what it
        came to. result_rows, result_cell, result_chart and result_changes take the share id in
        place of a run's."""
        try:
            record, share = await rows.shared(
                tasks, tasks.owner(ctx), share_id, did="saw", how="open_shared"
            )
        except NoRows as why:
            raise ToolError(str(why)) from None

        def load() -> tuple[Statement | None, Label]:
            if not again:
                shares.count(share)
            return statements.load(record.task_id), labels.load(record.task_id)

        statement, label = await anyio.to_thread.run_sync(load)
        return _shared(share_id, share, record, statement, label)


def _told(share: Share, opened: int) -> shared.ShareModel:
    return shared.ShareModel(
        share=share.key,
        made_at=write_instant(share.made_at_ms),
        expires_at=maybe_instant(share.expires_at_ms),
        opened=opened,
    )


def _shared(
    share_id: str, share: Share, record: TaskRecord, statement: Statement | None, label: Label
) -> shared.SharedModel:
    """What others may see of a run: no other run is named, and nothing that its owner arranged."""
    run = listed(record, statement, label, outcome_of(record))
    progress = None if record.status.ended else record.progress
    done, total = (progress.done, progress.total) if progress else (None, None)
    return shared.SharedModel(
        share_id=share_id,
        shared_by=share.by,
        shared_at=write_instant(share.made_at_ms),
        expires_at=maybe_instant(share.expires_at_ms),
        translator=statement.translator if statement else None,
        translator_version=statement.translator_version if statement else None,
        database=statement.database if statement else None,
        asks=_asks(record, statement),
        percent=100 * done / total if done is not None and total else None,
        rows_so_far=int(done) if done is not None and total is None else None,
        answer=_answer(share_id, record),
        error_text=_error_text(record),
        **{name: getattr(run, name) for name in _AS_LISTED},
    )


_AS_LISTED = (
    "tool", "question", "title", "sql", "parameters", "reading", "status", "status_message",
    "created_at", "ended_at", "updated_at", "attempt", "cancel_asked_at", "stopped_how",
    "is_error", "outcome",
)  # fmt: skip


def _asks(record: TaskRecord, statement: Statement | None) -> Literal["question", "sql"] | None:
    said = record.arguments
    if said.get("question") and not said.get("follows"):
        return "question"
    written = said.get("sql") if statement is None else statement.sql
    return "sql" if written and not (statement and statement.earlier) else None


def _answer(share_id: str, record: TaskRecord) -> model.AnswerModel | None:
    content = (record.result or {}).get("structuredContent")
    if not content:
        return None
    answer = model.AnswerModel.model_validate(content)
    return answer.model_copy(update={"run_id": share_id, "result_name": None})


def _error_text(record: TaskRecord) -> str | None:
    if record.error is not None:
        return str(record.error.get("message") or "")
    if not record.is_error:
        return None
    blocks = cast("list[Mapping[str, Any]]", (record.result or {}).get("content") or [])
    return "\n".join(str(one.get("text")) for one in blocks if one.get("type") == "text")
