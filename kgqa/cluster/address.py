"""Checks that a Ray cluster answers at an address, in another process and within a time limit.

``ray.init`` waits for more than a minute if nothing answers, and then ends its process.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from kgqa.errors import ClusterError, SettingsError
from kgqa.settings.cluster import AUTO, FORMS, VARIABLE, is_address, shown
from kgqa.settings.environment import number

SECONDS = "KGQA_CLUSTER_SECONDS"
"""Environment variable: seconds to wait for the cluster's answer."""
WAIT, MOST_SECONDS = 30.0, 86_400
_PROBE = """
import sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level="CRITICAL")
except Exception as error:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    print(lines[-1] if lines[0].endswith(":") else lines[0])
    sys.exit(3)
print(sys.argv[1] if sys.argv[1].startswith("ray://") else ray.get_runtime_context().gcs_address)
"""


def probe(address: str, where: str = "") -> str:
    """The address, with ``auto`` resolved: the cluster named by ``RAY_ADDRESS``, or the one that runs on this machine.

    ``where`` names the option or setting that has the address, for messages. Raises SettingsError if it is no address, ClusterError if no
    cluster answers within ``KGQA_CLUSTER_SECONDS``.
    """
    where = where or f"--cluster {address}"
    if not is_address(address):
        raise SettingsError(f"--cluster {shown(address)} is no address of a cluster; give {FORMS}.")
    named = os.environ.get(VARIABLE, "") if address == AUTO else ""
    if named and not is_address(named):
        raise SettingsError(
            f"{where}: {VARIABLE} is {shown(named)}, which is no address of a cluster; set it to HOST:PORT or ray://HOST:PORT, or unset it."
        )
    if named:
        where = f"{where}, {VARIABLE} {named}"
    seconds = number(SECONDS, WAIT, least=0.1, most=MOST_SECONDS, what="a number of seconds")
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    try:
        done = subprocess.run(  # noqa: S603 - our own program; the address is an argument, not code
            [sys.executable, "-c", _PROBE, address],
            timeout=seconds, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ClusterError(
            f"{where}: no Ray cluster answered at {named or address} within {seconds:g} seconds; start one with: ray start --head, or set "
            f"{SECONDS} to wait longer."
        ) from None
    if done.returncode:
        is_absent = "Could not find any running" in done.stdout and not named
        absent = f"{VARIABLE} is not set and no Ray cluster runs on this machine" if is_absent else ""
        reason = absent or done.stdout.strip() or "its process ended without a message"
        raise ClusterError(
            f"{where}: {reason.rstrip('.')}; start a cluster with: ray start --head, or give the HOST:PORT of one (--cluster, {VARIABLE})."
        )
    return done.stdout.strip().splitlines()[-1]


def answers(address: str) -> bool:
    """Whether something listens at the address, ``HOST:PORT`` or ``ray://HOST:PORT``."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=3.0):
            return True
    except OSError:
        return False
