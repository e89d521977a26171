"""POST /api/v1/catalogs/refresh by bearers of every kind (specification, sections 4.4, 5.6 and 7)."""

from checks import Checks, expect
from provider import Provider, call, once, wrong_tokens
from pyarrow_session import Session, connect
from target import target_from_arguments

target = target_from_arguments()
provider = Provider(target)
checks = Checks()

REFRESH = "/api/v1/catalogs/refresh"


def session_bearer(username: str) -> str:
    with connect(target) as client:
        header = client.authenticate_basic_token(username, provider.password_of(username))
        expect(Session(client, header).value(once("admin", username)), 42)
        return header[1].decode().removeprefix("Bearer ")


def refresh(bearer: str | None, body: object = None) -> tuple[int, dict]:
    answer = call(target, REFRESH, bearer, body)
    return answer.status, answer.body


@checks.check
def an_admin_refreshes_all_and_one_users():
    for bearer in (provider.access_token("alice"), session_bearer("alice"), provider.static_token("admin")):
        expect(refresh(bearer), (200, {"invalidated": "all"}))
        expect(refresh(bearer, {"username": "bob"}), (200, {"invalidated": "session:bob"}))


@checks.check
def who_has_another_role_is_refused_with_403():
    for bearer in (provider.access_token("bob"), session_bearer("bob"), provider.static_token("analyst")):
        expect(refresh(bearer)[0], 403)


@checks.check
def no_bearer_and_wrong_ones_are_refused_with_401():
    expect(refresh(None)[0], 401)
    for name, bearer in wrong_tokens(provider.access_token("alice")).items():
        expect(refresh(bearer)[0], 401, name)
    expect(refresh("A" * 43)[0], 401, "a guessed session")
    expect(refresh(provider.foreign_token())[0], 401, "of another realm")


@checks.check
def what_a_refused_caller_sends_is_not_looked_at():
    expect(refresh(None, {"username": 1})[0], 401)
    expect(refresh(provider.access_token("bob"), {"unknown": 1})[0], 403)


@checks.check
def a_body_that_is_not_right_is_refused_with_400():
    admin = provider.static_token("admin")
    for body in ({"user": "bob"}, {"username": 1}, {"username": ""}, [], "bob"):
        expect(refresh(admin, body)[0], 400, str(body))


@checks.check
def the_bearer_of_a_closed_session_is_refused_with_401():
    with connect(target) as client:
        session = Session(client, client.authenticate_basic_token("alice", provider.password_of("alice")))
        bearer = session.header[1].decode().removeprefix("Bearer ")
        expect(refresh(bearer)[0], 200)
        session.action("CloseSession")
        expect(refresh(bearer)[0], 401)


@checks.check
def probes_and_metrics_need_no_bearer():
    expect(target.get(target.status_port, "/healthz").strip(), "ok")
    expect(target.metric("svc_active_sessions") > 0, True)


checks.run()
