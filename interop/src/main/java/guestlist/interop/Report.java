package guestlist.interop;

import java.io.PrintStream;

/** Counts checks, and says of each that failed what was expected. A check that throws has failed. */
final class Report {
  interface Check {
    void run() throws Exception;
  }

  private final PrintStream out;
  private int passed;
  private int failed;

  Report(PrintStream out) {
    this.out = out;
  }

  /** {@code law} is a sentence that holds if {@code check} returns. */
  void check(String law, Check check) {
    try {
      check.run();
      ++passed;
    } catch (Exception | AssertionError reason) {
      ++failed;
      out.println("FAILED: " + law + ": " + reason);
    }
  }

  static void equal(Object expected, Object actual) {
    if (!expected.equals(actual)) {
      throw new AssertionError("expected " + shown(expected) + ", got " + shown(actual));
    }
  }

  static void holds(boolean condition, String otherwise) {
    if (!condition) {
      throw new AssertionError(otherwise);
    }
  }

  int failed() {
    return failed;
  }

  /** The line that ends a run. */
  String summary() {
    return passed + " passed, " + failed + " failed";
  }

  private static String shown(Object value) {
    String text = value.toString();
    return text.length() <= 200 ? text : text.substring(0, 200) + "…";
  }
}
