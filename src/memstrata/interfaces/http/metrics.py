"""What is counted, in the form of Prometheus: requests by route and status, events by name."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from memstrata.events import Event

TYPE = CONTENT_TYPE_LATEST


class Metrics:
    """The numbers of one server. No label holds an id, a name or a text of anybody."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "memstrata_http_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "memstrata_http_request_seconds",
            "How long requests took.",
            ("route",),
            registry=self._registry,
        )
        self._running = Gauge(
            "memstrata_http_requests_running", "Requests in flight.", registry=self._registry
        )
        self._events = Counter(
            "memstrata_events", "Events by name.", ("name", "degraded"), registry=self._registry
        )

    def began(self) -> None:
        """A request came in."""
        self._running.inc()

    def ended(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self._running.dec()
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def happened(self, event: Event) -> None:
        """An event was heard."""
        self._events.labels(event.name, str(event.degraded).lower()).inc()

    def text(self) -> bytes:
        """All of it."""
        return generate_latest(self._registry)
