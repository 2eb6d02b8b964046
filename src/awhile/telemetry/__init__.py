"""What operators see of the work: spans, metrics, and the task a log line is about.

By OpenTelemetry's API alone, which does next to nothing until a program gives it an SDK: which one,
and where what it collects goes, is the operator's choice. Names are those of OpenTelemetry's
semantic conventions where there are any (``gen_ai.tool.name``, ``db.client.operation.duration``);
the rest begin with ``awhile.``.
"""
