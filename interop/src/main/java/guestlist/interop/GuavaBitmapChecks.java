package guestlist.interop;

import com.google.common.hash.Funnel;
import com.google.common.hash.Hashing;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.redisson.api.RBitSet;
import org.redisson.api.RedissonClient;

/** The "BloomFilterHelper" of many tutorials, Guava's hash over SETBIT, beside guestlist. */
final class GuavaBitmapChecks {
  private static final int ITEMS = 300;
  private static final double FPR = 0.01;

  private final Report report;
  private final Guestlist guestlist;
  private final RedissonClient redisson;
  private final int port;

  GuavaBitmapChecks(Report report, Guestlist guestlist, RedissonClient redisson, int port) {
    this.report = report;
    this.guestlist = guestlist;
    this.redisson = redisson;
    this.port = port;
  }

  void run() {
    check("once", (key, sink) -> sink.putString(key, StandardCharsets.UTF_8));
    check(
        "twice",
        (key, sink) -> sink.putString(key, StandardCharsets.UTF_8).putString(key, StandardCharsets.UTF_8));
  }

  private void check(String funnelWord, Funnel<String> funnel) {
    String law = "Guava on SETBIT, the key " + funnelWord + ": ";
    List<Object> keys = Keys.of(String.class, ITEMS, 0);
    List<Object> others = Keys.of(String.class, ITEMS, 1);
    report.check(
        law + "guestlist finds every key that the helper set, and answers alike about others",
        () -> {
          RBitSet bits = redisson.getBitSet("helper-" + funnelWord);
          keys.forEach(key -> places(key, funnel).forEach(bits::set));
          String target = target("helper-" + funnelWord, funnelWord);
          Report.equal(keys.size(), guestlist.maybes(keys, target).cardinality());
          Report.equal(found(bits, others, funnel), guestlist.maybes(others, target));
        });
    report.check(
        law + "the helper finds every key that guestlist added",
        () -> {
          String target = target("command-" + funnelWord, funnelWord);
          guestlist.run(List.of(), "create", target, "--items", "" + ITEMS, "--fpr", "" + FPR);
          guestlist.run(keys, "add", target, "-");
          RBitSet bits = redisson.getBitSet("command-" + funnelWord);
          Report.equal(keys.size(), found(bits, keys, funnel).cardinality());
        });
  }

  private String target(String filter, String funnelWord) {
    return "redis://127.0.0.1:" + port + "?filter=" + filter + "&as=guava&items=" + ITEMS + "&fpr=" + FPR + "&funnel="
        + funnelWord;
  }

  private static BitSet found(RBitSet bits, List<Object> keys, Funnel<String> funnel) {
    BitSet found = new BitSet(keys.size());
    for (int i = 0; i < keys.size(); ++i) {
      found.set(i, places(keys.get(i), funnel).stream().allMatch(bits::get));
    }
    return found;
  }

  private static List<Long> places(Object key, Funnel<String> funnel) {
    int size = (int) (-ITEMS * Math.log(FPR) / (Math.log(2) * Math.log(2)));
    int probes = Math.max(1, (int) Math.round((double) size / ITEMS * Math.log(2)));
    long hash = Hashing.murmur3_128().hashObject((String) key, funnel).asLong();
    int first = (int) hash;
    int second = (int) (hash >>> 32);
    List<Long> places = new ArrayList<>(probes);
    for (int i = 1; i <= probes; ++i) {
      int combined = first + i * second;
      places.add((long) ((combined < 0 ? ~combined : combined) % size));
    }
    return places;
  }
}
