package guestlist.interop;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import redis.clients.jedis.RedisProtocol;

/**
 * Checks that guestlist and the Java libraries beside it read what the other wrote.
 *
 * <p>Arguments: {@code guava COMMAND FOLDER}, {@code redis COMMAND PORT}, {@code module PORT} or {@code speed PORT},
 * with the guestlist command, a folder for files, and the port of a Redis on this machine that may be filled.
 * Prints what failed, then {@code N passed, N failed}.
 */
public final class Interop {
  private Interop() {}

  public static void main(String[] arguments) throws IOException {
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    Report report = new Report(out);
    switch (arguments[0]) {
      case "guava" -> {
        Path folder = Files.createDirectories(Path.of(arguments[2]));
        new GuavaChecks(report, new Guestlist(arguments[1]), folder).run();
      }
      case "redis" -> {
        Guestlist guestlist = new Guestlist(arguments[1]);
        int port = Integer.parseInt(arguments[2]);
        RedissonClient redisson = connect(port);
        new RedissonChecks(report, guestlist, redisson, port).run();
        new GuavaBitmapChecks(report, guestlist, redisson, port).run();
        redisson.shutdown();
      }
      case "module" -> {
        int port = Integer.parseInt(arguments[1]);
        for (RedisProtocol protocol : List.of(RedisProtocol.RESP2, RedisProtocol.RESP3)) {
          new ModuleChecks(report, port, protocol).run();
        }
      }
      case "speed" -> {
        RedissonClient redisson = connect(Integer.parseInt(arguments[1]));
        new RedissonSpeed(redisson).run(out);
        redisson.shutdown();
        return;
      }
      default -> throw new IllegalArgumentException(arguments[0]);
    }
    out.println(report.summary());
    System.exit(report.failed() == 0 ? 0 : 1);
  }

  /** On one connection, as the speed of others is measured. */
  private static RedissonClient connect(int port) {
    Config config = new Config();
    config.setThreads(2).setNettyThreads(2);
    config
        .useSingleServer()
        .setAddress("redis://127.0.0.1:" + port)
        .setConnectionPoolSize(1)
        .setConnectionMinimumIdleSize(1)
        .setSubscriptionConnectionPoolSize(1)
        .setSubscriptionConnectionMinimumIdleSize(1);
    return Redisson.create(config);
  }
}
