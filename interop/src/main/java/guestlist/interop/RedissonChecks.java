package guestlist.interop;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.redisson.api.RBloomFilter;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.Codec;
import org.redisson.client.codec.StringCodec;

/** Redisson's RBloomFilter and guestlist on one Redis, each codec with each type of key. */
final class RedissonChecks {
  private static final long ITEMS = 1500;
  private static final double FPR = 0.01;
  private static final int KEYS = 1000;

  private final Report report;
  private final Guestlist guestlist;
  private final RedissonClient redisson;
  private final int port;

  RedissonChecks(Report report, Guestlist guestlist, RedissonClient redisson, int port) {
    this.report = report;
    this.guestlist = guestlist;
    this.redisson = redisson;
    this.port = port;
  }

  void run() {
    for (JavaCodec codec : JavaCodec.values()) {
      codec.load().ifPresent(
          loaded -> codec.types.forEach(type -> new Pair(codec, loaded, type).run()));
    }
    defaultCodecIsKnown();
    parametersAreGuarded();
  }

  private String target(String filter, String codec, String type) {
    return "redis://127.0.0.1:" + port + "?filter=" + URLEncoder.encode(filter, StandardCharsets.UTF_8)
        + "&as=redisson&codec=" + codec + "&java=" + type;
  }

  private Guestlist.Result create(String target, long items, double fpr) {
    return guestlist.attempt(List.of(), "create", target, "--items", "" + items, "--fpr", "" + fpr);
  }

  private String config(String filter) {
    return new java.util.TreeMap<>(
        redisson.<String, String>getMap("{" + filter + "}:config", StringCodec.INSTANCE).readAllMap()).toString();
  }

  /** The bits that are set. A string that was made longer in advance holds no others. */
  private BitSet bits(String filter) {
    byte[] bytes = redisson.<byte[]>getBucket(filter, ByteArrayCodec.INSTANCE).get();
    return bytes == null ? new BitSet() : BitSet.valueOf(bytes);
  }

  private static BitSet found(RBloomFilter<Object> filter, List<Object> keys) {
    BitSet found = new BitSet(keys.size());
    for (int i = 0; i < keys.size(); ++i) {
      found.set(i, filter.contains(keys.get(i)));
    }
    return found;
  }

  /** One codec with one type of key: a filter that guestlist made, one that Redisson made, one that both fill. */
  private final class Pair {
    private final String law;
    private final String codecWord;
    private final String typeWord;
    private final Codec codec;
    private final List<Object> keys;
    private final List<Object> others;

    Pair(JavaCodec javaCodec, Codec codec, Class<?> type) {
      this.codecWord = javaCodec.word;
      this.typeWord = JavaCodec.typeWord(type);
      this.law = "Redisson " + codecWord + " of " + type.getSimpleName() + ": ";
      this.codec = codec;
      this.keys = Keys.of(type, KEYS, 0);
      this.others = Keys.of(type, KEYS, 1);
    }

    private String name(String kind) {
      return kind + "-" + codecWord + "-" + typeWord;
    }

    private String target(String kind) {
      return RedissonChecks.this.target(name(kind), codecWord, typeWord);
    }

    private RBloomFilter<Object> filter(String kind) {
      return redisson.getBloomFilter(name(kind), codec);
    }

    void run() {
      RBloomFilter<Object> ours = filter("ours");
      RBloomFilter<Object> theirs = filter("theirs");
      report.check(
          law + "Redisson finds every key that guestlist added to a filter that guestlist created",
          () -> {
            Report.equal(0, create(target("ours"), ITEMS, FPR).status());
            guestlist.run(keys, "add", target("ours"), "-");
            Report.equal((long) KEYS, ours.contains(keys));
          });
      report.check(
          law + "guestlist finds every key that Redisson added to a filter that Redisson created",
          () -> {
            Report.holds(theirs.tryInit(ITEMS, FPR), "the filter was there");
            theirs.add(keys);
            Report.equal(KEYS, guestlist.maybes(keys, target("theirs")).cardinality());
          });
      report.check(
          law + "both store the same parameters and the same bits",
          () -> {
            Report.equal(config(name("theirs")), config(name("ours")));
            Report.equal(bits(name("theirs")), bits(name("ours")));
            Report.holds(!bits(name("ours")).isEmpty(), "there are no bits");
          });
      report.check(
          law + "both answer alike about keys that nobody added",
          () -> Report.equal(found(theirs, others), guestlist.maybes(others, target("theirs"))));
      report.check(
          law + "both count alike",
          () ->
              Report.equal(
                  theirs.count(),
                  guestlist.run(List.of(), "inspect", target("theirs"), "--json").number("estimated_items")));
      report.check(law + "both add to one filter at once and nothing is lost", this::addAtOnce);
    }

    private void addAtOnce() {
      RBloomFilter<Object> shared = filter("shared");
      RBloomFilter<Object> sequential = filter("sequential");
      shared.tryInit(2 * ITEMS, FPR);
      sequential.tryInit(2 * ITEMS, FPR);
      CompletableFuture<Void> redissonAdds = CompletableFuture.runAsync(() -> keys.forEach(shared::add));
      guestlist.run(others, "add", target("shared"), "-");
      redissonAdds.join();
      List<Object> all = new ArrayList<>(keys);
      all.addAll(others);
      Collections.shuffle(all, new java.util.Random(1));
      sequential.add(all);
      Report.equal(bits(name("sequential")), bits(name("shared")));
      Report.equal((long) all.size(), shared.contains(all));
      Report.equal(all.size(), guestlist.maybes(all, target("shared")).cardinality());
    }
  }

  private void defaultCodecIsKnown() {
    report.check(
        "Redisson: a filter without a codec is one of kryo5",
        () -> {
          RBloomFilter<Object> filter = redisson.getBloomFilter("default");
          filter.tryInit(ITEMS, FPR);
          List<Object> keys = Keys.of(String.class, KEYS, 0);
          filter.add(keys);
          Report.equal(KEYS, guestlist.maybes(keys, target("default", "kryo5", "string")).cardinality());
          Report.holds(
              guestlist.maybes(keys, target("default", "json", "string")).cardinality() < KEYS,
              "another codec finds every key");
        });
  }

  private void parametersAreGuarded() {
    String target = target("guarded", "string", "string");
    RBloomFilter<String> filter = redisson.getBloomFilter("guarded", StringCodec.INSTANCE);
    report.check(
        "Redisson: tryInit leaves a filter alone that guestlist created",
        () -> {
          Report.equal(0, create(target, 1000, 0.01).status());
          Report.holds(!filter.tryInit(1000, 0.01), "tryInit made it anew");
          Report.equal(9585L, filter.getSize());
        });
    report.check(
        "Redisson: guestlist leaves a filter alone that Redisson created, and says where it differs",
        () -> {
          String before = config("guarded");
          Report.equal(0, create(target, 1000, 0.01).status());
          Report.equal(2, create(target, 2000, 0.001).status());
          Report.equal(before, config("guarded"));
        });
    report.check(
        "Redisson: guestlist knows a filter that was made anew with other parameters",
        () -> {
          guestlist.run(List.of("before"), "add", target, "-");
          filter.delete();
          RBloomFilter<String> anew = redisson.getBloomFilter("guarded", StringCodec.INSTANCE);
          Report.holds(anew.tryInit(5000, 0.001), "the filter was there");
          anew.add("after");
          Report.equal(1, guestlist.maybes(List.of("after"), target).cardinality());
          guestlist.run(List.of("later"), "add", target, "-");
          Report.holds(anew.contains("later"), "guestlist set bits of the old filter");
        });
    report.check(
        "Redisson: guestlist refuses to ask or fill a filter that is not there",
        () -> {
          String missing = target("missing", "string", "string");
          Report.equal(2, guestlist.attempt(List.of("x"), "add", missing, "-").status());
          Report.holds(
              !guestlist.attempt(List.of("x"), "query", missing, "--print", "absent", "-").output().contains("x"),
              "a missing filter called a key absent");
        });
    report.check(
        "Redisson: a name with braces is the same two keys for both",
        () -> {
          String name = "app:{tenant}:users";
          guestlist.run(
              List.of(), "create", target(name, "string", "string"), "--items", "100", "--fpr", "0.01");
          guestlist.run(List.of("x"), "add", target(name, "string", "string"), "-");
          Report.holds(redisson.<String>getBloomFilter(name, StringCodec.INSTANCE).contains("x"), "not found");
        });
  }
}
