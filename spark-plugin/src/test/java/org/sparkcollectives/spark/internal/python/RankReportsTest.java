package org.sparkcollectives.spark.internal.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RankReportsTest {

  private RankReports reports = RankReports.open(1000);

  @AfterEach
  void end() {
    reports.close();
  }

  private static void report(RankReports to, int rank, byte[] content) {
    byte[] id = HexFormat.of().parseHex(to.id());
    ByteBuffer report = ByteBuffer.allocate(id.length + content.length).put(id).put(content);
    RankReports.receive(RankReports.message(rank, report.flip()));
  }

  private static List<String> texts(byte[] taken) {
    List<String> texts = new ArrayList<>();
    ByteBuffer fields = ByteBuffer.wrap(taken).order(ByteOrder.LITTLE_ENDIAN);
    while (fields.hasRemaining()) {
      byte[] content = new byte[fields.getInt()];
      int rank = fields.getInt();
      fields.get(content);
      texts.add(rank + ":" + content.length);
    }
    return texts;
  }

  @Test
  void reportsAreTakenInTheirOrder() throws Exception {
    report(reports, 3, new byte[5]);
    report(reports, 1, new byte[0]);
    assertThat(texts(reports.take(0))).containsExactly("3:5", "1:0");
    assertThat(reports.take(0)).isEmpty();
  }

  @Test
  void reportsBeyondTheLimitAreDropped() throws Exception {
    report(reports, 0, new byte[2000]);
    report(reports, 1, new byte[10]);
    assertThat(texts(reports.take(0))).containsExactly("0:2000");
    report(reports, 2, new byte[900]);
    report(reports, 3, new byte[900]);
    report(reports, 4, new byte[10]);
    assertThat(texts(reports.take(0))).containsExactly("2:900", "4:10");
    assertThat(reports.dropped()).isEqualTo(2);
  }

  @Test
  void largeReportsAreTakenOneByOne() throws Exception {
    reports.close();
    reports = RankReports.open();
    for (int i = 0; i < 3; i++) {
      report(reports, i, new byte[700_000]);
    }
    assertThat(texts(reports.take(0))).containsExactly("0:700000");
    assertThat(texts(reports.take(0))).containsExactly("1:700000");
    assertThat(texts(reports.take(0))).containsExactly("2:700000");
  }

  @Test
  void whatWaitsCanBeTakenAfterTheEnd() throws Exception {
    report(reports, 0, new byte[1]);
    reports.close();
    report(reports, 1, new byte[1]);
    assertThat(texts(reports.take(60_000))).containsExactly("0:1");
    assertThat(reports.take(60_000)).isNull();
  }

  @Test
  void aReportOrTheEndWakesWhoeverWaits() throws Exception {
    CompletableFuture<byte[]> taken = CompletableFuture.supplyAsync(this::take);
    report(reports, 7, new byte[1]);
    assertThat(texts(taken.get(30, TimeUnit.SECONDS))).containsExactly("7:1");
    CompletableFuture<byte[]> none = CompletableFuture.supplyAsync(this::take);
    reports.close();
    assertThat(none.get(30, TimeUnit.SECONDS)).isNull();
  }

  private byte[] take() {
    try {
      return reports.take(60_000);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void whatIsNoReportIsRefused() {
    assertThatThrownBy(() -> RankReports.receive(new byte[19]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("19 bytes");
    RankReports.receive(new byte[20]);
  }
}
