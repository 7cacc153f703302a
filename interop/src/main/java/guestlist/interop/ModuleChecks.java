package guestlist.interop;

import static guestlist.interop.Report.equal;
import static guestlist.interop.Report.holds;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.bloom.BFInsertParams;
import redis.clients.jedis.bloom.BFReserveParams;
import redis.clients.jedis.bloom.CFInsertParams;
import redis.clients.jedis.bloom.CFReserveParams;
import redis.clients.jedis.exceptions.JedisDataException;

/** Every bloom and cuckoo call that Jedis has, against a server that has guestlist.so. */
final class ModuleChecks {
  private interface Dump {
    Map.Entry<Long, byte[]> next(String key, long iterator);
  }

  private interface Load {
    String take(String key, long iterator, byte[] piece);
  }

  private static final String[] ITEMS = IntStream.range(0, 5000).mapToObj(number -> "item:" + number).toArray(String[]::new);
  private static final List<Boolean> ALL = Collections.nCopies(ITEMS.length, true);

  private final Report report;
  private final RedisProtocol protocol;
  private final RedisClient redis;

  ModuleChecks(Report report, int port, RedisProtocol protocol) {
    this.report = report;
    this.protocol = protocol;
    redis =
        RedisClient.builder()
            .hostAndPort(new HostAndPort("127.0.0.1", port))
            .clientConfig(DefaultJedisClientConfig.builder().protocol(protocol).build())
            .build();
  }

  void run() {
    check("bfReserve", this::bloomReserve);
    check("bfAdd and bfExists", this::bloomAdd);
    check("bfMAdd and bfMExists", this::bloomAddMany);
    check("bfInsert", this::bloomInsert);
    check("bfScanDump and bfLoadChunk", this::bloomDump);
    check("bfInfo and bfCard", this::bloomInfo);
    check("cfReserve", this::cuckooReserve);
    check("cfAdd, cfAddNx, cfCount, cfExists, cfMExists", this::cuckooAdd);
    check("cfInsert and cfInsertNx", this::cuckooInsert);
    check("cfDel", this::cuckooDelete);
    check("cfScanDump and cfLoadChunk", this::cuckooDump);
    check("cfInfo", this::cuckooInfo);
    redis.close();
  }

  private interface Calls {
    void run(String key);
  }

  private void check(String name, Calls calls) {
    report.check("Jedis, " + protocol + ", " + name, () -> calls.run("jedis" + protocol + ":" + name));
  }

  private static void refused(String text, Runnable call) {
    try {
      call.run();
    } catch (JedisDataException refusal) {
      equal(text, refusal.getMessage());
      return;
    }
    throw new AssertionError("expected the refusal " + text);
  }

  private void copy(String from, String to, Dump dump, Load load) {
    for (long iterator = 0; ; ) {
      Map.Entry<Long, byte[]> piece = dump.next(from, iterator);
      iterator = piece.getKey();
      if (iterator == 0) {
        return;
      }
      equal("OK", load.take(to, iterator, piece.getValue()));
    }
  }

  private void bloomReserve(String key) {
    equal("OK", redis.bfReserve(key, 0.001, 1000));
    refused("ERR item exists", () -> redis.bfReserve(key, 0.001, 1000));
    equal("OK", redis.bfReserve(key + " expansion", 0.01, 100, BFReserveParams.reserveParams().expansion(4)));
    equal(4L, redis.bfInfo(key + " expansion").get("Expansion rate"));
    equal("OK", redis.bfReserve(key + " fixed", 0.01, 100, BFReserveParams.reserveParams().nonScaling()));
    holds(redis.bfInfo(key + " fixed").get("Expansion rate") == null, "a filter that does not grow has an expansion");
  }

  private void bloomAdd(String key) {
    equal(true, redis.bfAdd(key, "one"));
    equal(false, redis.bfAdd(key, "one"));
    equal(true, redis.bfExists(key, "one"));
    equal(false, redis.bfExists(key, "two"));
    equal(false, redis.bfExists(key + " missing", "one"));
  }

  private void bloomAddMany(String key) {
    equal(List.of(true, true, false), redis.bfMAdd(key, "a", "b", "a"));
    equal(List.of(true, false, true), redis.bfMExists(key, "a", "z", "b"));
    redis.bfMAdd(key, ITEMS);
    equal(ALL, redis.bfMExists(key, ITEMS));
  }

  private void bloomInsert(String key) {
    refused("ERR not found", () -> redis.bfInsert(key, BFInsertParams.insertParams().noCreate(), "a"));
    BFInsertParams chosen = BFInsertParams.insertParams().capacity(500).error(0.001).expansion(3);
    equal(List.of(true, true), redis.bfInsert(key, chosen, "a", "b"));
    equal(List.of(false, true), redis.bfInsert(key, BFInsertParams.insertParams().noCreate(), "b", "c"));
    equal(List.of(false), redis.bfInsert(key, "c"));
    equal(3L, redis.bfInfo(key).get("Expansion rate"));
    equal(List.of(true), redis.bfInsert(key + " fixed", BFInsertParams.insertParams().nonScaling(), "a"));
  }

  private void bloomDump(String key) {
    redis.bfMAdd(key, ITEMS);
    copy(key, key + " copy", redis::bfScanDump, redis::bfLoadChunk);
    equal(ALL, redis.bfMExists(key + " copy", ITEMS));
    equal(redis.bfCard(key), redis.bfCard(key + " copy"));
  }

  private void bloomInfo(String key) {
    equal(0L, redis.bfCard(key));
    redis.bfReserve(key, 0.01, 1000);
    redis.bfMAdd(key, "a", "b", "a");
    equal(2L, redis.bfCard(key));
    Map<String, Object> info = redis.bfInfo(key);
    equal(1000L, info.get("Capacity"));
    equal(1L, info.get("Number of filters"));
    equal(2L, info.get("Number of items inserted"));
    equal(2L, info.get("Expansion rate"));
    refused("ERR not found", () -> redis.bfInfo(key + " missing"));
  }

  private void cuckooReserve(String key) {
    equal("OK", redis.cfReserve(key, 1000));
    refused("ERR item exists", () -> redis.cfReserve(key, 1000));
    CFReserveParams chosen = CFReserveParams.reserveParams().bucketSize(8).maxIterations(50).expansion(4);
    equal("OK", redis.cfReserve(key + " chosen", 1000, chosen));
    Map<String, Object> info = redis.cfInfo(key + " chosen");
    equal(8L, info.get("Bucket size"));
    equal(50L, info.get("Max iterations"));
    equal(4L, info.get("Expansion rate"));
  }

  private void cuckooAdd(String key) {
    equal(true, redis.cfAdd(key, "one"));
    equal(true, redis.cfAdd(key, "one"));
    equal(false, redis.cfAddNx(key, "one"));
    equal(true, redis.cfAddNx(key, "two"));
    equal(2L, redis.cfCount(key, "one"));
    equal(0L, redis.cfCount(key, "three"));
    equal(true, redis.cfExists(key, "one"));
    equal(false, redis.cfExists(key, "three"));
    equal(List.of(true, false, true), redis.cfMExists(key, "one", "three", "two"));
  }

  private void cuckooInsert(String key) {
    refused("ERR not found", () -> redis.cfInsert(key, CFInsertParams.insertParams().noCreate(), "a"));
    equal(List.of(true, true), redis.cfInsert(key, CFInsertParams.insertParams().capacity(500), "a", "a"));
    equal(List.of(false, true), redis.cfInsertNx(key, CFInsertParams.insertParams().noCreate(), "a", "b"));
    equal(List.of(true), redis.cfInsert(key, "c"));
    equal(List.of(false), redis.cfInsertNx(key, "c"));
    equal(2L, redis.cfCount(key, "a"));
  }

  private void cuckooDelete(String key) {
    redis.cfAdd(key, "one");
    equal(true, redis.cfDel(key, "one"));
    equal(false, redis.cfDel(key, "one"));
    equal(false, redis.cfExists(key, "one"));
    refused("Not found", () -> redis.cfDel(key + " missing", "one"));
  }

  private void cuckooDump(String key) {
    redis.cfInsert(key, ITEMS);
    copy(key, key + " copy", redis::cfScanDump, redis::cfLoadChunk);
    equal(ALL, redis.cfMExists(key + " copy", ITEMS));
  }

  private void cuckooInfo(String key) {
    redis.cfReserve(key, 1000);
    redis.cfInsert(key, "a", "b", "c");
    redis.cfDel(key, "c");
    Map<String, Object> info = redis.cfInfo(key);
    holds((Long) info.get("Number of buckets") >= 512, "fewer buckets than 1000 items need");
    equal(1L, info.get("Number of filters"));
    equal(2L, info.get("Number of items inserted"));
    equal(1L, info.get("Number of items deleted"));
    refused("ERR not found", () -> redis.cfInfo(key + " missing"));
  }
}
