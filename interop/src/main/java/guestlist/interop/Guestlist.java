package guestlist.interop;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The guestlist command. Keys go to its standard input, a line each. */
final class Guestlist {
  record Result(int status, String output, String errors) {
    /** A number of the JSON object that a call with {@code --json} prints. */
    long number(String field) {
      Matcher matcher = Pattern.compile('"' + field + "\": *(-?[0-9]+)").matcher(output);
      Report.holds(matcher.find(), "no " + field + " in: " + output);
      return Long.parseLong(matcher.group(1));
    }
  }

  private final String binary;

  Guestlist(String binary) {
    this.binary = binary;
  }

  /** Runs a call that must end with status 0. */
  Result run(List<?> keys, String... arguments) {
    Result result = attempt(keys, arguments);
    Report.holds(
        result.status == 0, String.join(" ", arguments) + " ended with " + result.status + ": " + result.errors);
    return result;
  }

  /** Runs a call, however it ends. */
  Result attempt(List<?> keys, String... arguments) {
    List<String> words = new ArrayList<>(List.of(binary));
    words.addAll(List.of(arguments));
    try {
      Process process = new ProcessBuilder(words).start();
      CompletableFuture<String> errors =
          CompletableFuture.supplyAsync(() -> text(process.getErrorStream()));
      CompletableFuture<Void> input =
          CompletableFuture.runAsync(() -> write(keys, process.getOutputStream()));
      String output = text(process.getInputStream());
      input.join();
      return new Result(process.waitFor(), output, errors.join());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }

  /** Which of {@code keys}, by their place, are {@code maybe}. No verdict may be {@code unknown}. */
  BitSet maybes(List<?> keys, String... query) {
    List<String> words = new ArrayList<>(List.of("query"));
    words.addAll(List.of(query));
    words.addAll(List.of("--print", "all", "-"));
    Result result = attempt(keys, words.toArray(String[]::new));
    Report.holds(result.status < 2, "query ended with " + result.status + ": " + result.errors);
    // A key may hold any character but a newline, so only the end of each line is looked at.
    String[] lines = result.output.split("\n", -1);
    Report.equal(keys.size() + 1, lines.length);
    BitSet maybes = new BitSet(keys.size());
    for (int i = 0; i < keys.size(); ++i) {
      boolean maybe = lines[i].endsWith("\tmaybe");
      Report.holds(maybe || lines[i].endsWith("\tabsent"), "no verdict: " + lines[i]);
      maybes.set(i, maybe);
    }
    return maybes;
  }

  private static String text(java.io.InputStream stream) {
    try (stream) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static void write(List<?> keys, OutputStream stream) {
    try (stream) {
      StringBuilder lines = new StringBuilder();
      for (Object key : keys) {
        lines.append(key).append('\n');
      }
      stream.write(lines.toString().getBytes(StandardCharsets.UTF_8));
    } catch (IOException ignored) {
      // A call that ends early, with its reason on standard error, closes its input.
    }
  }
}
