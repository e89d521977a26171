"""Signs in with the password and prints the bearer, for clients that start from one."""

from pyarrow_session import Session
from target import target_from_arguments

print(Session.open(target_from_arguments()).header[1].decode().removeprefix("Bearer "))
