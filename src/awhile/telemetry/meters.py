"""The metrics: what is counted and timed as it happens in this process.

Names, units and attributes are a promise to dashboards; ``docs/runbook.md`` says what each means
and when to worry, and a test compares. Durations are seconds, as the semantic conventions ask.
"""

from __future__ import annotations

from opentelemetry import metrics

meter = metrics.get_meter("awhile")

_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200]
_QUICK = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5]

created = meter.create_counter(
    "awhile.task.created", unit="{task}", description="Tasks kept, by tool."
)
ended = meter.create_counter(
    "awhile.task.ended", unit="{task}", description="Tasks that ended, by tool and status."
)
duration = meter.create_histogram(
    "awhile.task.duration",
    unit="s",
    description="From a task's creation to its end, by tool and status.",
    explicit_bucket_boundaries_advisory=_SECONDS,
)
queued = meter.create_histogram(
    "awhile.task.queue.duration",
    unit="s",
    description="From a task's creation to its first claim by a worker, by tool.",
    explicit_bucket_boundaries_advisory=_SECONDS,
)
stopped = meter.create_histogram(
    "awhile.cancel.latency",
    unit="s",
    description="From the asking for a stop until the work had stopped, by tool and how known.",
    explicit_bucket_boundaries_advisory=_SECONDS,
)
not_stopped = meter.create_counter(
    "awhile.cancel.not_stopped",
    unit="{task}",
    description="Tasks that ended without their work having been stopped, by tool.",
)
lost = meter.create_counter(
    "awhile.lease.lost",
    unit="{lease}",
    description=(
        "Leases lost, by reason: 'fenced' (this worker's own, taken over or ended by others), "
        "'run_again' (another's, its task started again here), 'ended' (another's, its task may "
        "not run again)."
    ),
)
store = meter.create_histogram(
    "db.client.operation.duration",
    unit="s",
    description="Duration of the store's operations.",
    explicit_bucket_boundaries_advisory=_QUICK,
)
notices = meter.create_counter(
    "awhile.webhook.attempts",
    unit="{attempt}",
    description="Attempts to tell the webhook of a task's end, by outcome.",
)

__all__ = [
    "created",
    "duration",
    "ended",
    "lost",
    "meter",
    "not_stopped",
    "notices",
    "queued",
    "stopped",
    "store",
]
