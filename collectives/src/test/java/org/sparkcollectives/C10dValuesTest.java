package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.store.StoreConfiguration;

/** Tests the numbers that users of c10d know, and find in dumps. */
class C10dValuesTest {

  @Test
  void operationsHaveTheCodesOfC10d() {
    Map<String, Integer> codes = new LinkedHashMap<>();
    for (OpType type : OpType.values()) {
      codes.put(type.name(), type.code());
      assertThat(OpType.ofCode(type.code())).isEqualTo(type);
    }
    Map<String, Integer> expected = new LinkedHashMap<>();
    String[] names = {
      "BROADCAST",
      "ALL_REDUCE",
      "ALL_REDUCE_COALESCED",
      "REDUCE",
      "ALL_GATHER",
      "ALL_GATHER_INTO",
      "ALL_GATHER_COALESCED",
      "GATHER",
      "SCATTER",
      "REDUCE_SCATTER",
      "ALL_TO_ALL_INTO",
      "ALL_TO_ALL",
      "SEND",
      "RECV",
      "RECV_ANY",
      "BARRIER",
      "REDUCE_SCATTER_INTO",
      "COALESCED",
      "ALL_REDUCE_SPARSE",
      "REDUCE_SCATTER_COALESCED"
    };
    for (int code = 0; code < names.length; code++) {
      expected.put(names[code], code);
    }
    expected.put("FINGERPRINT", 99);
    expected.put("UNKNOWN", 100);
    assertThat(codes).isEqualTo(expected);
    assertThat(OpType.ofCode(55)).isEqualTo(OpType.UNKNOWN);
  }

  @Test
  void resultsHaveTheCodesOfC10d() {
    Map<WorkResult, Integer> codes = new EnumMap<>(WorkResult.class);
    for (WorkResult result : WorkResult.values()) {
      codes.put(result, result.code());
    }
    assertThat(codes)
        .isEqualTo(
            Map.of(
                WorkResult.SUCCESS, 0,
                WorkResult.TIMEOUT, 1,
                WorkResult.COMM_ERROR, 2,
                WorkResult.UNKNOWN, 100));
  }

  @Test
  void reductionsHaveTheCodesOfC10d() {
    assertThat(ReduceOp.Kind.values())
        .extracting(Enum::name)
        .containsExactly(
            "SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM");
    for (int code = 0; code < 8; code++) {
      assertThat(ReduceOp.ofCode(code).code()).isEqualTo(code);
      assertThat(ReduceOp.ofCode(code).kind()).isEqualTo(ReduceOp.Kind.values()[code]);
    }
    assertThat(ReduceOp.premulSum(0.5).code()).isEqualTo(8);
    assertThatThrownBy(() -> ReduceOp.ofCode(8)).hasMessageContaining("needs a factor");
    assertThatThrownBy(() -> ReduceOp.ofCode(9))
        .hasMessageContaining("no reduction with the code 9");
    assertThat(ReduceOp.premulSum(0.5)).isEqualTo(ReduceOp.premulSum(0.5));
    assertThat(ReduceOp.premulSum(0.5)).isNotEqualTo(ReduceOp.premulSum(2));
    assertThat(ReduceOp.premulSum(0.5)).hasToString("PREMUL_SUM(0.5)");
    assertThat(ReduceOp.SUM.kind()).isEqualTo(ReduceOp.Kind.SUM);
    assertThat(ReduceOp.SUM).isNotEqualTo(ReduceOp.AVG);
  }

  @Test
  void timeoutsAreThoseOfC10dUnlessSet() {
    assertThat(CollectivesConfiguration.TIMEOUT.defaultText()).isEqualTo("30min");
    assertThat(StoreConfiguration.TIMEOUT.defaultText()).isEqualTo("5min");
    assertThat(new org.sparkcollectives.store.HashStore().timeout())
        .isEqualTo(Duration.ofMinutes(5));
  }
}
