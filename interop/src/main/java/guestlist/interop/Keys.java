package guestlist.interop;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Keys of each Java type, the same in every run: everyday ones, then what formats stumble over. */
final class Keys {
  private Keys() {}

  /** The first {@code count} keys of a type, none of them twice. {@code seed} picks which. */
  static List<Object> of(Class<?> type, int count, long seed) {
    if (type == String.class) {
      return strings(count, seed);
    }
    return type == Long.class ? longs(count, seed) : integers(count, seed);
  }

  private static List<Object> strings(int count, long seed) {
    Random random = new Random(seed);
    List<Object> keys = new ArrayList<>(List.of("Tom哥" + seed, "a" + seed, "\uD83D\uDE00key" + seed));
    // Lengths around which some format writes its length differently.
    for (int length : new int[] {32, 33, 62, 63, 64, 255, 256, 257, 8190, 8191, 65535, 65536, 65537}) {
      keys.add("x".repeat(length - 1) + (char) ('a' + seed));
      keys.add("é".repeat(length - 1) + (char) ('a' + seed));
    }
    while (keys.size() < count / 2) {
      StringBuilder text = new StringBuilder("k" + seed + ":" + keys.size() + ":");
      for (int left = random.nextInt(40); left > 0; --left) {
        text.appendCodePoint(character(random));
      }
      keys.add(text.toString());
    }
    while (keys.size() < count) {
      keys.add("user:" + seed + ":" + keys.size());
    }
    return keys;
  }

  /** From one of the ranges that encodings treat differently; no newline, no lone surrogate. */
  private static int character(Random random) {
    int[] limits = {0x20, 0x80, 0x800, 0x10000, 0x110000};
    int character = random.nextInt(limits[random.nextInt(limits.length)]);
    boolean isSurrogate = character >= 0xD800 && character < 0xE000;
    return character == '\n' || isSurrogate ? ' ' : character;
  }

  private static List<Object> longs(int count, long seed) {
    List<Object> keys = new ArrayList<>();
    for (int bit = 0; bit < 63; ++bit) {
      keys.add((1L << bit) + 2 * seed);
      keys.add(-(1L << bit) - 2 * seed - 1);
    }
    while (keys.size() < count) {
      keys.add(1_000_000_000_000L * (seed + 1) + keys.size());
    }
    return keys.stream().distinct().toList();
  }

  private static List<Object> integers(int count, long seed) {
    List<Object> keys = new ArrayList<>();
    for (int bit = 0; bit < 31; ++bit) {
      keys.add((1 << bit) + 2 * (int) seed);
      keys.add(-(1 << bit) - 2 * (int) seed - 1);
    }
    while (keys.size() < count) {
      keys.add(100_000_000 * ((int) seed + 1) + keys.size());
    }
    return keys.stream().distinct().toList();
  }
}
