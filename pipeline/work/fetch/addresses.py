"""Which network addresses may be talked to, checked at the moment the connection is made."""

import ipaddress
import socket
from collections.abc import Iterable

import httpcore

from pipeline.errors import DocumentError, SourceError
from pipeline.work.fetch.allowance import Allowance, BoundedStream

UNSAFE = "unsafe_address"
# A name with hundreds of dead addresses would take their timeouts one after another.
MOST_ADDRESSES = 4

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
# Global by the tables, yet they lead inside: tunnels, documentation, and a cloud's own control address.
_REFUSED_V6 = [ipaddress.IPv6Network(net) for net in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")]
_REFUSED_V4 = [ipaddress.IPv4Network(net) for net in ("168.63.129.16/32", "192.88.99.0/24")]


def is_public(address: str) -> bool:
    """True for an address of the open internet, in whatever form a private one may be wrapped."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return _is_public(ip)


def _is_public(ip: IPAddress) -> bool:
    if isinstance(ip, ipaddress.IPv4Address):
        refused = ip.is_private or ip.is_multicast or ip.is_reserved or any(ip in net for net in _REFUSED_V4)
        return ip.is_global and not refused
    if ip in _NAT64:
        return _is_public(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF))
    return ip in _GLOBAL_UNICAST and ip.is_global and not any(ip in net for net in _REFUSED_V6)


class PrivateHosts:
    """The private hosts that may be fetched all the same, as `name` or `name:port`."""

    def __init__(self, hosts: Iterable[str] = ()) -> None:
        self._hosts = {host.strip().lower().strip("[]") for host in hosts}

    def allow(self, host: str, port: int) -> bool:
        name = host.lower().strip("[]")
        return name in self._hosts or f"{name}:{port}" in self._hosts


class CheckedBackend(httpcore.SyncBackend):
    """Opens connections only to addresses it has checked, and to exactly the ones it has checked."""

    def __init__(self, private_hosts: PrivateHosts, allowance: Allowance | None = None) -> None:
        self._private_hosts, self._allowance = private_hosts, allowance or Allowance()

    def connect_tcp(self, host, port, timeout=None, local_address=None, socket_options=None):
        addresses = self.checked(host, port)[:MOST_ADDRESSES]
        for number, address in enumerate(addresses, start=1):
            try:
                seconds = self._allowance.seconds(timeout)
                stream = super().connect_tcp(address, port, seconds, local_address, socket_options)
                return BoundedStream(stream, self._allowance)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if number == len(addresses):
                    raise
        raise AssertionError("resolve() returned no address")

    def checked(self, host: str, port: int) -> list[str]:
        """The addresses of `host`; refused as a whole if one of them is private."""
        addresses = resolve(host, port)
        if not self._private_hosts.allow(host, port):
            refused = [address for address in addresses if not is_public(address)]
            if refused:
                raise DocumentError(
                    f"{host} is at {refused[0]}, which is not on the open internet", code=UNSAFE
                )
        return addresses


def resolve(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise SourceError(f"{host} has no address: {error}", code="dns_failed") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
