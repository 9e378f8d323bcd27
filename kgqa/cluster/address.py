"""Checks that a Ray cluster answers at an address, in another process and within a time limit.

``ray.init`` waits for more than a minute if nothing answers, and then ends its process.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from kgqa.errors import ClusterError, SettingsError
from kgqa.settings.cluster import FORMS, is_address

SECONDS = "KGQA_CLUSTER_SECONDS"
"""Environment variable: seconds to wait for the cluster's answer."""
WAIT = 30.0
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


def probe(address: str) -> str:
    """The address, with ``auto`` resolved: the cluster named by ``RAY_ADDRESS``, or the one that runs on this machine.

    Raises SettingsError if it is no address, ClusterError if no cluster answers within ``KGQA_CLUSTER_SECONDS``.
    """
    if not is_address(address):
        raise SettingsError(f"--cluster {address!r} is no address of a cluster; give {FORMS}.")
    seconds = _seconds()
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    try:
        done = subprocess.run(  # noqa: S603 - our own program; the address is an argument, not code
            [sys.executable, "-c", _PROBE, address],
            timeout=seconds, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ClusterError(
            f"no Ray cluster answered at {address} within {seconds:g} seconds; start one with: ray start --head, or set {SECONDS} to wait "
            "longer."
        ) from None
    if done.returncode:
        where = "RAY_ADDRESS is not set and no Ray cluster runs on this machine" if "Could not find any running" in done.stdout else ""
        reason = where or done.stdout.strip() or "its process ended without a message"
        raise ClusterError(f"--cluster {address}: {reason.rstrip('.')}; start a cluster with: ray start --head, or give its HOST:PORT.")
    return done.stdout.strip().splitlines()[-1]


def answers(address: str) -> bool:
    """Whether something listens at the address, ``HOST:PORT`` or ``ray://HOST:PORT``."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=3.0):
            return True
    except OSError:
        return False


def _seconds() -> float:
    text = os.environ.get(SECONDS, "")
    try:
        seconds = float(text) if text else WAIT
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86400:
        raise SettingsError(f"{SECONDS} is {text!r}, which is no number of seconds.")
    return seconds
