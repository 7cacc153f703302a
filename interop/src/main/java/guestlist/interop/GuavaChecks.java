package guestlist.interop;

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;

/** Streams of Guava's BloomFilter in files, written on either side and read on the other. */
final class GuavaChecks {
  private static final int ITEMS = 2000;
  private static final String FPR = "0.01";

  private record Kind<T>(String name, Funnel<T> funnel, Class<?> type) {
    @SuppressWarnings("unchecked")
    BloomFilter<Object> create() {
      return (BloomFilter<Object>) BloomFilter.create(funnel, ITEMS, Double.parseDouble(FPR));
    }

    @SuppressWarnings("unchecked")
    BloomFilter<Object> read(Path file) throws IOException {
      try (InputStream stream = Files.newInputStream(file)) {
        return (BloomFilter<Object>) BloomFilter.readFrom(stream, funnel);
      }
    }
  }

  private static final List<Kind<?>> KINDS =
      List.of(
          new Kind<>("string", Funnels.stringFunnel(StandardCharsets.UTF_8), String.class),
          new Kind<>("unencoded-chars", Funnels.unencodedCharsFunnel(), String.class),
          new Kind<>("long", Funnels.longFunnel(), Long.class),
          new Kind<>("int", Funnels.integerFunnel(), Integer.class));

  private final Report report;
  private final Guestlist guestlist;
  private final Path folder;

  GuavaChecks(Report report, Guestlist guestlist, Path folder) {
    this.report = report;
    this.guestlist = guestlist;
    this.folder = folder;
  }

  void run() {
    for (Kind<?> kind : KINDS) {
      for (String strategy : List.of("mitz-64", "mitz-32")) {
        readsOurs(kind, strategy);
      }
      weReadTheirs(kind);
      bothAdd(kind);
    }
  }

  private void readsOurs(Kind<?> kind, String strategy) {
    List<Object> keys = Keys.of(kind.type, ITEMS, 0);
    List<Object> others = Keys.of(kind.type, ITEMS, 1);
    Path file = folder.resolve("ours-" + kind.name + "-" + strategy);
    String law = "Guava " + kind.name + " " + strategy + ": ";
    report.check(
        law + "Guava finds every key that guestlist built into a file",
        () -> {
          guestlist.run(
              keys, "build", "-o", file.toString(), "--format", "guava", "--funnel", kind.name, "--strategy", strategy,
              "--items", "" + ITEMS, "--fpr", FPR, "-");
          Report.equal(keys.size(), found(kind.read(file), keys).cardinality());
        });
    report.check(
        law + "both answer alike about keys that nobody added",
        () -> Report.equal(found(kind.read(file), others), ask(file, kind, others)));
    if (strategy.equals("mitz-64")) {
      report.check(
          law + "both write the same bytes",
          () -> {
            BloomFilter<Object> theirs = kind.create();
            keys.forEach(theirs::put);
            Path written = write(theirs, "same-" + kind.name);
            Report.equal(-1L, Files.mismatch(written, file));
          });
    }
  }

  private void weReadTheirs(Kind<?> kind) {
    report.check(
        "Guava " + kind.name + ": guestlist finds every key that Guava put into a file",
        () -> {
          List<Object> keys = Keys.of(kind.type, ITEMS, 2);
          BloomFilter<Object> theirs = kind.create();
          keys.forEach(theirs::put);
          Path file = write(theirs, "theirs-" + kind.name);
          Report.equal(keys.size(), ask(file, kind, keys).cardinality());
          List<Object> others = Keys.of(kind.type, ITEMS, 3);
          Report.equal(found(theirs, others), ask(file, kind, others));
        });
  }

  private void bothAdd(Kind<?> kind) {
    report.check(
        "Guava " + kind.name + ": a file that both added to, in turns and by merging, holds the keys of both",
        () -> {
          List<Object> first = Keys.of(kind.type, ITEMS / 2, 4);
          List<Object> second = Keys.of(kind.type, ITEMS / 2, 5);
          BloomFilter<Object> theirs = kind.create();
          first.forEach(theirs::put);
          Path file = write(theirs, "both-" + kind.name);
          guestlist.run(second, "add", file.toString(), "--format", "guava", "--funnel", kind.name, "-");
          BloomFilter<Object> read = kind.read(file);
          Report.equal(first.size(), found(read, first).cardinality());
          Report.equal(second.size(), found(read, second).cardinality());

          Path apart = write(kind.create(), "apart-" + kind.name);
          guestlist.run(second, "add", apart.toString(), "--format", "guava", "--funnel", kind.name, "-");
          Path merged = folder.resolve("merged-" + kind.name);
          guestlist.run(
              List.of(), "merge", write(theirs, "left-" + kind.name).toString(), apart.toString(), "-o",
              merged.toString(), "--format", "guava");
          theirs.putAll(kind.read(apart));
          Report.equal(theirs, kind.read(merged));
          Report.equal(read, kind.read(merged));
        });
  }

  private BitSet ask(Path file, Kind<?> kind, List<Object> keys) {
    return guestlist.maybes(keys, file.toString(), "--format", "guava", "--funnel", kind.name);
  }

  private static BitSet found(BloomFilter<Object> filter, List<Object> keys) {
    BitSet found = new BitSet(keys.size());
    for (int i = 0; i < keys.size(); ++i) {
      found.set(i, filter.mightContain(keys.get(i)));
    }
    return found;
  }

  private Path write(BloomFilter<Object> filter, String name) throws IOException {
    Path file = folder.resolve(name);
    try (OutputStream stream = Files.newOutputStream(file)) {
      filter.writeTo(stream);
    }
    return file;
  }
}
