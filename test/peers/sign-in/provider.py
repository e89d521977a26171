"""The identity provider as a client sees it, and what the programs of this folder share."""

import base64
import json
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from itertools import count

from target import Target

_markers = count(1)


@dataclass(frozen=True)
class Answer:
    status: int
    body: dict


def once(program: str, username: str) -> str:
    """A statement that is sent a single time: the audit log must have one line with it, under that name."""
    return f"select 42 /* once {program} {username} {next(_markers)} */"


class Provider:
    def __init__(self, target: Target) -> None:
        self._facts = target.sign_in

    def __getitem__(self, name: str):
        return self._facts[name]

    def password_of(self, username: str) -> str:
        return next(user["password"] for user in self["users"] if user["username"] == username)

    def static_token(self, role: str) -> str:
        return next(each["token"] for each in self["staticTokens"] if each["role"] == role)

    def tokens(self, username: str, client: str | None = None, **form) -> dict:
        """What the password grant answers: access_token, refresh_token, with `scope="openid"` id_token."""
        return self._grant(
            self["tokenEndpoint"],
            grant_type="password",
            username=username,
            password=self.password_of(username),
            client_id=client or self["publicClientId"],
            **form,
        )

    def access_token(self, username: str, client: str | None = None) -> str:
        return self.tokens(username, client)["access_token"]

    def brief_token(self, username: str) -> str:
        """One that is over after seconds."""
        return self.access_token(username, self["briefClientId"])

    def service_token(self) -> str:
        return self._grant(
            self["tokenEndpoint"],
            grant_type="client_credentials",
            client_id=self["clientId"],
            client_secret=self["clientSecret"],
        )["access_token"]

    def foreign_token(self) -> str:
        """Of the other realm of the same provider."""
        user = self["shortLivedUsers"][0]
        return self._grant(
            self["tokenEndpoint"].replace(f"/realms/{self['realm']}/", f"/realms/{self['shortLivedRealm']}/"),
            grant_type="password",
            username=user["username"],
            password=user["password"],
            client_id=self["publicClientId"],
        )["access_token"]

    def password_grants(self) -> int:
        """How often the provider was asked whether a password is right, by anybody."""
        with urllib.request.urlopen(f"{self['url']}/-/requests", timeout=10) as response:
            return sum(request["grant"] == "password" for request in json.load(response))

    def _grant(self, endpoint: str, **form) -> dict:
        data = urllib.parse.urlencode(form).encode()
        with urllib.request.urlopen(endpoint, data, timeout=30) as response:
            return json.load(response)


def wrong_tokens(good: str) -> dict[str, str]:
    """What somebody makes of a good token."""
    header, payload, signature = good.split(".")
    claims = json.loads(decoded(payload))
    return {
        "garbage": "nonsense",
        "truncated": good[:-20],
        "without a signature": f"{header}.{payload}.",
        "alg none": f"{encoded({'alg': 'none', 'typ': 'JWT'})}.{payload}.",
        "another user's name": f"{header}.{encoded({**claims, 'preferred_username': 'alice'})}.{signature}",
        "a later expiry": f"{header}.{encoded({**claims, 'exp': claims['exp'] + 3600})}.{signature}",
    }


def decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def encoded(part: dict) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


def call(target: Target, path: str, bearer: str | None = None, body: object = None, method: str = "POST") -> Answer:
    """A request to the admin port; an answer is an answer, whatever its status."""
    headers = {} if bearer is None else {"authorization": f"Bearer {bearer}"}
    data = None if body is None else json.dumps(body).encode()
    if data is not None:
        headers["content-type"] = "application/json"
    request = urllib.request.Request(f"http://{target.host}:{target.status_port}{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return Answer(response.status, json.load(response))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, json.load(error))
