#!/usr/bin/env python3
"""A reader of guestlist's shared filters, written from docs/formats/shared-filter.md alone.

  shared_filter.py PORT NAME KEY...   prints one word a key: maybe, absent, unknown
  shared_filter.py --vectors          prints lib/redis/test/data/shared_filter.txt
"""
import hashlib
import socket
import sys

M = 2**64 - 1


def siphash24(secret, data):
    rotl = lambda x, b: ((x << b) | (x >> (64 - b))) & M
    k0, k1 = (int.from_bytes(secret[i:i + 8], "little") for i in (0, 8))
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & M; v[1] = rotl(v[1], 13) ^ v[0]; v[0] = rotl(v[0], 32)
            v[2] = (v[2] + v[3]) & M; v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & M; v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & M; v[1] = rotl(v[1], 17) ^ v[2]; v[2] = rotl(v[2], 32)

    padded = data + b"\0" * (7 - len(data) % 8) + bytes([len(data) & 255])
    for i in range(0, len(padded), 8):
        m = int.from_bytes(padded[i:i + 8], "little")
        v[3] ^= m; rounds(2); v[0] ^= m
    v[2] ^= 255; rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def shard_of(key, shard_secret, shards):
    return siphash24(shard_secret, key) * shards >> 64


def place(key, secret, lines, segment_lines):
    """Segment, offset in it, and the 64 bytes of the mask."""
    h = siphash24(secret, key)
    line = h * lines >> 64
    positions = (h * 0x9E3779B1 & M).to_bytes(8, "little")
    mask = b"".join((1 << 63 - (position & 63)).to_bytes(8, "little") for position in positions)
    return line // segment_lines, 64 + line % segment_lines * 64, mask


def header_start(generation, segment, lines, segment_lines, secret, shard):
    """The first 56 bytes; the other 8 are a checksum of them."""
    u64 = lambda n: n.to_bytes(8, "little")
    fingerprint = hashlib.blake2b(b"guestlist secret fingerprint", digest_size=16, key=secret).digest()[:8]
    return (b"GLSEG\x01\r\n" + u64(generation) + u64(segment) + u64(lines) + u64(segment_lines) + fingerprint +
            shard.to_bytes(4, "little") + (1).to_bytes(4, "little"))


class Redis:
    def __init__(self, port):
        self.stream = socket.create_connection(("127.0.0.1", port), 5).makefile("rwb")

    def ask(self, *words):
        words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
        self.stream.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        self.stream.flush()
        return self.reply()

    def reply(self):
        line = self.stream.readline()[:-2]
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b"$":
            return None if rest == b"-1" else self.stream.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        return rest

    def server(self):
        info = self.ask("INFO", "replication").decode()
        return dict(line.split(":", 1) for line in info.split("\r\n") if ":" in line)

    def state(self, name, shard):
        flat = self.ask("HGETALL", "guestlist:{%s/%d}:state" % (name, shard))
        return {k.decode(): v.decode() for k, v in zip(flat[::2], flat[1::2])}


def check(redis, name, key):
    first = redis.state(name, 0)
    if "epoch" not in first:
        return "unknown"
    shard = shard_of(key, bytes.fromhex(first["shard_secret"]), int(first["shards"])) if first["shards"] != "1" else 0
    state, server = redis.state(name, shard), redis.server()
    parameters = state.get("generation:" + state.get("generation", "0"))
    if (not parameters or state.get("incomplete") or server["role"] != "master" or
            state["server"] != server["master_replid"] or state["shard_secret"] != first["shard_secret"]):
        return "unknown"
    p = dict(field.split("=", 1) for field in parameters.split(" "))
    if p["layout"] != "split-line" or p["hash"] != "siphash":
        return "unknown"
    secret, lines, segment_lines = bytes.fromhex(p["secret"]), int(p["lines"]), int(p["segment_lines"])
    segment, offset, mask = place(key, secret, lines, segment_lines)
    string = "guestlist:{%s/%d}:%s:%d" % (name, shard, state["generation"], segment)
    if redis.ask("GETRANGE", string, 0, 55) != header_start(int(state["generation"]), segment, lines, segment_lines,
                                                            secret, shard):
        return "unknown"
    line = redis.ask("GETRANGE", string, offset, offset + 63)
    if redis.ask("HGET", "guestlist:{%s/%d}:state" % (name, shard), "epoch").decode() != state["epoch"]:
        return "unknown"
    if redis.server() != server or len(line) != 64:
        return "unknown"
    return "maybe" if all(l & m == m for l, m in zip(line, mask)) else "absent"


def vectors():
    secret, shard_secret = bytes(range(16)), bytes(range(16, 32))
    lines, segment_lines = 1000, 300
    print("header", header_start(1796100000000, 3, lines, segment_lines, secret, 5).hex())
    keys = [b"", b"a", b"12345678", b"product:42", b"\0\xff", "käse".encode(), b"x" * 100]
    for key in keys + [b"key %d" % i for i in range(13)]:
        segment, offset, mask = place(key, secret, lines, segment_lines)
        print("key", key.hex() or "-", shard_of(key, shard_secret, 7), segment, offset, mask.hex())


if __name__ == "__main__":
    if sys.argv[1] == "--vectors":
        vectors()
    else:
        connection = Redis(int(sys.argv[1]))
        for wanted in sys.argv[3:]:
            print(check(connection, sys.argv[2], wanted.encode()))
