"""Traces for OpenTelemetry: off unless the usual environment variables name where they go.

With ``OTEL_EXPORTER_OTLP_ENDPOINT`` (or ``OTEL_EXPORTER_OTLP_TRACES_ENDPOINT``) set and ``fairtest[telemetry]``
installed, every request and every piece of work of a worker is a span; sampling, headers and the service's name are
set as for any other program. A span has the route, the method and the status, and nothing of users: no address, no
query, no name of a stream. That is why the framework's own instrumentation, which has them, is not given our provider.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairtest.exceptions import InputError
from fairtest.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

WHERE = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


class Tracing:
    """Makes spans of what has happened."""

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("fairtest", __version__)

    def add(self, name: str, began: int, ended: int, fields: Mapping[str, Any], parent: str = "") -> None:
        """Add a span; times are in nanoseconds since 1970, ``parent`` is a ``traceparent`` header.

        A span whose status is 500 or more is marked as one that failed.
        """
        trace = import_module("opentelemetry.trace")
        carried = import_module("opentelemetry.trace.propagation.tracecontext").TraceContextTextMapPropagator()
        context = carried.extract({"traceparent": parent}) if parent else None
        kind = trace.SpanKind.SERVER if "http.route" in fields else trace.SpanKind.INTERNAL
        span = self._tracer.start_span(name, context, kind, fields, start_time=began)
        if fields.get("http.response.status_code", 0) >= 500 or fields.get("fairtest.failed"):
            span.set_status(trace.StatusCode.ERROR)
        span.end(ended)

    def close(self) -> None:
        """Send what has not been sent."""
        self._provider.shutdown()


def start_tracing(process: str) -> Tracing | None:
    """Return what makes spans if the environment asks for it; None otherwise."""
    if not any(os.environ.get(name) for name in WHERE) or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    try:
        sdk = import_module("opentelemetry.sdk.trace")
        resources = import_module("opentelemetry.sdk.resources")
        processors = import_module("opentelemetry.sdk.trace.export")
        exporter = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError:
        raise InputError(
            f"{WHERE[0]} is set, and what sends them is not installed: pip install 'fairtest[telemetry]', or unset it."
        ) from None
    own = {"service.name": os.environ.get("OTEL_SERVICE_NAME", "fairtest"), "service.version": __version__}
    provider = sdk.TracerProvider(resource=resources.Resource.create({**own, "fairtest.process": process}))
    provider.add_span_processor(processors.BatchSpanProcessor(exporter.OTLPSpanExporter()))
    return Tracing(provider)
