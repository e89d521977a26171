"""Bars 2 and 4 of signing in: the service's own share of it, with Sail's `select 1` as the measure of the machine, and right
sign-ins beside a flood of wrong passwords.

`sign_in.py FACTS flood ADDRESS` is the flood: a process of its own, so that it does not slow down what is measured.
"""

import json
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pyarrow.flight as flight

import contestants
import flight_sql_messages as messages
from measuring import answer, arguments, progress, timed

#: Of each service: until V8 has compiled what a sign-in and a statement run through. Its first hundred take half as long again.
WARM_UP = 1000
SAMPLES = 200
SAIL_BLOCK = 10
#: A flood lasts for seconds, and a right sign-in takes a tenth of one.
FLOODS = 4
ATTEMPTS = 1000
AT_ONCE = 50
#: auth.max_failures_per_user
LIMIT = 10
WAITED = "svc_identity_request_duration_seconds_sum"

given = arguments()
service = given["keycloak"]
local = given["samples"]
sail = contestants.OverAdbc("sail", f"grpc://127.0.0.1:{given['sail']['port']}")
uri = f"grpc://{service['host']}:{service['flight_port']}"
passwords = {user["username"]: user["password"] for user in service["sign_in"]["users"]}


def sign_in(username: str, address: str) -> tuple[flight.FlightClient, flight.FlightCallOptions]:
    """Over a connection of its own. The service believes us, its proxy, where the client is."""
    client = flight.FlightClient(uri)
    options = flight.FlightCallOptions(headers=[(b"x-forwarded-for", address.encode())])
    bearer = client.authenticate_basic_token(username, passwords[username], options)
    return client, flight.FlightCallOptions(headers=[bearer])


def provider_requests() -> list[dict]:
    with urllib.request.urlopen(f"{service['sign_in']['url']}/-/requests", timeout=10) as response:
        return json.load(response)


def waited_for_provider() -> float:
    """Seconds that the service has waited for answers of the provider since it began, as it says itself."""
    with urllib.request.urlopen(f"http://{service['host']}:{service['metrics_port']}/metrics", timeout=10) as response:
        lines = response.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(WAITED))


def sign_in_locally() -> tuple[flight.FlightClient, flight.FlightCallOptions]:
    client = flight.FlightClient(f"grpc://{local['host']}:{local['flight_port']}")
    bearer = client.authenticate_basic_token(local["username"], local["password"])
    return client, flight.FlightCallOptions(headers=[bearer])


def first_answer(signing_in) -> float:
    """Seconds from nothing to the answer of `select 1`."""
    began = time.perf_counter()
    client, options = signing_in()
    info = client.get_flight_info(flight.FlightDescriptor.for_command(messages.statement_query("select 1")), options)
    client.do_get(info.endpoints[0].ticket, options).read_all()
    seconds = time.perf_counter() - began
    client.close()
    return seconds


def own_shares(count: int) -> dict[str, list[float]]:
    """With the provider, at another service without one, and warm statements of Sail, in turn."""
    shares: dict[str, list[float]] = {"total": [], "provider": [], "own share": [], "local user": [], "sail's, warm": []}
    for _ in range(count):
        shares["sail's, warm"] += [timed(lambda: sail.query("select 1")) for _ in range(SAIL_BLOCK)]
        shares["local user"].append(first_answer(sign_in_locally))
        before = waited_for_provider()
        total = first_answer(lambda: sign_in("bob", "192.0.2.50"))
        provider = waited_for_provider() - before
        for name, seconds in (("total", total), ("provider", provider), ("own share", total - provider)):
            shares[name].append(seconds)
    return shares


def timed_sign_in(username: str, address: str) -> float:
    began = time.perf_counter()
    client, _ = sign_in(username, address)
    seconds = time.perf_counter() - began
    client.close()
    return seconds


def beside_floods(count: int) -> dict:
    """Right sign-ins of both kinds in turn: as many alone as there were while a flood went on."""
    who = {"another user": ("bob", "192.0.2.51"), "the same user elsewhere": ("alice", "192.0.2.52")}
    seconds = {f"{name}, {when}": [] for name in who for when in ("alone", "beside wrong passwords")}
    asked = []
    for number in range(count):
        before, right = password_grants(), 0
        flooding = start_flood(f"203.0.113.{number % 250 + 1}")
        while flooding.poll() is None:
            for name, (username, address) in who.items():
                seconds[f"{name}, beside wrong passwords"].append(timed_sign_in(username, address))
                right += 1
        if flooding.returncode != 0:
            raise RuntimeError(f"the flood ended with {flooding.returncode}")
        asked.append(password_grants() - before - right)
        for _ in range(right // len(who)):
            for name, (username, address) in who.items():
                seconds[f"{name}, alone"].append(timed_sign_in(username, address))
        progress(f"flood {number + 1}: {right} right sign-ins beside it, {asked[-1]} wrong passwords reached the provider")
    return {"seconds": seconds, "asked": asked, "limit": LIMIT}


def password_grants() -> int:
    return sum(request["grant"] == "password" for request in provider_requests())


def start_flood(address: str) -> subprocess.Popen:
    """Once it is ready it is let go."""
    process = subprocess.Popen(
        [sys.executable, __file__, sys.argv[1], "flood", address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    process.stdin.write("go\n")
    process.stdin.flush()
    return process


def flood(address: str) -> None:
    client = flight.FlightClient(uri)
    options = flight.FlightCallOptions(headers=[(b"x-forwarded-for", address.encode())])

    def attempt(_: int) -> None:
        try:
            client.authenticate_basic_token("alice", "wrong", options)
        except Exception:
            return
        raise AssertionError("a wrong password was taken")

    print("ready", flush=True)
    sys.stdin.readline()
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(attempt, range(ATTEMPTS)))


def warm_up() -> None:
    for _ in range(WARM_UP):
        first_answer(sign_in_locally)
        first_answer(lambda: sign_in("bob", "192.0.2.50"))
        sail.query("select 1")


def main() -> None:
    warm_up()
    shares = own_shares(SAMPLES * given["runs"])
    progress(f"{SAMPLES * given['runs']} sign-ins and first statements")
    answer({"shares": shares, "flood": beside_floods(FLOODS * given["runs"])})


if sys.argv[2:3] == ["flood"]:
    flood(sys.argv[3])
else:
    main()
