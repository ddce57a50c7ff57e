package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import org.jetbrains.kotlinx.lincheck.LinChecker;
import org.jetbrains.kotlinx.lincheck.annotations.Operation;
import org.jetbrains.kotlinx.lincheck.annotations.Param;
import org.jetbrains.kotlinx.lincheck.paramgen.StringGen;
import org.jetbrains.kotlinx.lincheck.strategy.stress.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that some order of the calls explains the results of concurrent calls of the table.
 * Lincheck changes the classes that are loaded, and cannot once TLS has been used: it needs a JVM
 * of its own.
 */
@Tag("own-jvm")
@Param(name = "key", gen = StringGen.class, conf = "1:ab")
@Param(name = "value", gen = StringGen.class, conf = "1:xy")
public class StoreTableLinearizabilityTest {

  private final StoreTable table = new StoreTable();

  private static StoredValue value(String text) {
    return StoredValue.of(text.getBytes(UTF_8));
  }

  @Operation
  public String set(@Param(name = "key") String key, @Param(name = "value") String value) {
    return orRefused(
        () -> {
          table.set(List.of(key), List.of(value(value)));
          return "set";
        });
  }

  @Operation
  public String compareSet(
      @Param(name = "key") String key,
      @Param(name = "value") String expected,
      @Param(name = "value") String desired) {
    return orRefused(
        () ->
            String.valueOf(
                table.compareSet(key, expected.getBytes(UTF_8), value(desired)).stored()));
  }

  @Operation
  public String append(@Param(name = "key") String key, @Param(name = "value") String value) {
    return orRefused(
        () -> {
          table.append(key, value.getBytes(UTF_8));
          return "appended";
        });
  }

  @Operation
  public String get(@Param(name = "key") String key) {
    return orRefused(
        () -> {
          StoreWaiter<List<StoredValue>> waiter = table.get(List.of(key));
          if (waiter.cancel(false)) {
            return "missing";
          }
          return new String(waiter.join().get(0).bytes(), UTF_8);
        });
  }

  @Operation
  public String push(@Param(name = "key") String key, @Param(name = "value") String value) {
    return orRefused(
        () -> {
          table.push(key, value(value));
          return "pushed";
        });
  }

  @Operation
  public String poll(@Param(name = "key") String key) {
    return orRefused(() -> new String(table.poll(key).bytes(), UTF_8));
  }

  @Operation
  public long delete(@Param(name = "key") String key) {
    return table.delete(List.of(key));
  }

  @Operation
  public long count() {
    return table.count("");
  }

  private interface Call {
    String run();
  }

  private static String orRefused(Call call) {
    try {
      return call.run();
    } catch (StoreException e) {
      return "refused";
    }
  }

  @Test
  void concurrentCallsAreLinearizable() {
    LinChecker.check(
        getClass(),
        new StressOptions()
            .iterations(40)
            .invocationsPerIteration(500)
            .threads(3)
            .actorsPerThread(3));
  }
}
