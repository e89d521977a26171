"""Where the service under test is: read from the JSON object that is a client program's only argument."""

import json
import sys
import urllib.request
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    host: str
    flight_port: int
    metrics_port: int
    status_port: int
    username: str
    password: str
    #: PEM text of the certificate authority when the service speaks TLS, else None.
    tls_roots: str | None
    #: The identity provider where users sign in, else None: see provider.py.
    sign_in: dict | None
    #: The folder that holds pyiceberg's catalog and warehouse.
    tables: str
    #: Static tokens by the kind of policies that hold for them, where there are any.
    tokens: dict[str, str] | None

    @property
    def uri(self) -> str:
        return f"{'grpc+tls' if self.tls_roots else 'grpc'}://{self.host}:{self.flight_port}"

    def get(self, port: int, path: str) -> str:
        with urllib.request.urlopen(f"http://{self.host}:{port}{path}", timeout=10) as response:
            return response.read().decode()

    def metric(self, name: str) -> float:
        """Sum of the metric over its labels; 0 when it is not there."""
        total = 0.0
        for line in self.get(self.metrics_port, "/metrics").splitlines():
            if line.split("{")[0].split(" ")[0] == name:
                total += float(line.rsplit(" ", 1)[1])
        return total

    def active_queries(self) -> int:
        return int(self.metric("svc_active_queries"))


def target_from_arguments() -> Target:
    given = json.loads(sys.argv[1])
    return Target(**{name: given.get(name) for name in Target.__dataclass_fields__})
