"""Every bloom and cuckoo call that redis-py has, against a server that has guestlist.so.

Arguments: the port. The server is filled; keys start with "py". Prints what failed, then `N passed, N failed`.
"""

import sys
import traceback

import redis
from redis.exceptions import ResponseError


class Report:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, law, body):
        """`law` is a sentence that holds if `body` returns. One that raises has failed."""
        try:
            body()
            self.passed += 1
        except Exception as reason:  # noqa: BLE001
            self.failed += 1
            where = traceback.extract_tb(reason.__traceback__)[-1].lineno
            print(f"FAILED: {law}: line {where}: {type(reason).__name__} {reason}")


def equal(actual, expected):
    assert actual == expected, f"expected {expected!r}, got {actual!r}"


def refused(text, call):
    try:
        answer = call()
    except ResponseError as error:
        equal(str(error), text)
        return
    raise AssertionError(f"expected a refusal, got {answer!r}")


def told(info, name):
    """Of INFO's reply, which is an object in RESP2 and a dictionary in RESP3."""
    if isinstance(info, dict):
        return {key.decode(): value for key, value in info.items()}[name]
    attributes = {"Capacity": "capacity", "Size": "size", "Number of filters": "filterNum",
                  "Number of items inserted": "insertedNum", "Number of items deleted": "deletedNum",
                  "Expansion rate": "expansionRate", "Number of buckets": "bucketNum", "Bucket size": "bucketSize",
                  "Max iterations": "maxIteration"}
    return info[attributes[name]]


def dumped(filters, key):
    """Iterators and pieces, as SCANDUMP gives them."""
    pieces = []
    iterator = 0
    while True:
        iterator, data = filters.scandump(key, iterator)
        if iterator == 0:
            return pieces
        pieces.append((iterator, data))


class BloomCalls:
    def __init__(self, client, prefix):
        self.bf = client.bf()
        self.prefix = prefix

    def key(self, name):
        return f"{self.prefix}:{name}"

    def create(self):
        key = self.key("create")
        equal(self.bf.create(key, 0.001, 1000), True)
        refused("item exists", lambda: self.bf.create(key, 0.001, 1000))
        equal(self.bf.create(self.key("create expansion"), 0.01, 100, expansion=4), True)
        equal(told(self.bf.info(self.key("create expansion")), "Expansion rate"), 4)
        equal(self.bf.create(self.key("create fixed"), 0.01, 100, noScale=True), True)
        equal(told(self.bf.info(self.key("create fixed")), "Expansion rate"), None)
        refused("Nonscaling filters cannot expand",
                lambda: self.bf.create(self.key("create both"), 0.01, 100, expansion=2, noScale=True))

    def add(self):
        key = self.key("add")
        equal(self.bf.add(key, "one"), 1)
        equal(self.bf.add(key, "one"), 0)
        equal(self.bf.exists(key, "one"), 1)
        equal(self.bf.exists(key, "two"), 0)
        equal(self.bf.exists(self.key("missing"), "one"), 0)

    def add_many(self):
        key = self.key("madd")
        equal(self.bf.madd(key, "a", "b", "a"), [1, 1, 0])
        equal(self.bf.mexists(key, "a", "z", "b"), [1, 0, 1])
        items = [f"item:{number}" for number in range(3000)]
        self.bf.madd(key, *items)
        equal(self.bf.mexists(key, *items), [1] * len(items))

    def insert(self):
        key = self.key("insert")
        refused("not found", lambda: self.bf.insert(key, ["a"], noCreate=True))
        equal(self.bf.insert(key, ["a", "b"], capacity=500, error=0.001, expansion=3), [1, 1])
        equal(self.bf.insert(key, ["b", "c"], noCreate=True), [0, 1])
        equal(told(self.bf.info(key), "Expansion rate"), 3)
        fixed = self.key("insert fixed")
        equal(self.bf.insert(fixed, ["a"], capacity=10, noScale=True), [1])
        equal(told(self.bf.info(fixed), "Expansion rate"), None)

    def dump(self):
        key, copy = self.key("dump"), self.key("dump copy")
        items = [f"item:{number}" for number in range(5000)]
        self.bf.madd(key, *items)
        for iterator, data in dumped(self.bf, key):
            equal(self.bf.loadchunk(copy, iterator, data), b"OK")
        equal(self.bf.mexists(copy, *items), [1] * len(items))
        equal(self.bf.card(copy), self.bf.card(key))
        equal(told(self.bf.info(copy), "Number of filters"), told(self.bf.info(key), "Number of filters"))

    def info(self):
        key = self.key("info")
        self.bf.create(key, 0.01, 1000)
        self.bf.madd(key, "a", "b", "c")
        info = self.bf.info(key)
        names = ("Capacity", "Number of filters", "Number of items inserted", "Expansion rate")
        equal([told(info, name) for name in names], [1000, 1, 3, 2])
        assert told(info, "Size") > 1000, told(info, "Size")
        refused("not found", lambda: self.bf.info(self.key("missing")))

    def card(self):
        key = self.key("card")
        equal(self.bf.card(key), 0)
        self.bf.madd(key, "a", "b", "a")
        equal(self.bf.card(key), 2)


class CuckooCalls:
    def __init__(self, client, prefix):
        self.cf = client.cf()
        self.prefix = prefix

    def key(self, name):
        return f"{self.prefix}:cf:{name}"

    def create(self):
        key = self.key("create")
        equal(self.cf.create(key, 1000), True)
        refused("item exists", lambda: self.cf.create(key, 1000))
        chosen = self.key("create chosen")
        equal(self.cf.create(chosen, 1000, expansion=4, bucket_size=8, max_iterations=50), True)
        info = self.cf.info(chosen)
        equal([told(info, name) for name in ("Bucket size", "Expansion rate", "Max iterations")], [8, 4, 50])

    def add(self):
        key = self.key("add")
        equal(self.cf.add(key, "one"), 1)
        equal(self.cf.add(key, "one"), 1)
        equal(self.cf.addnx(key, "one"), 0)
        equal(self.cf.addnx(key, "two"), 1)
        equal(self.cf.count(key, "one"), 2)
        equal(self.cf.count(key, "three"), 0)
        equal(self.cf.exists(key, "one"), 1)
        equal(self.cf.exists(key, "three"), 0)
        equal(self.cf.mexists(key, "one", "three", "two"), [1, 0, 1])

    def insert(self):
        key = self.key("insert")
        refused("not found", lambda: self.cf.insert(key, ["a"], nocreate=True))
        equal(self.cf.insert(key, ["a", "a"], capacity=500), [1, 1])
        equal(self.cf.insertnx(key, ["a", "b"], nocreate=True), [0, 1])
        equal(self.cf.count(key, "a"), 2)

    def delete(self):
        key = self.key("delete")
        self.cf.add(key, "one")
        equal(self.cf.delete(key, "one"), 1)
        equal(self.cf.delete(key, "one"), 0)
        equal(self.cf.exists(key, "one"), 0)
        refused("Not found", lambda: self.cf.delete(self.key("missing"), "one"))

    def dump(self):
        key, copy = self.key("dump"), self.key("dump copy")
        items = [f"item:{number}" for number in range(5000)]
        self.cf.insert(key, items)
        for iterator, data in dumped(self.cf, key):
            equal(self.cf.loadchunk(copy, iterator, data), b"OK")
        equal(self.cf.mexists(copy, *items), [1] * len(items))
        equal(told(self.cf.info(copy), "Number of items inserted"), len(items))

    def info(self):
        key = self.key("info")
        self.cf.create(key, 1000)
        self.cf.insert(key, ["a", "b", "c"])
        self.cf.delete(key, "c")
        info = self.cf.info(key)
        names = ("Number of filters", "Number of items inserted", "Number of items deleted", "Bucket size")
        equal([told(info, name) for name in names], [1, 2, 1, 2])
        assert told(info, "Number of buckets") >= 512, told(info, "Number of buckets")
        refused("not found", lambda: self.cf.info(self.key("missing")))


def pipelined(client, prefix):
    pipeline = client.pipeline()
    key = f"{prefix}:pipeline"
    pipeline.bf().create(key, 0.01, 1000)
    pipeline.bf().add(key, "one")
    pipeline.bf().exists(key, "one")
    equal(pipeline.execute(), [True, 1, 1])


def main():
    port = int(sys.argv[1])
    report = Report()
    for protocol in (2, 3):
        client = redis.Redis(port=port, protocol=protocol)
        prefix = f"py{protocol}"
        for calls in (BloomCalls(client, prefix), CuckooCalls(client, prefix)):
            family = type(calls).__name__
            for name in [name for name in vars(type(calls)) if not name.startswith("_") and name != "key"]:
                report.check(f"RESP{protocol}, {family}.{name}", getattr(calls, name))
        report.check(f"RESP{protocol}, pipelines", lambda: pipelined(client, prefix))
    print(f"{report.passed} passed, {report.failed} failed")
    sys.exit(report.failed > 0)


main()
