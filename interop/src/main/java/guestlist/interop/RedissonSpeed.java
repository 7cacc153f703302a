package guestlist.interop;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.redisson.api.RBloomFilter;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Checks a second of Redisson on one connection, one by one and in batches; half of the keys are there. Prints a
 * line for each size of a batch: the size, and the checks a second.
 */
final class RedissonSpeed {
  private static final int KEYS = 100_000;
  private static final int[] BATCHES = {1, 100};
  private static final long ROUND_NANOS = 2_000_000_000L;
  private static final int ROUNDS = 3;

  private final RBloomFilter<String> filter;
  private int next;

  RedissonSpeed(RedissonClient redisson) {
    filter = redisson.getBloomFilter("speed", StringCodec.INSTANCE);
    filter.delete();
    filter.tryInit(1_000_000, 0.01);
    for (int from = 0; from < KEYS; from += 1000) {
      filter.add(keys(from, 1000));
    }
  }

  void run(PrintStream out) {
    for (int batch : BATCHES) {
      out.printf(Locale.ROOT, "%d %.0f%n", batch, best(batch));
    }
  }

  /** The best of some rounds: the first ones warm Java up. */
  private double best(int batch) {
    double best = 0;
    for (int round = 0; round < ROUNDS; ++round) {
      long began = System.nanoTime();
      long checks = 0;
      while (System.nanoTime() - began < ROUND_NANOS) {
        next = (next + batch) % (2 * KEYS);
        if (batch == 1) {
          filter.contains("user:" + next);
        } else {
          filter.contains(keys(next, batch));
        }
        checks += batch;
      }
      best = Math.max(best, checks * 1e9 / (System.nanoTime() - began));
    }
    return best;
  }

  private static List<String> keys(int from, int count) {
    List<String> keys = new ArrayList<>(count);
    for (int i = from; i < from + count; ++i) {
      keys.add("user:" + i);
    }
    return keys;
  }
}
