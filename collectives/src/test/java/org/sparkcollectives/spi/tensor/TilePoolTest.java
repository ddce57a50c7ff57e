package org.sparkcollectives.spi.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TilePoolTest {

  @ParameterizedTest
  @EnumSource
  void tilesHaveOneLengthAndAreNeverLentTwice(ArrayType type) {
    Set<Object> lent = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 0; i < 100; i++) {
      Object tile = TilePool.borrow(type);
      assertThat(type.length(tile)).isEqualTo(TilePool.LENGTH);
      assertThat(lent.add(tile)).isTrue();
    }
    lent.forEach(tile -> TilePool.giveBack(type, tile));
    assertThat(lent.contains(TilePool.borrow(type))).isTrue();
  }

  @Test
  void threadsNeverShareATile() throws Exception {
    int threads = 4;
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      List<Callable<Integer>> borrowers = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        long mark = thread;
        borrowers.add(
            () -> {
              int foreign = 0;
              for (int i = 0; i < 20_000; i++) {
                long[] tile = (long[]) TilePool.borrow(ArrayType.LONG);
                tile[0] = mark;
                tile[TilePool.LENGTH - 1] = i;
                Thread.onSpinWait();
                if (tile[0] != mark || tile[TilePool.LENGTH - 1] != i) {
                  foreign++;
                }
                TilePool.giveBack(ArrayType.LONG, tile);
              }
              return foreign;
            });
      }
      for (Future<Integer> foreign : executor.invokeAll(borrowers, 60, TimeUnit.SECONDS)) {
        assertThat(foreign.get()).isZero();
      }
    } finally {
      executor.shutdownNow();
    }
  }
}
